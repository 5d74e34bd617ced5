"""`import labelworth as lw` is cheap, every public name is there, and none changes unnoticed."""

import difflib
import re
import subprocess
import sys
import tomllib

import pytest

import labelworth as lw
from support.public_surface import ROOT, STORED, surface

HEAVY = ("numpy", "scipy", "numba", "sklearn", "matplotlib")


def fresh(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_importing_the_package_imports_nothing_heavy() -> None:
    assert fresh(f"import sys, labelworth; print([name for name in {HEAVY} if name in sys.modules])") == "[]\n"


@pytest.mark.parametrize("name", ["MultinomialNaiveBayes", "BernoulliNaiveBayes", "GaussianClasses"])
def test_a_classifier_is_there_without_the_compiler_and_what_only_some_calls_need(name: str) -> None:
    unneeded = ("numba", "llvmlite", "matplotlib", "plotly", "sklearn.metrics", "typer", "labelworth.kernels.chains")
    code = f"import sys, labelworth as lw; lw.{name}(); print([name for name in {unneeded} if name in sys.modules])"
    assert fresh(code) == "[]\n"


@pytest.mark.parametrize("name", lw.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(lw, name) is not None
    assert name in dir(lw)


@pytest.mark.parametrize("name", ["nonsense", "_nonsense"])
def test_an_unknown_name_is_refused_as_python_does(name: str) -> None:
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'"):
        getattr(lw, name)


def test_the_public_surface_is_the_one_on_record() -> None:
    stored, now = STORED.read_text(encoding="utf-8").splitlines(), surface().splitlines()
    changes = "\n".join(difflib.unified_diff(stored, now, "on record", "now", n=2, lineterm=""))
    assert not changes, (
        f"The public surface changed:\n{changes}\n\nWhere this is meant (CONTRIBUTING.md says what is promised), "
        "say it in CHANGELOG.md and renew the record: python tests/support/public_surface.py"
    )


def test_the_record_of_the_surface_has_every_public_name() -> None:
    told = re.findall(r"^(?:@\S.* )?(?:class )?(\w+)\(", STORED.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert set(lw.__all__) - {"__version__"} <= set(told)


def test_there_is_one_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert lw.__version__ == version, "the environment is older than pyproject.toml: run `make .venv/.installed`"
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    # The studies take theirs from here (studies/setup.py), the site from the package.
    assert "version =" not in (ROOT / "studies" / "pyproject.toml").read_text(encoding="utf-8")
