r"""Model and annotators in turns, where a model of p(y | x) is known by its fits: a CRF, any classifier.

The objective is that of `labelworth.estimation.answered` with p(y | x) for p(x, y),

.. math:: \sum_i w_i \log \sum_y p_\theta(y | x_i)\, e_i(y) \prod_{a} \sum_v e_{ia}(v)\, q_a(v | y)
    + \log \text{prior}(\theta) + \log \text{prior}(q)

One turn fits the model to the evidence that answers are through the confusions of today, from where it was, and then
takes the confusions from what the model and the answers say of the classes. Neither lowers the objective where the
model's own step does not. What has no answer and no label teaches such a model nothing, and is left out.
"""

from collections.abc import Hashable
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.estimation.answered import (
    AnsweredFamily,
    AnsweredModel,
    audited_confusions,
    posteriors,
    require_answers,
    scaled_evidence,
)
from labelworth.estimation.fit import Fit
from labelworth.estimation.starts import counting
from labelworth.progress import SILENT, Progress, tracking

_SETTLED = 5e-3
"""Of models without a likelihood: the mean change of a posterior below which a turn has changed nothing."""


@runtime_checkable
class SteppedFamily(Protocol):
    """A kind of model of p(y | x) that is fitted by code of its own."""

    @property
    def classes(self) -> tuple[Hashable, ...]: ...

    @property
    def climbs(self) -> bool:
        """Whether `stepped` never lowers the objective; else nobody can say where turns lead."""

    def stepped(self, data: Any, weights: FloatArray, before: Any, /) -> Any:
        """The model fitted to the evidence of the data, from where it was `before`; None at first."""

    def log_likelihood(self, model: Any, data: Any, weights: FloatArray, /) -> float:
        """Of the evidence given x."""

    def log_prior(self, model: Any, /) -> float: ...


def fit_in_turns(
    family: AnsweredFamily[Any, Any],
    data: Any,
    *,
    max_turns: int = 50,
    tolerance: float = 1e-5,
    progress: Progress = SILENT,
    unlabeled_weight: float = 0.0,
) -> Fit[AnsweredModel[Any], Any]:
    """Fit a `SteppedFamily` and those who answer together.

    Parameters
    ----------
    family : AnsweredFamily
        Its inner family is a `SteppedFamily`.
    max_turns : int
        At most so many.
    tolerance : float
        Stop when a turn gains less than this many nats per unit of weight of what is known; where the model
        has no likelihood, when posteriors change by less than half a hundredth in the mean.
    unlabeled_weight : float
        Of samples that have neither a label nor an answer; such models learn nothing from them.
    """
    inner: Any = family.inner
    annotators = family.annotators
    data, weights = counting(data, unlabeled_weight)
    votes = annotators.votes(require_answers(data))
    row_weights = weights[np.repeat(np.arange(data.n_samples), data.lengths)[votes.positions]]
    begun: tuple[Any, FloatArray] | None = family.begun
    model, confusions = begun or (None, audited_confusions(annotators, data, weights))
    least = tolerance * float(weights[data.is_labeled].sum())
    shares = np.zeros((votes.n_rows, annotators.n_classes))
    path, likelihood, converged = list[float](), -np.inf, False
    with tracking(progress, "Learning from answers", None) as task:
        while not converged and len(path) < max_turns:
            if path:
                counted = (shares * row_weights[:, None])[votes.row]
                confusions = annotators.maximize(votes.counts(confusions, votes.likelihood(confusions), counted))
            evidence, scales = scaled_evidence(annotators, confusions, data)
            known = replace(data, evidence=evidence, answers=None)
            model = inner.stepped(known, weights, model)
            likelihood = inner.log_likelihood(model, known, weights) + float(row_weights @ scales)
            path.append(likelihood + inner.log_prior(model) + annotators.log_prior(confusions))
            before, shares = shares, posteriors(model, known)[votes.positions]
            change = float(np.abs(shares - before).mean()) if votes.n_rows else 0.0
            gain = path[-1] - path[-2] if len(path) > 1 else np.inf
            converged = gain < least if inner.climbs else change < _SETTLED
            task.advance(1, note=f"objective {path[-1]:.4f}")
    fitted: AnsweredModel[Any] = AnsweredModel(model, annotators, confusions, np.ones(confusions.shape[:2]))
    return Fit(
        fitted,
        family,
        np.array(path),
        likelihood,
        bool(converged),
        len(path),
        len(path),
        np.array(path[-1:]),
        unlabeled_weight,
    )
