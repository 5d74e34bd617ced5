"""Intervals of plans by formulas: draws give those of enumeration, and they hold the truth as often as they say."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import labelworth as lw
from labelworth.data.kept import Checkpoint
from labelworth.data.lengths import LengthDistribution
from labelworth.data.sequences import Sequences
from labelworth.estimators.reading import pool_of
from labelworth.fisher.enumeration import enumerated
from labelworth.fisher.sequences.population import ChainPopulation
from labelworth.fisher.sequences.rule_list import RuleList
from labelworth.models.chains.hidden_markov import HiddenMarkovModel
from labelworth.planning.assembly import _probes_interval, _with_noise
from labelworth.planning.formulas import sequences as sequence_formulas
from labelworth.planning.formulas.nearby import formula_situation
from labelworth.planning.menu import read_menu
from labelworth.planning.situation import Situation
from labelworth.planning.solving import solved
from labelworth.planning.source import ChosenSource
from labelworth.planning.uncertainty import NearbyAnswers, spread, stretch
from labelworth.tradeoff.asymptotic_accuracy import AsymptoticAccuracy
from labelworth.tradeoff.costs import Prices
from support.pilots import drawn_sequences
from support.statistical import assert_share_is

TAGGERS = {
    "hidden-markov": lw.HiddenMarkov(),
    "boltzmann-chain": lw.BoltzmannChain(c2=0.1),
    "conditional-random-field": lw.ConditionalRandomField(c2=0.1, pairs="all"),
}
NOTHING_KEPT = Checkpoint(None, {})


@pytest.fixture(autouse=True)
def one_thread_of_blas() -> Iterator[None]:
    """As in a plan: matrices are small."""
    with threadpool_limits(limits=1, user_api="blas"):
        yield


@pytest.fixture
def force_draws(monkeypatch: pytest.MonkeyPatch) -> Any:
    """From here on nothing is quick enough to be enumerated."""

    def force() -> None:
        monkeypatch.setattr(sequence_formulas, "QUICK_WORK", 0.0)
        monkeypatch.setattr(sequence_formulas, "QUICK_ALTERNATIVE", 0.0)

    return force


def started(
    sequences: Sequences, kind: str, rules: str, n_draws: int, criterion: str = "total_variance"
) -> Situation:
    data = pool_of(sequences, None, TAGGERS[kind])
    menu = read_menu(rules, data, uses_unlabeled=True)
    pool = float((~data.is_labeled).sum())
    return formula_situation(
        data, menu, ChosenSource("asymptotic", criterion, ""), Prices(), pool, n_draws=n_draws, seed=0
    )


def asked(situation: Situation, target: float, counts: np.ndarray) -> NearbyAnswers:
    return spread(
        situation, situation.doubt, "target", target, counts, [situation.nothing_more], checkpoint=NOTHING_KEPT
    )


MENUS = {
    "hidden-markov": "everything,nothing",
    "boltzmann-chain": "everything,nothing",
    "conditional-random-field": "everything,window:2",
}


@pytest.mark.parametrize("kind", list(TAGGERS))
def test_draws_and_enumeration_give_the_same_intervals(kind: str, force_draws: Any) -> None:
    """At the same 19 parameters: answers within 5 %, the ends of intervals within a tenth of their width."""
    sequences = drawn_sequences(200, 60, seed=3)
    exactly = started(sequences, kind, MENUS[kind], 19)
    assert exactly.doubt.at_fit is not None
    assert not exactly.doubt.at_fit.information.n_replicates
    target = 0.8 * exactly.accuracy.error(exactly.nothing_more)
    counts = solved(exactly, "target", target).counts
    expected = asked(exactly, target, counts)
    force_draws()
    drawn = started(sequences, kind, MENUS[kind], 19)
    assert drawn.doubt.origin == exactly.doubt.origin
    found = asked(drawn, target, counts)
    np.testing.assert_allclose(found.errors, expected.errors, rtol=0.05)
    for one, other in (
        (expected.error_interval(), found.error_interval()),
        (expected.labels_interval(), found.labels_interval()),
    ):
        assert one is not None
        assert other is not None
        assert one.high - one.low > 0
        assert abs(other.low - one.low) < 0.1 * (one.high - one.low)
        assert abs(other.high - one.high) < 0.1 * (one.high - one.low)


def test_sequences_labeled_in_part_are_held_at_every_parameter(force_draws: Any) -> None:
    sequences = drawn_sequences(120, 40, seed=4)
    hidden = np.zeros(sequences.n_tokens, dtype=bool)
    hidden[sequences.offsets[:20] + 1] = True
    partly = sequences.hide(hidden)
    exactly = started(partly, "hidden-markov", "everything,nothing", 19)
    counts = np.array([20.0, 60.0])
    expected = asked(exactly, 1.0, counts).error_interval()
    whole = asked(started(sequences, "hidden-markov", "everything,nothing", 19), 1.0, counts).error_interval()
    force_draws()
    found = asked(started(partly, "hidden-markov", "everything,nothing", 19), 1.0, counts).error_interval()
    assert expected is not None
    assert found is not None
    assert whole is not None
    width = expected.high - expected.low
    assert abs(found.low - expected.low) < 0.1 * width
    assert abs(found.high - expected.high) < 0.1 * width
    assert abs(found.high - whole.high) > 0.1 * width


def test_noise_of_draws_is_taken_out_of_the_spread_and_that_of_the_fit_put_in() -> None:
    """Of a pilot of 0.05, draws of 0.04 and a fit of 0.02 the first and the last are left."""
    rng = np.random.default_rng(0)
    pilot, drawn = 0.05 * rng.standard_normal(4000), 0.04 * rng.standard_normal(4000)
    errors, noise = np.exp(pilot + drawn), np.full(4000, 0.04)
    factor = stretch("total_variance", errors, noise, 0.02)
    assert factor * np.log(errors).std() == pytest.approx(np.hypot(0.05, 0.02), rel=0.03)
    assert stretch("total_variance", np.exp(pilot), np.zeros(4000), 0.0) == 1.0
    # Nothing of the pilot in it: what is left is the noise of the fit.
    only = stretch("total_variance", np.exp(drawn), np.full(4000, 0.05), 0.02)
    assert only * drawn.std() == pytest.approx(0.02, rel=0.03)


class Counted:
    """A progress that counts what was said to be done."""

    def __init__(self) -> None:
        self.done = 0

    def start(self, title: str, total: int | None) -> "Counted":
        return self

    def finish(self, task: Any) -> None:
        pass

    def say(self, message: str) -> None:
        pass

    def advance(self, steps: int = 1, note: str = "", seconds: float | None = None) -> None:
        self.done += steps


def test_an_interrupted_plan_goes_on_where_it_was(tmp_path: Path, force_draws: Any) -> None:
    force_draws()
    situation = started(drawn_sequences(120, 40, seed=4), "hidden-markov", "everything,nothing", 19)
    counts = np.array([20.0, 60.0])

    class Interrupted(Counted):
        def advance(self, steps: int = 1, note: str = "", seconds: float | None = None) -> None:
            super().advance(steps, note, seconds)
            if self.done >= 8:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        spread(
            situation,
            situation.doubt,
            "target",
            1.0,
            counts,
            (),
            checkpoint=Checkpoint(tmp_path, {}),
            progress=Interrupted(),
        )
    again, progress = Checkpoint(tmp_path, {}), Counted()
    found = spread(situation, situation.doubt, "target", 1.0, counts, (), checkpoint=again, progress=progress)
    assert again.n_reused == 2
    assert progress.done == 19
    at_once = spread(situation, situation.doubt, "target", 1.0, counts, (), checkpoint=NOTHING_KEPT)
    np.testing.assert_array_equal(found.errors, at_once.errors)
    np.testing.assert_array_equal(found.labels, at_once.labels)


TRUTH = HiddenMarkovModel(
    ("A", "B"), [0.6, 0.4], [[0.8, 0.2], [0.3, 0.7]], [[0.6, 0.3, 0.1], [0.1, 0.3, 0.6]], ("x", "y", "z")
)
LENGTHS = LengthDistribution.from_mapping({3: 0.5, 4: 0.5})
N_PILOTS, N_LABELED, POOL = 40, 80, 320
CRITERION = "excess_log_loss"


def true_accuracy() -> AsymptoticAccuracy:
    rules = enumerated(ChainPopulation.of(TRUTH, lengths=LENGTHS), RuleList.of([]))
    return AsymptoticAccuracy.of(rules, CRITERION, menu=("everything", "nothing"), held={"everything": N_LABELED})


def pilot(seed: int, n_draws: int) -> Situation:
    drawn = drawn_sequences(N_LABELED + POOL, N_LABELED, seed=seed)
    return started(drawn, "hidden-markov", "everything,nothing", n_draws, CRITERION)


@pytest.mark.statistical
def test_intervals_hold_the_truth_in_nine_of_ten_pilots() -> None:
    """40 pilots of a known chain: the true criterion at the planned design, and the number of labels best in truth.

    The binomial band has a false-alarm rate of 1e-6.
    """
    truth = true_accuracy()
    target = truth.error(np.array([60.0, POOL - 60.0]))
    n_errors = n_labels = 0
    for seed in range(N_PILOTS):
        situation = pilot(seed, 19)
        counts = solved(situation, "target", target).counts
        around = spread(situation, situation.doubt, "target", target, counts, (), checkpoint=NOTHING_KEPT)
        error, labels = around.error_interval(), around.labels_interval()
        assert error is not None
        assert labels is not None
        n_errors += error.low <= truth.error(counts) <= error.high
        n_labels += labels.low <= 60 * truth.labels_per_sample[0] <= labels.high
    assert_share_is(n_errors, N_PILOTS, 0.9)
    assert_share_is(n_labels, N_PILOTS, 0.9)


@pytest.mark.statistical
def test_intervals_without_the_pilot_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """The noise of draws at the fit is all they have."""
    monkeypatch.setattr(sequence_formulas, "QUICK_WORK", 0.0)
    truth, counts, n_held, n_pilots = true_accuracy(), np.array([60.0, POOL - 60.0]), 0, 25
    for seed in range(n_pilots):
        interval = _probes_interval(_with_noise(pilot(seed, 0), counts))
        assert interval is not None
        n_held += interval.low <= truth.error(counts) <= interval.high
    with pytest.raises(AssertionError):
        assert_share_is(n_held, n_pilots, 0.9)
