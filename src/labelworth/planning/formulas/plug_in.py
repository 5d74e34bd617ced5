"""The information of one document at a fit, and near it: what a plan plugs in, and what its uncertainty moves."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from scipy.special import logsumexp

from labelworth.arrays import FloatArray
from labelworth.data.samples import Samples
from labelworth.fisher.dense import DenseInformation
from labelworth.fisher.documents.population import DocumentPopulation, enumerated_information
from labelworth.fisher.documents.score_moments import summed_spread
from labelworth.fisher.documents.two_class_formula import two_class_information
from labelworth.models.classes.multinomial import MultinomialModel
from labelworth.models.classes.responsibilities import condition
from labelworth.models.protocol import AnyModel

NearbyMethod = Literal["enumeration", "formula", "draws"]

MOST_PARAMETERS = 600
"""Up to so many, matrices are formed at every parameter that is asked about."""
_QUICK_WORK = 5e7
"""Enumeration is chosen while its products stay below some hundredths of a second."""
_FEWEST_DRAWS = 20_000
_DRAWS_PER_PARAMETER = 50


@dataclass(frozen=True, eq=False)
class NearbyInformation:
    r"""I(f) at any parameters near a fit.

    Exactly where that is quick; else from documents drawn at the fit, the same for all parameters,

    .. math::

        missing(\theta) = \frac{\sum_i w_i(\theta) \operatorname{Var}_\theta(S \mid x_i)}{\sum_i w_i(\theta)}, \qquad
        w_i(\theta) = \frac{p_\theta(x_i)}{p_{\hat\theta}(x_i)}

    so that at the fit every document counts the same, and elsewhere as much as it would be met there. Real documents
    in their place would add their own chance to that of the fit, and intervals would have to know how the two go
    together.
    """

    fitted: AnyModel
    documents: Samples  # Without labels: those drawn, or the real ones where none had to be.
    way: NearbyMethod

    @classmethod
    def of(cls, fitted: AnyModel, samples: Samples, rng: np.random.Generator) -> "NearbyInformation":
        """Choose the way; where documents are real, they are those of `samples`."""
        way: NearbyMethod = "draws"
        if DocumentPopulation(fitted).enumeration_work <= _QUICK_WORK:
            way = "enumeration"
        elif isinstance(fitted, MultinomialModel) and len(fitted.classes) == 2:
            way = "formula"
        d = fitted.coordinates.n_free
        if way == "draws":
            return cls(fitted, fitted.sample(max(_FEWEST_DRAWS, _DRAWS_PER_PARAMETER * d), rng).hide(), way)
        return cls(fitted, samples.hide().weighted(None), way)

    def at(self, model: AnyModel) -> DenseInformation:
        """I(f) at the parameters of `model`."""
        if self.way == "enumeration":
            return enumerated_information(model)
        if self.way == "formula" and isinstance(model, MultinomialModel):
            dense = two_class_information(model).dense
            if dense is not None:
                return dense
        posterior, log_evidence = condition(model.log_joint(self.documents), self.documents.evidence)
        shares = np.exp(log_evidence - self._fitted_evidence)
        shares /= shares.sum()
        missing = summed_spread(model, self.documents, posterior, shares)
        return DenseInformation.of_labels(model.coordinates, model.complete_information(), missing, "sampling")

    @cached_property
    def _fitted_evidence(self) -> FloatArray:
        return np.asarray(logsumexp(self.fitted.log_joint(self.documents), axis=1))
