"""Ask every question of `cases` again and say where an answer differs from its golden record.

``python tests/golden/compare.py [NAME ...]``: exit 0 if all agree, floats to 1e-9 (of a linear SVM to 1e-7, by
Lanczos to 1e-6); 1 if not, with the places.
"""

import json
import math
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cases import NAMES, RECORDS, answer, write_data

_TOLERANCE = 1e-9
_TOLERANCES = {"linear SVM": 1e-7, "plan-matrix-free": 1e-6}
"""Of scikit-learn's, which stops at a tolerance of its own, with sums that OpenBLAS adds as the processor has it:
with OPENBLAS_CORETYPE=Nehalem or Haswell its log-loss is 3e-9 apart, between machines 1e-8. Of Lanczos' quadrature,
asked for to 1e-3, whose steps carry rounding further: with NUMBA_CPU_NAME=haswell 4e-8 apart, fits to 1e-13 alike."""
_MOST_SHOWN = 12


def differences(golden: Any, now: Any, where: str = "", tolerance: float = _TOLERANCE) -> Iterator[str]:
    """Every place where two records differ."""
    if isinstance(golden, dict) and isinstance(now, dict):
        tolerance = _TOLERANCES.get(str(golden.get("name")), tolerance)
        for key in sorted(golden.keys() | now.keys()):
            if key not in golden or key not in now:
                yield f"{where}.{key}: {'new' if key not in golden else 'gone'}"
            else:
                yield from differences(golden[key], now[key], f"{where}.{key}", tolerance)
    elif isinstance(golden, list) and isinstance(now, list) and len(golden) == len(now):
        for index, (old, new) in enumerate(zip(golden, now, strict=True)):
            yield from differences(old, new, f"{where}[{index}]", tolerance)
    elif isinstance(golden, float) or isinstance(now, float):
        if not _close(golden, now, tolerance):
            yield f"{where}: {golden!r} -> {now!r}"
    elif golden != now:
        yield f"{where}: {golden!r} -> {now!r}"


def _close(golden: Any, now: Any, tolerance: float) -> bool:
    if not (isinstance(golden, int | float) and isinstance(now, int | float)):
        return False
    return math.isclose(golden, now, rel_tol=tolerance, abs_tol=1e-13)


def main(names: list[str]) -> int:
    """Compare these, or all."""
    differing = 0
    with tempfile.TemporaryDirectory() as path:
        write_data(Path(path))
        for name in names or NAMES:
            golden = json.loads((RECORDS / f"{name}.json").read_text())
            found = list(differences(golden, answer(name, Path(path)), tolerance=_TOLERANCES.get(name, _TOLERANCE)))
            differing += bool(found)
            sys.stdout.write(f"{'differs' if found else 'same   '} {name}\n")
            for line in found[:_MOST_SHOWN]:
                sys.stdout.write(f"    {line}\n")
            if len(found) > _MOST_SHOWN:
                sys.stdout.write(f"    ... {len(found) - _MOST_SHOWN} more\n")
    sys.stdout.write(f"{len(names or NAMES) - differing} passed, {differing} failed\n")
    return int(differing > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
