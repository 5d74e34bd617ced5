"""One fit to sentences labeled whole with some probability, and the limit: the cells of the chunking panels.

The task is CoNLL-2000 made small enough for the theory to be computed at the fitted model: chunks of nouns and verbs
(five labels; all others are O); words that occur `MIN_WORD_COUNT` times or more in the training sentences keep an
entry of their own, all others share one of seven by what they look like (`labelworth.data.tokens.lexicon.shape`).
"""

from functools import lru_cache
from typing import Any, Literal

import numpy as np

from labelworth.data.readers.raw_sequences import RawTokens
from labelworth.data.sequences import Sequences
from labelworth.data.tokens.lexicon import Lexicon
from labelworth.estimation.boltzmann_chain_fit import fit_boltzmann_chain
from labelworth.estimation.conditional_fit import fit_conditional
from labelworth.evaluation.sequences import evaluate_labels
from labelworth.models.chains.boltzmann_chain import BoltzmannChainFamily
from labelworth.models.chains.crf_features import feature_set
from labelworth.models.chains.protocol import ChainModel
from labelworth.policies.spec import parse_policy
from labelworth_studies.corpora.folder import conll2000
from labelworth_studies.evaluation.perplexity import evaluate_log_perplexity
from labelworth_studies.paper.parts.chunk_panel_robust import robust_excess
from labelworth_studies.paper.parts.chunk_panel_theory import paper_excess
from labelworth_studies.robust.curvature import WordModel
from labelworth_studies.runner.study import Cell, Result

Kind = Literal["boltzmann-chain", "crf"]

KEPT_CHUNKS = ("NP", "VP")
MIN_WORD_COUNT = 500
MIN_PAIR_COUNT = 10
"""How often a word beside a label, or two labels, occur in all training sentences to have a weight in the CRF."""
PENALTY = 0.1
"""Of both models, times the sum of the squared weights."""
CELLS_VERSION = 2
_FIT_TOLERANCE = 1e-5


def policy_spec(whole: float, otherwise: str) -> str:
    """Label the whole sentence with probability `whole`, else by the rule `otherwise`."""
    return "everything" if whole == 1 else f"{whole:g}*everything + {1 - whole:.10g}*{otherwise}"


@lru_cache(maxsize=2)
def sentences(split: str) -> Sequences:
    """The sentences as both models take them; kept for the next cell of the same process."""
    train = _simplified(conll2000("train"))
    lexicon = Lexicon.from_words(train.words, min_count=MIN_WORD_COUNT, rare="shapes")
    raw = train if split == "train" else _simplified(conll2000("test"))
    return raw.sequences(lexicon, tuple(sorted(set(train.labels))))


def fitted(kind: Kind, train: Sequences) -> WordModel:
    """The fit of a model whose parameters do not depend on what a policy happens to label."""
    if kind == "boltzmann-chain":
        family = BoltzmannChainFamily.for_sequences(train, penalty=PENALTY, with_start=False)
        return fit_boltzmann_chain(family, train, tolerance=_FIT_TOLERANCE).model
    weights = feature_set(sentences("train"), min_count=MIN_PAIR_COUNT)
    return fit_conditional(train, c2=PENALTY, pairs=weights, tolerance=_FIT_TOLERANCE).model


@lru_cache(maxsize=2)
def limit_model(kind: Kind) -> WordModel:
    """The fit to all training sentences with all their labels."""
    return fitted(kind, sentences("train"))


def compute(cell: Cell) -> Result:
    """A cell of any sort: a fit under a policy, the fit to everything, or what a formula says there.

    Draws with the same seed share their order: fewer sentences are the first of more, and those labeled whole with a
    smaller probability are among those of a larger one.
    """
    kind: Kind = cell["kind"]
    train = sentences("train")
    if cell["sort"] == "limit":
        return _scores(limit_model(kind), sentences("test"))
    if cell["sort"] == "theory":
        policies = [parse_policy(spec) for spec in cell["policies"]]
        return paper_excess(limit_model(kind), train.hide(), policies, n_draws=cell["n_draws"], seed=cell["seed"])
    if cell["sort"] == "robust":
        chosen = np.random.default_rng(cell["seed"]).permutation(train.n_sequences)[: cell["n_population"]]
        population = train.take(np.sort(chosen))
        target = fitted(kind, population) if cell["n_population"] < train.n_sequences else limit_model(kind)
        return robust_excess(
            target, population, parse_policy(cell["policy"]), cell["sizes"], penalty=PENALTY, seed=cell["seed"]
        )
    rows = np.random.default_rng(cell["seed"]).permutation(train.n_sequences)[: cell["n_sentences"]]
    drawn, draw = parse_policy(cell["policy"]).apply(train.take(rows), cell["seed"])
    return {"n_labels": draw.n_labels, **_scores(fitted(kind, drawn), sentences("test"))}


def _scores(model: ChainModel, test: Sequences) -> dict[str, Any]:
    evaluated = evaluate_labels(model.best_labels(test.hide()), test)
    assert evaluated.chunks is not None
    perplexity = evaluate_log_perplexity(model, test)
    return {
        "conditional": perplexity.conditional.per_sequence,
        "joint": None if perplexity.joint is None else perplexity.joint.per_sequence,
        "token_error": 1 - evaluated.accuracy,
        "f1": evaluated.chunks.overall.f1,
    }


def _simplified(raw: RawTokens) -> RawTokens:
    """Chunks of nouns and verbs only."""
    return raw.with_labels([label if label.partition("-")[2] in KEPT_CHUNKS else "O" for label in raw.labels])
