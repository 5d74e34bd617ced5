"""Named, free and unconstrained coordinates agree with each other."""

import numpy as np
import pytest

from labelworth.errors import InvalidInputError
from labelworth.models.blocks import Block, FreeTable, Numbered, SimplexRows, SymmetricMatrices
from labelworth.models.coordinates import Coordinates
from support.oracles import numerical_gradient

BLOCKS: list[Block] = [
    SimplexRows("p", ["a", "b"], ["x", "y", "z"]),
    SimplexRows("single", ["a"], ["x"]),
    FreeTable("means", ["a", "b"], ["x", "y"]),
    FreeTable("variances", ["a"], ["x", "y"], low=0.0),
    FreeTable("shares", ["a"], ["x", "y"], low=0.0, high=1.0),
    FreeTable("between", ["a"], ["x"], low=-2.0, high=3.0),
    SymmetricMatrices("covariances", ["a", "b"], ["x", "y", "z"]),
]
every_block = pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.table)


@pytest.fixture
def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def random_table(block: Block, rng: np.random.Generator) -> np.ndarray:
    return block.from_unconstrained(rng.standard_normal(block.n_unconstrained))


@every_block
def test_named_and_free_round_trip(block: Block, rng: np.random.Generator) -> None:
    table = random_table(block, rng)
    free = block.free(table)
    assert free.shape == (block.n_free,)
    np.testing.assert_allclose(block.named(free), table, rtol=1e-13, atol=1e-15)


@every_block
def test_named_and_unconstrained_round_trip(block: Block, rng: np.random.Generator) -> None:
    table = random_table(block, rng)
    assert table.shape == block.shape
    vector = block.unconstrained(table)
    assert vector.shape == (block.n_unconstrained,)
    np.testing.assert_allclose(block.from_unconstrained(vector), table, rtol=1e-12)


@every_block
def test_a_table_keeps_no_hold_on_the_vector_that_it_was_made_of(block: Block, rng: np.random.Generator) -> None:
    vector = rng.standard_normal(block.n_unconstrained)
    assert not np.shares_memory(block.from_unconstrained(vector), vector)


@every_block
def test_push_is_the_derivative_of_named(block: Block, rng: np.random.Generator) -> None:
    free = block.free(random_table(block, rng))
    numerical = (
        numerical_gradient(lambda theta: block.named(theta).ravel(), free) if block.n_free else np.zeros((1, 0))
    )
    np.testing.assert_allclose(block.push(np.eye(block.n_free)), numerical, atol=1e-8)


@every_block
def test_pull_is_the_transpose_of_push(block: Block, rng: np.random.Generator) -> None:
    n_named = int(np.prod(block.shape))
    np.testing.assert_allclose(block.pull(np.eye(n_named)), block.push(np.eye(block.n_free)).T, atol=1e-15)


@every_block
def test_many_vectors_are_pushed_and_pulled_at_once(block: Block, rng: np.random.Generator) -> None:
    vectors = rng.standard_normal((block.n_free, 3))
    one_by_one = np.concatenate([block.push(vectors[:, [place]]) for place in range(3)], axis=1)
    np.testing.assert_array_equal(block.push(vectors), one_by_one)


@every_block
def test_every_free_coordinate_has_its_own_name(block: Block) -> None:
    names = [block.name(index) for index in range(block.n_free)]
    assert len(set(names)) == block.n_free
    assert all(name.startswith(block.table) for name in names)


def test_covariances_are_positive_definite_whatever_the_step(rng: np.random.Generator) -> None:
    block = SymmetricMatrices("c", ["a"], ["x", "y", "z"])
    matrices = block.from_unconstrained(3 * rng.standard_normal(block.n_unconstrained))
    assert np.linalg.eigvalsh(matrices).min() > 0


def test_square_roots_keep_zeros() -> None:
    block = SimplexRows("p", ["a"], ["x", "y"])
    np.testing.assert_array_equal(block.from_unconstrained(block.unconstrained(np.array([[1.0, 0.0]]))), [[1.0, 0.0]])


@pytest.fixture
def coordinates() -> Coordinates:
    return Coordinates(tuple(BLOCKS))


def test_all_tables_round_trip_together(coordinates: Coordinates, rng: np.random.Generator) -> None:
    tables = {block.table: random_table(block, rng) for block in BLOCKS}
    theta = coordinates.flatten(tables)
    assert theta.shape == (coordinates.n_free,)
    for name, table in coordinates.named(theta).items():
        np.testing.assert_allclose(table, tables[name], rtol=1e-13, atol=1e-15)
    for name, table in coordinates.from_unconstrained(coordinates.unconstrained(tables)).items():
        np.testing.assert_allclose(table, tables[name], rtol=1e-12)


def test_the_jacobian_is_the_derivative_of_the_named_vector(
    coordinates: Coordinates, rng: np.random.Generator
) -> None:
    theta = coordinates.flatten({block.table: random_table(block, rng) for block in BLOCKS})
    numerical = numerical_gradient(lambda free: coordinates.flatten_named(coordinates.named(free)), theta)
    np.testing.assert_allclose(coordinates.jacobian(), numerical, atol=1e-8)
    np.testing.assert_allclose(coordinates.pull(np.eye(coordinates.n_named)), coordinates.jacobian().T, atol=1e-15)


def test_slices_say_where_each_table_lies(coordinates: Coordinates, rng: np.random.Generator) -> None:
    tables = {block.table: random_table(block, rng) for block in BLOCKS}
    theta = coordinates.flatten(tables)
    for block in BLOCKS:
        np.testing.assert_array_equal(theta[coordinates.slices()[block.table]], block.free(tables[block.table]))


def test_one_name_is_the_one_of_the_list(coordinates: Coordinates) -> None:
    assert [coordinates.name(index) for index in range(coordinates.n_free)] == coordinates.names()


def test_a_name_past_the_last_is_refused(coordinates: Coordinates) -> None:
    with pytest.raises(InvalidInputError, match="free coordinates"):
        coordinates.name(coordinates.n_free)


def test_a_vector_of_the_wrong_size_is_refused(coordinates: Coordinates) -> None:
    with pytest.raises(InvalidInputError, match="theta must have shape"):
        coordinates.named(np.zeros(coordinates.n_free + 1))


def test_numbered_names_are_a_sequence() -> None:
    names = Numbered("word", 3)
    assert list(names) == ["word 0", "word 1", "word 2"]
    assert names[-1] == "word 2"
    assert names[1:] == ["word 1", "word 2"]
    with pytest.raises(IndexError):
        names[3]
