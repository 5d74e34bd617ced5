"""The door for models that people write: what it takes, what it refuses, and that nothing else notices it."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import labelworth as lw
from labelworth.errors import InvalidInputError, NotIdentifiableError
from labelworth.estimators.written import WrittenModel

pytestmark = pytest.mark.usefixtures("few_replicates")

START = {"class_probabilities": np.array([0.5, 0.5]), "means": np.array([[-1.0], [1.0]]), "scale": 1.0}
CONSTRAINTS = {"class_probabilities": "simplex", "scale": "positive"}
TRUTH = {"class_probabilities": np.array([0.4, 0.6]), "means": np.array([[0.0], [2.0]]), "scale": 0.7}


def log_joint(parameters: Any, x: Any) -> Any:
    import jax.numpy as jnp
    from jax.scipy.stats import norm

    return jnp.log(parameters["class_probabilities"]) + norm.logpdf(x, parameters["means"], parameters["scale"])[:, 0]


def sample(parameters: Any, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    codes = rng.choice(2, size=n, p=parameters["class_probabilities"])
    return parameters["means"][codes] + parameters["scale"] * rng.standard_normal((n, 1)), codes


def model(**changes: Any) -> WrittenModel:
    given: dict[str, Any] = {
        "log_joint": log_joint,
        "start": START,
        "classes": ("low", "high"),
        "constraints": CONSTRAINTS,
    }
    return WrittenModel(**given | changes)


def asked_of(door: WrittenModel, asked: str) -> None:
    """To fit, check or plan."""
    rows, labels = data()
    if asked == "fit":
        door.fit(rows, labels)
    elif asked == "check":
        lw.check(rows, labels, model=door)
    else:
        lw.plan(rows, labels, model=door, budget=100, source="simulated")


def data(n_samples: int = 200, n_labeled: int = 50) -> tuple[np.ndarray, np.ndarray]:
    rows, codes = sample(TRUTH, n_samples, np.random.default_rng(0))
    labels = np.array(["low", "high"], dtype=object)[codes]
    labels[n_labeled:] = None
    return rows, labels


def test_without_jax_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jax", None)
    monkeypatch.delitem(sys.modules, "labelworth.models.written.derivatives", raising=False)
    with pytest.raises(InvalidInputError, match=r"pip install 'labelworth\[jax\]'"):
        model().fit(*data())


def test_importing_the_door_does_not_load_jax() -> None:
    code = "import sys, labelworth; labelworth.WrittenModel; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


class TestWithJax:
    @pytest.fixture(autouse=True)
    def _needs_jax(self) -> None:
        pytest.importorskip("jax")

    def test_jax_stays_as_it_was_for_everybody_else(self) -> None:
        import jax

        model().fit(*data())
        assert not jax.config.jax_enable_x64
        assert jax.numpy.zeros(1).dtype == jax.numpy.float32

    def test_it_learns_from_labeled_unlabeled_and_ambiguous_rows(self) -> None:
        rows, labels = data()
        labels[50:55] = [["low", "high"]] * 5
        fitted = model().fit(rows, list(labels))
        assert fitted.converged_
        np.testing.assert_allclose(fitted.model_.parameters["means"], TRUTH["means"], atol=0.4)
        assert fitted.fit_.objective_path[0] < fitted.fit_.objective_path[-1]
        np.testing.assert_allclose(fitted.predict_proba(rows).sum(axis=1), 1.0)
        labels_only = model(unlabeled_weight=0.0).fit(rows, list(labels))
        assert not np.allclose(labels_only.model_.parameters["means"], fitted.model_.parameters["means"])

    def test_units_of_the_features_do_not_matter(self) -> None:
        rows, labels = data()
        plain = model().fit(rows, labels)
        large = model(start={**START, "means": 1e4 * START["means"], "scale": 1e4}).fit(1e4 * rows, labels)
        np.testing.assert_allclose(
            large.model_.parameters["means"], 1e4 * plain.model_.parameters["means"], rtol=1e-3
        )

    def test_it_is_a_scikit_learn_estimator(self) -> None:
        original = model(tol=1e-7)
        assert clone(original).get_params()["tol"] == 1e-7

    def test_further_starts_are_near_the_given_one(self) -> None:
        fitted = model(n_init=3, random_state=0).fit(*data())
        assert len(fitted.fit_.starts) == 3
        assert np.ptp(fitted.fit_.starts) < 1e-3

    def test_it_is_checked_and_planned_with(self) -> None:
        rows, labels = data(150, 60)
        door = model(sample=sample)
        assert lw.check(rows, labels, model=door, n_bootstrap=5).verdict in ("helps", "hurts", "cannot be told")
        for source in ("asymptotic", "simulated"):
            plan = lw.plan(rows, labels, model=door, budget=90, source=source)
            assert plan.source == source
            assert plan.model == "written"
            assert 0 < plan.recommended.labels <= 30
        assert lw.frontier(rows, labels, model=door, source="asymptotic").points
        table = door.fit(rows, labels).information(rows, labels, labeled_fractions=[0.5, 1.0])
        assert table.method == "observed"

    def test_without_sampler_and_support_the_rows_of_the_data_are_all_x(self) -> None:
        rows, labels = data()
        table = model().fit(rows, labels).information(labeled_fractions=[1.0], n_samples=100, max_draws=5000)
        assert table.method == "sampling"
        with pytest.raises(InvalidInputError, match="give sample= or support="):
            lw.information(model().at(n_features=1), labeled_fractions=[1.0], n_samples=100)

    def test_what_no_label_can_tell_is_named_as_in_the_tree(self) -> None:
        import jax.numpy as jnp
        from jax.scipy.stats import norm

        def redundant(parameters: Any, x: Any) -> Any:
            means = parameters["means"] + parameters["shift"]
            return jnp.log(parameters["class_probabilities"]) + norm.logpdf(x, means, parameters["scale"])[:, 0]

        door = model(log_joint=redundant, start={**START, "shift": 0.0}, sample=sample)
        with pytest.raises(NotIdentifiableError, match=r"means\[[01], 0\]"):
            lw.information(door.at({**TRUTH, "shift": 0.0}), labeled_fractions=[1.0], n_samples=100, max_draws=5000)

    @pytest.mark.parametrize("n_labeled", [20, 100])
    def test_a_check_goes_on_where_a_parameter_is_in_no_term(self, n_labeled: int) -> None:
        door = model(start={**START, "unused": 1.0}, sample=sample)
        report = lw.check(*data(200, n_labeled), model=door, n_bootstrap=2)
        assert report.verdict in ("helps", "hurts", "cannot be told")
        assert report.weight is not None
        assert report.specification is None
        assert any("complete labels leave a parameter" in note for note in report.notes)

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            (
                {"log_joint": lambda parameters, x: parameters["means"]},
                r"shape \(2,\). Got float64 of shape \(2, 1\)",
            ),
            ({"log_joint": lambda parameters, x: parameters["scale"]}, r"Got float64 of shape \(\)"),
            ({"log_joint": lambda parameters, x: (x, x)}, "Got tuple"),
            ({"log_joint": lambda parameters, x: parameters["variance"]}, "log_joint fails .*variance"),
            ({"log_joint": lambda parameters, x: x[0] / 0.0 * parameters["means"][:, 0]}, "log_joint gives"),
            ({"log_joint": 3}, "log_joint"),
            ({"start": {**START, "scale": -1.0}}, "scale must be positive"),
            ({"start": {**START, "scale": "wide"}}, "arrays of numbers"),
            ({"start": object()}, "tree of dicts"),
            ({"classes": ("low", "low")}, "distinct"),
            ({"classes": ("low", "middle", "high")}, r"shape \(3,\)"),
            ({"constraints": {"sd": "positive"}}, "a constraint on 'sd'"),
            ({"support": [[0.0], [0.0]]}, "every x once"),
        ],
    )
    def test_what_cannot_be_is_refused_in_a_sentence(self, change: dict[str, Any], words: str) -> None:
        with pytest.raises(InvalidInputError, match=words):
            model(**change).fit(*data())

    def test_a_density_without_derivative_is_refused_where_it_has_none(self) -> None:
        import jax.numpy as jnp

        def kinked(parameters: Any, x: Any) -> Any:
            # Not a number times nothing: the branch that is not taken has no slope.
            nothing = jnp.where(x[0] > 1e9, jnp.sqrt(-1.0 - parameters["scale"] ** 2), 0.0)
            return log_joint(parameters, x) + nothing

        with pytest.raises(InvalidInputError, match="no derivative in scale for class 'low'"):
            model(log_joint=kinked).fit(*data())

    def test_a_prior_is_part_of_the_objective(self) -> None:
        def narrow(parameters: Any) -> Any:
            return -1e4 * (parameters["scale"] - 3.0) ** 2

        fitted = model(log_prior=narrow).fit(*data())
        assert abs(fitted.model_.parameters["scale"] - 3.0) < 0.1
        curvature = fitted.fit_.family.prior_curvature(fitted.model_)
        np.testing.assert_allclose(np.diag(curvature), [0, 0, 0, 2e4])

    def test_labels_of_other_classes_are_refused(self) -> None:
        rows, labels = data()
        labels[0] = "middle"
        with pytest.raises(InvalidInputError, match="middle"):
            model().fit(rows, labels)

    def test_rows_of_another_length_are_refused(self) -> None:
        fitted = model().fit(*data())
        with pytest.raises(InvalidInputError, match="features"):
            fitted.predict(np.zeros((3, 2)))

    def test_it_is_not_saved(self, tmp_path: Any) -> None:
        with pytest.raises(InvalidInputError, match="files of labelworth hold no code"):
            model().fit(*data()).save(tmp_path / "model.lw")

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            # Half the spread that log_joint says.
            (
                {
                    "sample": lambda parameters, n, rng: sample(
                        {**parameters, "scale": parameters["scale"] / 2}, n, rng
                    )
                },
                "do not describe the same .*the score of scale",
            ),
            # Classes by turns.
            (
                {"sample": lambda parameters, n, rng: (sample(parameters, n, rng)[0], np.arange(n) % 2)},
                "do not describe the same",
            ),
            ({"sample": lambda parameters, n, rng: np.zeros((n, 1))}, "rows X and their class codes"),
            ({"sample": lambda parameters, n, rng: (np.zeros((n, 3)), np.zeros(n, int))}, r"\(.*, 3\)"),
            ({"sample": lambda parameters, n, rng: (np.zeros((n, 1)), np.full(n, 7))}, "class codes from 0 to 1"),
            ({"support": np.linspace(-3, 3, 7)[:, None]}, "have the probability .* and should have 1"),
        ],
    )
    def test_a_sampler_or_support_of_another_density_is_refused(self, change: dict[str, Any], words: str) -> None:
        with pytest.raises(InvalidInputError, match=words):
            lw.information(model(**change).at(TRUTH, n_features=1), labeled_fractions=[1.0, 0.1], n_samples=100)

    def test_a_density_that_is_not_normalized_is_refused(self) -> None:
        def without_scale(parameters: Any, x: Any) -> Any:
            import jax.numpy as jnp

            distances = ((x - parameters["means"][:, 0]) / parameters["scale"]) ** 2
            return jnp.log(parameters["class_probabilities"]) - distances / 2

        door = model(log_joint=without_scale, sample=sample)
        with pytest.raises(InvalidInputError, match="Is log_joint normalized"):
            lw.information(door.at(TRUTH), labeled_fractions=[1.0], n_samples=100)

    @pytest.mark.filterwarnings("error::RuntimeWarning")
    @pytest.mark.parametrize("asked", ["fit", "check", "plan"])
    @pytest.mark.parametrize("constraint", ["free", "positive"])
    def test_a_likelihood_that_grows_without_bound_is_refused_by_the_parameter(
        self, asked: str, constraint: str
    ) -> None:
        door = model(constraints={**CONSTRAINTS, "class_probabilities": constraint})
        with pytest.raises(InvalidInputError, match="has no bound: it still climbs where class_probabilities is"):
            asked_of(door, asked)

    @pytest.mark.parametrize("asked", ["check", "plan"])
    def test_what_is_not_normalized_is_neither_checked_nor_planned_with(self, asked: str) -> None:
        def narrower(parameters: Any, n: int, rng: np.random.Generator) -> Any:
            return sample({**parameters, "scale": parameters["scale"] / 2}, n, rng)

        doors = {
            "Is log_joint normalized": model(sample=narrower),
            "have the probability .* and should have 1": model(support=np.linspace(-3, 3, 7)[:, None]),
        }
        for words, door in doors.items():
            with pytest.raises(InvalidInputError, match=words):
                asked_of(door, asked)

    @pytest.mark.parametrize(("off_by", "is_single"), [(1e-6, True), (1e-4, False)])
    def test_a_mass_that_single_precision_explains_is_told_so(self, off_by: float, is_single: bool) -> None:
        def coins(parameters: Any, x: Any) -> Any:
            import jax.numpy as jnp

            heads = parameters["heads"]
            return jnp.log(0.5) + x[0] * jnp.log(heads) + (1 - x[0]) * jnp.log(1 - heads) + np.log1p(off_by)

        door = WrittenModel(
            coins, {"heads": np.array([0.3, 0.6])}, classes=("a", "b"), support=np.array([[0.0], [1.0]])
        )
        with pytest.raises(InvalidInputError, match="should have 1") as refusal:
            lw.information(door.at(), labeled_fractions=[1.0], n_samples=100)
        assert ("single precision" in str(refusal.value)) == is_single

    @pytest.mark.parametrize("wrong", ["constant", "another spread", "another tree"])
    def test_a_wrong_m_step_is_refused(self, wrong: str) -> None:
        def m_step(responsibilities: np.ndarray, X: np.ndarray, weights: np.ndarray) -> Any:
            weighted = weights[:, None] * responsibilities
            totals = weighted.sum(axis=0)
            means = weighted.T @ X / totals[:, None]
            scale = float(np.sqrt(np.sum(weighted * (X - means.T) ** 2) / totals.sum()))
            answer = {"class_probabilities": totals / totals.sum(), "means": means, "scale": scale}
            if wrong == "constant":
                return {**answer, "means": np.array([[5.0], [-5.0]])}
            return {**answer, "scale": 1.5 * scale} if wrong == "another spread" else means

        words = {
            "constant": "maximize lowers",
            "another spread": "maximize (lowers|stands still where the likelihood still climbs along scale)",
            "another tree": "maximize gave",
        }[wrong]
        with pytest.raises(InvalidInputError, match=words):
            model(maximize=m_step).fit(*data())

    def test_an_m_step_that_leaves_its_bounds_without_a_class_is_told_so(self) -> None:
        def m_step(responsibilities: np.ndarray, X: np.ndarray, weights: np.ndarray) -> Any:
            totals = (weights[:, None] * responsibilities).sum(axis=0)
            return {**START, "class_probabilities": totals / totals.sum()}

        rows, _ = data(20)
        with pytest.raises(InvalidInputError, match=r"class_probabilities must be positive.* of class 'high': parts"):
            model(maximize=m_step).fit(rows, ["low"] * 20)
