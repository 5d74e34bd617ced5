r"""Information of single samples that anybody answers: gold, nothing, channels with known or unknown confusion.

With S the complete score of the model, T that of the channels' own parameters and z the answers to a row,

.. math::

    I_a = I_X + E\bigl[\operatorname{Var}(E[(S, T) \mid x, z] \mid x)\bigr], \qquad
    E[\operatorname{Var}(S \mid x, z)] = \sum_z P(z)\, Missing(\pi_y q(z|y))

what unlabeled rows tell, and what the answers add: positive semi-definite by construction, so nobody's answers are
worth less than nothing. docs/derivations/channels.md derives it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.linalg import block_diag

from labelworth.arrays import FloatArray, as_floats, require_probabilities
from labelworth.channels.arm import GOLD, NOTHING, Arm, Nuisance, Outcomes
from labelworth.channels.forms.form import Classes
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError
from labelworth.fisher.choice import Chosen
from labelworth.fisher.contrasts import Contrasts
from labelworth.fisher.controls import sharpened
from labelworth.fisher.dense import DENSE_LIMIT, DenseInformation
from labelworth.fisher.documents.population import (
    LABEL_OR_NOT,
    DocumentPopulation,
    chunks,
    enumerate_outcomes,
    marginal_scores,
    require_outcomes,
    score_spread,
    summed_moments,
)
from labelworth.fisher.enumeration import enumerated
from labelworth.fisher.information import GivesFigures
from labelworth.fisher.sampling import default_count, drawn, draws_to_meet
from labelworth.models.classes.multinomial import MultinomialModel
from labelworth.models.classes.responsibilities import condition
from labelworth.models.protocol import Model, OpenModel
from labelworth.progress import SILENT, Progress, Task

_QUICK_WORK = 2e9
"""Enumeration is chosen while its multiplications stay below a second or two of work."""

MATRIX_FREE = "matrix-free"

_MOST_NUMBERS = 2e8
"""How many numbers the matrices of all batches may be: 1.6 GB."""


@dataclass(frozen=True, eq=False)
class ArmSet:
    """Nothing, gold and further arms, with all that can be answered; the parameters of channels are shared."""

    arms: tuple[Arm, ...]
    classes: Classes
    everything = 1
    nothing = 0

    @classmethod
    def of(cls, further: Sequence[Arm], classes: Classes) -> "ArmSet":
        """Put nothing and gold first, and check that names are distinct."""
        arms = (NOTHING, GOLD, *further)
        names = [arm.name for arm in arms]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise InvalidInputError(f"Every kind of answer needs a name of its own. Got twice: {', '.join(twice)}.")
        return cls(arms, classes)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(arm.name for arm in self.arms)

    @cached_property
    def nuisance(self) -> Nuisance:
        return Nuisance.of(self.arms, self.classes)

    @cached_property
    def answers(self) -> tuple[Outcomes, ...]:
        return tuple(Outcomes.of(arm, self.classes, self.nuisance) for arm in self.arms)

    @property
    def n_answers(self) -> FloatArray:
        """How many answers a row of every arm gets, (n_arms,)."""
        return np.array([float(arm.n_answers) for arm in self.arms])

    @property
    def n_combinations(self) -> int:
        """How many things the answers of all arms can be."""
        return sum(len(answers.likelihood) for answers in self.answers)

    def exchangeable(self, weights: FloatArray) -> list[tuple[str, ...]]:
        """Groups of classes that no answer of a design tells apart by name: only their order is open."""
        known = np.empty((len(self.classes), 0))
        for arm, weight in zip(self.arms, weights, strict=True):
            if weight > 0 and arm.has_gold:
                return []
            for channel, _ in arm.asked if weight > 0 else ():
                table = channel.table(self.classes)
                known = np.column_stack([known, table.anchors if channel.is_unknown else table.probabilities])
        groups: dict[bytes, list[str]] = {}
        for name, row in zip(self.classes, known, strict=True):
            groups.setdefault(row.tobytes(), []).append(str(name))
        return [tuple(group) for group in groups.values() if len(group) > 1]

    def weights_of(self, design: Sequence[float]) -> FloatArray:
        """Shares of samples under every arm, checked."""
        weights = as_floats("A design", design, ndim=1)
        if len(weights) != len(self.arms):
            raise InvalidInputError(
                f"A design has a share for each of {', '.join(self.names)}, {len(self.arms)} in all. Got "
                f"{len(weights)}: {weights.tolist()}."
            )
        require_probabilities("The shares of a design", weights)
        return weights

    def matrices(
        self, complete: FloatArray, missing: FloatArray, added: FloatArray, class_probabilities: FloatArray
    ) -> FloatArray:
        """I_a of every arm, (.., n_arms, d + p, d + p), from what their answers add, of the same shape."""
        d, p = complete.shape[-1], self.nuisance.size
        matrices = added.copy()
        matrices[..., :d, :d] += (complete - missing)[..., None, :, :]
        for index, answers in enumerate(self.answers):
            if answers.has_gold:
                own = answers.complete_information(class_probabilities)
                matrices[..., index, :, :] = block_diag(complete, own) if p else complete
        return matrices


class HasArms(Protocol):
    """Anything that is of arms."""

    @property
    def arms(self) -> ArmSet: ...


class OfArms:
    """What an `Information` of arms says of itself, however it is computed."""

    @property
    def rules(self: HasArms) -> tuple[str, ...]:
        return self.arms.names

    @property
    def everything(self: HasArms) -> int:
        return self.arms.everything

    @property
    def nothing(self: HasArms) -> int:
        return self.arms.nothing

    @property
    def nuisance(self: HasArms) -> tuple[str, ...]:
        return self.arms.nuisance.parameters

    @property
    def expected_labels(self: HasArms) -> FloatArray:
        return self.arms.n_answers


def added_by_answers(scores: FloatArray, posterior: FloatArray, weights: FloatArray, answers: Outcomes) -> FloatArray:
    r"""The sum of :math:`w_i \operatorname{Var}(E[(S, T) \mid x_i, z] \mid x_i)`, (d + p, d + p).

    Parameters
    ----------
    scores : array of shape (n, K, d)
        S of every row and class.
    posterior : array of shape (n, K)
    weights : array of shape (n,)
    """
    joint = posterior[:, None, :] * answers.likelihood
    seen = joint.sum(axis=2)
    given = np.divide(joint, seen[:, :, None], out=np.zeros_like(joint), where=seen[:, :, None] > 0)
    own = np.matmul(given - posterior[:, None, :], scores)
    rows = np.concatenate([own, np.einsum("nak,akp->nap", given, answers.scores)], axis=2)
    rows *= np.sqrt(weights[:, None] * seen)[:, :, None]
    flat = rows.reshape(-1, rows.shape[2])
    return np.asarray(flat.T @ flat)


def enumerated_channels(model: Model, arms: ArmSet) -> DenseInformation:
    """One matrix per arm, by a sum over every x and every combination of answers.

    Raises
    ------
    InvalidInputError
        If there are too many x.
    """
    base = enumerated(DocumentPopulation(model), LABEL_OR_NOT)
    size = base.n_parameters + arms.nuisance.size
    outcomes = enumerate_outcomes(model)
    joint, posterior, weights = np.exp(outcomes.log_joint), outcomes.posterior, outcomes.probabilities
    added = np.zeros((len(arms.arms), size, size))
    for part in chunks(len(posterior), _numbers_per_row(model, arms)):
        scores = model.class_scores(outcomes.samples.take(part))
        for index, answers in enumerate(arms.answers):
            if arms.arms[index].asked and not answers.has_gold:
                added[index] += added_by_answers(scores, posterior[part], weights[part], answers)
    return DenseInformation(
        model.coordinates,
        arms.names,
        arms.matrices(base.complete, base.missing, added, joint.sum(axis=0)),
        arms.everything,
        arms.nothing,
        arms.n_answers,
        "enumeration",
        known_missing=base.missing,
        known_contrasts=Contrasts.whole(model.coordinates),
        nuisance=arms.nuisance.parameters,
    )


def averaged_channels(model: Model, samples: Samples, shares: FloatArray, arms: ArmSet) -> DenseInformation:
    """One matrix per arm from given x, each counting its share; classes and answers are summed over.

    Complete information is that of the model: what these x leave missing of it is theirs, so that no arm tells more
    than gold.
    """
    posterior, _ = condition(model.log_joint(samples), samples.evidence)
    complete = model.complete_information()
    missing, _ = summed_moments(model, samples, posterior, shares)
    size = len(complete) + arms.nuisance.size
    added = np.zeros((len(arms.arms), size, size))
    for part in chunks(samples.n_samples, _numbers_per_row(model, arms)):
        scores = model.class_scores(samples.take(part))
        for index, answers in enumerate(arms.answers):
            if arms.arms[index].asked and not answers.has_gold:
                added[index] += added_by_answers(scores, posterior[part], shares[part], answers)
    return DenseInformation(
        model.coordinates,
        arms.names,
        arms.matrices(complete, missing, added, shares @ posterior),
        arms.everything,
        arms.nothing,
        arms.n_answers,
        "sampling",
        known_missing=missing,
        known_contrasts=Contrasts.whole(model.coordinates),
        nuisance=arms.nuisance.parameters,
    )


@dataclass
class ChannelBatches:
    """Sums over batches of drawn x, averaged over their classes and answers: of S S', s s' and the posterior."""

    model: Model
    arms: ArmSet
    count: int
    complete: FloatArray = field(init=False)  # (count, d, d)
    unlabeled: FloatArray = field(init=False)  # (count, d, d): Of E[S | x].
    added: FloatArray = field(init=False)  # (count, n_arms, d + p, d + p): Of what answers add to that.
    classes: FloatArray = field(init=False)  # (count, K)
    n_per_batch: int = 0

    def __post_init__(self) -> None:
        d, size = self.n_parameters, self.n_parameters + self.arms.nuisance.size
        self.complete, self.unlabeled = np.zeros((self.count, d, d)), np.zeros((self.count, d, d))
        self.added = np.zeros((self.count, len(self.arms.arms), size, size))
        self.classes = np.zeros((self.count, len(self.model.classes)))

    @property
    def n_parameters(self) -> int:
        return self.model.coordinates.n_free

    @cached_property
    def exact(self) -> FloatArray:
        """I_XY."""
        return self.model.complete_information()

    def extend(self, n_more: int, rng: np.random.Generator, task: Task) -> None:
        """Add `n_more` draws to every batch."""
        for batch in range(self.count):
            samples = self.model.sample(n_more, rng).hide()
            posterior, _ = condition(self.model.log_joint(samples), samples.evidence)
            self.classes[batch] += posterior.sum(axis=0)
            for part in chunks(n_more, _numbers_per_row(self.model, self.arms)):
                self._add(batch, self.model.class_scores(samples.take(part)), posterior[part])
            task.advance(n_more)
        self.n_per_batch += n_more

    def _add(self, batch: int, scores: FloatArray, posterior: FloatArray) -> None:
        ones, means = np.ones(len(posterior)), marginal_scores(scores, posterior)
        square = means.T @ means
        self.unlabeled[batch] += square
        self.complete[batch] += square + score_spread(scores, posterior, means, ones)
        for index, answers in enumerate(self.arms.answers):
            if self.arms.arms[index].asked and not answers.has_gold:
                self.added[batch, index] += added_by_answers(scores, posterior, ones, answers)

    def information(self) -> DenseInformation:
        """What these batches give, with the noise taken off whose source is known; see `sharpened`."""
        priors = np.ravel(self.model.tables["class_probabilities"])
        batches = self.arms.matrices(
            self.exact, self.exact - self.unlabeled / self.n_per_batch, self.added / self.n_per_batch, priors
        )
        for index, answers in enumerate(self.arms.answers):
            if not answers.has_gold:
                batches[:, index] = self._sharpened(batches[:, index], answers, priors)
        return DenseInformation(
            self.model.coordinates,
            self.arms.names,
            batches.mean(axis=0),
            self.arms.everything,
            self.arms.nothing,
            self.arms.n_answers,
            "sampling",
            batches,
            self.count * self.n_per_batch,
            len(self.draws_to_meet()),
            known_contrasts=Contrasts.whole(self.model.coordinates),
            nuisance=self.arms.nuisance.parameters,
        )

    def _sharpened(self, seen: FloatArray, answers: Outcomes, priors: FloatArray) -> FloatArray:
        """Of one arm: (S, T) (S, T)' has a known mean, block by block, and its mean given x is at hand."""
        exact = block_diag(self.exact, answers.complete_information(priors))
        shares = self.classes / self.n_per_batch
        complete = np.stack(
            [
                block_diag(own / self.n_per_batch, answers.complete_information(share))
                for own, share in zip(self.complete, shares, strict=True)
            ]
        )
        # What the arm says nothing of stays zero.
        used = Contrasts(self.model.coordinates, np.eye(len(exact))[:, np.diag(exact) > 0])
        return sharpened(used, exact, seen, complete, seen)

    def draws_to_meet(self) -> FloatArray:
        """How many draws would tell enough of every parameter that these hardly met."""
        squares = np.einsum("bii->bi", self.complete) / self.n_per_batch
        return draws_to_meet(squares, np.diag(self.exact), self.n_per_batch)


def channel_information(
    model: Model,
    arms: ArmSet,
    designs: Sequence[FloatArray],
    method: str,
    rng: np.random.Generator,
    *,
    relative_error: float = 0.01,
    max_draws: int | None = None,
    progress: Progress = SILENT,
) -> Chosen:
    """The information of every arm; see `labelworth.fisher.choice.choose`.

    Raises
    ------
    InvalidInputError
        If the method does not exist, or not for this model.
    """
    population = DocumentPopulation(model)
    methods = (*population.methods, MATRIX_FREE)
    if method not in methods:
        raise InvalidInputError(f"method must be one of {', '.join(methods)}. Got {method!r} instead.")
    size = population.coordinates.n_free + arms.nuisance.size
    reason = "asked for"
    if method == "auto":
        work = population.enumeration_work
        if np.isfinite(work):
            work += require_outcomes(model) * arms.n_combinations * size**2
        way = population.way("auto", LABEL_OR_NOT)
        method, reason = way.method, way.reason
        if method == "enumeration" and work > _QUICK_WORK:
            method, reason = "sampling", f"there are {population.n_outcomes} distinct samples with all their answers"
            if isinstance(model, MultinomialModel) and len(model.classes) == 2:
                method, reason = "formula", "two classes of documents have an exact formula"
        if method == "sampling" and size > DENSE_LIMIT and isinstance(model, MultinomialModel):
            method, reason = MATRIX_FREE, f"matrices of {size:,} parameters would be too large"
    if method == "enumeration":
        return Chosen(enumerated_channels(model, arms), reason)
    if method == "formula":
        return Chosen(_by_formula(model, arms), reason)
    if method == MATRIX_FREE:
        return Chosen(_without_matrices(model, arms, rng, max_draws, progress), reason)
    if isinstance(model, OpenModel):
        raise InvalidInputError(
            f"Answers to a {model.kind} model are summed over every x, and its x are not listed or too many. Give "
            "its support, fewer x."
        )
    limit, count = population.most_draws(LABEL_OR_NOT), default_count(population.coordinates.n_free)
    if count * len(arms.arms) * size**2 > _MOST_NUMBERS:
        raise InvalidInputError(
            f"Sampling would keep {count * len(arms.arms)} matrices of {size} x {size} numbers in memory. Use fewer "
            "features or fewer kinds of answers."
        )
    batches = ChannelBatches(model, arms, count)
    information = drawn(batches, designs, rng, max_draws or limit, relative_error, progress=progress)
    return Chosen(information, reason)


def _by_formula(model: Model, arms: ArmSet) -> GivesFigures:
    from labelworth.fisher.documents.two_class_channels import two_class_channels

    if not isinstance(model, MultinomialModel):
        raise InvalidInputError(
            f"There is a formula for multinomial models with two classes only. Got a {model.kind} model; use "
            "method='enumeration' or 'sampling'."
        )
    return two_class_channels(model, arms)


def _without_matrices(
    model: Model, arms: ArmSet, rng: np.random.Generator, max_draws: int | None, progress: Progress
) -> GivesFigures:
    from labelworth.fisher.documents.probed_channels import drawn_channels

    if not isinstance(model, MultinomialModel):
        raise InvalidInputError(
            f"The matrix-free way needs a multinomial model. Got a {model.kind} model; use method='sampling'."
        )
    return drawn_channels(model, arms, rng, n_draws=max_draws, progress=progress)


def _numbers_per_row(model: Model, arms: ArmSet) -> int:
    size = model.coordinates.n_free + arms.nuisance.size
    largest = max(len(answers.likelihood) for answers in arms.answers)
    return int((len(model.classes) + 2 * largest) * size)
