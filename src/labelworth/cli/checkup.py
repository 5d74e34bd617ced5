"""What is installed here, whether it works, and how fast: all that `labelworth doctor` looks at.

Nothing of labelworth or of what it needs is imported before it is looked at: what is looked for may be missing.
"""

import os
import platform
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from labelworth.cli.console import tell

EXTRAS = {
    "parquet": "reads and writes Parquet",
    "excel": "reads and writes Excel",
    "jax": "models that you write as a function",
    "dask": "work on a cluster",
    "campaign": "labels that people make together",
    "postgres": "campaigns in a PostgreSQL",
    "studio": "a campaign as pages in the browser",
}
"""What each extra gives; those that only developers need are not told of."""
MODULES = {"scikit-learn": "sklearn"}
"""What is imported, where it has another name than what is installed."""
THREAD_SETTINGS = ("NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
DATA_FOLDER = "LABELWORTH_DATA"
ON_RECORD = 93e6
"""Stored counts a second in an EM pass as below: the fastest seen on two cores of an AMD EPYC, November 2026."""

_N_DOCUMENTS, _N_CLASSES, _DOCUMENT_LENGTH = 20_000, 10, 100
_N_UNCOMPILED = 20  # Documents of the trial where kernels are plain Python.
_N_PASSES = 7


@dataclass(frozen=True)
class Finding:
    """Something to do: broken where labelworth does not work without it."""

    what: str
    cure: str
    is_broken: bool = False


@dataclass
class Checkup:
    """Everything that was looked at, and what is to be done."""

    versions: dict[str, str | None] = field(default_factory=dict)
    extras: dict[str, dict[str, Any]] = field(default_factory=dict)
    threads: dict[str, Any] = field(default_factory=dict)
    kernels: dict[str, Any] = field(default_factory=dict)
    data: dict[str, Any] = field(default_factory=dict)
    speed: dict[str, Any] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    @property
    def is_broken(self) -> bool:
        return any(finding.is_broken for finding in self.findings)

    def document(self) -> dict[str, Any]:
        return {"command": "doctor", "well": not self.findings, "broken": self.is_broken, **asdict(self)}


def checkup() -> Checkup:
    """Look at everything."""
    done = Checkup()
    for look in (_look_at_packages, _look_at_extras, _look_at_threads, _look_at_kernels, _look_at_data):
        look(done)
    return done


def _look_at_packages(found: Checkup) -> None:
    found.versions |= {"python": platform.python_version(), "labelworth": metadata.version("labelworth")}
    for needed in _needed(None):
        found.versions[needed.name] = needed.installed
        wrong = needed.wrong() or needed.not_importable()
        if wrong is not None:
            found.findings.append(Finding(wrong, f"pip install '{needed.written}'", is_broken=True))


def _look_at_extras(found: Checkup) -> None:
    for extra, gives in EXTRAS.items():
        needed = list(_needed(extra))
        held = {package.name: package.installed for package in needed}
        found.extras[extra] = {"installed": None not in held.values(), "gives": gives, "packages": held}
        for package in needed:
            wrong = package.wrong() if package.installed is not None else None
            if wrong is not None:
                found.findings.append(Finding(f"{wrong} The extra {extra} needs it.", installing(extra)))


@dataclass(frozen=True)
class _Package:
    """A package that is needed, as the requirement is written."""

    written: str

    @property
    def name(self) -> str:
        return re.split(r"[^\w.-]", self.written)[0]

    @property
    def installed(self) -> str | None:
        """Its version; None: it is not there."""
        try:
            return metadata.version(self.name)
        except metadata.PackageNotFoundError:
            return None

    def wrong(self) -> str | None:
        """What is wrong with what is installed; None: nothing."""
        installed, least = self.installed, self.written.rpartition(">=")[2]
        if installed is None:
            return f"{self.name} is not installed."
        if _numbers(installed) < _numbers(least):
            return f"{self.name} {installed} is too old: {least} or newer is needed."
        return None

    def not_importable(self) -> str | None:
        try:
            import_module(MODULES.get(self.name, self.name))
        except Exception as error:
            return f"{self.name} {self.installed} cannot be imported: {error}."
        return None


def _needed(extra: str | None) -> Iterator[_Package]:
    """What labelworth needs, or one of its extras, from what its package says; extras of extras included."""
    for line in metadata.requires("labelworth") or ():
        written, _, marker = (part.strip() for part in line.partition(";"))
        named = re.search(r"extra == [\"']([\w-]+)[\"']", marker)
        if (named and named[1]) != extra:
            continue
        if others := re.fullmatch(r"labelworth\[([\w,-]+)\]", written):
            for other in others[1].split(","):
                yield from _needed(other)
        else:
            yield _Package(written)


def _numbers(version: str) -> tuple[int, ...]:
    """The numbers that a version begins with: (2, 4) of "2.4rc1"."""
    return tuple(map(int, re.findall(r"\d+", re.split(r"[^\d.]", version)[0])))


def _look_at_threads(found: Checkup) -> None:
    found.threads |= {
        "processors": os.cpu_count(),
        "settings": {name: os.environ.get(name) for name in THREAD_SETTINGS},
    }
    try:
        from joblib import cpu_count
        from threadpoolctl import threadpool_info

        from labelworth.kernels.machine.threads import n_threads_available
    except ImportError:
        return
    usable, ours = cpu_count(), n_threads_available()
    found.threads |= {"usable": usable, "kernels": ours, "libraries": [_library(one) for one in threadpool_info()]}
    if ours > usable:
        found.findings.append(
            Finding(
                f"Kernels start {ours} threads, and this process may use {usable} processors.",
                f"Set NUMBA_NUM_THREADS={usable}.",
            )
        )


def _library(told: Mapping[str, Any]) -> dict[str, Any]:
    return {name: told.get(name) for name in ("internal_api", "version", "num_threads")}


def _look_at_kernels(found: Checkup) -> None:
    """Where machine code is kept, and one EM pass over documents that are made here, timed and held against NumPy."""
    try:
        from labelworth.kernels.documents.expectation import work
        from labelworth.kernels.machine.compilation import is_compiling, kept_in
    except ImportError:
        return
    folder = kept_in(work)
    found.kernels["compiled"] = is_compiling()
    if not is_compiling():
        found.findings.append(
            Finding("Kernels are not compiled, and a hundred times slower.", "Unset NUMBA_DISABLE_JIT.")
        )
    elif folder is None:
        found.findings.append(
            Finding(
                "Compiled kernels cannot be kept, so that every command compiles anew: neither the folder of the "
                "package nor that of the user's caches can be written.",
                "Set NUMBA_CACHE_DIR to a folder that can be written.",
            )
        )
    n_documents = _N_DOCUMENTS if is_compiling() else _N_UNCOMPILED
    _try_a_pass(found, n_documents, n_words=n_documents)
    if folder is not None:
        # Beside the kernels, or in a folder of caches with a folder for each of theirs.
        kernels = Path(__file__).parents[1] / "kernels"
        root = kernels if folder.is_relative_to(kernels) else folder.parent
        kept = [file for file in root.rglob("*") if file.suffix in (".nbi", ".nbc")]
        found.kernels |= {
            "folder": str(root),
            "files": len(kept),
            "bytes": sum(file.stat().st_size for file in kept),
        }


def _try_a_pass(found: Checkup, n_documents: int, n_words: int) -> None:
    import numpy as np
    import scipy.sparse as sp
    from scipy.special import logsumexp

    from labelworth.data.evidence import Evidence
    from labelworth.data.samples import Samples
    from labelworth.kernels.machine.compilation import telling_of_compilation
    from labelworth.models.classes.multinomial import MultinomialFamily

    rng = np.random.default_rng(0)
    # Few words are frequent, as in texts.
    words = (n_words * rng.random(n_documents * _DOCUMENT_LENGTH) ** 3).astype(np.int64)
    starts = np.arange(0, words.size + 1, _DOCUMENT_LENGTH)
    counts = sp.csr_array((np.ones(words.size), words, starts), shape=(n_documents, n_words))
    counts.sum_duplicates()
    samples = Samples(counts, Evidence(np.full(n_documents, -1), tuple(range(_N_CLASSES))))
    weights = np.ones(n_documents)
    family = MultinomialFamily.for_samples(samples).adapted(samples, weights)
    model = family.maximize({"class_weights": np.ones(_N_CLASSES), "word_counts": rng.random((_N_CLASSES, n_words))})
    compiled: list[str] = []

    def tell_once(message: str) -> None:
        compiled.append(message)
        tell(message)

    with telling_of_compilation(tell_once):
        first, (laid_out, result) = _timed(lambda: _first_pass(family, samples, weights, model))
    seconds = min(_timed(lambda: laid_out.expectation(model))[0] for _ in range(_N_PASSES))
    found.speed |= {
        "stored_counts": int(counts.nnz),
        "classes": _N_CLASSES,
        "first_seconds": first,
        "first_compiled": bool(compiled),
        "pass_seconds": seconds,
        "counts_per_second": counts.nnz / seconds,
        "on_record": ON_RECORD,
    }
    expected = float(logsumexp(model.log_joint(samples), axis=1).sum())
    if not np.isclose(result.log_likelihood, expected, rtol=1e-9):
        found.findings.append(
            Finding(
                f"The kernels compute something wrong: {result.log_likelihood!r}, where NumPy says {expected!r}.",
                "Reinstall numba and llvmlite, and report it with `labelworth doctor --json`.",
                is_broken=True,
            )
        )


def _first_pass(family: Any, samples: Any, weights: Any, model: Any) -> tuple[Any, Any]:
    laid_out = family.prepare(samples, weights)
    return laid_out, laid_out.expectation(model)


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.perf_counter()
    result = work()
    return time.perf_counter() - begun, result


def _look_at_data(found: Checkup) -> None:
    named = os.environ.get(DATA_FOLDER)
    found.data |= {"folder": named, "there": named is not None and Path(named).is_dir()}


def installing(extra: str) -> str:
    return f"pip install 'labelworth[{extra}]'"
