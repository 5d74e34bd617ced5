from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelworth.data.evidence import Evidence
from labelworth.data.sequences import Sequences
from labelworth.errors import DidNotConvergeWarning, InvalidInputError
from labelworth.estimation.conditional_fit import ConditionalObjective, ConditionalWeights, fit_conditional
from labelworth.kernels.chains import attribute_layout
from labelworth.models.chains.conditional_random_field import ConditionalRandomFieldModel
from labelworth.models.chains.crf_features import feature_set
from support.log_weight_chains import Drawn, drawn_sequences, log_evidence_by_hand

known_labels = st.sampled_from([(1.0, 0.0), (0.5, 0.0), (0.4, 0.4), (0.0, 1.0)])


def objective_of(
    sequences: Sequences, c2: float, *, pairs: str = "observed", start: bool = False
) -> ConditionalObjective:
    features = feature_set(sequences, pairs)
    model = ConditionalRandomFieldModel.zeros(
        features, sequences.evidence.classes, sequences.feature_names, with_start=start
    )
    return ConditionalObjective(ConditionalWeights(model), sequences, c2)


def value_by_hand(objective: ConditionalObjective, sequences: Sequences, theta: np.ndarray, c2: float) -> float:
    model = objective.weights.model_of(theta)
    start = np.zeros(model.n_classes) if model.start is None else model.start
    logs = log_evidence_by_hand(sequences, start, model.transition, model.tables["emission"])
    return float(c2 * theta @ theta - sequences.sequence_weights @ logs)


@settings(deadline=None)
@given(
    st.integers(0, 10_000),
    known_labels,
    st.sampled_from(["observed", "all"]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([1, 3, 100]),
)
def test_the_objective_and_its_gradient_equal_enumeration(
    seed: int, known: tuple[float, float], pairs: str, start: bool, real: bool, row_labels: int
) -> None:
    """Attributes as rows, as lists, or both."""
    rng = np.random.default_rng(seed)
    drawn = Drawn(gold=known[0], ambiguous=known[1], real_values=real, weighted=real, lengths=(2, 1, 3, 3))
    sequences, c2 = drawn_sequences(drawn, rng), 0.3
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attribute_layout, "ROW_LABELS", row_labels)
        patch.setattr(attribute_layout, "SHARD_TOKENS", 4)
        objective = objective_of(sequences, c2, pairs=pairs, start=start)
    theta = rng.normal(size=objective.size)
    gradient = np.empty(objective.size)
    value = objective(theta, gradient)
    np.testing.assert_allclose(value, value_by_hand(objective, sequences, theta, c2), rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(objective.weights.theta_of(objective.weights.model_of(theta)), theta)
    step, direction = 1e-4, rng.normal(size=objective.size)
    ends = [value_by_hand(objective, sequences, theta + k * step * direction, c2) for k in (-2, -1, 1, 2)]
    slope = (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * step)
    np.testing.assert_allclose(gradient @ direction, slope, rtol=1e-8, atol=1e-8)


@settings(deadline=None)
@given(st.integers(0, 10_000), known_labels)
def test_the_gradient_equals_the_scores_of_the_model(seed: int, known: tuple[float, float]) -> None:
    """All entries to 1e-10, through another way: expected counts sequence by sequence."""
    rng = np.random.default_rng(seed)
    sequences = drawn_sequences(Drawn(gold=known[0], ambiguous=known[1], weighted=True), rng)
    objective = objective_of(sequences, 0.0, pairs="all", start=True)
    theta = rng.normal(size=objective.size)
    gradient = np.empty(objective.size)
    objective(theta, gradient)
    scores = sequences.sequence_weights @ objective.weights.model_of(theta).scores(sequences)
    n_head = 3 + 9
    emission = scores[n_head:].reshape(3, 5).T.ravel()
    np.testing.assert_allclose(gradient, -np.concatenate([scores[:n_head], emission]), atol=1e-10)


def test_weights_too_large_for_plain_numbers_go_through_logarithms() -> None:
    rng = np.random.default_rng(3)
    sequences = drawn_sequences(Drawn(gold=0.6, lengths=(4, 3)), rng)
    objective = objective_of(sequences, 0.0, pairs="all")
    theta = 400 * rng.normal(size=objective.size)
    gradient = np.empty(objective.size)
    value = objective(theta, gradient)
    np.testing.assert_allclose(value, value_by_hand(objective, sequences, theta, 0.0), rtol=1e-12)
    scores = objective.weights.model_of(theta).scores(sequences).sum(axis=0)
    np.testing.assert_allclose(gradient[:9], -scores[:9], atol=1e-9)


def test_the_same_bits_for_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    sequences = drawn_sequences(Drawn(n_attributes=40, lengths=(5,) * 60, gold=0.8), rng)
    monkeypatch.setattr(attribute_layout, "SHARD_TOKENS", 50)
    objective = objective_of(sequences, 1.0)
    theta = rng.normal(size=objective.size)
    found = []
    for n_threads in (1, 2, 5):
        monkeypatch.setattr("labelworth.kernels.chains.attribute_pass.n_threads_for", lambda size, n=n_threads: n)
        gradient = np.empty(objective.size)
        found.append((objective(theta, gradient), gradient.tobytes()))
    assert len(set(found)) == 1


@pytest.mark.parametrize("known", [(1.0, 0.0), (0.5, 0.2)])
def test_the_fit_is_a_stationary_point(known: tuple[float, float]) -> None:
    sequences = drawn_sequences(Drawn(gold=known[0], ambiguous=known[1], lengths=(4,) * 30), np.random.default_rng(6))
    fitted = fit_conditional(sequences, c2=0.5, tolerance=1e-16)
    assert fitted.converged
    assert (np.diff(fitted.objective_path) >= 0).all()
    model = fitted.model
    theta = model.coordinates.flatten(model.tables)
    slope = model.scores(sequences).sum(axis=0) - 2 * 0.5 * theta
    np.testing.assert_allclose(slope, 0, atol=1e-5)
    np.testing.assert_allclose(fitted.log_likelihood, model.log_evidence(sequences).sum())
    np.testing.assert_allclose(fitted.objective, fitted.log_likelihood - 0.5 * theta @ theta)


def test_unlabeled_sequences_are_skipped_and_this_is_said() -> None:
    class Listener:
        def __init__(self) -> None:
            self.said: list[str] = []

        def start(self, title: str, total: int | None) -> "Listener":
            return self

        def advance(self, steps: int = 1, note: str = "", seconds: float | None = None) -> None:
            pass

        def finish(self, task: object) -> None:
            pass

        def say(self, message: str) -> None:
            self.said.append(message)

    sequences = drawn_sequences(Drawn(lengths=(3,) * 20), np.random.default_rng(7))
    listener = Listener()
    some = fit_conditional(sequences.hide(np.arange(30)), tolerance=1e-14, progress=listener)
    alone = fit_conditional(sequences.take(np.arange(10, 20)), tolerance=1e-14)
    assert "10 of 20 sequences have no label" in listener.said[0]
    np.testing.assert_allclose(some.model.tables["emission"], alone.model.tables["emission"], atol=1e-10)


def test_a_given_start_is_where_the_climb_begins() -> None:
    sequences = drawn_sequences(Drawn(lengths=(3,) * 20), np.random.default_rng(8))
    first = fit_conditional(sequences, tolerance=1e-14)
    again = fit_conditional(sequences, start=first.model, tolerance=1e-10)
    assert again.n_iterations <= 1
    np.testing.assert_allclose(again.objective_path[0], first.objective)


def test_nothing_to_learn_from_is_refused() -> None:
    sequences = drawn_sequences(Drawn(), np.random.default_rng(0))
    with pytest.raises(InvalidInputError, match="Label some tokens"):
        fit_conditional(sequences.hide())
    with pytest.raises(InvalidInputError, match="Label some tokens"):
        fit_conditional(replace(sequences, weights=np.zeros(4)))
    with pytest.raises(InvalidInputError, match="c2"):
        fit_conditional(sequences, c2=-1.0)
    other = drawn_sequences(Drawn(n_attributes=4), np.random.default_rng(0))
    with pytest.raises(InvalidInputError, match="5 attributes"):
        fit_conditional(other, pairs=feature_set(sequences))


def test_running_out_of_iterations_is_told() -> None:
    sequences = drawn_sequences(Drawn(lengths=(4,) * 30), np.random.default_rng(6))
    with pytest.warns(DidNotConvergeWarning):
        fitted = fit_conditional(sequences, c2=1e-3, tolerance=0.0, max_iterations=3)
    assert not fitted.converged


def test_long_and_single_token_sequences_and_one_label() -> None:
    rng = np.random.default_rng(10)
    sequences = drawn_sequences(Drawn(lengths=(1, 5000, 1)), rng)
    assert fit_conditional(sequences).converged
    single = sequences.with_evidence(Evidence(np.zeros(sequences.n_tokens, dtype=int), ("only",)))
    np.testing.assert_allclose(fit_conditional(single).log_likelihood, 0.0, atol=1e-9)


def test_the_likelihood_is_that_of_crfsuite(tmp_path) -> None:
    """Fully labeled, the same features, the same penalty: both climb to the same height, and tag alike."""
    pycrfsuite = pytest.importorskip("pycrfsuite")
    rng = np.random.default_rng(11)
    sequences = drawn_sequences(Drawn(n_labels=4, n_attributes=12, lengths=tuple(rng.integers(1, 9, size=60))), rng)
    names, classes = sequences.feature_names, sequences.evidence.classes
    dense = sequences.attributes.toarray()
    said: list[str] = []

    class Trainer(pycrfsuite.Trainer):
        def message(self, message: str) -> None:
            said.append(message)

    parameters = {"c2": 0.7, "max_iterations": 10_000, "epsilon": 1e-9, "delta": 1e-13, "linesearch": "MoreThuente"}
    trainer = Trainer("lbfgs", parameters, verbose=True)
    inputs = []
    for first, last in zip(sequences.offsets, sequences.offsets[1:], strict=False):
        inputs.append([{names[a]: row[a] for a in np.flatnonzero(row)} for row in dense[first:last]])
        trainer.append(inputs[-1], [classes[code] for code in sequences.evidence.codes[first:last]])
    path = str(tmp_path / "model.crfsuite")
    trainer.train(path)
    log = "".join(said)
    loss = float(log.rpartition("Loss: ")[2].split()[0])
    n_features = int(log.partition("Number of features: ")[2].split()[0])
    fitted = fit_conditional(sequences, c2=0.7, tolerance=1e-13)
    assert fitted.model.features.n_weights == n_features
    np.testing.assert_allclose(-fitted.objective, loss, rtol=1e-6)
    tagger = pycrfsuite.Tagger()
    tagger.open(path)
    tags = [tag for sentence in inputs for tag in tagger.tag(sentence)]
    best = fitted.model.best_labels(sequences.hide())
    assert [classes[code] for code in best] == tags
    tagger.set(inputs[3])
    first = int(sequences.offsets[3])
    by_crfsuite = [tagger.marginal(name, 0) for name in classes]
    np.testing.assert_allclose(fitted.model.marginals(sequences.hide())[first], by_crfsuite, atol=1e-4)
