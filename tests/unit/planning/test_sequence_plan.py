"""Plans for sequences: menus of rules, labels held, formulas and simulation."""

import itertools

import numpy as np
import pytest

import labelworth as lw
from labelworth.data.digest import arrays_digest
from labelworth.data.sequences import Sequences
from labelworth.errors import InfeasiblePlanError, InvalidInputError, NotIdentifiableError
from labelworth.estimators.reading import pool_of
from labelworth.planning.formulas.nearby import formula_situation
from labelworth.planning.menu import read_menu
from labelworth.planning.source import ChosenSource
from labelworth.tradeoff.costs import Prices
from support.pilots import drawn_sequences

MENU = ["everything", "nothing", "window:2"]


@pytest.fixture(scope="module")
def sequences() -> Sequences:
    return drawn_sequences(200, 40, seed=0)


def test_no_mixture_of_the_menu_is_better_for_the_money(sequences: Sequences) -> None:
    found = lw.plan(sequences, model="hidden-markov", rules=MENU, budget=300, n_draws=0)
    assert found.source == "asymptotic"
    assert found.arms == tuple(MENU)
    data = pool_of(sequences, None, lw.HiddenMarkov())
    menu = read_menu(MENU, data, uses_unlabeled=True)
    situation = formula_situation(
        data, menu, ChosenSource("asymptotic", "excess_log_loss", ""), Prices(), 160.0, n_draws=0, seed=0
    )
    left = 300 - situation.held.cost
    best = np.inf
    for whole, window in itertools.product(np.linspace(0, 160, 33), repeat=2):
        counts = np.array([whole, 160 - whole - window, window])
        if counts.min() >= 0 and counts @ situation.prices.per_sample <= left:
            best = min(best, situation.accuracy.error(counts))
    assert found.recommended.cost <= left
    assert found.recommended.error <= best * (1 + 1e-9)
    assert sum(arm.count for arm in found.recommended.arms) <= 160


def test_partly_labeled_sequences_are_held_for_what_they_are(sequences: Sequences) -> None:
    whole = lw.plan(sequences, model="hidden-markov", budget=300, n_draws=0)
    hidden = np.zeros(sequences.n_tokens, dtype=bool)
    hidden[sequences.offsets[:40] + 1] = True
    partly = lw.plan(sequences.hide(hidden), model="hidden-markov", budget=300, n_draws=0)
    assert partly.held.n_labels == whole.held.n_labels - 40
    assert partly.held.n_labeled == 40
    assert partly.held.error is not None
    assert whole.held.error is not None
    assert partly.held.error > whole.held.error


def test_intervals_come_from_other_parameters(sequences: Sequences) -> None:
    found = lw.plan(
        sequences, model="hidden-markov", rules=MENU, target=0.03, criterion="excess_log_loss", n_draws=24
    )
    assert found.labels_interval is not None
    assert found.labels_interval.low < found.recommended.labels < found.labels_interval.high
    assert found.lines()[0].startswith("Label ")


def test_a_small_pilot_is_refitted_and_told() -> None:
    found = lw.plan(
        drawn_sequences(40, 6, seed=1),
        model="hidden-markov",
        source="asymptotic",
        target=0.2,
        criterion="excess_log_loss",
        n_draws=20,
    )
    assert found.labels_interval is not None
    assert found.labels_interval.method == "bootstrap"
    check = next(one for one in found.checks if one.name == "labels per parameter")
    assert check.state == "warning"
    assert "tell levels from 5 on" in check.words


def test_a_simulated_plan_takes_one_rule(sequences: Sequences) -> None:
    found = lw.plan(sequences, model="hidden-markov", rules=MENU, budget=300, source="simulated")
    assert found.source == "simulated"
    assert sum(arm.count > 0 for arm in found.recommended.arms) == 1
    assert found.recommended.cost_in_all <= 300
    assert found.question.criterion == "error"


def test_a_conditional_model_is_not_offered_sequences_without_labels(sequences: Sequences) -> None:
    data = pool_of(sequences, None, lw.HiddenMarkov())
    assert [rule.spec for rule in read_menu(MENU, data, uses_unlabeled=False)] == ["everything", "window:2"]


def test_a_menu_that_labels_nothing_cannot_name_labels(sequences: Sequences) -> None:
    with pytest.raises(NotIdentifiableError, match="No rule on the menu"):
        lw.plan(sequences, model="hidden-markov", rules="nothing", budget=300)


def test_bad_questions(sequences: Sequences) -> None:
    with pytest.raises(InvalidInputError, match="no rule 'windows:5'"):
        lw.plan(sequences, model="hidden-markov", rules="everything, windows:5", budget=300)
    with pytest.raises(InvalidInputError, match="formulas give no error"):
        lw.plan(sequences, model="hidden-markov", source="asymptotic", criterion="error", budget=300)
    with pytest.raises(InfeasiblePlanError, match="have cost"):
        lw.plan(sequences, model="hidden-markov", budget=10)
    with pytest.raises(NotIdentifiableError, match="no pilot"):
        lw.plan(sequences.hide(), model="hidden-markov", budget=10)


def test_a_target_without_a_unit_is_asked_back() -> None:
    with pytest.raises(InvalidInputError, match="Say what the target"):
        lw.plan(drawn_sequences(40, 6, seed=1), model="hidden-markov", source="asymptotic", target=0.03)


def test_kept_steps_belong_to_the_settings_of_the_model(sequences: Sequences) -> None:
    """Other smoothing, other parameters: what was kept for the one is not taken for the other."""
    models = [lw.HiddenMarkov(alpha=alpha) for alpha in (0.1, 0.1, 0.2)]
    fitted = [pool_of(sequences, None, model).model for model in models]
    digests = [arrays_digest(model.tables) for model in fitted]
    assert digests[0] == digests[1]
    assert digests[0] != digests[2]
