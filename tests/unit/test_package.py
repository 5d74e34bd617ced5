"""`import labelworth as lw` is cheap, and every public name is there."""

import subprocess
import sys

import pytest

import labelworth as lw

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
