import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import config
from numba.core import caching

from labelworth.kernels.machine.compilation import compiled, telling_of_compilation


@pytest.fixture(autouse=True)
def nothing_compiled_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the machine code of these tests out of the folder where the next run would find it."""
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))


def test_the_first_compilation_is_told_once() -> None:
    @compiled()
    def twice(values: np.ndarray) -> float:
        return 2 * values.sum()

    heard: list[str] = []
    with telling_of_compilation(heard.append):
        twice(np.ones(3))
        twice(np.ones(3, dtype=np.float32))
    # Without the compiler there is nothing to tell.
    assert len(heard) == (0 if config.DISABLE_JIT else 1)
    assert all("First use" in message for message in heard)


def test_what_is_compiled_already_is_not_told() -> None:
    @compiled()
    def thrice(values: np.ndarray) -> float:
        return 3 * values.sum()

    thrice(np.ones(3))
    heard: list[str] = []
    with telling_of_compilation(heard.append):
        thrice(np.ones(4))
    assert heard == []


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_where_nothing_can_be_kept_a_kernel_is_compiled_in_every_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a package that belongs to another user, with a home that cannot be written."""
    monkeypatch.setattr(caching.CompileResultCacheImpl, "_locator_classes", [])

    @compiled()
    def half(values: np.ndarray) -> float:
        return values.sum() / 2

    assert half(np.ones(4)) == 2.0


_FIT = """
import numpy as np
import labelworth as lw
rng = np.random.default_rng(0)
y = np.where(np.arange(300) < 90, np.arange(300) % 3, -1)
fitted = lw.MultinomialNaiveBayes().fit(rng.poisson(0.4, size=(300, 30)), y)
print(fitted.model_.word_probabilities.tobytes().hex())
"""


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_a_fit_has_the_same_bits_whether_its_kernels_were_compiled_just_now_or_read_from_the_disk(
    tmp_path: Path,
) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    first, second = (
        subprocess.run([sys.executable, "-c", _FIT], env=environment, capture_output=True, text=True, check=True)
        for _ in range(2)
    )
    assert list((tmp_path / "cache").rglob("*.nbc"))
    assert first.stdout == second.stdout
