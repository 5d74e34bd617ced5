"""A few damaged files per door; `make fuzz` gives thousands."""

import pytest

from fuzz.doors import DOORS
from fuzz.run import fuzz


@pytest.mark.parametrize("door", DOORS)
def test_damaged_files_are_answered_with_a_sentence(door: str) -> None:
    assert fuzz(door, range(30)) == {}
