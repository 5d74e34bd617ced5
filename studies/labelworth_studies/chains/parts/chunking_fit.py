"""One fit to CoNLL-2000 and how well it tags: the cell of the chunking studies."""

from dataclasses import asdict, dataclass
from typing import Any, Literal, cast

import numpy as np

from labelworth.data.sequences import Sequences
from labelworth.estimation.boltzmann_chain_fit import fit_boltzmann_chain
from labelworth.estimation.conditional_fit import fit_conditional
from labelworth.estimation.fit import fit
from labelworth.evaluation.sequences import evaluate_chunks
from labelworth.models.chains.boltzmann_chain import BoltzmannChainFamily
from labelworth.models.chains.crf_features import Pairs
from labelworth.models.chains.hidden_markov import HiddenMarkovFamily
from labelworth.models.chains.protocol import ChainModel
from labelworth_studies.corpora.chunking_data import AttributeChoice, Divided, Division, with_attributes, with_words
from labelworth_studies.evaluation.perplexity import evaluate_log_perplexity
from labelworth_studies.runner.study import Cell, Result

_TOLERANCE = 1e-5
"""Nats per sentence that ten iterations of L-BFGS may still gain."""

Kind = Literal["crf", "hidden-markov", "boltzmann-chain"]


@dataclass(frozen=True)
class Settings:
    """A model and how it is fitted."""

    kind: Kind  # Which model.
    # Of the prior: c2 of the CRF, the penalty of the Boltzmann chain, the smoothing of the emissions of the
    # HMM.
    strength: float
    min_count: int = 1  # Words or attributes that occur less often have no weight of their own.
    template: str = ""  # Of the CRF: its template, and which pairs of attribute and label have weights.
    pairs: str = ""

    @property
    def in_words(self) -> str:
        """For tables."""
        if self.kind == "crf":
            cut = f", attributes in {self.min_count} tokens or more" if self.min_count > 1 else ""
            return f"CRF, template {self.template!r}, {self.pairs} pairs{cut}"
        name = {"hidden-markov": "hidden Markov", "boltzmann-chain": "Boltzmann chain"}[self.kind]
        return f"{name}, words in {self.min_count} tokens or more"


def cell_of(division: Division, settings: Settings) -> dict[str, Any]:
    """What one cell is asked."""
    return {"division": division, "settings": asdict(settings)}


def compute(cell: Cell) -> Result:
    """Fit to the training sentences of the division, and test."""
    settings = Settings(**cell["settings"])
    divided = data_of(cell["division"], settings)
    model, fitted = fit_model(settings, divided.train)
    return {**fitted, **scores(model, divided)}


def data_of(division: Division, settings: Settings) -> Divided:
    """The sentences as the model takes them."""
    if settings.kind == "crf":
        return with_attributes(division, AttributeChoice(settings.template, settings.min_count))
    return with_words(division, settings.min_count)


def fit_model(settings: Settings, train: Sequences) -> tuple[ChainModel, dict[str, Any]]:
    """The fitted model, and how the fit went."""
    result_of_fit: Any
    if settings.kind == "crf":
        pairs = cast(Pairs, settings.pairs)
        result_of_fit = fit_conditional(train, c2=settings.strength, pairs=pairs, tolerance=_TOLERANCE)
        n_parameters = result_of_fit.model.features.n_weights
    elif settings.kind == "boltzmann-chain":
        chain = BoltzmannChainFamily.for_sequences(train, penalty=settings.strength)
        result_of_fit = fit_boltzmann_chain(chain, train, tolerance=_TOLERANCE, max_iterations=5000)
        n_parameters = result_of_fit.model.coordinates.n_free
    else:
        result_of_fit = fit(HiddenMarkovFamily.for_sequences(train, smoothing=settings.strength), train)
        n_parameters = result_of_fit.model.coordinates.n_free
    return result_of_fit.model, {
        "n_parameters": n_parameters,
        "objective": result_of_fit.objective,
        "converged": result_of_fit.converged,
        "n_iterations": result_of_fit.n_iterations,
        "n_evaluations": result_of_fit.n_evaluations,
    }


def scores(model: ChainModel, divided: Divided) -> dict[str, Any]:
    """How well the model tags the test sentences, of which it is shown no label.

    Chunks are counted against all labels; log-perplexity is that of the sentences all of whose labels the training
    sentences have.
    """
    test = divided.test
    predicted = [str(model.classes[code]) for code in model.best_labels(test.hide())]
    chunks = evaluate_chunks(divided.test_tags, predicted, test.offsets)
    known = np.logical_and.reduceat(test.evidence.is_gold, test.offsets[:-1])
    perplexity = evaluate_log_perplexity(model, test.take(known))
    return {
        "f1": chunks.overall.f1,
        "precision": chunks.overall.precision,
        "recall": chunks.overall.recall,
        "accuracy": chunks.accuracy,
        "conditional_log_perplexity": perplexity.conditional.per_token,
        "conditional_log_perplexity_se": perplexity.conditional.per_token_se,
        "joint_log_perplexity": None if perplexity.joint is None else perplexity.joint.per_token,
        "joint_log_perplexity_se": None if perplexity.joint is None else perplexity.joint.per_token_se,
    }
