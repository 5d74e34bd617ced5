"""What every test may ask for."""

import os

import pytest
from hypothesis import settings

# The same examples in every run; new ones where a seed is named.
settings.register_profile("same examples", derandomize="LABELWORTH_TEST_SEED" not in os.environ)
settings.load_profile("same examples")


@pytest.fixture
def seed() -> int:
    """The seed of all chance in a test: 42 unless LABELWORTH_TEST_SEED names another. Tests hold for every seed."""
    return int(os.environ.get("LABELWORTH_TEST_SEED", "42"))
