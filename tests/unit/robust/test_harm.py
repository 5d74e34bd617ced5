"""The verdict where unlabeled data is known to help, known to hurt, and where nothing can be told."""

import json
from dataclasses import dataclass, replace

import numpy as np
import pytest

from labelworth.data.lengths import LengthDistribution
from labelworth.data.samples import Samples
from labelworth.models.classes.multinomial import MultinomialFamily, MultinomialModel
from labelworth.robust.harm import HarmVerdict, PairedDifference, combined, paired, verdict_of
from labelworth.robust.held_out import held_out_predictions, honest_temperature, tempered, true_class_losses
from support.statistical import assert_share_is
from support.wrong_populations import bursty_documents, crossing_topics, with_labels


def harm_verdict(samples: Samples, rng: np.random.Generator, weight: float = 1.0, n_folds: int = 5) -> HarmVerdict:
    family = MultinomialFamily.for_samples(samples)
    return verdict_of(held_out_predictions(family, samples, (0.0, weight), n_folds=n_folds, rng=rng), weight)


def many_rare_words(rng: np.random.Generator) -> Samples:
    """Six classes of documents of rare words, exactly as the model has it: few labels meet most words never."""
    words = rng.dirichlet(np.full(300, 2.0), size=6)
    model = MultinomialModel(tuple("abcdef"), np.full(6, 1 / 6), words, LengthDistribution.single(15))
    return with_labels(model.sample(2000, rng), 180)


@pytest.mark.statistical
def test_it_helps_where_the_model_is_right_and_labels_are_few(seed: int) -> None:
    rng = np.random.default_rng(seed)
    samples = many_rare_words(rng)
    found = harm_verdict(samples, rng)
    assert found.answer == "helps"
    assert found.n_tested == 180
    assert found.error.difference < 0
    assert found.lines()[0].startswith("Unlabeled data helps prediction.")


@pytest.mark.statistical
def test_it_hurts_where_the_clusters_are_not_the_classes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    samples = with_labels(crossing_topics(rng, 600), 100)
    found = harm_verdict(samples, rng)
    assert found.answer == "hurts"
    assert found.error.with_unlabeled > 2 * found.error.labels_only
    assert "hurts" in found.lines()[0]
    assert "or a smaller unlabeled_weight" in found.lines()[0]
    assert "unlabeled_weight" not in found.lines(has_weight=False)[0]


def test_no_unlabeled_weight_changes_nothing_and_nothing_is_claimed(seed: int) -> None:
    rng = np.random.default_rng(seed)
    samples = with_labels(bursty_documents(rng, 100), 40)
    found = harm_verdict(samples, rng, weight=0.0)
    assert found.answer == "cannot be told"
    assert found.error.difference == 0
    assert "no prediction differs" in found.lines()[-1]


@pytest.mark.statistical
def test_chance_alone_is_not_called_a_difference(seed: int) -> None:
    """Paired measures of equal mean: at most one verdict in twenty, of 2000."""
    rng = np.random.default_rng(seed)
    claims = 0
    for _ in range(2000):
        error = paired("error", rng.integers(2, size=100).astype(float), rng.integers(2, size=100).astype(float))
        log_loss = paired("log-loss", rng.exponential(size=100), rng.exponential(size=100))
        claims += combined(error, log_loss) != "cannot be told"
    # The two measures are independent here and must agree in sign for the second to speak: 0.025 + 0.975 * 0.0125.
    assert_share_is(claims, 2000, 0.025 + 0.975 * 0.025 / 2)


@pytest.mark.parametrize(
    ("error", "log_loss", "expected"),
    [(-0.1, 0.3, "helps"), (0.1, -0.3, "hurts"), (0.0, -0.3, "helps"), (0.01, -0.3, "cannot be told")],
)
def test_the_error_goes_first_and_the_log_loss_must_not_be_contradicted(
    error: float, log_loss: float, expected: str
) -> None:
    measures = [PairedDifference(name, 0.5, 0.5 + gap, gap, 0.02) for name, gap in (("e", error), ("l", log_loss))]
    assert combined(*measures) == expected


@dataclass(frozen=True)
class MadeUp:
    """Twenty predictions: errors as often with unlabeled rows as without, log-losses that contradict each other."""

    raw: float
    n_tested: int = 20
    judged: np.ndarray | None = None

    def errors(self, weight: float) -> np.ndarray:
        return np.repeat([0.0, 1.0], 10)

    def tempered_losses(self, weight: float) -> np.ndarray:
        return 0.5 - 0.1 * weight + 0.01 * np.arange(20) * weight / 20

    def losses(self, weight: float) -> np.ndarray:
        return 1.0 + self.raw * weight + 0.01 * np.arange(20) * weight


@pytest.mark.parametrize(("raw", "expected"), [(0.8, "cannot be told"), (-0.8, "helps")])
def test_without_a_difference_in_errors_the_log_losses_must_agree(raw: float, expected: str) -> None:
    verdict = verdict_of(MadeUp(raw), 1.0)
    assert (verdict.log_loss.answer, verdict.answer) == ("helps", expected)
    assert any("point opposite ways" in line for line in verdict.lines()) == (raw > 0)


def test_errors_are_percent_and_their_differences_points() -> None:
    assert PairedDifference("error", 0.143, 0.1216, -0.0214, 0.0101).words() == (
        "error 14.3 % with labels only, 12.2 % with unlabeled rows (difference -2.1 points, standard error 1.0)"
    )
    assert PairedDifference("log-loss", 0.143, 0.122, -0.021, 0.01).words() == (
        "log-loss 0.143 with labels only, 0.122 with unlabeled rows (difference -0.021, standard error 0.010)"
    )


def test_unlabeled_rows_are_never_tested_and_each_label_once(seed: int) -> None:
    rng = np.random.default_rng(seed)
    samples = with_labels(bursty_documents(rng, 80), 30)
    family = MultinomialFamily.for_samples(samples)
    found = held_out_predictions(family, samples, (0.0, 1.0), n_folds=3, rng=rng)
    assert sorted(found.codes) == sorted(samples.evidence.codes[:30])
    np.testing.assert_allclose(np.exp(found.log_posteriors).sum(axis=2), 1.0, rtol=1e-12)
    assert found.errors(1.0).shape == (30,)


def test_the_temperature_undoes_overconfidence(seed: int) -> None:
    rng = np.random.default_rng(seed)
    log_odds = rng.standard_normal(20_000)
    codes = (rng.random(20_000) < 1 / (1 + np.exp(-log_odds))).astype(np.int64)
    sure = tempered(np.stack([-4 * log_odds / 2, 4 * log_odds / 2], axis=1), 1.0)
    found = honest_temperature(sure, codes)
    assert found == pytest.approx(4.0, rel=0.15)
    assert true_class_losses(tempered(sure, found), codes).mean() < true_class_losses(sure, codes).mean()


def test_a_handful_of_labels_gives_no_verdict(seed: int) -> None:
    rng = np.random.default_rng(seed)
    samples = crossing_topics(rng, 300)
    kept = np.concatenate([np.flatnonzero(samples.evidence.codes == code)[:4] for code in (0, 1)])
    samples = samples.hide(np.setdiff1d(np.arange(300), kept))
    found = harm_verdict(samples, rng, n_folds=4)
    assert found.answer == "cannot be told"
    assert "fewer than 10 labels" in "\n".join(found.lines())


def test_the_verdict_is_json(seed: int) -> None:
    rng = np.random.default_rng(seed)
    samples = with_labels(bursty_documents(rng, 80), 30)
    found = harm_verdict(samples, rng)
    assert json.loads(json.dumps(found.to_dict()))["n_tested"] == 30


def test_no_more_than_ten_times_the_labels_are_asked_for_and_levels_have_their_error() -> None:
    rng = np.random.default_rng(0)
    both = rng.random(120) < 0.3
    rows = np.array([both, np.where(rng.random(120) < 0.2, ~both, both)], dtype=np.float64)
    gap = paired("error", *rows)
    for difference, words in (
        (2 * gap.standard_error, "about "),
        (0.5 * gap.standard_error, "more than 10 times these labels"),
    ):
        error = replace(gap, difference=difference)
        calm = replace(error, difference=0.0)
        told = HarmVerdict("cannot be told", 120, error, calm, calm, 1.0).lines()
        assert words in told[-1]
    spread = 100 * np.sqrt(gap.with_unlabeled * (1 - gap.with_unlabeled) / 120)
    assert f"An error itself has a standard error of {spread:.1f} points: plans deal other folds" in told[3]
