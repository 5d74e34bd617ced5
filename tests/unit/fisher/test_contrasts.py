import numpy as np
import pytest

from labelworth.data.lengths import LengthDistribution
from labelworth.errors import NotIdentifiableError
from labelworth.fisher.contrasts import Contrasts
from labelworth.fisher.enumeration import enumerated
from labelworth.fisher.sequences.population import ChainPopulation
from labelworth.fisher.sequences.rule_list import RuleList
from labelworth.models.coordinates import Coordinates, FreeTable
from support.chain_models import chain_model
from support.chain_oracle import drawn_tables


@pytest.mark.parametrize(
    ("kind", "start", "n_null"),
    [
        ("hidden-markov", True, lambda n_labels, n_words: 0),
        ("boltzmann-chain", False, lambda n_labels, n_words: 2),
        ("boltzmann-chain", True, lambda n_labels, n_words: n_labels + 2),
        ("conditional-random-field", False, lambda n_labels, n_words: n_words + 1),
        ("conditional-random-field", True, lambda n_labels, n_words: n_words + n_labels + 1),
    ],
)
@pytest.mark.parametrize(("n_labels", "n_words"), [(2, 3), (3, 2), (3, 3)])
def test_so_many_directions_are_redundant(kind, start, n_null, n_labels, n_words) -> None:
    """A constant on all emissions, on all transitions, and so on: found numerically, whatever the lengths."""
    for seed in range(3):
        model = chain_model(kind, drawn_tables(kind, n_labels, n_words, seed, start=start))
        lengths = LengthDistribution.from_mapping({2: 0.5, 3: 0.5})
        found = enumerated(ChainPopulation.of(model, lengths=lengths), RuleList.of([]))
        contrasts = found.contrasts
        assert found.n_parameters - contrasts.rank == n_null(n_labels, n_words)
        np.testing.assert_allclose(contrasts.basis.T @ contrasts.basis, np.eye(contrasts.rank), atol=1e-13)
        # Nothing is lost: what the contrasts leave out, no rule sees.
        for matrix in found.matrices:
            np.testing.assert_allclose(
                contrasts.basis @ contrasts.restricted(matrix) @ contrasts.basis.T, matrix, atol=1e-12
            )


def test_the_scale_of_a_parameter_does_not_decide_whether_it_is_seen() -> None:
    coordinates = Coordinates((FreeTable("start", [""], ["a", "b", "c"]),))
    seen = np.diag([1e-14, 1.0, 1e10])
    assert Contrasts.of(coordinates, seen).rank == 3
    assert Contrasts.of(coordinates, np.diag([0.0, 1.0, 1e10])).rank == 2


def test_information_of_nothing_at_all_is_refused() -> None:
    coordinates = Coordinates((FreeTable("start", [""], ["a", "b"]),))
    with pytest.raises(NotIdentifiableError, match="tell nothing"):
        Contrasts.of(coordinates, np.zeros((2, 2)))
