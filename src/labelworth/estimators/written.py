"""Models that people write themselves: log p(x, y) as a function, and everything else follows."""

import hashlib
import os
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from labelworth.arrays import UNLABELED, FloatArray
from labelworth.data.answers import Answers
from labelworth.data.counts import as_vectors
from labelworth.data.evidence import encode_labels
from labelworth.data.rows import n_rows
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError, LabelworthWarning
from labelworth.estimation.fit import Fit
from labelworth.estimation.starts import counting
from labelworth.estimators.classifier import GenerativeClassifier
from labelworth.models.doors import require_classes
from labelworth.models.protocol import AnyFamily
from labelworth.progress import SILENT, Progress

if TYPE_CHECKING:
    from labelworth.estimators.pools.documents import DocumentPool
    from labelworth.models.written.model import Written, WrittenDensity
    from labelworth.robust.check import CheckReport

_FUNCTIONS = ("log_joint", "maximize", "sample", "log_prior")
_FARTHEST = 1e100
"""No parameter of anything measured is so large, and squares of it do not overflow yet."""
_CLIMBED = 50.0
"""Nats per row: a density of as much as e^50 at every row is none, where a parameter has run off besides."""
_STILL_TO_GAIN = 100.0
"""Times the tolerance: an M-step that stands still while the likelihood climbs is none."""


class WrittenModel(GenerativeClassifier):
    r"""A model of p(x, y) that you write, learned from labeled, unlabeled and ambiguous rows.

    It needs the extra ``labelworth[jax]``: scores and curvatures are the derivatives of your function, by JAX, in
    doubles. What is compiled is kept for the function, so give the same function again, not a new one in each call.

    Parameters
    ----------
    log_joint : callable
        ``log_joint(parameters, x)`` gives log p(x, y) of one row x, shape (n_features,), for all classes, shape
        (n_classes,). Written with ``jax.numpy``; minus infinity where a class cannot be.
    start : dict, list or tuple of arrays, nested in any way
        Parameters from which fits begin; lists of plain numbers are arrays. Classes that begin alike stay alike:
        begin with different ones.
    classes : sequence
        What the entries of `log_joint` stand for, in order.
    constraints : mapping, optional
        By the names of leaves, "free" (unless said otherwise), "positive", or "simplex": probabilities along the last
        axis. Names are as in ``{"means": .., "noise": {"scale": ..}}``: "means", "noise.scale"; in lists and tuples
        "parameters[0]".
    maximize : callable, optional
        The M-step: ``maximize(responsibilities, X, weights)`` gives the parameters that maximize
        :math:`\sum_i w_i \sum_k r_{ik} \log p(x_i, k)`, plus `log_prior`. With it EM is used; without it the
        likelihood is climbed by L-BFGS.
    sample : callable, optional
        ``sample(parameters, n, rng)`` draws n rows X, shape (n, n_features), and their class codes, shape (n,), with
        a generator of NumPy. Without it, and without `support`, the rows of the data are taken for all x there are.
    support : array of shape (n, n_features), optional
        Every x there is, once. Information is then summed over them, exactly; log p(x, y) needs all its terms, also
        those without parameters.
    log_prior : callable, optional
        ``log_prior(parameters)``, a number that is added to the log-likelihood.
    unlabeled_weight, max_iter, tol, n_init, accelerate, unlabeled, random_state
        As in `MultinomialNaiveBayes`. Ten iterations of L-BFGS count as one; further starts are near the given one.

    Attributes
    ----------
    classes_, model_, fit_, n_iter_, converged_, n_features_in_, feature_names_in_
        As in `MultinomialNaiveBayes`; ``model_.parameters`` is the fitted tree.

    Notes
    -----
    docs/models_you_write.md does it for Student-t classes, mixtures of Gaussians and counts with too many zeros.
    """

    start_smoothing: float = 1.0

    def __init__(
        self,
        log_joint: Callable[[Any, Any], Any],
        start: Any,
        *,
        classes: Sequence[Hashable],
        constraints: Mapping[str, str] | None = None,
        maximize: Callable[..., Any] | None = None,
        sample: Callable[..., Any] | None = None,
        support: Any = None,
        log_prior: Callable[[Any], Any] | None = None,
        unlabeled_weight: float = 1.0,
        max_iter: int = 1000,
        tol: float = 1e-6,
        n_init: int = 1,
        accelerate: bool = True,
        unlabeled: Hashable = UNLABELED,
        random_state: Any = None,
    ) -> None:
        self.log_joint = log_joint
        self.start = start
        self.classes = classes
        self.constraints = constraints
        self.maximize = maximize
        self.sample = sample
        self.support = support
        self.log_prior = log_prior
        self.unlabeled_weight = unlabeled_weight
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.accelerate = accelerate
        self.unlabeled = unlabeled
        self.random_state = random_state

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **GenerativeClassifier._parameter_constraints,
        "log_joint": [callable],
        "maximize": [callable, None],
        "sample": [callable, None],
        "log_prior": [callable, None],
        "constraints": [Mapping, None],
    }

    def at(self, parameters: Any = None, *, n_features: int | None = None) -> "WrittenDensity":
        """The model at given parameters, those of `start` when absent, for `labelworth.information`.

        Parameters
        ----------
        n_features : int, optional
            How long a row is; read off `support` or `sample` when absent.
        """
        from labelworth.models.written.family import WrittenFamily

        self.require_parameters()
        written = self._written()
        arrays = written.tree.flattened(self.start if parameters is None else parameters, "You")
        if n_features is None and written.support is not None:
            n_features = written.support.shape[1]
        if n_features is None:
            if self.sample is None:
                raise InvalidInputError("Say how long a row is: n_features=, or give sample= or support=.")
            rows = written.derivatives.called(self.sample, written.tree.built(arrays), 1, np.random.default_rng(0))[0]
            n_features = int(np.shape(rows)[-1])
        return WrittenFamily(written, n_features, arrays).neutral()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Refused: a model file holds no code. Keep ``model_.parameters`` and give them as the start."""
        raise InvalidInputError(
            "A model that you wrote is a function, and files of labelworth hold no code. Keep model_.parameters and "
            "give them as the start of the same WrittenModel."
        )

    def _written(self) -> "Written":
        from labelworth.models.written.model import Written
        from labelworth.models.written.tree import ParameterTree

        support = None if self.support is None else as_vectors(self.support, name="support")
        if support is not None and len(np.unique(support, axis=0)) != len(support):
            raise InvalidInputError("support must list every x once. Some x stand there twice.")
        return Written(
            self.log_joint,
            ParameterTree.of(self.start, self.constraints),
            require_classes(tuple(self.classes)),
            self.sample,
            support,
            self.maximize,
            self.log_prior,
        )

    def _family(self, samples: Samples) -> AnyFamily:
        from labelworth.models.written.family import WrittenFamily

        written = self._written()
        start = written.tree.flattened(self.start, "start")
        return WrittenFamily(written, samples.n_features, start, samples.feature_names)

    def _features(self, X: Any) -> FloatArray:
        return as_vectors(X)

    def _read_to_fit(self, X: Any, y: Any, sample_weight: Any) -> Samples:
        if y is None:
            raise InvalidInputError("Give y, one entry per row, with a marker for the rows whose class was not seen.")
        return self._samples(
            X, lambda: encode_labels(y, classes=tuple(self.classes), unlabeled=self.unlabeled), sample_weight
        )

    def _read_answered(self, X: Any, y: Any, sample_weight: Any, answers: Answers) -> Samples:
        return self._read_to_fit(X, [None] * n_rows(X) if y is None else y, sample_weight)

    def _read_as_known(self, X: Any, y: Any, classes: Sequence[Hashable] | None) -> Samples:
        if classes is not None and tuple(classes) != tuple(self.classes):
            raise InvalidInputError(
                f"The model has the classes {tuple(self.classes)!r}, in this order. Got classes={tuple(classes)!r}; "
                "leave them out."
            )
        return super()._read_as_known(X, y, tuple(self.classes))

    def _fitted(self, data: Samples, progress: Progress) -> Fit[Any, Any]:
        fitted = super()._fitted(data, progress)
        counted, weights = counting(data, self.unlabeled_weight)
        names = fitted.family.at_the_edge(fitted.model, counted, weights)
        if names:
            warnings.warn(
                f"The fit has run to an edge: the rows say nothing any more of {', '.join(names[:6])}"
                f"{', ..' if len(names) > 6 else ''}. Give more rows, fewer parameters, or a log_prior.",
                LabelworthWarning,
                stacklevel=3,
            )
        if self.maximize is not None and fitted.converged:
            gain, name = fitted.family.still_climbing(fitted.model, counted, weights)
            if gain > _STILL_TO_GAIN * self.tol:
                raise InvalidInputError(
                    f"maximize stands still where the likelihood still climbs along {name} (by {gain:.2g} nats per "
                    "row): it is no M-step of log_joint (and log_prior). Leave it out, and the likelihood is climbed "
                    "along its slope."
                )
        return fitted

    def _fit_of(self, family: AnyFamily, data: Samples, progress: Progress) -> Fit[Any, Any]:
        with np.errstate(over="ignore", invalid="ignore"):
            # What overflows is refused below, by its name.
            fitted = super()._fit_of(family, data, progress)
        tables, tree = fitted.model.tables, fitted.model.written.tree
        away = [leaf for leaf in tree.leaves if not np.abs(tables[leaf.name]).max(initial=0.0) < _FARTHEST]
        # A parameter may also run off where nothing is seen of it: then the likelihood does not climb with it.
        if away and not fitted.log_likelihood < _CLIMBED * data.n_samples:
            names, be = ", ".join(leaf.name for leaf in away), "are" if len(away) > 1 else "is"
            raise InvalidInputError(
                f"The likelihood has no bound: it still climbs where {names} {be} beyond {_FARTHEST:g}. Is log_joint "
                f"normalized for all {names} that the constraints allow? Constrain probabilities as simplex, in "
                "constraints=, or give a log_prior."
            )
        return fitted

    def _require_normalized(self, model: "WrittenDensity") -> None:
        """Refuse a density without the mass 1 where somebody says which x there are."""
        if self.sample is not None:
            model.sample(1, np.random.default_rng(0))
        elif self.support is not None:
            from labelworth.fisher.documents.population import enumerate_outcomes

            enumerate_outcomes(model)

    def _checked(self, data: Samples, **options: Any) -> "CheckReport":
        # What is no density has no fits to compare.
        self._require_normalized(self._fit_of(self._family(data), data, SILENT).model)
        return super()._checked(data, **options)

    def _pool(self, data: Samples, progress: Progress) -> "DocumentPool":
        settings = self.get_params(deep=False)
        described = {
            name: _described(value) if name in _FUNCTIONS else repr(value) for name, value in settings.items()
        }
        pool = super()._pool(data, progress)
        self._require_normalized(pool.model)
        return replace(pool, settings=described)


def _described(function: Any) -> str:
    """A function as a checkpoint knows it again: its name and its compiled lines."""
    code = getattr(function, "__code__", None)
    if code is None:
        return repr(function)
    content = code.co_code + repr((code.co_consts, code.co_names)).encode()
    return f"{function.__module__}.{function.__qualname__} {hashlib.sha256(content).hexdigest()}"
