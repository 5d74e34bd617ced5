"""What a forecast rests on, kept piece by piece: an interrupted one does not begin again."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from labelworth.policies.spec import parse_policy
from labelworth.simulation.basis import ForecastBasis, forecast_basis
from labelworth.simulation.jobs import Keep, keep_nothing
from labelworth.simulation.learner import keep_labels
from support.learners import document_learner, documents, sentence_learner, sentences


class Kept:
    """Pieces as JSON text; the power goes after so many new ones."""

    def __init__(self, most: float = np.inf) -> None:
        self.pieces: dict[str, str] = {}
        self.computed: list[str] = []
        self.most = most

    def __call__(self, name: str, compute: Callable[[], Any]) -> Any:
        if name not in self.pieces:
            if len(self.computed) >= self.most:
                raise KeyboardInterrupt
            self.computed.append(name)
            self.pieces[name] = json.dumps(compute())
        return json.loads(self.pieces[name])


def of_documents(keep: Keep) -> ForecastBasis:
    samples = documents(200)
    learner = document_learner(samples)
    return forecast_basis(learner, keep_labels(samples, np.arange(40)), 150, workers=1, keep=keep)


def of_sentences(keep: Keep) -> ForecastBasis:
    data = sentences(40)
    learner = sentence_learner(data)
    shown = keep_labels(data, np.arange(15))
    policies = [parse_policy("every-other")]
    return forecast_basis(learner, shown, 30, policies=policies, workers=2, keep=keep)


@pytest.mark.parametrize("made", [of_documents, of_sentences])
def test_the_numbers_are_the_same_to_the_bit_whether_kept_or_not(made: Callable[[Keep], ForecastBasis]) -> None:
    kept = Kept()
    first, second, plain = made(kept), made(kept), made(keep_nothing)
    assert first.to_dict() == second.to_dict() == plain.to_dict()
    # Every piece has a name of its own, and was computed once.
    assert len(kept.computed) == len(set(kept.computed)) == len(kept.pieces)


def test_an_interrupted_forecast_loses_no_finished_piece() -> None:
    whole = Kept()
    plain = of_documents(whole)
    n_pieces = len(whole.pieces)
    assert n_pieces >= 20
    kept = Kept(most=n_pieces - 5)
    with pytest.raises(KeyboardInterrupt):
        of_documents(kept)
    kept.most = np.inf
    assert of_documents(kept).to_dict() == plain.to_dict()
    assert kept.computed[n_pieces - 5 :] == whole.computed[-5:]


def test_a_kept_piece_is_what_is_used() -> None:
    """Negative control: a piece that was tampered with shows in the result."""
    kept = Kept()
    plain = of_documents(kept)
    curve = "simulated/mixture/1/semi-supervised/everything/"
    name = next(name for name in kept.pieces if name.startswith(curve))
    kept.pieces[name] = "[0.5, 0.25]"
    changed = of_documents(kept)
    key = ("mixture", "semi-supervised", "everything", "error")
    assert (changed.simulated[key].values != plain.simulated[key].values).sum() == 1
