"""Where plans start, and what counts amount to."""

import numpy as np
import pytest

from labelworth.planning.situation import _whole_where_near


def test_rounding_is_not_told_as_a_part_of_a_label() -> None:
    found = _whole_where_near(np.array([887.9999999999999, 888.0000000000001, 12.0, 0.0]))
    assert found.tolist() == [888.0, 888.0, 12.0, 0.0]


@pytest.mark.parametrize("labels", [887.9999, 0.3, 12.5])
def test_true_parts_of_labels_stay(labels: float) -> None:
    assert _whole_where_near(np.array([labels])).tolist() == [labels]
