"""One fit under a labeling policy, and what the theory says of the policies: the cells of the policy ranking.

The task is CoNLL-2000 made small enough for the theory to be computed without shortcuts: chunks of nouns and verbs
(five labels; all others are O), and parts of speech instead of words.
"""

from collections import Counter
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from labelworth.criteria.policy_information import policy_information
from labelworth.data.readers.raw_sequences import RawTokens
from labelworth.data.sequences import Sequences
from labelworth.data.tokens.attributes import extract_attributes
from labelworth.data.tokens.lexicon import Lexicon
from labelworth.data.tokens.templates import Template
from labelworth.errors import NotIdentifiableError
from labelworth.estimation.boltzmann_chain_fit import fit_boltzmann_chain
from labelworth.estimation.conditional_fit import fit_conditional
from labelworth.evaluation.sequences import evaluate_labels
from labelworth.models.chains.boltzmann_chain import BoltzmannChainFamily, BoltzmannChainModel
from labelworth.models.chains.crf_features import feature_set
from labelworth.models.chains.protocol import ChainModel
from labelworth.policies.policy import Policy
from labelworth.policies.spec import parse_policy
from labelworth_studies.corpora.folder import conll2000
from labelworth_studies.evaluation.perplexity import evaluate_log_perplexity
from labelworth_studies.robust.chain_risk import ShownPopulation, sequence_risk
from labelworth_studies.runner.study import Cell, Result

Kind = Literal["boltzmann-chain", "crf"]

KEPT_CHUNKS = ("NP", "VP")
RARE_TAG = "other"
MIN_TAG_COUNT = 2000
MIN_PAIR_COUNT = 100
"""How often an attribute and a label, or two labels, occur in all training sentences to have a weight in the CRF."""
PENALTY = 0.1
"""Of both models: as weak as keeps rare pairs finite."""
_TEMPLATE = Template.of([f"p[{row}]=%x[{row},0]" for row in (-1, 0, 1)])
_FIT_TOLERANCE = 1e-7


def windows_of_five(length: int) -> list[tuple[float, list[int]]]:
    """Five labeled tokens, five not, and so on, from a position drawn at random: half of all tokens on average."""
    return [(0.1, [t for t in range(length) if (t + shift) // 5 % 2 == 0]) for shift in range(10)]


def policy_of(spec: str) -> Policy:
    """A policy by its text; ``windows-of-5`` is one of the rules."""
    return parse_policy(spec, own={"windows-of-5": windows_of_five})


@lru_cache(maxsize=2)
def sentences(kind: Kind, split: str) -> Sequences:
    """The sentences as a model takes them: a part of speech per token, or those of three tokens as attributes."""
    train = conll2000("train")
    counts = Counter(train.columns[1])
    lexicon = Lexicon(tuple(tag for tag, count in counts.items() if count >= MIN_TAG_COUNT))
    raw = _simplified(train if split == "train" else conll2000("test"), set(lexicon.words))
    classes = tuple(sorted(set(_simplified(train, set()).labels)))
    if kind == "boltzmann-chain":
        names = (*lexicon.words, RARE_TAG)
        codes = Lexicon(names, rare="none").encode(raw.columns[0])
        return Sequences(codes, raw.offsets, raw.evidence(classes), names)
    known = None if split == "train" else sentences(kind, "train").feature_names
    attributes = extract_attributes(_TEMPLATE, raw.columns, raw.offsets, names=known)
    return Sequences(attributes.rows, raw.offsets, raw.evidence(classes), attributes.names)


def fitted(kind: Kind, train: Sequences) -> ChainModel:
    """The fit of a model whose parameters do not depend on what a policy happens to label."""
    if kind == "boltzmann-chain":
        family = BoltzmannChainFamily.for_sequences(train, penalty=PENALTY, with_start=False)
        return fit_boltzmann_chain(family, train, tolerance=_FIT_TOLERANCE).model
    weights = feature_set(sentences(kind, "train"), min_count=MIN_PAIR_COUNT)
    return fit_conditional(train, c2=PENALTY, pairs=weights, tolerance=_FIT_TOLERANCE).model


def compute(cell: Cell) -> Result:
    """A cell of any sort: what a formula says, the fit to everything, or a fit under a policy."""
    kind: Kind = cell["kind"]
    if cell["sort"] == "theory":
        return _theory(kind, cell["policies"], cell["n_sentences"], cell["seed"], cell.get("max_draws"))
    train = sentences(kind, "train")
    if cell["sort"] == "robust":
        chosen = np.random.default_rng(cell["seed"]).permutation(train.n_sequences)[: cell.get("n_population")]
        return _robust(train.take(np.sort(chosen)), cell["policy"], cell["n_sentences"], cell["seed"])
    if cell["sort"] == "limit":
        return _scores(fitted(kind, train), sentences(kind, "test"))
    rows = np.random.default_rng(cell["seed"]).permutation(train.n_sequences)[: cell["n_sentences"]]
    drawn, draw = policy_of(cell["policy"]).apply(train.take(rows), cell["seed"])
    model = fitted(kind, drawn)
    return {"labeled_share": draw.n_labels / drawn.n_tokens, **_scores(model, sentences(kind, "test"))}


def _theory(kind: Kind, policies: list[str], n_sentences: int, seed: int, max_draws: int | None) -> Result:
    """Figures of every policy at the fit to all training sentences with all their labels."""
    train = sentences(kind, "train")
    table = policy_information(
        fitted(kind, train),
        policies=[policy_of(policy) for policy in policies],
        n_samples=n_sentences,
        inputs=train.hide(),
        method="sampling",
        seed=seed,
        relative_error=0.05,
        max_draws=max_draws,
    )
    points: list[dict[str, Any]] = []
    for point in table.points:
        values = point.to_dict()
        values.pop("weak_directions")
        points.append(values)
    return {"points": points, "method": table.method, "notes": list(table.notes)}


def _robust(train: Sequences, policy: str, n_sentences: int, seed: int) -> Result:
    """Excess of a Boltzmann chain fitted to real sentences, bias and noise; None where there is no maximum."""
    population = ShownPopulation.of(train, policy_of(policy), np.random.default_rng(seed))
    target = fitted("boltzmann-chain", train)
    assert isinstance(target, BoltzmannChainModel)
    try:
        [risk] = sequence_risk(target, population, [n_sentences], penalty=PENALTY)
    except NotIdentifiableError:
        return {"joint": None, "conditional": None}
    return dict(risk.excess)


def _scores(model: ChainModel, test: Sequences) -> dict[str, Any]:
    evaluated = evaluate_labels(model.best_labels(test.hide()), test)
    assert evaluated.chunks is not None
    perplexity = evaluate_log_perplexity(model, test)
    return {
        "f1": evaluated.chunks.overall.f1,
        "conditional": perplexity.conditional.per_sequence,
        "joint": None if perplexity.joint is None else perplexity.joint.per_sequence,
    }


def _simplified(raw: RawTokens, tags: set[str]) -> RawTokens:
    """Chunks of nouns and verbs only; parts of speech outside `tags` become one."""
    labels = [label if label.partition("-")[2] in KEPT_CHUNKS else "O" for label in raw.labels]
    column = tuple(tag if tag in tags else RARE_TAG for tag in raw.columns[1])
    return RawTokens((column,), ("part of speech",), 0, raw.offsets, tuple(labels), raw.source)
