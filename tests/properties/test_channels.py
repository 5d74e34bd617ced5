"""What holds of any channel: garbling never adds information, votes only add, not knowing never helps."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from labelworth.channels.arm import Arm
from labelworth.channels.channel import Channel
from labelworth.fisher.documents.channels import ArmSet, enumerated_channels
from labelworth.fisher.whitened import without_nuisance
from labelworth.models.classes.multinomial import MultinomialModel
from support.small_models import drawn_multinomial

SEEDS = st.integers(0, 2**32 - 1)
SHAPES = st.sampled_from([(2, 3, {3: 1.0}), (3, 3, {2: 0.5, 3: 0.5}), (4, 2, {4: 1.0})])


def least(more: np.ndarray, less: np.ndarray, complete: np.ndarray) -> float:
    """The smallest eigenvalue of more - less, relative to complete labels."""
    root = np.linalg.inv(np.linalg.cholesky(complete))
    return float(np.linalg.eigvalsh(root @ (more - less) @ root.T)[0])


def own(model: MultinomialModel, matrix: np.ndarray) -> np.ndarray:
    return without_nuisance(matrix, model.coordinates.n_free)[0]


@settings(max_examples=40, deadline=None)
@given(SHAPES, SEEDS)
def test_garbling_never_adds_information(shape, seed: int) -> None:
    rng, model = np.random.default_rng(seed), drawn_multinomial(*shape, seed=seed)
    n = len(model.classes)
    n_answers, n_garbled = rng.integers(1, 5, size=2)
    table = rng.dirichlet(np.full(n_answers, 0.5), size=n)
    garbled = table @ rng.dirichlet(np.full(n_garbled, 0.5), size=n_answers)
    arms = ArmSet.of([Arm.of(Channel("a", table)), Arm.of(Channel("b", garbled))], model.classes)
    nothing, gold, first, second = enumerated_channels(model, arms).matrices
    for more, less in ((gold, first), (first, second), (second, nothing)):
        assert least(more, less, gold) >= -1e-10


@settings(max_examples=40, deadline=None)
@given(SHAPES, SEEDS)
def test_more_answers_and_more_knowledge_never_hurt(shape, seed: int) -> None:
    rng, model = np.random.default_rng(seed), drawn_multinomial(*shape, seed=seed)
    n = len(model.classes)
    tables = [rng.dirichlet(np.full(3, 0.7), size=n) for _ in range(2)]
    known = [Channel(f"k{index}", table) for index, table in enumerate(tables)]
    unknown = [Channel(f"u{index}", table, unknown=True) for index, table in enumerate(tables)]
    arms = ArmSet.of(
        [
            *(Arm.of(known[0], votes=count) for count in (1, 2, 3)),
            *(Arm.of(unknown[0], votes=count) for count in (1, 2, 3)),
            Arm.of(*known),
            Arm.of(*unknown),
        ],
        model.classes,
    )
    information = enumerated_channels(model, arms)
    nothing, gold, k1, k2, k3, u1, u2, u3, k12, u12 = (own(model, matrix) for matrix in information.matrices)
    for more, less in (
        (k1, nothing),
        (k2, k1),
        (k3, k2),
        (u1, nothing),
        (u2, u1),
        (u3, u2),
        (k1, u1),
        (k3, u3),
        (k12, k1),
        (k12, u12),
        (u12, u1),
        (gold, k3),
        (gold, k12),
    ):
        assert least(more, less, gold) >= -1e-8


def test_a_better_channel_is_told_from_a_garbled_one() -> None:
    """The order is not that of rounding: turned round it fails."""
    model = drawn_multinomial(2, 3, {3: 1.0})
    arms = ArmSet.of([Arm.of(Channel("a", accuracy=0.9)), Arm.of(Channel("b", accuracy=0.8))], model.classes)
    _, gold, better, worse = enumerated_channels(model, arms).matrices
    assert least(worse, better, gold) < -1e-3
