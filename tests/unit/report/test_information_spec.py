from pathlib import Path

import numpy as np
import pytest

from labelworth.data.lengths import LengthDistribution
from labelworth.errors import InvalidInputError
from labelworth.report.information_spec import (
    read_spec,
    require_workable_lengths,
    require_workable_probabilities,
    require_workable_weights,
)


def test_numbers_that_doubles_cannot_work_with_are_refused() -> None:
    require_workable_probabilities("start", np.array([1e-50, 1.0]))
    with pytest.raises(InvalidInputError, match=r"start must be at least 1e-50. Got 1e-200"):
        require_workable_probabilities("start", np.array([1e-200, 1.0]))
    require_workable_weights("emission", np.array([-1e3, 1e3]))
    with pytest.raises(InvalidInputError, match=r"weights of emission must lie between -1000 and 1000.*Got 1e\+09"):
        require_workable_weights("emission", np.array([-1e9, 0.0]))
    require_workable_lengths(LengthDistribution.single(1000), 1000)
    with pytest.raises(InvalidInputError, match=r"at most 1,000. Got 1, up to 1,001"):
        require_workable_lengths(LengthDistribution.single(1001), 1000)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"n_samples": 1e999}', "the number 1e999 is too large"),
        (b'{"n_samples": ' + b"9" * 400 + b"}", "a number of 400 digits is too large"),
        (b'{"n_samples": Infinity}', "Infinity is not a number"),
        (b'{"n_samples": NaN}', "NaN is not a number"),
        (b'{"model": "\\ud800"}', r"\\ud800 is half of a surrogate pair"),
        (b"\xff", "not UTF-8"),
        (b"[" * 100_000, "not JSON"),
    ],
)
def test_documents_with_what_no_record_can_hold_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "spec.json").write_bytes(content)
    with pytest.raises(InvalidInputError, match=rf"not a specification.*{message}"):
        read_spec(tmp_path / "spec.json")
