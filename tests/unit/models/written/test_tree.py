"""Trees of parameters: names, constraints, tables and back; nothing of it needs JAX."""

from typing import Any

import numpy as np
import pytest

from labelworth.errors import InvalidInputError
from labelworth.models.written.tree import ParameterTree

NESTED = {
    "means": np.arange(4.0).reshape(2, 2),
    "noise": {"scale": 2.0, "parts": (np.ones(2), [np.ones((1, 2, 2)) / 2])},
    "class_probabilities": [0.25, 0.75],
}
CONSTRAINTS = {"class_probabilities": "simplex", "noise.scale": "positive", "noise.parts[1][0]": "simplex"}


def test_leaves_are_called_by_their_path_and_entries_by_their_index() -> None:
    tree = ParameterTree.of(NESTED, CONSTRAINTS)
    assert [leaf.name for leaf in tree.leaves] == [
        "class_probabilities",
        "means",
        "noise.parts[0]",
        "noise.parts[1][0]",
        "noise.scale",
    ]
    assert tree.coordinates().names() == [
        "class_probabilities[0]",
        *(f"means[{row}, {column}]" for row in range(2) for column in range(2)),
        *("noise.parts[0][0]", "noise.parts[0][1]"),
        *("noise.parts[1][0][0, 0, 0]", "noise.parts[1][0][0, 1, 0]"),
        "noise.scale",
    ]


def test_a_bare_array_and_a_tuple_have_names_too() -> None:
    assert ParameterTree.of(np.ones(2)).coordinates().names() == ["parameters[0]", "parameters[1]"]
    assert ParameterTree.of((1.0, np.ones(1))).coordinates().names() == ["parameters[0]", "parameters[1][0]"]


def test_trees_go_to_arrays_and_tables_and_back() -> None:
    tree = ParameterTree.of(NESTED, CONSTRAINTS)
    arrays = tree.flattened(NESTED, "start")
    built = tree.built(tree.from_tables(tree.tables(arrays)))
    assert isinstance(built["noise"]["parts"], tuple)
    assert isinstance(built["noise"]["parts"][1], list)
    np.testing.assert_array_equal(built["means"], NESTED["means"])
    np.testing.assert_array_equal(built["noise"]["scale"], 2.0)
    assert built["noise"]["parts"][1][0].shape == (1, 2, 2)


def test_the_order_in_a_dict_does_not_matter() -> None:
    assert ParameterTree.of({"b": 1.0, "a": 2.0}) == ParameterTree.of({"a": 2.0, "b": 1.0})


@pytest.mark.parametrize(
    ("parameters", "constraints", "words"),
    [
        ({"a": "text"}, {}, "tree of dicts, lists and tuples with arrays of numbers"),
        ({"a": None}, {}, "Got NoneType at a"),
        ({"a": {1: 2.0}}, {}, "names that are strings"),
        ({}, {}, "at least one array"),
        ({"a": np.empty(0)}, {}, "empty array"),
        ({"a": np.ones(2)}, {"b": "positive"}, "a constraint on 'b', but the parameters are 'a'"),
        ({"a": np.ones(2)}, {"a": "negative"}, "one of free, positive, simplex"),
        ({"a": 1.0}, {"a": "simplex"}, "at least two entries"),
    ],
)
def test_what_is_no_tree_is_refused(parameters: Any, constraints: dict[str, str], words: str) -> None:
    with pytest.raises(InvalidInputError, match=words):
        ParameterTree.of(parameters, constraints)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"p": [0.5, 0.5]}, "the tree of p, s. start gave that of p"),
        ({"p": [0.5, 0.25, 0.25], "s": 1.0}, r"p must have shape \(2,\). start gave \(3,\)"),
        ({"p": [0.5, 0.6], "s": 1.0}, "sum to 1 along the last axis. start gave 1.1"),
        ({"p": [0.0, 1.0], "s": 1.0}, "p must be positive"),
        ({"p": [0.5, 0.5], "s": -1.0}, "s must be positive"),
        ({"p": [0.5, 0.5], "s": np.nan}, "s must be finite"),
    ],
)
def test_values_outside_the_constraints_are_refused(parameters: Any, words: str) -> None:
    tree = ParameterTree.of({"p": [0.5, 0.5], "s": 1.0}, {"p": "simplex", "s": "positive"})
    with pytest.raises(InvalidInputError, match=words):
        tree.flattened(parameters, "start")
