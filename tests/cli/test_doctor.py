"""`labelworth doctor`, here and in environments where something is wrong."""

import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from labelworth.cli import checkup
from support.command_line import labelworth

# By this Numba tries whether a folder can be written.
READ_ONLY = """
import tempfile
def refused(**options):
    raise OSError(30, "Read-only file system")
tempfile.TemporaryFile = refused
"""


def in_a_process(setup: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    code = f"{setup}\nfrom labelworth.cli.main import run\nrun()"
    return subprocess.run(
        [sys.executable, "-c", code, "doctor"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


@pytest.fixture(autouse=True)
def small_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkup, "_N_DOCUMENTS", 200)
    monkeypatch.delenv(checkup.DATA_FOLDER, raising=False)


def test_where_all_is_well_the_answer_comes_first() -> None:
    answer = labelworth("doctor")
    assert answer.code == 0
    assert answer.stdout.startswith("All is well.\n")
    for title in ("Installed", "Extras", "Threads", "Compiled kernels", "Data of the studies", "Speed"):
        assert f"\n\n{title}\n" in answer.stdout


def test_the_record_has_what_was_found() -> None:
    record = labelworth("doctor", "--json").record
    assert record["well"] is True
    assert record["versions"]["numpy"] == metadata.version("numpy")
    assert record["threads"]["kernels"] >= 1
    assert record["kernels"]["files"] > 0
    assert record["kernels"]["bytes"] > 1000
    assert record["speed"]["counts_per_second"] > 0


def test_every_extra_for_users_is_told_of() -> None:
    extras = set(metadata.metadata("labelworth").get_all("Provides-Extra") or ())
    assert set(checkup.EXTRAS) == extras - {"dev", "docs"}
    for extra in checkup.EXTRAS:
        assert list(checkup._needed(extra))


def test_a_missing_dependency_is_named_with_its_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    real = metadata.version

    def version(name: str) -> str:
        if name == "plotly":
            raise metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(metadata, "version", version)
    answer = labelworth("doctor")
    assert answer.code == 1
    assert answer.stdout.startswith("Something is broken.\n- plotly is not installed. pip install 'plotly>=")
    assert "plotly        missing" in answer.stdout


def test_a_dependency_that_is_too_old_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = metadata.version
    monkeypatch.setattr(metadata, "version", lambda name: "1.9.3" if name == "scipy" else real(name))
    answer = labelworth("doctor")
    assert answer.code == 1
    assert "- scipy 1.9.3 is too old: 1.14 or newer is needed. pip install 'scipy>=1.14'\n" in answer.stdout


def test_a_dependency_that_cannot_be_imported_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jsonschema", None)
    answer = labelworth("doctor")
    assert answer.code == 1
    assert "cannot be imported" in answer.stdout.splitlines()[1]


def test_without_the_compiler_everything_else_is_still_told() -> None:
    done = in_a_process("import sys; sys.modules['numba'] = None")
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("Something is broken.\n- numba ")
    assert "one EM pass  not measured" in done.stdout


def test_an_extra_that_is_not_installed_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    real = metadata.version

    def version(name: str) -> str:
        if name == "openpyxl":
            raise metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(metadata, "version", version)
    answer = labelworth("doctor")
    assert answer.code == 0
    assert answer.stdout.startswith("All is well.\n")
    assert "not installed: reads and writes Excel; pip install 'labelworth[excel]'" in answer.stdout


def test_a_cache_that_cannot_be_written_is_told_and_no_fault() -> None:
    done = in_a_process(READ_ONLY, NUMBA_DISABLE_JIT="0")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("It works. One thing could be better.\n- Compiled kernels cannot be kept")
    assert "Set NUMBA_CACHE_DIR" in done.stdout
    assert "compiling included" in done.stdout
    assert done.stderr.startswith("First use: compiling the kernels.")


def test_kernels_that_are_not_compiled_are_told() -> None:
    done = in_a_process(NUMBA_DISABLE_JIT="1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("It works. One thing could be better.\n- Kernels are not compiled")
    assert "nothing was compiled" in done.stdout


def test_a_folder_for_compiled_kernels_is_the_one_that_was_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from labelworth.kernels.machine import compilation

    (tmp_path / "documents_1").mkdir()
    (tmp_path / "documents_1" / "work.nbi").write_bytes(bytes(2_000_000))
    monkeypatch.setattr(compilation, "kept_in", lambda kernel: tmp_path / "documents_1")
    assert f"kept in  {tmp_path}: 1 files, 2.0 MB" in labelworth("doctor").stdout


def test_kernels_that_compute_something_wrong_are_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    from labelworth.models.classes.multinomial import MultinomialModel

    monkeypatch.setattr(MultinomialModel, "log_joint", lambda model, samples: [[0.0]])
    answer = labelworth("doctor")
    assert answer.code == 1
    assert "- The kernels compute something wrong" in answer.stdout


def test_more_threads_than_processors_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from labelworth.kernels.machine import threads

    monkeypatch.setattr(threads, "n_threads_available", lambda: 1000)
    answer = labelworth("doctor")
    assert answer.code == 0
    assert "- Kernels start 1000 threads" in answer.stdout
    assert "Set NUMBA_NUM_THREADS=" in answer.stdout


def test_where_the_data_of_the_studies_are_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert "LABELWORTH_DATA  not set; `labelworth data list` says" in labelworth("doctor").stdout
    monkeypatch.setenv(checkup.DATA_FOLDER, str(tmp_path))
    assert f"LABELWORTH_DATA  {tmp_path}\n" in labelworth("doctor").stdout
