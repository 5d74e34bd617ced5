"""The studies by name. A module is imported only when its study is asked for."""

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType

from labelworth.errors import InvalidInputError
from labelworth.studies.runner import Study

STUDIES: Mapping[str, str] = MappingProxyType(
    {
        "newsgroups-em": "labelworth.studies.newsgroups_em",
        "newsgroups-em-tuning": "labelworth.studies.newsgroups_em_tuning",
        "fig1-error": "labelworth.studies.reuters_error",
        "fig1-mse": "labelworth.studies.reuters_mse",
        "fig1-theory": "labelworth.studies.reuters_theory",
        "fig2-chunks-window": "labelworth.studies.fig2_chunks_window",
        "fig2-chunks-none": "labelworth.studies.fig2_chunks_none",
        "fig2-unachievable": "labelworth.studies.newsgroups_frontier",
        "fig3-crf": "labelworth.studies.fig3_crf",
        "fig3-theory": "labelworth.studies.theory_panel",
        "fig3-two-stage": "labelworth.studies.two_stage",
        "risk-curve": "labelworth.studies.risk_curve",
        "misspecification": "labelworth.studies.misspecification",
        "chunking-crf": "labelworth.studies.chunking",
        "chunking-tuning": "labelworth.studies.chunking_tuning",
        "policy-ranking": "labelworth.studies.policy_ranking",
        "forecast": "labelworth.studies.forecast",
        "forecast-tuning": "labelworth.studies.forecast_tuning",
        "harm-verdict": "labelworth.studies.forecast_harm",
        "plan-calibration": "labelworth.studies.plan_calibration",
    }
)
"""Name -> module that holds its ``STUDY``."""


def names() -> tuple[str, ...]:
    """All studies, in the order they are told."""
    return tuple(STUDIES)


def find(name: str) -> Study:
    """The study called `name`."""
    if name not in STUDIES:
        raise InvalidInputError(f"There is no study called {name!r}. Choose one of: {', '.join(STUDIES)}.")
    study: Study = import_module(STUDIES[name]).STUDY
    return study
