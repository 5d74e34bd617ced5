import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from labelworth_studies.naive_bayes.newsgroups_em import (
    EM,
    LABELS_PER_CLASS,
    PUBLISHED,
    STUDY,
    SUPERVISED,
    cells,
    summarize,
)
from labelworth_studies.naive_bayes.newsgroups_em_tuning import EM_CHOICES, SUPERVISED_CHOICES
from labelworth_studies.runner import registry
from labelworth_studies.runner.study import Cell, Result, canonical

RESULTS = Path(__file__).resolve().parents[3] / "results"


def made_up(accuracy: Callable[[str, int], float], *, spread: float = 0.01) -> list[tuple[Cell, Result]]:
    """The whole grid with accuracies around the given ones: five draws above and five below by `spread`."""
    pairs: list[tuple[Cell, Result]] = []
    for cell in cells(quick=False, seed=0):
        method = "em" if cell["settings"]["unlabeled_weight"] else "supervised"
        sign = 1 if cell["seed"] % 2 else -1
        pairs.append((cell, {"accuracy": accuracy(method, cell["labels_per_class"]) + sign * spread}))
    return pairs


def published(method: str, labels_per_class: int) -> float:
    return PUBLISHED[method].means[LABELS_PER_CLASS.index(labels_per_class)]


def test_the_study_answers_to_its_name() -> None:
    assert registry.find("newsgroups-em") is STUDY


def test_the_grid_has_ten_draws_of_both_methods_at_every_number_of_labels() -> None:
    grid = cells(quick=False, seed=0)
    assert len({canonical(cell) for cell in grid}) == len(grid) == 10 * 10 * 2
    assert {cell["division"] for cell in grid} == {"test"}
    assert sorted({cell["seed"] for cell in grid}) == list(range(10))


def test_both_methods_see_the_same_draws_of_labels() -> None:
    grid = cells(quick=False, seed=5)
    draws = [
        [
            (cell["labels_per_class"], cell["seed"])
            for cell in grid
            if (cell["settings"]["unlabeled_weight"] > 0) is em
        ]
        for em in (True, False)
    ]
    assert draws[0] == draws[1]


def test_the_quick_grid_is_part_of_the_whole_one() -> None:
    whole = {canonical(cell) for cell in cells(quick=False, seed=0)}
    quick = {canonical(cell) for cell in cells(quick=True, seed=0)}
    assert quick < whole


def test_the_settings_are_among_those_that_were_tuned() -> None:
    assert EM in EM_CHOICES
    assert SUPERVISED in SUPERVISED_CHOICES


def test_the_published_rows_have_an_entry_per_number_of_labels() -> None:
    for row in PUBLISHED.values():
        assert len(row.means) == len(row.deviations) == len(LABELS_PER_CLASS)


def test_standard_errors_are_those_of_the_mean_over_draws() -> None:
    figures = summarize(made_up(published, spread=0.03)).figures["em"]
    np.testing.assert_allclose(figures["accuracy"], PUBLISHED["em"].means, rtol=1e-12)
    # Ten draws at +-0.03: the sum of squares is 10 * 0.03^2, over 9 for the variance, over 10 for the mean.
    np.testing.assert_allclose(figures["accuracy_se"], 0.03 / 3, rtol=1e-12)


def test_the_lead_counts_joint_standard_errors() -> None:
    figures = summarize(made_up(lambda method, size: published(method, size) + 0.02)).figures["em"]
    ours, theirs = 0.01 / 3, np.array(PUBLISHED["em"].deviations) / np.sqrt(10)
    np.testing.assert_allclose(
        figures["lead_in_joint_standard_errors"], 0.02 / np.sqrt(ours**2 + theirs**2), rtol=1e-10
    )


def test_a_size_that_falls_behind_is_told() -> None:
    def behind_at_eight(method: str, size: int) -> float:
        return published(method, size) + (-0.05 if size == 8 else 0.01)

    told = summarize(made_up(behind_at_eight)).words[0]
    assert "above the published row at 9 of 10" in told
    assert "two joint standard errors at 1." in told


def test_the_largest_gain_from_unlabeled_posts_is_named() -> None:
    def most_at_four(method: str, size: int) -> float:
        return 0.5 + (0.25 if method == "em" and size == 4 else 0.0)

    told = summarize(made_up(most_at_four)).words[1]
    assert "at 4 label(s) per class: accuracy 0.500 without, 0.750 with them" in told


def test_the_numbers_of_labels_where_unlabeled_posts_add_nothing_are_told() -> None:
    def worse_with_many(method: str, size: int) -> float:
        return 0.5 + (0.1 if (method == "em") == (size < 256) else 0.0)

    assert "At 256, 512 label(s) per class, labels alone" in summarize(made_up(worse_with_many)).words[1]
    always = summarize(made_up(lambda method, size: 0.6 if method == "em" else 0.5)).words[1]
    assert always.endswith("They add something at every number of labels.")


def test_the_table_and_the_picture_hold_every_number_of_labels() -> None:
    outcome = summarize(made_up(published))
    assert [row[0] for row in outcome.tables[0].rows] == list(LABELS_PER_CLASS)
    (panel,) = outcome.pictures[""].panels
    assert [len(curve.x) for curve in panel.curves] == [10, 10, 10, 10]


@pytest.mark.parametrize("quick", [True, False])
def test_figures_are_plain_json(quick: bool) -> None:
    grid = cells(quick, seed=0)
    pairs: list[tuple[Cell, Result]] = [(cell, {"accuracy": 0.5 + 0.01 * cell["seed"]}) for cell in grid]
    figures = summarize(pairs).figures
    assert json.loads(canonical(figures)).keys() == figures.keys()


def test_the_kept_record_is_nowhere_behind_the_published_row_and_mostly_above() -> None:
    figures = json.loads((RESULTS / "newsgroups-em.json").read_text())["figures"]["em"]
    assert figures["labels_per_class"] == list(LABELS_PER_CLASS)
    assert figures["published_accuracy"] == list(PUBLISHED["em"].means)
    lead = np.array(figures["lead_in_joint_standard_errors"])
    assert lead.min() >= -2
    assert np.mean(lead > 0) > 0.5
