"""The one place that compiles. Kernels are Numba functions over contiguous arrays; users need no compiler."""

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def compiled(*, fastmath: bool | set[str] = False) -> Callable[[Kernel], Kernel]:
    """Compile a kernel on first use and keep the machine code on disk for the next process.

    `fastmath` may only name flags that keep infinities and signs intact where a kernel meets them;
    `{"contract", "reassoc", "nsz"}` is the usual choice. Kernels run outside the interpreter's lock: threads are
    started by `labelworth.kernels.threads`, not by the compiler, which keeps compilation short.
    """

    def compile_kernel(kernel: Kernel) -> Kernel:
        decorated: Kernel = njit(cache=True, nogil=True, fastmath=fastmath)(kernel)
        return decorated

    return compile_kernel
