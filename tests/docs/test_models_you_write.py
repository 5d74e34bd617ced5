"""The page on models that people write: its code runs, and its models behave as the theory says."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2
from sklearn.base import clone

from labelworth.data.samples import Samples
from labelworth.errors import LabelworthWarning
from labelworth.estimation.fit import fit
from labelworth.fisher.documents.population import LABEL_OR_NOT, DocumentPopulation, enumerated_information
from labelworth.fisher.information import of_fraction
from labelworth.fisher.sampling import sampled
from labelworth.progress import SILENT

pytest.importorskip("jax")

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "models_you_write.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
MODELS = ("student", "mixture", "zeros")
FALSE_ALARM = 1e-6
FRACTION = 0.1


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    """What the page defines, and under "printed" what it prints."""
    printed: list[str] = []
    names: dict[str, Any] = {"printed": printed, "print": lambda *values: printed.append(" ".join(map(str, values)))}
    for block in BLOCKS:
        exec(block, names)
    return names


def test_the_page_runs_and_says_what_it_should(page: dict[str, Any]) -> None:
    losses, locations, verdict, plan, zeros, rates = page["printed"]
    all_labeled, tenth_labeled = eval(losses)
    assert 0 < all_labeled < tenth_labeled < 0.05
    assert float(locations.rsplit(" ", 1)[1]) > 0.8
    assert verdict in ("helps", "hurts", "cannot be told")
    assert 0 < float(plan.split()[0]) <= 40
    assert zeros.startswith("enumeration")
    np.testing.assert_allclose(page["poisson"].model_.parameters["rates"], [[2, 3], [5, 7]], atol=0.7)
    assert rates


def truth_of(page: dict[str, Any], name: str) -> Any:
    return page[name].at(page[f"{name}_truth"])


def information_of(model: Any, rng: np.random.Generator) -> Any:
    if model.support is not None:
        return enumerated_information(model)
    return sampled(DocumentPopulation(model), LABEL_OR_NOT, [of_fraction(FRACTION)], rng, max_draws=1 << 16)


def theta_of(model: Any) -> np.ndarray:
    return model.coordinates.flatten(model.tables)


def drawn(model: Any, n_samples: int, rng: np.random.Generator) -> Samples:
    """Each row is labeled with the probability `FRACTION`."""
    return model.sample(n_samples, rng).hide(rng.random(n_samples) >= FRACTION)


def errors_of_refits(
    page: dict[str, Any], name: str, n_samples: int, n_refits: int, rng: np.random.Generator
) -> np.ndarray:
    """theta_hat - theta, (n_refits, d)."""
    model = truth_of(page, name)
    family = page[name]._family(drawn(model, 10, rng))
    errors = []
    for _ in range(n_refits):
        fitted = fit(family, drawn(model, n_samples, rng), start=model, tolerance=1e-8)
        assert fitted.converged
        errors.append(theta_of(fitted.model) - theta_of(model))
    return np.array(errors)


def test_a_fit_that_runs_to_an_edge_says_along_what(page: dict[str, Any]) -> None:
    # Five rows of a class do not tell two clouds.
    rows, codes = page["mixture_sample"](page["mixture_truth"], 12, np.random.default_rng(1))
    mixture = clone(page["mixture"]).set_params(n_init=3, random_state=0)
    with pytest.warns(LabelworthWarning, match=r"nothing any more of scales\[0, 1\], shares\[0, "):
        mixture.fit(rows, np.array(mixture.classes)[codes])
    assert len(mixture.fit_.starts) == 3


@pytest.mark.statistical
@pytest.mark.parametrize("name", MODELS)
def test_known_parameters_are_recovered_from_the_start_of_the_page(
    page: dict[str, Any], name: str, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    model = truth_of(page, name)
    samples = drawn(model, 4000, rng)
    fitted = page[name]._fitted(samples, SILENT)
    assert fitted.converged
    error = theta_of(fitted.model) - theta_of(model)
    distance = 4000 * error @ information_of(model, rng).at(FRACTION) @ error
    assert distance < chi2.isf(FALSE_ALARM, len(error))


@pytest.mark.statistical
@pytest.mark.parametrize("name", MODELS)
def test_refits_spread_as_predicted_and_not_otherwise(page: dict[str, Any], name: str, seed: int) -> None:
    rng, n_samples, n_refits = np.random.default_rng(seed), 2000, 60
    errors = errors_of_refits(page, name, n_samples, n_refits, rng)
    information = information_of(truth_of(page, name), rng)
    d = errors.shape[1]
    low, high = chi2.isf([1 - FALSE_ALARM / 2, FALSE_ALARM / 2], n_refits * d)

    def total(matrix: np.ndarray) -> float:
        return float(np.einsum("ri,ij,rj->", errors, n_samples * matrix, errors))

    assert low < total(information.at(FRACTION)) < high
    # Negative controls: the covariance if all rows were labeled, and that of half as many rows.
    assert total(information.at(1.0)) > high
    assert total(information.at(FRACTION) / 2) < low
