"""The one place that compiles. Kernels are Numba functions over contiguous arrays; users need no compiler."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from numba import config, njit
from numba.core import event

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def compiled(*, fastmath: bool | set[str] = False, within: bool = False) -> Callable[[Kernel], Kernel]:
    """Compile a kernel on first use and keep the machine code on disk for the next process, where it can be kept.

    `fastmath` may only name flags that keep infinities and signs intact where a kernel meets them;
    `{"contract", "reassoc", "nsz"}` is the usual choice. Kernels run outside the interpreter's lock: threads are
    started by `labelworth.kernels.machine.threads`, not by the compiler, which keeps compilation short.

    `within` compiles a kernel as a part of those that call it, and never by itself: a kernel is optimized once more
    in each of its callers in any case, so that what stands in the middle of a long line of calls costs twice. For
    kernels without flags of their own.
    """

    def compile_kernel(kernel: Kernel) -> Kernel:
        inline = "always" if within else "never"
        options = {
            "nogil": True,
            "fastmath": fastmath,
            "error_model": "numpy",
            "inline": inline,
            # Sums that may be reordered are rounded as each copy of a kernel was optimized. Calls are bound to
            # whichever copy the process holds, which differs between compiling and reading from the disk.
            "forceinline": bool(fastmath),
        }
        decorated: Kernel
        try:
            decorated = njit(cache=True, **options)(kernel)
        except RuntimeError:
            # Neither the folder of the package nor the home can be written: compiled in every process anew.
            decorated = njit(**options)(kernel)
        return decorated

    return compile_kernel


class _FirstCompilation(event.Listener):
    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell: Callable[[str], None] | None = tell

    def on_start(self, event: Any) -> None:
        if self._tell is not None:
            self._tell("First use: compiling the kernels. This happens once and takes some seconds.")
            self._tell = None

    def on_end(self, event: Any) -> None:
        pass


@contextmanager
def telling_of_compilation(tell: Callable[[str], None]) -> Iterator[None]:
    """Tell, once, if a kernel has to be compiled while the block runs; machine code from the disk is not told of."""
    with event.install_listener("numba:compile", _FirstCompilation(tell)):
        yield


def is_compiling() -> bool:
    """Whether kernels are compiled at all: not with ``NUMBA_DISABLE_JIT=1``."""
    return not config.DISABLE_JIT


def kept_in(kernel: Any) -> Path | None:
    """The folder that keeps the machine code of a kernel for the next process; None: there is none."""
    folder = kernel.stats.cache_path if is_compiling() else None
    return None if folder is None else Path(folder)
