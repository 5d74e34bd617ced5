"""Log-perplexity against labeled tokens under the policies "the whole sentence with probability p, otherwise ..."."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from labelworth.progress import Progress
from labelworth_studies.corpora.chunking_data import conll2000_digest
from labelworth_studies.paper.parts.chunk_panel_fit import CELLS_VERSION, compute, policy_spec, sentences
from labelworth_studies.paper.parts.chunk_panel_summary import summarize_chain
from labelworth_studies.runner.study import Study

SIZES = (100, 200, 400, 700)
SHARES = (0.1, 0.2, 0.35, 0.5, 0.75, 1.0)
"""How probable it is that a sentence is labeled whole; at 1 there is nothing else."""
N_DRAWS = 5
THEORY_DRAWS = {"boltzmann-chain": 1 << 15, "crf": 1 << 14}
"""Of the paper's formula. A Boltzmann chain draws words too, and some pairs of a word and a label hardly ever."""
POPULATION = 3000
"""Training sentences that the robust formula speaks of: a random third, as all of them take three times as long."""
QUICK_SIZES = (100, 400)
QUICK_SHARES = (0.1, 0.5, 1.0)
QUICK_DRAWS = 2
QUICK_THEORY_DRAWS = {"boltzmann-chain": 1 << 13, "crf": 1 << 12}
QUICK_POPULATION = 1000
CELLS_NAME = "chunk-panels"
"""The panels share their cells: sentences that are all labeled whole are the same in each."""


def cells(quick: bool, seed: int, *, kind: str, rules: Sequence[str]) -> list[dict[str, Any]]:
    """The limit, every number of sentences with every policy on the same draws, and both formulas."""
    sizes, shares = (QUICK_SIZES, QUICK_SHARES) if quick else (SIZES, SHARES)
    specs = list(dict.fromkeys(policy_spec(share, rule) for rule in rules for share in shares))
    grid: list[dict[str, Any]] = [{"sort": "limit", "kind": kind}]
    grid += [
        {"sort": "fit", "kind": kind, "policy": spec, "n_sentences": size, "seed": seed + draw}
        for draw in range(QUICK_DRAWS if quick else N_DRAWS)
        for size in sizes
        for spec in specs
    ]
    n_draws = (QUICK_THEORY_DRAWS if quick else THEORY_DRAWS)[kind]
    grid.append({"sort": "theory", "kind": kind, "policies": specs, "n_draws": n_draws, "seed": seed})
    grid += [
        {
            "sort": "robust",
            "kind": kind,
            "policy": spec,
            "sizes": list(sizes),
            "n_population": QUICK_POPULATION if quick else POPULATION,
            "seed": seed,
        }
        for spec in specs
    ]
    return grid


def prepare(progress: Progress) -> None:
    """Say what comes first, and fail at once where the corpus is missing."""
    progress.say("Reading 10 948 sentences, once per process.")
    sentences("train")


def boltzmann_study(name: str, title: str, rule: str) -> Study:
    """The panel of a Boltzmann chain for sentences that are labeled by `rule` unless whole."""
    return Study(
        name=name,
        title=title,
        cells=partial(cells, kind="boltzmann-chain", rules=(rule,)),
        compute=compute,
        summarize=partial(summarize_chain, rule=rule),
        version=CELLS_VERSION,
        corpora=("conll2000",),
        data_digest=conll2000_digest,
        prepare=prepare,
        cells_name=CELLS_NAME,
    )
