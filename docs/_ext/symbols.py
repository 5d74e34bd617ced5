"""Where the code lives that a page links to."""

import importlib
import inspect
from typing import Any

PACKAGES = ("labelworth", "labelworth_studies")


def located(symbol: str) -> tuple[str, int]:
    """The module in which a dotted name lives, and its line there; an AttributeError where there is none."""
    parts = symbol.split(".")
    if parts[0] not in PACKAGES:
        raise AttributeError(f"{symbol} is not ours")
    for n in range(len(parts), 0, -1):
        try:
            module = importlib.import_module(".".join(parts[:n]))
        except ModuleNotFoundError:
            continue
        found: Any = module
        for name in parts[n:]:
            found = inspect.getattr_static(found, name) if inspect.isclass(found) else getattr(found, name)
        if n == len(parts):
            return module.__name__, 1
        return module.__name__, _line(module, parts[n:], found)
    raise AttributeError(symbol)


def _line(module: Any, names: list[str], found: Any) -> int:
    target = getattr(found, "fget", None) or getattr(found, "func", None) or getattr(found, "__func__", found)
    try:
        return inspect.getsourcelines(inspect.unwrap(target))[1]
    except (TypeError, OSError):  # A constant: the line that gives it its value.
        lines = inspect.getsource(module).splitlines()
        return next(n for n, line in enumerate(lines, 1) if line.startswith((f"{names[-1]} =", f"{names[-1]}:")))
