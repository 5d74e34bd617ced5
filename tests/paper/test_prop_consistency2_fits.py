"""prop:consistency2 with the fits that people use: estimates of sequences labeled in part converge to the truth.

False-alarm rate below 1e-6 per assertion: the logarithm of a ratio of errors over 12 replicates has a standard
deviation of about 0.14, and may differ by 0.75 from what it should be.
"""

import numpy as np
import pytest

from labelworth.data.evidence import Evidence
from labelworth.data.sequences import Sequences
from labelworth.errors import LabelworthWarning
from labelworth.estimation.boltzmann_chain_fit import fit_boltzmann_chain
from labelworth.estimation.fit import fit
from labelworth.models.chains.boltzmann_chain import BoltzmannChainFamily, BoltzmannChainModel
from labelworth.models.chains.hidden_markov import HiddenMarkovFamily, HiddenMarkovModel
from labelworth.policies.spec import parse_policy

pytestmark = pytest.mark.statistical

FEW, MANY = 250, 2250
N_REPLICATES = 12
TRUTHS = {
    "hidden-markov": HiddenMarkovModel(
        ("A", "B"), [0.65, 0.35], [[0.8, 0.2], [0.3, 0.7]], [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]
    ),
    "boltzmann-chain": BoltzmannChainModel(
        ("A", "B"), None, [[0.8, -0.5], [-0.4, 0.6]], [[1.0, 0.1, -0.9], [-0.8, 0.2, 0.9]]
    ),
}
POLICIES = {"full": "everything", "window": "window:2", "prefix": "prefix:0.5", "first only": "prefix:1"}


def drawn(truth, n_sequences: int, rng: np.random.Generator) -> Sequences:
    """Sequences of three to five tokens from the true model, fully labeled."""
    offsets = np.concatenate([[0], np.cumsum(rng.integers(3, 6, size=n_sequences))])
    nothing = Evidence(np.full(offsets[-1], -1), truth.classes)
    return truth.sample(Sequences(np.zeros(offsets[-1], dtype=int), offsets, nothing, truth.feature_names), rng)


def fitted(kind: str, data: Sequences, rng: np.random.Generator):
    """The model that the house fits, with hardly any prior."""
    if kind == "hidden-markov":
        family = HiddenMarkovFamily.for_sequences(data, smoothing=0.1, label_smoothing=0.1)
        return fit(family, data, tolerance=1e-6, rng=rng).model
    family = BoltzmannChainFamily.for_sequences(data, penalty=1e-3, with_start=False)
    return fit_boltzmann_chain(family, data, tolerance=1e-6, rng=rng).model


def distance(found, truth) -> float:
    """Between the tables; a constant on all weights of a table of a Boltzmann chain changes nothing."""
    steps = [found.tables[name] - table for name, table in truth.tables.items()]
    if truth.kind == "boltzmann-chain":
        steps = [step - step.mean() for step in steps]
    return float(np.sqrt(sum(np.square(step).sum() for step in steps)))


def error(kind: str, policy: str, n_sequences: int, n_replicates: int = N_REPLICATES) -> float:
    """The root mean squared distance of fits from the truth."""
    squares = []
    for seed in range(n_replicates):
        rng = np.random.default_rng([seed, n_sequences])
        data, _ = parse_policy(policy).apply(drawn(TRUTHS[kind], n_sequences, rng), seed)
        squares.append(distance(fitted(kind, data, rng), TRUTHS[kind]) ** 2)
    return float(np.sqrt(np.mean(squares)))


@pytest.mark.parametrize("kind", TRUTHS)
@pytest.mark.parametrize("name", POLICIES)
def test_fits_converge_to_the_truth_at_the_rate_of_the_square_root(kind: str, name: str) -> None:
    far, near = (error(kind, POLICIES[name], size) for size in (FEW, MANY))
    # Nine times the sequences: about three times as close.
    assert np.log(far / near) == pytest.approx(np.log(3), abs=0.75)


@pytest.mark.parametrize("kind", TRUTHS)
def test_without_labels_more_sequences_do_not_help(kind: str) -> None:
    """The control: names of labels are not found, and swapping them changes no likelihood."""
    with pytest.warns(LabelworthWarning, match="No label tells these classes apart"):
        found = error(kind, "nothing", MANY, n_replicates=5)
    assert found > 5 * error(kind, "prefix:1", MANY, n_replicates=5)


@pytest.mark.parametrize("kind", TRUTHS)
def test_a_swap_of_names_is_seen_by_the_first_label_alone(kind: str) -> None:
    truth = TRUTHS[kind]
    swapped = truth.with_tables(
        {
            name: table[:, ::-1] if name == "start" else table[::-1, ::-1] if name == "transition" else table[::-1]
            for name, table in truth.tables.items()
        }
    )
    data = drawn(truth, 400, np.random.default_rng(0))
    unlabeled, _ = parse_policy("nothing").apply(data, 0)
    first, _ = parse_policy("prefix:1").apply(data, 0)
    assert truth.log_evidence(unlabeled) == pytest.approx(swapped.log_evidence(unlabeled))
    assert truth.log_evidence(first).sum() > swapped.log_evidence(first).sum() + 30
