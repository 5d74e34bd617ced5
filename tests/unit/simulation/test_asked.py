"""Answers drawn for simulated labels, and refits to them."""

from dataclasses import replace

import numpy as np
import pytest

from labelworth.channels.arm import menu
from labelworth.channels.channel import Channel
from labelworth.channels.kinds import kinds_of
from labelworth.data.lengths import LengthDistribution
from labelworth.data.samples import Samples
from labelworth.errors import InvalidInputError
from labelworth.estimators.pools.documents import ClassLearner
from labelworth.models.classes.multinomial import MultinomialFamily, MultinomialModel
from labelworth.simulation.asked import AskedDesign, AskedReplicate, refit_channel, simulate_asked
from labelworth.simulation.simulator import LabelSource

CLASSES = ("a", "b", "c")
WORDS = np.random.default_rng(3).dirichlet(np.full(30, 0.5), 3)
MODEL = MultinomialModel(
    CLASSES, [0.5, 0.3, 0.2], 0.3 * WORDS + 0.7 * WORDS.mean(axis=0), LengthDistribution.single(8)
)
KINDS = kinds_of(
    [
        "crowd: confusion 0.8 0.1 0.1 / 0.2 0.7 0.1 / 0.1 0.3 0.6, votes 1 3",
        "model: accuracy 0.9, unknown",
        "asked: question b, accuracy 0.95",
    ]
)
ARMS = [arm for arm in menu(KINDS) if arm.name != "nothing"]
NAMES = [arm.name for arm in ARMS]


class Truth:
    """The model's own p(y | x)."""

    def __init__(self, data: Samples) -> None:
        self.log = MODEL.log_joint(data.hide())

    def log_posteriors(self, temperature: float):
        return self.log - np.logaddexp.reduce(self.log, axis=1, keepdims=True)

    def draw(self, temperature: float, rng: np.random.Generator):
        shares = np.exp(self.log_posteriors(1.0)).cumsum(axis=1)
        return (rng.random((len(shares), 1)) >= shares[:, :-1]).sum(axis=1)

    @property
    def best(self):
        return self.log.argmax(axis=1)


def drawn(n: int = 6000) -> AskedReplicate:
    data = MODEL.sample(n, np.random.default_rng(1))
    return AskedReplicate(data, LabelSource(Truth(data), 1.0), n // 5, 0, 0, ARMS)


def design(n_gold: int, **counts: int) -> AskedDesign:
    return AskedDesign(n_gold, tuple(counts.get(name.replace(" + ", "_").replace(" x ", "_"), 0) for name in NAMES))


def test_answers_are_drawn_from_the_channel_given_the_label() -> None:
    """Five standard errors of each of 15 shares: a false alarm in 1e5 runs of one, and the seed is fixed."""
    replicate = drawn()
    shown = replicate.shown(design(0, crowd=2000, model=1500, asked=1000))
    truth, answers = replicate.pool.evidence.codes, shown.answers
    assert answers is not None
    assert answers.names == ("crowd", "model", "asked")
    assert [int((answers.annotators == code).sum()) for code in range(3)] == [2000, 1500, 1000]
    for code, kind in enumerate(KINDS):
        own = answers.annotators == code
        table = kind.table(CLASSES).probabilities
        said = answers.evidence.dense()[own]
        for label in range(3):
            rows = said[truth[answers.rows[own]] == label]
            if kind.name == "asked":
                shares = np.array([(rows[:, 1] == 1).mean(), (rows[:, 1] == 0).mean()])
            else:
                shares = rows.mean(axis=0)
            assert (np.abs(shares - table[label]) <= 5 * np.sqrt(table[label] * (1 - table[label]) / len(rows))).all()


def test_votes_are_new_draws_and_all_of_them_are_kept() -> None:
    shown = drawn().shown(design(0, crowd_3=500))
    assert shown.answers is not None
    assert shown.answers.n_answers == 1500
    by_row = np.sort(shown.answers.rows).reshape(500, 3)
    assert (by_row == by_row[:, :1]).all()
    codes = shown.answers.evidence.codes[np.argsort(shown.answers.rows, kind="stable")].reshape(500, 3)
    assert 0.2 < (codes[:, 0] != codes[:, 1]).mean() < 0.7


def test_gold_comes_first_and_audited_rows_have_both() -> None:
    replicate = drawn()
    shown = replicate.shown(design(100, gold_model=50))
    truth = replicate.pool.evidence.codes
    gold = np.flatnonzero(shown.evidence.codes >= 0)
    assert set(gold) == set(replicate.order[:150])
    assert (shown.evidence.codes[gold] == truth[gold]).all()
    assert set(shown.answers.rows) == set(replicate.order[100:150])


def test_designs_share_their_draws() -> None:
    replicate = drawn()
    few, many = (replicate.shown(design(100, model=count)).answers for count in (200, 400))
    rows = dict(zip(many.rows, many.evidence.codes, strict=True))
    assert all(rows[row] == code for row, code in zip(few.rows, few.evidence.codes, strict=True))


def learner() -> ClassLearner:
    known = tuple(refit_channel(kind, CLASSES) for kind in KINDS)
    return ClassLearner(MultinomialFamily(CLASSES, 30), channels=known, tolerance=1e-5, max_iterations=200)


@pytest.mark.statistical
@pytest.mark.parametrize("mode", ["labels-only", "semi-supervised"])
def test_answers_lie_between_nothing_and_gold(mode: str) -> None:
    """Means over 12 replicates of 30 gold labels and 600 rows; paired differences of four standard errors."""
    data = MODEL.sample(1500, np.random.default_rng(2))
    designs = [
        design(30),
        design(30, gold=600),
        design(30, crowd_3=600),
        design(30, crowd=600),
        design(30, model=600),
    ]
    losses = simulate_asked(
        replace(learner(), mode=mode),
        data,
        LabelSource(Truth(data), 1.0),
        lambda number: ARMS,
        designs,
        n_held_out=400,
        replicates=range(12),
        seed=0,
    )[:, :, 1]

    def is_less(first: int, second: int) -> bool:
        gaps = losses[:, second] - losses[:, first]
        return bool(gaps.mean() > 4 * gaps.std(ddof=1) / np.sqrt(len(gaps)))

    assert is_less(1, 0)
    assert is_less(1, 3)
    assert is_less(2, 3)
    assert is_less(3, 0)
    assert is_less(4, 0)
    # The control: a design is not better than itself.
    assert not is_less(1, 1)


def test_a_wrong_confusion_that_is_taken_for_known_does_harm() -> None:
    """The same answers, read as if they were right as often as wrong ones are: worse than no answers."""
    data = MODEL.sample(1500, np.random.default_rng(2))
    wrong = replace(
        learner(), channels=(Channel("crowd", [[0.1, 0.8, 0.1], [0.8, 0.1, 0.1], [0.1, 0.1, 0.8]], independent=True),)
    )
    losses = [
        simulate_asked(
            own,
            data,
            LabelSource(Truth(data), 1.0),
            lambda number: ARMS,
            [design(30), design(30, crowd_3=600)],
            n_held_out=400,
            replicates=range(4),
            seed=0,
        )[:, :, 0].mean(axis=0)
        for own in (learner(), wrong)
    ]
    assert losses[0][1] < losses[0][0]
    assert losses[1][1] > losses[1][0] + 0.1


def test_unknown_channels_are_estimated_from_the_usual_prior() -> None:
    known, unknown, question = (refit_channel(kind, CLASSES) for kind in KINDS)
    assert not known.is_unknown
    assert unknown.is_unknown
    assert unknown.form is None
    assert question.table(CLASSES).answers == ("yes", "no")
    with pytest.raises(InvalidInputError, match="answer with a class, or yes and no"):
        refit_channel(Channel("m", [[0.5, 0.5], [0.1, 0.9], [1, 0]], answers=["x", "y"]), CLASSES)
