"""Constants of the forecast, chosen without the corpus that they are then judged on."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.simulation.calibration import TUNED, Constants, NormalMixture
from labelworth.simulation.learner import LearnerKind
from labelworth.simulation.scales import Measure, inside, to_scale
from labelworth_studies.corpora.populations import DRAWN
from labelworth_studies.forecasts.parts.forecast_scores import ConstantsOf, Curve, scores_of

HELD = 0.94
"""Intervals are made so wide that they hold this share of what was realized on the corpora they are chosen on: more
than they promise, since a corpus that took no part differs more from those than pilots of one corpus do."""
TILTS = (0.0, *(round(-0.025 * step, 3) for step in range(1, 11)))
"""What the tilt may be, none first: the truth falls as simulated."""
AHEADS = tuple(round(0.02 * step, 2) for step in range(17))
"""What the spread ahead of the pilot may be."""
_DRAWN = "drawn documents"
_LIKE: Mapping[LearnerKind, LearnerKind] = {"sequences": "generative"}
"""Whose constants a kind takes that too few other corpora have."""
_USUAL_AHEAD = 0.15
"""The spread ahead with which tilts are compared: what the rule chooses is not to depend on what it chose before."""
_FEWEST = 3
"""Of fewer corpora the rule learns nothing."""


class Chosen(NamedTuple):
    """What the rule chooses; all other constants are those in use."""

    tilt_mean: float
    ahead_sd: float

    def of(self, constants: Constants) -> Constants:
        return replace(constants, **self._asdict())


def corpus_group(corpus: str) -> str:
    """The corpus; one name for all drawn ones."""
    return _DRAWN if corpus in DRAWN else corpus


def chosen_without(curves: Sequence[Curve], measure: Measure) -> Mapping[str, Mapping[LearnerKind, Constants]]:
    """For every corpus and kind of learner on it, the constants that the rule chooses on all other corpora."""
    rule = Rule(curves, measure)
    pairs = sorted({(corpus_group(curve.corpus), curve.kind) for curve in curves})
    found: dict[str, dict[LearnerKind, Constants]] = {}
    for group, kind in pairs:
        found.setdefault(group, {})[kind] = rule.constants(kind, without=group)
    return found


def chosen_on_all(curves: Sequence[Curve], measure: Measure) -> Mapping[LearnerKind, Chosen]:
    """What the rule chooses for every kind of learner that several corpora have, with all of them."""
    rule = Rule(curves, measure)
    chosen = {kind: rule.chosen(kind) for kind in sorted({curve.kind for curve in curves})}
    return {kind: own for kind, own in chosen.items() if own is not None}


def in_use(measure: Measure) -> ConstantsOf:
    """The constants that plans take; the corpora had a part in choosing them."""

    def constants_of(curve: Curve) -> Constants:
        return TUNED[curve.kind][measure]

    return constants_of


def judged_by(constants: Mapping[str, Mapping[LearnerKind, Constants]]) -> ConstantsOf:
    """The constants of a curve: of its kind of learner, chosen without its corpus."""

    def constants_of(curve: Curve) -> Constants:
        return constants[corpus_group(curve.corpus)][curve.kind]

    return constants_of


class Rule:
    """From curves of some corpora to constants.

    The tilt is the one nearest to none whose surprise is not above that of the best by more than one standard error
    over corpora; then the spread ahead is the least with which intervals hold enough. Every corpus counts the same,
    all drawn ones as one.
    """

    def __init__(self, curves: Sequence[Curve], measure: Measure) -> None:
        self._measure = measure
        self._curves: dict[LearnerKind, dict[str, list[Curve]]] = {}
        for curve in curves:
            groups = self._curves.setdefault(curve.kind, {})
            groups.setdefault(corpus_group(curve.corpus), []).append(curve)
        # Corpora are left out one after the other: what one of them says is asked for many times.
        self._surprise, self._held = cache(self._surprise_of), cache(self._held_of)

    def constants(self, kind: LearnerKind, without: str) -> Constants:
        """For a corpus that takes no part; of a like kind where fewer than three others have this one."""
        if len(self._groups(kind, without)) < _FEWEST:
            kind = _LIKE.get(kind, kind)
        usual, chosen = TUNED[kind][self._measure], self.chosen(kind, without)
        return usual if chosen is None else chosen.of(usual)

    def chosen(self, kind: LearnerKind, without: str | None = None) -> Chosen | None:
        """None where there are too few corpora to learn from."""
        groups = self._groups(kind, without)
        if len(groups) < _FEWEST:
            return None
        surprises = np.array([[self._surprise(kind, group, tilt) for group in groups] for tilt in TILTS])
        above = surprises - surprises[surprises.mean(axis=1).argmin()]
        is_near = above.mean(axis=1) <= above.std(axis=1, ddof=1) / np.sqrt(len(groups))
        tilt = TILTS[int(np.flatnonzero(is_near)[0])]

        def held(ahead_sd: float) -> float:
            return float(np.mean([self._held(kind, group, Chosen(tilt, ahead_sd)) for group in groups]))

        return Chosen(tilt, next((ahead_sd for ahead_sd in AHEADS if held(ahead_sd) >= HELD), AHEADS[-1]))

    def _groups(self, kind: LearnerKind, without: str | None) -> list[str]:
        return [group for group in self._curves.get(kind, {}) if group != without]

    def _surprise_of(self, kind: LearnerKind, group: str, tilt: float) -> float:
        """Mean of -log predictive density of the realized values."""
        constants = Chosen(tilt, _USUAL_AHEAD).of(TUNED[kind][self._measure])
        terms = []
        for curve in self._curves[kind][group]:
            realized = to_scale(self._measure, inside(self._measure, curve.realized))
            terms.append(-log_densities(curve.regression.solved(constants).mixture, realized))
        return float(np.concatenate(terms).mean())

    def _held_of(self, kind: LearnerKind, group: str, chosen: Chosen) -> float:
        """Share of the realized values that intervals hold."""
        constants = chosen.of(TUNED[kind][self._measure])
        scores = scores_of(self._curves[kind][group], lambda _: constants)
        return float(np.mean([score.is_held for score in scores]))


def log_densities(mixture: NormalMixture, values: FloatArray) -> FloatArray:
    """Of one value per column, (n_columns,)."""
    parts = -0.5 * ((values - mixture.means) ** 2 / mixture.variances + np.log(2 * np.pi * mixture.variances))
    with np.errstate(divide="ignore"):  # a part of no weight adds nothing
        parts += np.log(mixture.weights)[:, None]
    return np.asarray(np.logaddexp.reduce(parts, axis=0))
