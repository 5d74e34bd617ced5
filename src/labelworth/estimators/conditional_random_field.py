"""Conditional random field for tokens with attributes."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from labelworth.data.sequences import Sequences
from labelworth.data.tokens.templates import CHUNKING, Template, parse_template
from labelworth.errors import InvalidInputError
from labelworth.estimation.conditional_fit import ConditionalFamily, fit_conditional
from labelworth.estimation.fit import Fit
from labelworth.estimators.estimator import AT_LEAST_ONE, AT_LEAST_ZERO
from labelworth.estimators.tagger import Coverage, SequenceTagger
from labelworth.estimators.token_input import TokenInput, unlabeled_input
from labelworth.models.chains.conditional_random_field import ConditionalRandomFieldModel
from labelworth.models.chains.crf_features import FeatureSet, Pairs
from labelworth.progress import Progress
from labelworth.wording import percent

TEMPLATES = {"chunking": CHUNKING}
"""Templates that have a name."""


@dataclass(kw_only=True, eq=False, repr=False)
class ConditionalRandomField(SequenceTagger):
    """Linear-chain CRF from sequences of which all or some labels are known.

    A CRF is a model of labels given tokens: sequences without any label teach it nothing, and it says so.

    Parameters
    ----------
    c2 : float
        The coefficient of the sum of squared weights that the objective loses, as sklearn-crfsuite counts it.
    template : str or Template, optional
        Makes attributes of words, or of rows of texts such as ``("cat", "NN")``: "chunking", the text of a template
        file of CRF++, or a `Template`. None: tokens have their attributes already (mappings or lists of names, as in
        sklearn-crfsuite), or a word is its only attribute.
    min_count : int
        Attributes that a template makes less often are left out.
    pairs : "observed" or "all"
        Which attributes have weights with which labels: those that a label names somewhere, or all.
    start_weights : bool
        Whether first labels have weights of their own; crfsuite has none.
    max_iter : int
        Iterations of L-BFGS at most.
    tol : float
        Stop when ten iterations gained less than this many nats per sequence.
    classes, unlabeled
        As in `HiddenMarkov`.

    Attributes
    ----------
    classes_, model_, fit_, n_iter_, converged_
        As in `HiddenMarkov`; `model_` is a `ConditionalRandomFieldModel`.

    Examples
    --------
    >>> X = [[{"word": "the"}, {"word": "cat"}, {"word": "sleeps"}], [{"word": "dogs"}, {"word": "bark"}]]
    >>> tagger = ConditionalRandomField(c2=0.1).fit(X, [["D", "N", "V"], ["N", None]])
    >>> tagger.predict([[{"word": "the"}, {"word": "zebra"}, {"word": "sleeps"}]])
    [['D', 'N', 'V']]
    """

    is_conditional: ClassVar[bool] = True
    learns_answers: ClassVar[bool] = True

    c2: float = 1.0
    template: str | Template | None = None
    min_count: int = 1
    pairs: Pairs = "observed"
    start_weights: bool = False
    tol: float = 1e-5

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SequenceTagger._parameter_constraints,
        "c2": [AT_LEAST_ZERO],
        "template": [str, Template, None],
        "min_count": [AT_LEAST_ONE],
        "pairs": [StrOptions({"observed", "all"})],
        "start_weights": ["boolean"],
    }

    model_: ConditionalRandomFieldModel = field(init=False)
    fit_: Fit[ConditionalRandomFieldModel, FeatureSet] = field(init=False)

    def coverage(self, X: Any) -> Coverage:
        """Count the occurrences of attributes in X that the model does not know; they are left out."""
        check_is_fitted(self)
        given = unlabeled_input(X, self.model_.classes)
        template = self._template
        sequences = given.attributes() if template is None else given.templated(template)
        n_features = int(sequences.attributes.nnz)
        _, n_unknown = self.model_.aligned(sequences)
        share = n_unknown / n_features if n_features else 0.0
        said = (
            f"{n_unknown} of {n_features} attributes of tokens ({percent(share, 1)}) are unknown; they are left out."
        )
        return Coverage(sequences.n_tokens, n_features, n_unknown, said)

    @property
    def _template(self) -> Template | None:
        if self.template is None or isinstance(self.template, Template):
            return self.template
        if self.template in TEMPLATES:
            return TEMPLATES[self.template]
        if "%x[" not in self.template:
            raise InvalidInputError(
                f"There is no template {self.template!r}. Templates with a name are: {', '.join(TEMPLATES)}; or give "
                "the text of a template file of CRF++, whose lines are such as U00:%x[0,0]."
            )
        return parse_template(self.template)

    def _read_to_learn(self, given: TokenInput) -> Sequences:
        template = self._template
        if template is None:
            return given.attributes()
        if not template.transitions:
            raise InvalidInputError(
                "The template has no line B: neighboring labels would have no weights, and tokens would be labeled "
                "each by itself. Add a line B."
            )
        return given.templated(template, min_count=int(self.min_count))

    def _read_to_predict(self, given: TokenInput) -> Sequences:
        template = self._template
        if template is None:
            return self.model_.aligned(given.attributes())[0]
        return given.templated(template, names=self.model_.feature_names)

    def _fitted(self, sequences: Sequences, progress: Progress) -> Fit[ConditionalRandomFieldModel, FeatureSet]:
        return fit_conditional(
            sequences,
            c2=self.c2,
            pairs=self.pairs,
            with_start=self.start_weights,
            tolerance=self.tol,
            max_iterations=self.max_iter,
            progress=progress,
        )

    def _search_answered(self, data: Sequences, progress: Progress) -> tuple[ConditionalFamily, dict[str, Any]]:
        family = ConditionalFamily(
            data.evidence.classes, self.c2, self.pairs, self.start_weights, self.tol, int(self.max_iter)
        )
        return family, {"unlabeled_weight": 0.0, "tolerance": self.tol, "progress": progress}
