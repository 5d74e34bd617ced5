import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from labelworth.cli.application import guarded
from labelworth.cli.information import information
from labelworth.report.record import validate
from support.channel_oracle import ChannelOracle, PlainArm
from support.oracles import enumerated_sequences, simplex_jacobian

APP = typer.Typer()
APP.command()(guarded(information))

LLM, CROWD = [[0.9, 0.06, 0.04], [0.2, 0.7, 0.1], [0.0, 0.3, 0.7]], [[0.7, 0.3], [0.4, 0.6], [0.1, 0.9]]
SPEC: dict[str, Any] = {
    "model": "multinomial-naive-bayes",
    "parameters": {
        "class_probabilities": [0.3, 0.3, 0.4],
        "word_probabilities": [[0.5, 0.3, 0.1, 0.1], [0.2, 0.2, 0.4, 0.2], [0.1, 0.1, 0.2, 0.6]],
    },
    "document_length": 3,
    "kinds": [
        {"name": "llm", "confusion": LLM, "unknown": True},
        {"name": "crowd", "confusion": CROWD, "votes": 3},
        {"name": "audited", "audits": "llm"},
    ],
    "designs": [
        [0.5, 0.5, 0, 0, 0],
        [0, 0, 1, 0, 0],
        [0.5, 0, 0.25, 0.25, 0],
        [0.6, 0.1, 0.3, 0, 0],
        [0.6, 0, 0.3, 0, 0.1],
        [1, 0, 0, 0, 0],
    ],
    "n_samples": 500,
}
PLAIN = [
    PlainArm(),
    PlainArm(gold=True),
    PlainArm(asked=["llm"]),
    PlainArm(asked=["crowd"] * 3),
    PlainArm(gold=True, asked=["llm"]),
]


def run(folder: Path, *options: str, **changes: Any):
    """Write the specification with changes (None removes a key) and run the command on it."""
    spec = {name: value for name, value in {**SPEC, **changes}.items() if value is not None}
    path = folder / "spec.json"
    path.write_text(json.dumps(spec), encoding="utf-8")
    return CliRunner().invoke(APP, [str(path), *options])


def answer(folder: Path, *options: str, **changes: Any) -> dict[str, Any]:
    result = run(folder, "--json", *options, **changes)
    assert result.exit_code == 0, result.stderr
    document = json.loads(result.stdout)
    validate(document)
    return document


def test_points_come_in_the_order_of_designs_with_the_figures_of_brute_force(tmp_path: Path) -> None:
    parameters = SPEC["parameters"]
    enumeration = enumerated_sequences(parameters["class_probabilities"], parameters["word_probabilities"], {3: 1.0})
    oracle = ChannelOracle(enumeration, {"llm": LLM, "crowd": CROWD}, ["llm"])
    points = answer(tmp_path)["points"]
    assert len(points) == len(SPEC["designs"])
    for point, design in zip(points, SPEC["designs"], strict=True):
        expected = oracle.figures(PLAIN, [500 * share for share in design], simplex_jacobian([3, 4, 4, 4]))
        assert point["design"] == design
        assert point["identifiable"] == (expected is not None)
        for name in ("total_variance", "excess_log_loss"):
            assert point[name] == (None if expected is None else pytest.approx(expected[name], rel=1e-8))
    assert points[3]["expected_answers_per_sample"] == pytest.approx(0.4)
    assert points[4]["expected_answers_per_sample"] == pytest.approx(0.5)


def test_known_answers_are_worth_more_than_unknown_ones(tmp_path: Path) -> None:
    """The control of the test above: with the confusion taken for known the figures are others."""
    unknown = answer(tmp_path)["points"][3]
    known = answer(tmp_path, kinds=[{"name": "llm", "confusion": LLM}, *SPEC["kinds"][1:]])["points"][3]
    assert known["total_variance"] < 0.99 * unknown["total_variance"]


def test_people_read_designs_in_words_and_that_only_an_order_is_open(tmp_path: Path) -> None:
    result = run(tmp_path)
    assert result.exit_code == 0, result.stderr
    words = " ".join(result.stdout.split())
    assert "What answers are worth" in words
    assert "nobody says which of class 0, class 1, class 2 is which" in words


def test_matrices_name_the_parameters_of_the_channels(tmp_path: Path) -> None:
    matrices = answer(tmp_path, "--matrices")["matrices"]
    assert list(matrices["kinds"]) == ["nothing", "gold", "llm", "crowd", "audited"]
    assert matrices["parameters"][-5:] == [
        "llm: class 1 for class 0",
        "llm: class 2 for class 0",
        "llm: class 0 for class 1",
        "llm: class 2 for class 1",
        "llm: class 1 for class 2",
    ]
    assert {len(matrix) for matrix in matrices["kinds"].values()} == {len(matrices["parameters"])}


def test_formula_and_sampling_answer_too(tmp_path: Path) -> None:
    changes = {
        "parameters": {"class_probabilities": [0.4, 0.6], "word_probabilities": [[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]]},
        "kinds": [{"name": "llm", "confusion": [[0.9, 0.1], [0.2, 0.8]], "unknown": True}],
        "designs": [[0.5, 0.1, 0.4]],
    }
    exact, formula, drawn = (
        answer(tmp_path, method=method, **changes)["points"][0] for method in ("auto", "formula", "sampling")
    )
    assert formula["total_variance"] == pytest.approx(exact["total_variance"], rel=1e-9)
    assert abs(drawn["total_variance"] - exact["total_variance"]) <= 5 * drawn["total_variance_se"]


def test_nothing_identified_is_told_by_the_exit_code(tmp_path: Path) -> None:
    words = [[0.2, 0.3, 0.5], [0.2, 0.3, 0.5]]
    parameters = {"class_probabilities": [0.4, 0.6], "word_probabilities": words}
    kinds = [{"name": "llm", "confusion": [[0.9, 0.1], [0.2, 0.8]], "unknown": True}]
    result = run(tmp_path, "--json", parameters=parameters, kinds=kinds, designs=[[0.5, 0, 0.5]])
    assert result.exit_code == 1
    assert json.loads(result.stdout)["points"][0]["identifiable"] is False


GOOD = {"name": "llm", "confusion": LLM}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"labeled_fractions": [1]}, "asks one thing"),
        ({"designs": None}, "asks one thing"),
        ({"designs": None, "labeled_fractions": [1]}, 'Of "kinds" one asks in "designs"'),
        ({"designs": []}, "at designs"),
        ({"designs": [[0.5, 0.5]]}, "a share for each of nothing, gold, llm, crowd, audited, 5 in all. Got 2"),
        ({"designs": [[0.5, 0.2, 0.1, 0.1, 0.2]]}, "shares of a design must sum to 1"),
        ({"designs": [[-0.5, 1.5, 0, 0, 0]]}, "at designs/0/"),
        ({"designs": [["a", 0, 0, 0, 0]]}, "at designs/0/0"),
        ({"kinds": {}}, "at kinds"),
        ({"kinds": [{"confusion": LLM}]}, "'name' is a required property"),
        ({"kinds": [{**GOOD, "name": ""}]}, "at kinds/0/name"),
        ({"kinds": [{**GOOD, "name": " "}]}, "needs a name"),
        ({"kinds": [{**GOOD, "name": "gold"}]}, "No channel may be called 'gold'"),
        ({"kinds": [GOOD, GOOD], "designs": [[1, 0, 0, 0]]}, "llm"),
        ({"kinds": [{**GOOD, "colour": 1}]}, "'colour' was unexpected"),
        ({"kinds": [{"name": "llm"}]}, 'either a "confusion"'),
        ({"kinds": [{**GOOD, "audits": "llm"}]}, 'either a "confusion"'),
        ({"kinds": [GOOD, {"name": "a", "audits": "llm", "votes": 2}]}, "are said there"),
        ({"kinds": [GOOD, {"name": "a", "audits": "nobody"}]}, "audits 'nobody', which is no kind"),
        ({"kinds": [GOOD, {"name": "gold", "audits": "llm"}]}, "gold"),
        ({"kinds": [{**GOOD, "votes": 0}]}, "at kinds/0/votes"),
        ({"kinds": [{**GOOD, "votes": 1.5}]}, "at kinds/0/votes"),
        ({"kinds": [{**GOOD, "votes": 100000}]}, "whole numbers from 1 to 1000"),
        ({"kinds": [{**GOOD, "votes": 900}], "designs": [[1, 0, 0]]}, "can be answered in"),
        ({"kinds": [{**GOOD, "unknown": "yes"}]}, "at kinds/0/unknown"),
        ({"kinds": [{"name": "x", "confusion": LLM[:2]}], "designs": [[1, 0, 0]]}, "each of the 3 classes. Got 2"),
        ({"kinds": [{"name": "x", "confusion": [[0.5, 0.6]] * 3}]}, "must sum to 1. Got a sum of 1.1"),
        ({"kinds": [{"name": "x", "confusion": [[1.5, -0.5]] * 3}]}, "must be non-negative. Got -0.5"),
        ({"kinds": [{"name": "x", "confusion": [[1], [0.5, 0.5], [1]]}]}, "as many answers in every row"),
        ({"kinds": [{"name": "x", "confusion": "unknown"}]}, "at kinds/0/confusion"),
    ],
)
def test_malformed_fields_are_told(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    result = run(tmp_path, "--json", **changes)
    assert result.exit_code == 2, result.output
    assert message in " ".join(result.stderr.split()), result.stderr
