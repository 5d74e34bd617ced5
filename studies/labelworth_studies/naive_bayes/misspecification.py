"""When the model is wrong: realized errors of real text against the paper's formula and the robust one.

The estimator is fixed beforehand: multinomial naive Bayes with add-one smoothing of words and classes, documents of
20 tokens, EM from the model of the labeled rows. n rows are drawn with replacement from all documents of a cut, each
labeled by a coin. Errors are those of the class and word probabilities, squared and summed, against the shares in the
whole cut. With few labels the likelihood has several maxima, and formulas speak of the one near the truth: so the
same draws are fitted again from the model of all labels, which leads there.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.data.lengths import LengthDistribution
from labelworth.data.samples import Samples
from labelworth.estimation.fit import fit
from labelworth.fisher.criteria import Weight
from labelworth.fisher.documents.two_class_formula import two_class_information
from labelworth.models.classes.multinomial import MultinomialFamily, MultinomialModel
from labelworth.progress import Progress
from labelworth.robust.specification import specification_test
from labelworth_studies.corpora.two_class_cuts import CUTS, DOCUMENT_LENGTH, cuts_digest, population
from labelworth_studies.naive_bayes.parts.misspecification_summary import NEAR_TRUTH, summarize
from labelworth_studies.robust.risk import Method, full_label_model, misspecified_risk
from labelworth_studies.runner.study import Cell, Result, Study

FRACTIONS = (1.0, 0.7, 0.5, 0.3, 0.2, 0.1, 0.05)
SIZES = (500, 2000)
SIZE_FRACTIONS = (0.5, 0.05)  # where the tests are run on right models too
N_DRAWS = 200
N_TESTS = 20
N_BOOTSTRAP = 39
_TOLERANCE = 1e-8
_TEST_TOLERANCE = 1e-6


def cells(quick: bool, seed: int) -> list[dict[str, Any]]:
    """Per cut and size the two formulas; per fraction the draws and the specification tests, also on right models."""
    cuts = tuple(CUTS)[2:3] if quick else tuple(CUTS)
    sizes, fractions = (SIZES[:1], FRACTIONS[::3]) if quick else (SIZES, FRACTIONS)
    n_draws, n_tests = (40, 5) if quick else (N_DRAWS, N_TESTS)
    grid: list[dict[str, Any]] = []
    for cut in cuts:
        for size in sizes:
            setting = {"cut": cut, "n_samples": size}
            grid.append({"part": "formulas", "fractions": list(fractions), **setting})
            for fraction in fractions:
                at = {**setting, "fraction": fraction, "seed": seed}
                grid += [{"part": part, "n_draws": n_draws, **at} for part in ("draws", NEAR_TRUTH)]
                tests = {"n_draws": n_tests, "n_bootstrap": N_BOOTSTRAP, **at}
                if fraction < 1:
                    grid.append({"part": "tests", **tests})
                if fraction in SIZE_FRACTIONS:
                    grid.append({"part": "tests of a right model", **tests})
    return grid


def compute(cell: Cell) -> Result:
    """One cell."""
    if cell["part"] == "formulas":
        return _formulas(cell)
    if cell["part"] in ("draws", NEAR_TRUTH):
        return _draws(cell)
    return _tests(cell)


def prepare(progress: Progress) -> None:
    """Say what comes first, and fail at once where a corpus is missing."""
    progress.say("Reading 20 Newsgroups and Reuters R52, once per process and cut.")
    for cut in CUTS:
        population(cut)


def family_of(samples: Samples) -> MultinomialFamily:
    """Add-one smoothing."""
    return MultinomialFamily.for_samples(samples, smoothing=1.0, class_smoothing=1.0)


def _formulas(cell: Cell) -> Result:
    """n * mse by the paper's formula, and by the robust one with and without finite-sample corrections."""
    rows, n_samples = population(cell["cut"]), cell["n_samples"]
    family, fractions = family_of(rows), np.array(cell["fractions"])
    paper = two_class_information(_right_model(rows)).trace(Weight.NAMED, fractions).values
    answer: Result = {"paper": paper.tolist()}
    methods: dict[str, Method] = {"robust": "finite-sample", "endless": "endless-data"}
    for name, method in methods.items():
        curve = misspecified_risk(family, rows, fractions, n_samples=n_samples, method=method)
        answer[f"{name}_bias"] = (n_samples * curve.bias_squared).tolist()
        answer[f"{name}_variance"] = (n_samples * curve.variance).tolist()
    return answer


def _draws(cell: Cell) -> Result:
    """n * mse over draws, split into the square of the mean and the spread."""
    rows, n_samples = population(cell["cut"]), cell["n_samples"]
    family = family_of(rows)
    truth = full_label_model(family, rows)
    target, start = _named(truth), truth if cell["part"] == NEAR_TRUTH else None
    errors = np.empty((cell["n_draws"], target.size))
    for draw in range(cell["n_draws"]):
        samples = _drawn(rows, cell, draw)
        errors[draw] = _named(fit(family, samples, start=start, tolerance=_TOLERANCE).model) - target
    squares = n_samples * np.square(errors).sum(axis=1)
    spread = float(errors.var(axis=0, ddof=1).sum())
    return {
        "mse": float(squares.mean()),
        "mse_se": float(squares.std(ddof=1) / np.sqrt(len(squares))),
        "bias": n_samples * (float(np.square(errors.mean(axis=0)).sum()) - spread / len(errors)),
        "variance": n_samples * spread,
    }


def _tests(cell: Cell) -> Result:
    """How often the specification test refuses the model at the 5 % level."""
    rows = population(cell["cut"])
    family = family_of(rows)
    right = _right_model(rows) if cell["part"] == "tests of a right model" else None
    p_values = []
    for draw in range(cell["n_draws"]):
        samples = _drawn(rows, cell, draw, right)
        rng = np.random.default_rng([cell["seed"], draw, 1])
        tested = specification_test(
            family, samples, rng=rng, method="bootstrap", n_bootstrap=cell["n_bootstrap"], tolerance=_TEST_TOLERANCE
        )
        p_values.append(tested.p_value)
    return {"p_values": p_values}


def _drawn(rows: Samples, cell: Cell, draw: int, right: MultinomialModel | None = None) -> Samples:
    """n rows with replacement, or from a model under which everything is right; labels by coin."""
    rng = np.random.default_rng([cell["seed"], draw])
    n_samples = int(cell["n_samples"])
    chosen = rng.integers(rows.n_samples, size=n_samples)
    drawn = rows.take(chosen) if right is None else right.sample(n_samples, rng)
    return drawn.hide(np.flatnonzero(rng.random(n_samples) >= cell["fraction"]))


def _right_model(rows: Samples) -> MultinomialModel:
    """What the paper's formula takes for the truth: the shares in the whole cut, documents of 20 words."""
    model = full_label_model(family_of(rows), rows)
    return MultinomialModel(
        model.classes,
        model.class_probabilities,
        model.word_probabilities,
        LengthDistribution.single(DOCUMENT_LENGTH),
        model.feature_names,
    )


def _named(model: MultinomialModel) -> FloatArray:
    return model.coordinates.flatten_named(model.tables)


def _cells_in_order(quick: bool, seed: int) -> Sequence[dict[str, Any]]:
    """The longest cells first, so that no worker ends alone with one."""
    return sorted(cells(quick, seed), key=lambda cell: (cell["part"] != "formulas", "draws" in cell["part"]))


STUDY = Study(
    name="misspecification",
    title="When the model is wrong: realized n*mse, the paper's formula and the robust one",
    cells=_cells_in_order,
    compute=compute,
    summarize=summarize,
    corpora=("newsgroups", "r52"),
    data_digest=cuts_digest,
    prepare=prepare,
)
