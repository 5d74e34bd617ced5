"""What tests of a real cluster share."""

import gc
from collections.abc import Iterator

import pytest

of_a_cluster = [
    # What dask's own event loops leave behind when processes are killed.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.usefixtures("nothing_is_left_for_other_tests"),
]


@pytest.fixture
def nothing_is_left_for_other_tests() -> Iterator[None]:
    """What dask leaves behind is collected here, where it is ignored."""
    yield
    gc.collect()
