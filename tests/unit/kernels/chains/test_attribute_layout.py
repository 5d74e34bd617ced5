import numpy as np
import pytest
import scipy.sparse as sp

from labelworth.kernels.chains import attribute_layout
from labelworth.kernels.chains.attribute_layout import make_layout, observed_features, shard_bounds
from labelworth.kernels.rows.row_sums import WIDEST, add_to_rows
from labelworth.kernels.rows.tables import aligned_zeros, padded_width


@pytest.mark.parametrize("row_labels", [1, 2, 3, 99])
@pytest.mark.parametrize("n_labels", [3, 9])
def test_every_weight_of_every_token_is_found_once(
    row_labels: int, n_labels: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Weights put where the layout says, and added up where it says, are those of the matrix product."""
    monkeypatch.setattr(attribute_layout, "ROW_LABELS", row_labels)
    rng = np.random.default_rng(0)
    attributes = sp.random_array((30, 12), density=0.4, format="csr", rng=rng)
    offsets = np.array([0, 4, 5, 14, 22, 30])
    support = rng.random((12, n_labels)) < 0.4
    starts = np.concatenate([[0], np.cumsum(support.sum(axis=1))])
    labels = np.nonzero(support)[1]
    monkeypatch.setattr(attribute_layout, "SHARD_TOKENS", 9)
    layout = make_layout(attributes, offsets, starts, labels, n_labels)
    assert len(layout.lists) == 3
    theta = rng.normal(size=len(labels))
    weights = aligned_zeros(int(layout.buffers[-1]))
    weights[layout.positions] = theta[layout.features]
    width = padded_width(n_labels)
    scores = np.zeros((30, width))
    for shard in range(3):
        tokens = range(offsets[layout.shards[shard]], offsets[layout.shards[shard + 1]])
        table = weights[layout.buffers[shard] : layout.lists[shard]].reshape(-1, width)
        for token in tokens:
            for place in range(layout.row_starts[token], layout.row_starts[token + 1]):
                scores[token] += layout.row_values[place] * table[layout.row_index[place]]
            for place in range(layout.list_starts[token], layout.list_starts[token + 1]):
                weight = weights[layout.lists[shard] + layout.list_index[place]]
                scores[token, layout.list_labels[place]] += layout.list_values[place] * weight
    dense = np.zeros((12, width))
    dense[:, :n_labels][support] = theta
    np.testing.assert_allclose(scores, attributes @ dense, atol=1e-13)


def test_whole_numbers_are_kept_in_half_the_room() -> None:
    offsets, starts, labels = np.array([0, 2]), np.array([0, 1]), np.array([0])
    whole, real = (sp.csr_array(np.array([[value], [1.0]])) for value in (3.0, 0.1))
    assert make_layout(whole, offsets, starts, labels, 2).list_values.dtype == np.float32
    assert make_layout(real, offsets, starts, labels, 2).list_values.dtype == np.float64


def test_shards_are_runs_of_whole_sequences() -> None:
    offsets = np.array([0, 5, 6, 30, 31, 40])
    for size in (1, 7, 10, 1000):
        bounds = shard_bounds(offsets, size)
        assert bounds[0] == 0
        assert bounds[-1] == 5
        assert (np.diff(bounds) > 0).all()
    assert shard_bounds(offsets, 1000).tolist() == [0, 5]


def test_observed_features_are_counted_where_the_label_is_known() -> None:
    rng = np.random.default_rng(1)
    attributes = sp.random_array((20, 6), density=0.5, format="csr", rng=rng)
    labels, weights = rng.integers(-1, 4, size=20), rng.random(20)
    support = rng.random((6, 4)) < 0.6
    starts = np.concatenate([[0], np.cumsum(support.sum(axis=1))])
    counts = observed_features(attributes, labels, weights, starts, np.nonzero(support)[1])
    known = labels >= 0
    one_hot = np.eye(4)[labels[known]] * weights[known][:, None]
    np.testing.assert_allclose(counts, (attributes.toarray()[known].T @ one_hot)[support], atol=1e-13)


@pytest.mark.parametrize("width", [4, 24, WIDEST])
def test_a_row_is_added_to_the_rows_that_an_index_names(width: int) -> None:
    rng = np.random.default_rng(2)
    source, table = rng.normal(size=2 * width), rng.normal(size=(5, width + 4))
    index, scale = np.array([3, 0, 3, 1], dtype=np.int32), rng.normal(size=4)
    expected = table.copy()
    for place in (1, 2, 3):
        expected[index[place], 4:] += scale[place] * source[width:]
    flat = table.ravel()
    call_add_to_rows(source, width, flat, 4, width + 4, index, scale, 1, 4, width)
    np.testing.assert_allclose(flat.reshape(5, -1), expected, atol=1e-14)


def call_add_to_rows(*arguments) -> None:
    """Through a compiled caller: intrinsics cannot be called from Python."""
    from labelworth.kernels.machine.compilation import compiled

    @compiled()
    def call(source, source_start, table, table_start, stride, index, scale, first, last, n_columns):
        add_to_rows(source, source_start, table, table_start, stride, index, scale, first, last, n_columns)

    call(*arguments)
