"""One information matrix per labeling rule: every policy is a weighted sum of them."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from labelworth.arrays import FloatArray, as_floats, require_probabilities, require_shape
from labelworth.errors import MoreSamplesNeededError
from labelworth.fisher.jackknife import leave_one_out, require_batches
from labelworth.fisher.policy_figures import PolicyFigures
from labelworth.fisher.rule_contrasts import Contrasts
from labelworth.models.coordinates import Coordinates


@dataclass(frozen=True, eq=False)
class RuleInformation:
    r"""The information of one sequence under every rule, and so under every mixture of them.

    .. math::

        I(policy) = \sum_j weight_j I_j, \qquad
        I_j = \sum_m q(m)\, E_S \operatorname{Var}\bigl(\nabla \log p(Y_S, X)\bigr)

    with S the positions that rule j draws at length m; for a conditional model read p(Y_S | X).

    Attributes
    ----------
    coordinates : Coordinates
    rules : tuple of str
        What the rules are called, complete labels and none among them.
    matrices : array of shape (n_rules, d, d)
        I_j in free coordinates.
    everything, nothing : int
        The places of complete labels and of none among the rules.
    expected_labels : array of shape (n_rules,)
        Labels per sequence.
    method : str
        How it was computed: enumeration or sampling.
    batches : array of shape (n_batches, n_rules, d, d), optional
        Independent estimates whose mean is `matrices`; with them every figure has a standard error.
    n_drawn : int
        How many sequences were drawn; 0 if none.
    n_hardly_met : int
        Of how many parameters the draws say too little, as of a word too rare to be drawn: standard errors do not
        show that.

    Notes
    -----
    Paper: prop:efficiency2.

    Examples
    --------
    Complete labels carry 4 units, none carry 1; label a quarter of the sequences:

    >>> from labelworth.models.coordinates import FreeTable
    >>> line = Coordinates((FreeTable("start", [""], ["a"]),))
    >>> rules = RuleInformation(
    ...     line, ("everything", "nothing"), np.array([[[4.0]], [[1.0]]]), 0, 1, np.array([5.0, 0.0]), "enumeration"
    ... )
    >>> rules.of_policy([0.25, 0.75])
    array([[1.75]])
    """

    coordinates: Coordinates
    rules: tuple[str, ...]
    matrices: FloatArray
    everything: int
    nothing: int
    expected_labels: FloatArray
    method: str
    batches: FloatArray | None = None
    n_drawn: int = 0
    n_hardly_met: int = 0

    def __post_init__(self) -> None:
        d, n_rules = self.coordinates.n_free, len(self.rules)
        require_shape("matrices", self.matrices, (n_rules, d, d))
        require_shape("expected_labels", self.expected_labels, (n_rules,))
        require_batches("batches", self.batches, (n_rules, d, d))

    @property
    def n_parameters(self) -> int:
        """The number of free coordinates, d."""
        return self.coordinates.n_free

    @cached_property
    def contrasts(self) -> Contrasts:
        """What complete labels can see."""
        return Contrasts.of(self.coordinates, self.matrices[self.everything])

    def of_policy(self, weights: FloatArray | list[float]) -> FloatArray:
        """I(policy) in free coordinates, (d, d), for the probability of every rule."""
        return np.asarray(np.tensordot(self._checked(weights), self.matrices, axes=1))

    def labels_of_policy(self, weights: FloatArray | list[float]) -> float:
        """The expected number of labels per sequence."""
        return float(self._checked(weights) @ self.expected_labels)

    def figures(self, weights: FloatArray | list[float]) -> PolicyFigures:
        """Everything about one policy, from one decomposition."""
        return PolicyFigures.of(
            self.contrasts, self.of_policy(weights), self.matrices[self.everything], self.matrices[self.nothing]
        )

    def jackknifed(self, figures: PolicyFigures, weights: FloatArray) -> FloatArray:
        """The figures of the means of all batches but one, (n_batches, n_figures).

        Raises
        ------
        MoreSamplesNeededError
            If one of them is not positive definite.
        """
        if self.batches is None:
            raise ValueError("Only sampled information has batches.")
        stacks = [
            np.einsum("j,bjac->bac", weights, self.batches),
            self.batches[:, self.everything],
            self.batches[:, self.nothing],
        ]
        policy, everything, nothing = map(leave_one_out, stacks)
        try:
            return figures.replicates(policy, everything, nothing)
        except np.linalg.LinAlgError as error:
            raise MoreSamplesNeededError(
                f"Without one of {len(self.batches)} batches of {self.n_drawn} draws the information is not positive "
                f"definite: draw {16 * self.n_drawn} or more."
            ) from error

    def without_batch(self, batch: int) -> "RuleInformation":
        """The means of all batches but one, as if nothing else had been drawn.

        The contrasts are those of the whole: a replicate that found others would be of another figure.
        """
        if self.batches is None:
            raise ValueError("Only sampled information has batches.")
        means = (self.batches.sum(axis=0) - self.batches[batch]) / (len(self.batches) - 1)
        left = replace(self, matrices=means, batches=None)
        left.__dict__["contrasts"] = self.contrasts
        return left

    def _checked(self, weights: FloatArray | list[float]) -> FloatArray:
        values = as_floats("The weights of a policy", weights, ndim=1)
        require_shape("The weights of a policy", values, (len(self.rules),))
        require_probabilities("The weights of a policy", values)
        return values
