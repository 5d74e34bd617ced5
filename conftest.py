"""What every test may ask for."""

import os
import signal
from collections.abc import Iterator
from importlib.util import find_spec

import pytest
from hypothesis import HealthCheck, settings

# Speaks to JAX, and is read where that extra is installed.
collect_ignore = [] if find_spec("jax") else ["src/labelworth/models/written/derivatives.py"]

# A process that was started in the background ignores Ctrl-C, and so would the commands that tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples in every run; new ones where a seed is named. How fast the machine is, is not what is tested.
settings.register_profile(
    "same examples",
    derandomize="LABELWORTH_TEST_SEED" not in os.environ,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("same examples")


@pytest.fixture
def seed() -> int:
    """The seed of all chance in a test: 42 unless LABELWORTH_TEST_SEED names another. Tests hold for every seed."""
    return int(os.environ.get("LABELWORTH_TEST_SEED", "42"))


@pytest.fixture(scope="module")
def few_replicates() -> Iterator[None]:
    """Forecasts from four simulated replicates, not sixteen: where it is tested what is asked, read and said."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("labelworth.simulation.basis._MOST_REPLICATES", 4)
        yield


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A test names the corpora it reads, `@pytest.mark.corpus("conll2000")`, and is skipped where they are absent."""
    for folder in [folder for marker in item.iter_markers("corpus") for folder in marker.args]:
        if not _is_here(folder):
            pytest.skip(f"needs the corpus {folder!r}: `labelworth data get` gets it to where LABELWORTH_DATA says")


def _is_here(corpus: str) -> bool:
    from labelworth_studies.corpora.folder import corpora_folder

    return (corpora_folder() / corpus).is_dir()
