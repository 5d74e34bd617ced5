"""What every test may ask for."""

import os

import pytest


@pytest.fixture
def seed() -> int:
    """The seed of all chance in a test: 42 unless LABELWORTH_TEST_SEED names another. Tests hold for every seed."""
    return int(os.environ.get("LABELWORTH_TEST_SEED", "42"))
