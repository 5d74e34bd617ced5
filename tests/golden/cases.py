"""Small data of every kind, and what is asked of it: one golden record for each question.

``python tests/golden/cases.py [NAME ...]`` writes the records anew;
a change of one is said in the commit that makes it.
"""

import json
import math
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from typer.testing import CliRunner

RECORDS = Path(__file__).parent / "records"

_OF_THIS_RUN = ("durations", "versions", "seconds", "started")


def _rng() -> np.random.Generator:
    return np.random.default_rng(20260101)


def _words(name: str, n_classes: int, n_words: int, n: int, n_labeled: int, length: int, folder: Path) -> None:
    """Documents of classes that tilt a Zipf vocabulary; the first rows are labeled."""
    rng = _rng()
    zipf = 1.0 / np.arange(3, n_words + 3)
    tables = zipf * np.exp(0.9 * rng.standard_normal((n_classes, n_words)))
    tables /= tables.sum(axis=1, keepdims=True)
    with (folder / name).open("w") as file:
        for row in range(n):
            label = int(rng.integers(n_classes))
            text = " ".join(f"w{word}" for word in rng.choice(n_words, size=length, p=tables[label]))
            file.write(json.dumps({"text": text, "label": "abcdefgh"[label] if row < n_labeled else None}) + "\n")


def _sequences(folder: Path) -> None:
    """Sequences of a small hidden Markov chain, the first ones labeled whole and some in part."""
    rng = _rng()
    transition = np.array([[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.3, 0.1, 0.6]])
    emission = np.array([[0.5, 0.2, 0.1, 0.1, 0.1], [0.1, 0.5, 0.2, 0.1, 0.1], [0.1, 0.1, 0.1, 0.3, 0.4]])
    with (folder / "tags.conll").open("w") as file:
        for row in range(160):
            state = int(rng.integers(3))
            for position in range(int(rng.integers(3, 8))):
                word = int(rng.choice(5, p=emission[state]))
                known = row < 50 or (row < 70 and position % 2 == 0)
                file.write(f"v{word} {'XYZ'[state] if known else '?'}\n")
                state = int(rng.choice(3, p=transition[state]))
            file.write("\n")


def write_data(folder: Path) -> None:
    """Every file that a question below names."""
    _words("three.jsonl", 3, 40, 400, 90, 10, folder)
    _words("two.jsonl", 2, 30, 500, 240, 12, folder)
    _words("large.jsonl", 3, 400, 500, 120, 15, folder)
    _sequences(folder)
    rng = _rng()
    classes = rng.integers(2, size=400)
    vectors = rng.standard_normal((400, 3)) + np.array([1.5, 0.5, 0.0]) * classes[:, None]
    np.savez(folder / "vectors.npz", X=vectors)
    lines = [str(label) if row < 120 else "" for row, label in enumerate(classes)]
    (folder / "vectors.txt").write_text("\n".join(lines) + "\n")
    for name, document in _specifications().items():
        (folder / name).write_text(json.dumps(document))


def _specifications() -> dict[str, Any]:
    words = [[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]]
    three = [[0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4], [0.25, 0.25, 0.3, 0.2]]
    fractions = {"labeled_fractions": [1, 0.5, 0.1, 0], "n_samples": 2000}
    multinomial = {
        "model": "multinomial-naive-bayes",
        "parameters": {"class_probabilities": [0.6, 0.4], "word_probabilities": words},
        "document_length": 4,
        **fractions,
    }
    chain = {
        "parameters": {
            "start": [0.6, 0.4],
            "transition": [[0.7, 0.3], [0.2, 0.8]],
            "emission": [[0.5, 0.3, 0.2], [0.1, 0.3, 0.6]],
        },
        "lengths": {"3": 0.5, "4": 0.5},
        "rules": ["everything", "nothing", "prefix:0.5", "window:2", "every-other", "random:0.3"],
        "policies": [[1, 0, 0, 0, 0, 0], [0.25, 0.75, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0], [0, 0, 0, 0.5, 0, 0.5]],
        "n_samples": 1000,
    }
    weights = {name: np.log(np.array(table)).tolist() for name, table in chain["parameters"].items()}
    return {
        "enumeration.json": {**multinomial, "method": "enumeration"},
        "formula.json": {**multinomial, "method": "formula", "document_length": 25},
        "lengths.json": {
            **{key: value for key, value in multinomial.items() if key != "document_length"},
            "lengths": {"3": 0.5, "5": 0.5},
        },
        "sampling.json": {
            **multinomial,
            "parameters": {"class_probabilities": [0.5, 0.3, 0.2], "word_probabilities": three},
            "document_length": 12,
            "labeled_fractions": [1, 0.5, 0.1],
            "method": "sampling",
        },
        "hidden-markov.json": {**chain, "model": "hidden-markov"},
        "hidden-markov-sampled.json": {**chain, "model": "hidden-markov", "method": "sampling"},
        "boltzmann-chain.json": {**chain, "model": "boltzmann-chain", "parameters": weights},
        "conditional-random-field.json": {**chain, "model": "conditional-random-field", "parameters": weights},
    }


COMMANDS: dict[str, str] = {
    "plan-two-class-formulas": "plan two.jsonl --budget 400 --criterion excess_log_loss",
    "plan-two-class-error": "plan two.jsonl --budget 400 --source asymptotic --criterion error",
    "plan-two-class-target": "plan two.jsonl --target 0.0025 --criterion excess_log_loss",
    "plan-two-class-alpha": "plan two.jsonl --alpha 2000000 --criterion total_variance --price-unlabeled 0.01",
    "plan-three-class-formulas": "plan three.jsonl --budget 200 --criterion excess_log_loss",
    "plan-three-class-worst": "plan three.jsonl --budget 200 --criterion worst_direction --price-unlabeled 0.02",
    "plan-simulated": "plan three.jsonl --budget 200 --model multinomial",
    "plan-simulated-log-loss": "plan three.jsonl --budget 200 --criterion log_loss --price-fixed 10 "
    "--model multinomial",
    "plan-labels-only": "plan three.jsonl --budget 200 --use-unlabeled no --model multinomial",
    "plan-auto": "plan three.jsonl --budget 200 --source simulated",
    "plan-bernoulli": "plan three.jsonl --budget 200 --model bernoulli --source simulated",
    "plan-gaussian": "plan vectors.npz --labels vectors.txt --model gaussian --budget 250 "
    "--criterion excess_log_loss",
    "plan-matrix-free": "plan large.jsonl --budget 300 --source asymptotic --criterion excess_log_loss",
    "plan-hidden-markov-formulas": "plan tags.conll --budget 600 --rules everything,nothing,window:2 "
    "--criterion excess_log_loss",
    "plan-hidden-markov-simulated": "plan tags.conll --budget 600 --rules everything,nothing,window:2 "
    "--criterion error",
    "plan-boltzmann-formulas": "plan tags.conll --budget 600 --model boltzmann-chain --criterion excess_log_loss",
    "plan-conditional-formulas": "plan tags.conll --budget 600 --model conditional-random-field "
    "--rules everything,every-other,random:0.5 --criterion excess_log_loss",
    "plan-conditional-simulated": "plan tags.conll --budget 600 --model conditional-random-field --criterion error",
    "frontier-two-class": "frontier two.jsonl --criterion excess_log_loss",
    "frontier-simulated": "frontier three.jsonl --model multinomial",
    "frontier-hidden-markov": "frontier tags.conll --criterion excess_log_loss",
    "check-two-class": "check two.jsonl --model multinomial",
    "check-three-class": "check three.jsonl --model multinomial",
    "check-auto": "check three.jsonl",
    "check-tags": "check tags.conll",
    "check-tags-policy": "check tags.conll --policy every-other",
    "check-tags-conditional": "check tags.conll --model conditional-random-field",
    "information-enumeration": "information enumeration.json --matrices",
    "information-formula": "information formula.json",
    "information-lengths": "information lengths.json",
    "information-sampling": "information sampling.json",
    "information-hidden-markov": "information hidden-markov.json --matrices",
    "information-hidden-markov-sampled": "information hidden-markov-sampled.json",
    "information-boltzmann-chain": "information boltzmann-chain.json",
    "information-conditional-random-field": "information conditional-random-field.json",
    "fit-multinomial": "fit three.jsonl -o model.lw",
    "fit-bernoulli": "fit three.jsonl --model bernoulli -o model.lw",
    "fit-gaussian": "fit vectors.npz --labels vectors.txt --model gaussian -o model.lw",
    "fit-hidden-markov": "fit tags.conll -o model.lw",
    "fit-boltzmann-chain": "fit tags.conll --model boltzmann-chain -o model.lw",
    "fit-conditional-random-field": "fit tags.conll --model conditional-random-field -o model.lw",
    "predict-multinomial": "fit three.jsonl -o model.lw && predict model.lw three.jsonl -o predicted.jsonl",
    "predict-hidden-markov": "fit tags.conll -o model.lw && predict model.lw tags.conll -o predicted.jsonl",
    "next-documents": "next three.jsonl --count 20 -o batch.jsonl",
    "next-tags": "next tags.conll --count 9 -o batch.conll",
}
"""A question on the command line for each record."""


def _by_cost_function(folder: Path) -> dict[str, Any]:
    import labelworth as lw

    rng = _rng()
    classes = rng.integers(2, size=500)
    vectors = rng.standard_normal((500, 2)) + 1.5 * classes[:, None]
    y = np.where(np.arange(500) < 60, classes, -1)

    def in_batches(policy: Any, n: float) -> float:
        return 40 * math.ceil(policy["everything"] * n / 50)

    plan = lw.plan(
        vectors, y, model="gaussian", budget=200, criterion="excess_log_loss", prices=in_batches, n_draws=20
    )
    return dict(plan.to_dict())


def _information_of_classifier(folder: Path) -> dict[str, Any]:
    import labelworth as lw

    rng = _rng()
    counts = rng.poisson(0.4, size=(300, 30))
    y = np.where(np.arange(300) < 90, np.arange(300) % 2, -1)
    # Leaps of EM carry rounding further; at the fixed point all processors meet.
    classifier = lw.MultinomialNaiveBayes(tol=1e-16).fit(counts, y)
    table = classifier.information(counts, y, labeled_fractions=[0.3, 0.6, 1.0])
    return {"points": [{"labeled_fraction": point.labeled_fraction, **point.figures} for point in table.points]}


CALLS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "plan-cost-function": _by_cost_function,
    "classifier-information": _information_of_classifier,
}
"""A question in Python for each record."""

NAMES = (*COMMANDS, *CALLS)


def _without_this_run(value: Any) -> Any:
    """A record without what no two runs share: durations, versions, the folder it ran in."""
    if isinstance(value, dict):
        return {key: _without_this_run(part) for key, part in value.items() if key not in _OF_THIS_RUN}
    if isinstance(value, list):
        return [_without_this_run(part) for part in value]
    return value


def answer(name: str, folder: Path) -> dict[str, Any]:
    """Ask one question, in a folder that holds the data."""
    if name in CALLS:
        return dict(_without_this_run(json.loads(json.dumps(CALLS[name](folder), default=float))))
    from labelworth.cli.main import app

    before = Path.cwd()
    os.chdir(folder)
    try:
        for command in COMMANDS[name].split(" && "):
            result = CliRunner().invoke(app, [*command.split(), "--json"], catch_exceptions=False)
    finally:
        os.chdir(before)
    record = (
        _without_this_run(json.loads(result.stdout)) if result.stdout.startswith("{") else {"words": result.stderr}
    )
    return {"exit_code": result.exit_code, **record}


def main(names: list[str]) -> None:
    """Write the records of these questions, or of all."""
    with tempfile.TemporaryDirectory() as path:
        write_data(Path(path))
        for name in names or NAMES:
            document = answer(name, Path(path))
            (RECORDS / f"{name}.json").write_text(json.dumps(document, indent=1, sort_keys=True) + "\n")
            sys.stderr.write(f"{name}: {document.get('exit_code', 0)}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
