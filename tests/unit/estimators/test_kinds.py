"""The one list of kinds of models."""

import subprocess
import sys

import pytest

import labelworth as lw
from labelworth.errors import InvalidInputError
from labelworth.estimators.classifier import GenerativeClassifier
from labelworth.estimators.kinds import KINDS, kind_named
from labelworth.estimators.tagger import SequenceTagger


@pytest.mark.parametrize("name", list(KINDS))
def test_a_kind_knows_its_estimator_its_model_and_what_it_takes(name: str) -> None:
    kind = kind_named(name)
    assert kind.model.kind == name
    assert issubclass(kind.estimator, SequenceTagger if kind.takes_sequences else GenerativeClassifier)
    assert getattr(lw, kind.estimator.__name__) is kind.estimator


def test_an_unknown_kind_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(InvalidInputError, match=r"multinomial, bernoulli, .*Got 'forest'"):
        kind_named("forest")


def test_reading_the_list_loads_no_estimator() -> None:
    code = "import sys, labelworth.estimators.kinds; sys.exit('sklearn' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
