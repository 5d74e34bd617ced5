"""Plans by formulas count what occurs: an entry for unseen words, of which there are none, asks for no labels."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import labelworth as lw
from labelworth.data.kept import Checkpoint
from labelworth.data.lengths import LengthDistribution
from labelworth.data.sequences import Sequences
from labelworth.estimators.pools.sequences import SequencePool
from labelworth.estimators.reading import pool_of
from labelworth.estimators.tagger import SequenceTagger
from labelworth.fisher.enumeration import enumerated
from labelworth.fisher.sequences.population import ChainPopulation
from labelworth.fisher.sequences.rule_list import RuleList
from labelworth.models.chains.hidden_markov import HiddenMarkovModel
from labelworth.models.chains.occurrence import Occurrence
from labelworth.planning.formulas.nearby import formula_situation
from labelworth.planning.menu import read_menu
from labelworth.planning.situation import Situation
from labelworth.planning.solving import solved
from labelworth.planning.source import ChosenSource
from labelworth.planning.uncertainty import spread
from labelworth.tradeoff.asymptotic_accuracy import AsymptoticAccuracy
from labelworth.tradeoff.costs import Prices
from support.pilots import drawn_sequences
from support.statistical import assert_share_is

CRITERION = "excess_log_loss"
N_LABELED, POOL, MORE = 80, 320, 60.0


@pytest.fixture(autouse=True)
def one_thread_of_blas() -> Iterator[None]:
    """As in a plan: matrices are small."""
    with threadpool_limits(limits=1, user_api="blas"):
        yield


def with_entry(sequences: Sequences) -> Sequences:
    """The same with an entry for unseen words, as taggers have it."""
    return replace(sequences, feature_names=(*sequences.feature_names, "<unseen>"))


def fitted(sequences: Sequences, estimator: SequenceTagger) -> SequencePool:
    return pool_of(sequences, None, estimator)


def started(sequences: Sequences, estimator: SequenceTagger, rules: str, n_draws: int) -> Situation:
    data = fitted(sequences, estimator)
    menu, pool = read_menu(rules, data, uses_unlabeled=True), float((~data.is_labeled).sum())
    return formula_situation(
        data, menu, ChosenSource("asymptotic", CRITERION, ""), Prices(), pool, n_draws=n_draws, seed=0
    )


def test_with_all_labels_the_model_is_that_fitted_without_the_entry() -> None:
    """(c + 1) / sum of (c + 1) over the words that occur: what smoothing gave the entry is spread as the counts."""
    sequences = drawn_sequences(50, 50, seed=0)
    without, data = fitted(sequences, lw.HiddenMarkov()), fitted(with_entry(sequences), lw.HiddenMarkov())
    assert data.model.n_features == 4
    for name, table in without.model.tables.items():
        np.testing.assert_allclose(data.occurring_model.tables[name], table, rtol=1e-12)
    assert data.n_parameters == without.n_parameters == 7


def plan_of(rare_words: Any) -> Any:
    sequences = drawn_sequences(200, 40, seed=0)
    cuts = sequences.offsets[1:-1]
    words = [[sequences.feature_names[code] for code in part] for part in np.split(sequences.words, cuts)]
    codes = np.split(sequences.evidence.codes, cuts)
    labels = [[None if code < 0 else "AB"[code] for code in part] for part in codes]
    return lw.plan(words, labels, model=lw.HiddenMarkov(rare_words=rare_words), budget=300, n_draws=24)


def test_the_usual_tagger_plans_as_one_without_the_entry_and_says_so() -> None:
    usual, without = plan_of("entry"), plan_of("none")
    assert usual.held.n_parameters == without.held.n_parameters == 7
    assert usual.recommended.error == pytest.approx(without.recommended.error, rel=5e-3)
    assert usual.held.error == pytest.approx(without.held.error, rel=5e-3)
    assert usual.labels_interval is None or usual.labels_interval.method == "normal draws"
    assert usual.error_interval.method == without.error_interval.method == "normal draws"
    told = "1 word that never occurs, <unseen>, is left out of the count of parameters."
    assert told in usual.notes
    assert told not in without.notes
    shapes = plan_of("shapes")
    assert shapes.held.n_parameters == 7
    assert any(note.startswith("7 words that never occur, <unseen:number>") for note in shapes.notes)


def test_log_weights_of_what_never_occurs_are_no_parameters_of_a_plan() -> None:
    """For a conditional model they tell nothing and change nothing; for a Boltzmann chain the penalty is felt."""
    for estimator, rules, tolerance in (
        (lw.ConditionalRandomField(c2=0.1, pairs="all"), "everything,window:2", 1e-3),
        (lw.BoltzmannChain(c2=0.1), "everything,nothing", 0.02),
    ):
        sequences = drawn_sequences(200, 60, seed=3)
        with_it = started(with_entry(sequences), estimator, rules, 2)
        without = started(sequences, estimator, rules, 2)
        assert with_it.held.n_parameters == without.held.n_parameters
        counts = np.array([50.0, 50.0])
        assert with_it.accuracy.error(counts) == pytest.approx(without.accuracy.error(counts), rel=tolerance)
        near, expected = (one.doubt.builds[1]() for one in (with_it, without))
        assert near.error(counts) == pytest.approx(expected.error(counts), rel=tolerance)


TRUTH = HiddenMarkovModel(
    ("A", "B"), [0.6, 0.4], [[0.8, 0.2], [0.3, 0.7]], [[0.6, 0.3, 0.1], [0.1, 0.3, 0.6]], ("x", "y", "z")
)


def n_held(n_pilots: int) -> tuple[int, int]:
    """How often the intervals on error and labels hold the true ones, with an entry for unseen words."""
    lengths = LengthDistribution.from_mapping({3: 0.5, 4: 0.5})
    rules = enumerated(ChainPopulation.of(TRUTH, lengths=lengths), RuleList.of([]))
    truth = AsymptoticAccuracy.of(rules, CRITERION, menu=("everything", "nothing"), held={"everything": N_LABELED})
    target, errors, labels = truth.error(np.array([MORE, POOL - MORE])), 0, 0
    for seed in range(n_pilots):
        pilot = with_entry(drawn_sequences(N_LABELED + POOL, N_LABELED, seed=seed))
        situation = started(pilot, lw.HiddenMarkov(), "everything,nothing", 19)
        counts = solved(situation, "target", target).counts
        around = spread(situation, situation.doubt, "target", target, counts, (), checkpoint=Checkpoint(None, {}))
        error_interval, labels_interval = around.error_interval(), around.labels_interval()
        assert error_interval is not None
        assert labels_interval is not None
        errors += error_interval.low <= truth.error(counts) <= error_interval.high
        labels += labels_interval.low <= MORE * truth.labels_per_sample[0] <= labels_interval.high
    return errors, labels


@pytest.mark.statistical
def test_intervals_hold_the_truth_that_has_no_unseen_words() -> None:
    """20 pilots; the binomial band of nine in ten has a false-alarm rate of 1e-6."""
    errors, labels = n_held(20)
    assert_share_is(errors, 20, 0.9)
    assert_share_is(labels, 20, 0.9)


@pytest.mark.statistical
def test_with_the_entry_counted_they_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two parameters more than the seven there are ask for half as many labels again."""
    everything = property(lambda data: Occurrence(data.model.feature_names, np.arange(data.model.n_features)))
    monkeypatch.setattr(SequencePool, "occurrence", everything)
    for held in n_held(10):
        with pytest.raises(AssertionError):
            assert_share_is(held, 10, 0.9)
