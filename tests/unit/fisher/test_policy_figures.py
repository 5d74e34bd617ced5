import pytest

import labelworth as lw
from labelworth.errors import NotIdentifiableError
from labelworth.models.chains.boltzmann_chain import BoltzmannChainModel


def test_weights_that_leave_nothing_to_chance_are_refused_in_words() -> None:
    weights = [[300.0, -300.0], [0.0, 500.0]]
    model = BoltzmannChainModel(("A", "B"), None, weights, [[0.0, 0.3], [0.2, 0.0]])
    with pytest.raises(NotIdentifiableError, match="rounding hides"):
        lw.information(model, policies=["everything"], lengths={3: 1.0}, n_samples=10)
