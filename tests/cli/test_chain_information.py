import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from labelworth.cli.application import guarded
from labelworth.cli.information import information
from labelworth.report.record import validate
from support.chain_oracle import ChainOracle, drawn_tables

APP = typer.Typer()
APP.command()(guarded(information))

RULES = ["everything", "nothing", "prefix:0.5", "window:2", "every-other", "random:0.3"]
POLICIES = [
    [1, 0, 0, 0, 0, 0],
    [0.25, 0.75, 0, 0, 0, 0],
    [0, 0, 1, 0, 0, 0],
    [0, 0, 0, 1, 0, 0],
    [0, 0.1, 0.2, 0.3, 0.3, 0.1],
]
LENGTHS = {"2": 0.25, "4": 0.75}
FIGURES = (
    "total_variance",
    "worst_direction",
    "excess_log_loss",
    "excess_joint_log_loss",
    "excess_marginal_log_loss",
    "log_volume",
)
CASES = [
    ("hidden-markov", True),
    ("boltzmann-chain", True),
    ("boltzmann-chain", False),
    ("conditional-random-field", True),
    ("conditional-random-field", False),
]


def spec_of(kind: str, start: bool = True, **changes: Any) -> dict[str, Any]:
    """A specification; None removes a key."""
    spec = {
        "model": kind,
        "parameters": drawn_tables(kind, 2, 3, 1, start=start),
        "lengths": LENGTHS,
        "rules": RULES,
        "policies": POLICIES,
        "n_samples": 1000,
    }
    return {name: value for name, value in {**spec, **changes}.items() if value is not None}


def run(folder: Path, spec: dict[str, Any], *options: str):
    path = folder / "spec.json"
    path.write_text(json.dumps(spec), encoding="utf-8")
    return CliRunner().invoke(APP, [str(path), *options])


def answer(folder: Path, spec: dict[str, Any], *options: str) -> dict[str, Any]:
    result = run(folder, spec, "--json", *options)
    assert result.exit_code == 0, result.stderr
    document = json.loads(result.stdout)
    validate(document)
    return document


def oracle_of(spec: dict[str, Any]) -> ChainOracle:
    lengths = {int(length): share for length, share in spec["lengths"].items()}
    return ChainOracle(spec["model"], spec["parameters"], lengths, spec.get("input_probabilities"))


@pytest.mark.parametrize(("kind", "start"), CASES)
def test_every_figure_is_that_of_brute_force(tmp_path, kind, start) -> None:
    spec = spec_of(kind, start)
    document, oracle = answer(tmp_path, spec), oracle_of(spec)
    assert document["method"] == "enumeration"
    assert document["n_estimable"] == oracle.estimable.shape[1]
    assert document["n_parameters"] == len(oracle.theta)
    for point, weights in zip(document["points"], POLICIES, strict=True):
        expected = oracle.figures(oracle.policy_information(RULES, weights), 1000)
        labels = sum(weight * oracle.expected_labels(rule) for rule, weight in zip(RULES, weights, strict=True))
        assert point["weights"] == weights
        assert point["expected_labels_per_sample"] == pytest.approx(labels, rel=1e-12)
        assert point["identifiable"] is True
        for name in FIGURES:
            assert point[name] == pytest.approx(expected[name], rel=1e-8, abs=1e-12), name
            assert f"{name}_se" not in point


def test_the_words_of_a_conditional_model_come_from_the_given_probabilities(tmp_path) -> None:
    spec = spec_of("conditional-random-field", input_probabilities=[0.7, 0.2, 0.1])
    oracle = oracle_of(spec)
    for point, weights in zip(answer(tmp_path, spec)["points"], POLICIES, strict=True):
        expected = oracle.figures(oracle.policy_information(RULES, weights), 1000)
        assert point["total_variance"] == pytest.approx(expected["total_variance"], rel=1e-8)


def test_losses_are_those_of_rules_that_need_not_be_listed(tmp_path) -> None:
    spec = spec_of("hidden-markov", rules=["window:2"], policies=[[1]])
    oracle = oracle_of(spec)
    expected = oracle.figures(oracle.rule_information("window:2"), 1000)
    (point,) = answer(tmp_path, spec)["points"]
    for name in FIGURES:
        assert point[name] == pytest.approx(expected[name], rel=1e-8), name


def test_matrices_come_with_the_names_of_their_parameters(tmp_path) -> None:
    spec = spec_of("boltzmann-chain", False, classes=["B-NP", "I-NP"], words=["a", "b", "c"])
    document, oracle = answer(tmp_path, spec, "--matrices"), oracle_of(spec)
    assert document["matrices"]["parameters"][1] == "transition B-NP -> I-NP"
    for rule in RULES:
        np.testing.assert_allclose(document["matrices"]["rules"][rule], oracle.rule_information(rule), atol=1e-10)
    for point, weights in zip(document["points"], POLICIES, strict=True):
        np.testing.assert_allclose(point["information"], oracle.policy_information(RULES, weights), atol=1e-10)


@pytest.mark.statistical
@pytest.mark.parametrize(("kind", "start"), CASES)
def test_sampled_figures_stand_beside_standard_errors_that_cover_them(tmp_path, kind, start) -> None:
    """Five standard errors, from 64 batches: 5e-6 per figure; fixed seed."""
    sampled = answer(tmp_path, spec_of(kind, start, method="sampling", seed=3))
    exact = answer(tmp_path, spec_of(kind, start))
    for point, truth in zip(sampled["points"], exact["points"], strict=True):
        for name in FIGURES:
            assert abs(point[name] - truth[name]) <= 5 * point[f"{name}_se"] + 1e-12, name
            assert point[f"{name}_se"] <= 0.01 * abs(point[name]) + 1e-12 or name == "log_volume", name


def test_an_unlabeled_conditional_model_is_not_identified_and_people_are_told_why(tmp_path) -> None:
    spec = spec_of("conditional-random-field", rules=["nothing", "everything"], policies=[[1, 0], [0, 1]])
    document = answer(tmp_path, spec, "--matrices")
    dark, whole = document["points"]
    assert dark["identifiable"] is False
    assert all(dark[name] is None for name in FIGURES)
    assert dark["smallest_relative_information"] == 0
    assert not np.any(document["matrices"]["rules"]["nothing"])
    assert whole["identifiable"] is True
    assert any("learns nothing from what is not labeled" in note for note in document["notes"])


def test_only_if_no_point_is_identified_it_ends_with_one(tmp_path) -> None:
    spec = spec_of("conditional-random-field", rules=["nothing"], policies=[[1]])
    result = run(tmp_path, spec, "--json")
    assert result.exit_code == 1
    document = json.loads(result.stdout)
    validate(document)
    assert document["points"][0]["identifiable"] is False


def test_weak_directions_are_told_in_the_words_of_the_user(tmp_path) -> None:
    spec = spec_of("hidden-markov", classes=["B-NP", "I-NP"], rules=["nothing"], policies=[[1]])
    (point,) = answer(tmp_path, spec)["points"]
    named = {name for direction in point["weak_directions"] for name in direction["parameters"]}
    assert "transition B-NP -> I-NP" in named
    shares = [direction["relative_information"] for direction in point["weak_directions"]]
    assert shares == sorted(shares)
    assert shares[0] == pytest.approx(point["smallest_relative_information"])
    assert "transition B-NP -> I-NP" in run(tmp_path, spec).stdout.replace("\n", " ")


def probabilities(**changes: Any) -> dict[str, Any]:
    return {"parameters": {**drawn_tables("hidden-markov", 2, 3, 1), **changes}}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (probabilities(start=[0.0, 1.0]), "positive"),
        (probabilities(start=[0.4, 0.5]), "sum to 1"),
        (probabilities(transition=[[1.0, 0.0], [0.5, 0.5]]), "positive"),
        (probabilities(transition=[[0.5, 0.6], [0.5, 0.5]]), "sum to 1"),
        (probabilities(emission=[[0.5, 0.5], [0.2, 0.2, 0.6]]), "emission"),
        (probabilities(start=[0.2, 0.3, 0.5]), "start"),
        ({"parameters": drawn_tables("boltzmann-chain", 2, 3, 1, start=False)}, "start"),
        ({"rules": ["everything", "widow:2"], "policies": [[0.5, 0.5]]}, "widow:2"),
        ({"rules": []}, "rules"),
        ({"policies": [[0.5, 0.5]]}, "6 rules"),
        ({"policies": [[0.5, 0.4, 0, 0, 0, 0]]}, "sum to 1"),
        ({"policies": []}, "policies"),
        ({"policies": None}, "policies"),
        ({"lengths": {"0": 1.0}}, "lengths"),
        ({"lengths": {"3": 0.5}}, "sum to 1"),
        ({"lengths": None}, "lengths"),
        ({"n_samples": 0}, "n_samples"),
        ({"method": "formula"}, "formula"),
        ({"method": "enumeration", "lengths": {"30": 1.0}}, "sampling"),
        ({"model": "hidden-markof"}, "hidden-markof"),
        ({"labeled_fractions": [1]}, "labeled_fractions"),
        ({"input_probabilities": [0.5, 0.3, 0.2]}, "conditional"),
        ({"classes": ["A"]}, "label"),
    ],
)
def test_bad_input_ends_with_two_and_says_what_is_wrong(tmp_path, changes, words) -> None:
    result = run(tmp_path, spec_of("hidden-markov", **changes), "--json")
    assert result.exit_code == 2, result.stderr
    assert result.stdout == ""
    assert words in result.stderr


def test_people_get_a_table(tmp_path) -> None:
    result = run(tmp_path, spec_of("boltzmann-chain"))
    assert result.exit_code == 0
    assert "enumeration" in result.stdout
    for point in answer(tmp_path, spec_of("boltzmann-chain"))["points"]:
        assert f"{point['total_variance']:.4g}" in result.stdout


@pytest.mark.parametrize("kind", ["hidden-markov", "conditional-random-field"])
def test_sequences_too_long_to_count_are_refused_in_words(tmp_path, kind) -> None:
    result = run(tmp_path, spec_of(kind, lengths={"700": 1.0}, method="enumeration"))
    assert result.exit_code == 2
    assert "sequences of words and labels to enumerate" in result.stderr
