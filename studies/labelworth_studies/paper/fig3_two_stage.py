"""The first stage of the two-stage algorithm: how well a pilot tells the total variance of the estimate to come.

2000 training posts of 20 Newsgroups are drawn, rescaled to 20 words. A pilot of r of them is labeled, the model is
fitted to all of them, and its parameters are plugged into the formula of the total variance. The truth is what the
formula says at the parameters fitted with all 2000 labels.

Paper: fig:lorem3.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from labelworth.data.counts import as_counts
from labelworth.data.lengths import LengthDistribution
from labelworth.data.samples import Samples
from labelworth.models.classes.multinomial import MultinomialModel
from labelworth.progress import Progress
from labelworth_studies.corpora.newsgroups_documents import newsgroups_digest
from labelworth_studies.corpora.panel_documents import RESCALED_LENGTH, panel_samples
from labelworth_studies.paper.parts.panel_experiment import class_first, fitted_quietly
from labelworth_studies.paper.parts.panel_theory import complete_variance, formula_figures
from labelworth_studies.paper.parts.two_stage_summary import summarize
from labelworth_studies.runner.study import Cell, Result, Study

N_SAMPLES = 2000
PILOTS = (100, 200, 400, 700, 1000, 1300, 1600)
QUICK_PILOTS = (200, 1000, 1600)
FRACTION = 0.5
"""Beside full labels, the labeled fraction at which the formula is evaluated."""
N_DOCUMENTS = 10_000
N_REPLICATES = 20
N_WITH_FRACTION = 3
"""In how many replicates the formula is evaluated at that fraction too; with full labels it is a closed form."""


def cells(quick: bool, seed: int) -> list[dict[str, Any]]:
    """A draw of posts per cell, with all its pilots; the first few also at a fraction below one, with 500 words."""
    if quick:
        return [_cell(500, seed + draw, QUICK_PILOTS, draw < 1) for draw in range(8)]
    return [_cell(500, seed + draw, PILOTS, draw < N_WITH_FRACTION) for draw in range(N_REPLICATES)] + [
        _cell(2000, seed + draw, PILOTS, False) for draw in range(N_REPLICATES)
    ]


def _cell(n_words: int, seed: int, pilots: Sequence[int], with_fraction: bool) -> dict[str, Any]:
    return {
        "n_words": n_words,
        "n_samples": N_SAMPLES,
        "pilots": list(pilots),
        "fractions": [FRACTION, 1.0] if with_fraction else [1.0],
        "n_documents": N_DOCUMENTS,
        "seed": seed,
    }


def compute(cell: Cell) -> Result:
    """The formula at the parameters of every pilot, with and without the unlabeled posts, and of all labels."""
    posts = panel_samples("newsgroups", cell["n_words"], RESCALED_LENGTH)
    rng = np.random.default_rng(cell["seed"])
    order = class_first(posts.evidence.codes, rng.permutation(posts.n_samples))
    return plug_in(posts.take(order[: cell["n_samples"]]), cell)


def plug_in(drawn: Samples, cell: Cell) -> Result:
    """Figures of one sample, n times those of n, by the paper's and the robust formula: at the truth, and by pilot.

    The robust formula, at full labels, also looks at rows, which are the labeled ones.
    """
    n_samples = drawn.n_samples
    truth = fitted_quietly(drawn)
    answer: Result = {
        "truth": _formula(truth, cell) | {"robust_variance": [robust_complete_variance(truth, drawn)]},
        "pilots": [],
        "labels_only": [],
    }
    for size in cell["pilots"]:
        labeled = drawn.take(np.arange(size))
        model = fitted_quietly(drawn.hide(np.arange(size, n_samples)))
        robust = {"robust_variance": [robust_complete_variance(model, labeled)]}
        answer["pilots"].append(_formula(model, cell) | robust)
        alone = fitted_quietly(labeled)
        answer["labels_only"].append(
            {
                "total_variance": [complete_variance(_of_one_length(alone))],
                "robust_variance": [robust_complete_variance(alone, labeled)],
            }
        )
    return answer


def robust_complete_variance(model: MultinomialModel, rows: Samples) -> float:
    r"""The total variance of one labeled sample if rows vary as these do, not as the model would have it.

    A row (x, y) of m words moves the estimate of the tables by

    .. math:: e_y - \pi, \qquad (x - m\, \theta_y) / (\pi_y E m)

    the rows of class y; the total variance is that of these moves (the sandwich, whose bread is diagonal here).
    """
    codes, counts = rows.evidence.codes, as_counts(rows.counts)
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    classes, words = model.class_probabilities, model.word_probabilities
    total = float(np.square(np.eye(len(classes))[codes] - classes).sum(axis=1).mean())
    total -= float(np.square(np.bincount(codes, minlength=len(classes)) / len(codes) - classes).sum())
    scale = classes * lengths.mean()
    for label in np.unique(codes):
        inside = codes == label
        moves = (counts[inside].toarray() - lengths[inside, None] * words[label]) / scale[label]
        share = float(inside.mean())
        total += share * float(np.square(moves).sum(axis=1).mean())
        total -= float(np.square(share * moves.mean(axis=0)).sum())
    return total


def _formula(model: MultinomialModel, cell: Cell) -> dict[str, list[float]]:
    model = _of_one_length(model)
    if cell["fractions"] == [1.0]:
        return {"total_variance": [complete_variance(model)]}
    # The same random numbers for every model: differences are less noisy than figures.
    rng = np.random.default_rng([cell["seed"], cell["n_documents"]])
    formula_at = formula_figures(model, np.array(cell["fractions"]), cell["n_documents"], rng)
    return {
        "total_variance": formula_at.total_variance.values.tolist(),
        "excess_log_loss": formula_at.excess_log_loss.values.tolist(),
    }


def _of_one_length(model: MultinomialModel) -> MultinomialModel:
    lengths = LengthDistribution.single(round(RESCALED_LENGTH))
    return MultinomialModel(model.classes, model.class_probabilities, model.word_probabilities, lengths)


def prepare(progress: Progress) -> None:
    """Say what comes first, and fail at once where the corpus is missing."""
    progress.say("Reading and counting the newsgroup posts, once per process.")
    panel_samples("newsgroups", 500, RESCALED_LENGTH)


STUDY = Study(
    name="fig3-two-stage",
    title="The two-stage algorithm on 20 Newsgroups: the plug-in total variance against pilot size",
    cells=cells,
    compute=compute,
    summarize=summarize,
    version=3,
    corpora=("newsgroups",),
    data_digest=newsgroups_digest,
    prepare=prepare,
)
