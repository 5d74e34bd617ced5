"""`import labelworth as lw` is cheap, and every public name is there."""

import subprocess
import sys
from types import ModuleType

import pytest

import labelworth as lw

HEAVY = ("numpy", "scipy", "numba", "sklearn", "matplotlib")


def fresh(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_importing_the_package_imports_nothing_heavy() -> None:
    assert fresh(f"import sys, labelworth; print([name for name in {HEAVY} if name in sys.modules])") == "[]\n"


@pytest.mark.parametrize("name", lw.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(lw, name) is not None
    assert name in dir(lw)


@pytest.mark.parametrize("name", ["nonsense", "_nonsense"])
def test_an_unknown_name_is_refused_as_python_does(name: str) -> None:
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'"):
        getattr(lw, name)


@pytest.mark.parametrize(
    "order",
    [
        "import labelworth as lw; f = lw.information; import labelworth.information.curve",
        "import labelworth.information.curve; import labelworth as lw; f = lw.information",
    ],
)
def test_information_is_a_function_whoever_imports_its_room_first(order: str) -> None:
    code = f"""{order}
from labelworth.data.lengths import LengthDistribution
from labelworth.models.multinomial import MultinomialModel
model = MultinomialModel((0, 1), [0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], LengthDistribution.single(2))
print(f(model, labeled_fractions=[1.0], n_samples=100).method)
import labelworth.information.curve as room
print(room.Weight.NAMED.value)
"""
    assert fresh(code).split() == ["enumeration", "named"]


def test_information_is_still_its_room() -> None:
    assert isinstance(lw.information, ModuleType)
    assert lw.information.__name__ == "labelworth.information"
