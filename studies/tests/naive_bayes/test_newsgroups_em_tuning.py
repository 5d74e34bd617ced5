import json
from pathlib import Path

import pytest

from labelworth.report.values import Measured
from labelworth_studies.naive_bayes.newsgroups_em import EM, SUPERVISED
from labelworth_studies.naive_bayes.newsgroups_em_tuning import (
    EM_CHOICES,
    EQUAL_CLASSES,
    LABELS_PER_CLASS,
    N_DRAWS,
    STUDY,
    SUPERVISED_CHOICES,
    cells,
    summarize,
)
from labelworth_studies.naive_bayes.parts.newsgroups_fit import Settings
from labelworth_studies.runner import registry
from labelworth_studies.runner.study import Cell, Result, canonical

RESULTS = Path(__file__).resolve().parents[3] / "results"


def made_up(winner: Settings) -> list[tuple[Cell, Result]]:
    """The whole grid, where `winner` is good with many labels and poor with one."""
    pairs: list[tuple[Cell, Result]] = []
    for cell in cells(quick=False, seed=0):
        is_winner = Settings(**cell["settings"]) == winner
        base = 0.4 if cell["labels_per_class"] == 1 else 0.6
        accuracy = base + (-0.05 if cell["labels_per_class"] == 1 else 0.05) * is_winner + 0.01 * cell["seed"]
        pairs.append((cell, {"accuracy": accuracy}))
    return pairs


def test_the_study_answers_to_its_name() -> None:
    assert registry.find("newsgroups-em-tuning") is STUDY


def test_no_cell_reads_the_test_posts() -> None:
    assert {cell["division"] for cell in cells(quick=False, seed=0)} == {"later"}


def test_every_choice_meets_the_same_draws() -> None:
    grid = cells(quick=False, seed=0)
    n_choices = len(EM_CHOICES) + len(SUPERVISED_CHOICES)
    assert len({canonical(cell) for cell in grid}) == n_choices * len(LABELS_PER_CLASS) * N_DRAWS
    assert {cell["seed"] for cell in grid} == set(range(N_DRAWS))


def test_the_published_settings_are_among_the_choices() -> None:
    assert Settings("counts", 9.0, 0.001, 1.0) in EM_CHOICES


@pytest.mark.parametrize("winner", [EM_CHOICES[7], SUPERVISED_CHOICES[2]])
def test_the_best_mean_over_the_numbers_of_labels_is_chosen(winner: Settings) -> None:
    method = "em" if winner.unlabeled_weight else "supervised"
    chosen = summarize(made_up(winner)).figures["chosen"][method]
    assert chosen["settings"] == {
        "word_weights": winner.word_weights,
        "document_length": winner.document_length,
        "smoothing": winner.smoothing,
        "equal_classes": winner.class_smoothing == EQUAL_CLASSES,
    }
    # 0.36, 0.66, 0.66, 0.66: draws 0 to 2 add 0.01 on average.
    assert chosen["accuracy"] == pytest.approx([0.36, 0.66, 0.66, 0.66], abs=1e-12)
    assert chosen["mean_accuracy"] == pytest.approx(0.585, abs=1e-12)


def test_the_choice_is_told_in_words_and_heads_the_table() -> None:
    winner = EM_CHOICES[7]
    outcome = summarize(made_up(winner))
    assert f"smoothing {winner.smoothing:g}" in outcome.words[0]
    first = outcome.tables[0].rows[0]
    assert first[:3] == (winner.word_weights, winner.document_length, winner.smoothing)
    # Three draws 0.01 apart: a deviation of 0.01, over the root of three.
    assert isinstance(first[4], Measured)
    assert first[4].standard_error == pytest.approx(0.01 / 3**0.5, rel=1e-9)


def test_the_kept_record_chose_the_settings_that_the_test_posts_meet() -> None:
    record = json.loads((RESULTS / "newsgroups-em-tuning.json").read_text())
    for method, settings in (("em", EM), ("supervised", SUPERVISED)):
        assert record["figures"]["chosen"][method]["settings"] == {
            "word_weights": settings.word_weights,
            "document_length": settings.document_length,
            "smoothing": settings.smoothing,
            "equal_classes": settings.class_smoothing == EQUAL_CLASSES,
        }
