"""The page on adding a model is followed to the letter: its code is read from it, put in place and used."""

import importlib.util
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import labelworth as lw
from labelworth.estimators import kinds
from support.small_models import CLASSES, Case

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "how_to_add_a_model.md").read_text(encoding="utf-8")
MODEL, ESTIMATOR, ENTRY, USE = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
MODULES = [path.removeprefix("src/")[: -len(".py")].replace("/", ".") for path in re.findall(r"File `(.*?)`:", PAGE)]


def module_from(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def poisson(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """The three places filled in; gives the module of the model."""
    folder = tmp_path_factory.mktemp("page")
    with pytest.MonkeyPatch.context() as patch:
        modules = []
        for name, source in zip(MODULES, (MODEL, ESTIMATOR), strict=True):
            path = folder / f"{name}.py"
            path.write_text(source, encoding="utf-8")
            modules.append(module_from(name, path))
        entry = eval(ENTRY, vars(kinds))
        patch.setitem(kinds.KINDS, entry.name, entry)
        yield modules[0]
    vars(lw).pop("PoissonNaiveBayes", None)
    for name in MODULES:
        del sys.modules[name]


def poisson_case(poisson: ModuleType) -> Case:
    def draw(rng: np.random.Generator) -> Any:
        return poisson.PoissonModel(CLASSES, rng.dirichlet(np.full(3, 5.0)), rng.uniform(0.5, 4.0, size=(3, 4)))

    return Case("poisson", draw, poisson.PoissonFamily.for_samples)


def properties_of_every_model() -> list[Callable[[Case, np.random.Generator], None]]:
    properties = []
    for room in ("models/test_protocol", "estimation/test_fit"):
        path = ROOT / "tests" / "unit" / f"{room}.py"
        module = module_from(f"properties_in_{path.stem}", path)
        properties += [
            function
            for name, function in vars(module).items()
            if name.startswith("test_") and [*inspect.signature(function).parameters] == ["case", "rng"]
        ]
    return properties


@pytest.mark.parametrize("holds", properties_of_every_model(), ids=lambda holds: holds.__name__)
def test_it_has_the_properties_of_every_model(holds: Any, poisson: ModuleType, seed: int) -> None:
    holds(poisson_case(poisson), np.random.default_rng(seed))


def test_it_is_used_like_any_other(
    poisson: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    used: dict[str, Any] = {}
    exec(USE, used)
    accuracy, same_after_loading, verdict, _ = capsys.readouterr().out.splitlines()
    assert float(accuracy) > 0.85
    assert same_after_loading == "True"
    assert verdict in ("helps", "hurts", "cannot be told")
    for plan, source in ((used["by_formula"], "asymptotic"), (used["by_simulation"], "simulated")):
        assert plan.source == source
        assert plan.model == "poisson"
        assert 0 < plan.recommended.labels <= 60
        assert plan.advice == "label"
