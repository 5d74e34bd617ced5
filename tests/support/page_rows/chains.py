"""Chains over sentences."""

from collections.abc import Iterator
from typing import Any

from support.page_rows.records import figures, share, spaced

POLICIES = {
    "random tokens": "random:0.5",
    "windows of 5": "windows-of-5",
    "half of the sentences": "0.5*everything + 0.5*nothing",
    "whole, or one window of 5": "0.3678*everything + 0.6322*window:5",
    "whole, or the first token": "0.478*everything + 0.522*prefix:1",
    "every other token": "every-other",
    "the first half of every sentence": "prefix:0.5",
    "all labels, at twice the cost": "everything",
}
MODELS = {
    "CRF, template of the CRFsuite tutorial, c2 = 1": ("python-crfsuite, same template", 0),
    "CRF, richer template, c2 = .5": ("CRF++", 1),
    "hidden Markov model, words only": None,
    "Boltzmann chain, words only": None,
}


def chunking() -> Iterator[str]:
    found, tuning = figures("chunking-crf"), figures("chunking-tuning")
    published = list(found["published_f1"].values())
    for (words, peer), model in zip(MODELS.items(), found["models"], strict=True):
        beside = "" if peer is None else f"{peer[0]}: {published[peer[1]]:g} "
        yield f"| {words} | {spaced(model['n_parameters'])} | {100 * model['f1']:.2f} | {beside}|"
    yield f"the loss ends at {-found['models'][0]['objective']:.2f}"
    shown = [own for own in tuning["crf"] if own["settings"]["template"] != "marked"]
    for own in shown:
        template = "richer" if own["settings"]["template"] == "rich" else "tutorial"
        strength = f"{own['settings']['strength']:g}".replace("0.", ".")
        yield f"| {template} | {strength} | {100 * own['f1']:.2f} |"
    chosen = [
        f"{tuning['chosen'][kind]['settings']['strength']:g}".replace("0.", ".")
        for kind in ("hidden-markov", "boltzmann-chain")
    ]
    yield f"Smoothing {chosen[0]} (HMM) and penalty {chosen[1]} (Boltzmann chain)"


def policy_ranking() -> Iterator[str]:
    chain, crf = (figures("policy-ranking")[name] for name in ("boltzmann-chain", "crf"))
    for words, name in POLICIES.items():
        own = crf["policies"][name]
        yield (
            f"| {words} | {_told(own, 'predicted_excess_conditional')} | {_told(own, 'excess_conditional')} | "
            f"{_f1(own)} |"
        )
        own = chain["policies"][name]
        parts = [
            f"{_told(own, f'predicted_excess_{loss}')} | {share(own[f'robust_excess_{loss}'])} | "
            f"{_told(own, f'excess_{loss}')}"
            for loss in ("joint", "conditional")
        ]
        yield f"| {words} | {' | '.join(parts)} | {_f1(own)} |"
    ranks = (crf["rankings"]["conditional"], chain["rankings"]["joint"], chain["rankings"]["conditional"])
    alike = [f"{own['n_pairs_alike']} of {own['n_pairs_compared']}" for own in ranks]
    yield f"theory orders {alike[0]} pairs that the experiment tells apart alike for the CRF,"
    yield f"for the Boltzmann chain {alike[1]} (joint) and {alike[2]} (conditional)"
    (left_out,) = {own["n_pairs_left_out"] for own in ranks}
    yield f"{left_out} in each of the three comparisons"
    robust = chain["robust_rankings"]
    alike = [f"{robust[loss]['n_pairs_alike']} of {robust[loss]['n_pairs_compared']}" for loss in robust]
    yield f"It orders {alike[0]} pairs alike by joint log-perplexity and {alike[1]} by conditional"
    those = [own for name, own in chain["policies"].items() if name != "prefix:0.5"]
    high = [100 * (own["robust_excess_joint"] / own["excess_joint"] - 1) for own in those]
    yield f"Its level is {min(high):.0f} to {max(high):.0f} % too high in joint log-loss"


def _told(own: dict[str, Any], name: str) -> str:
    """With its standard error, where it has one."""
    value, error = own[name], own.get(f"{name}_se")
    return "not told" if value is None else share(value) if error is None else f"{share(value)} ± {share(error)}"


def _f1(own: dict[str, Any]) -> str:
    return f"{100 * own['f1']:.2f} ± {share(100 * own['f1_se'], 2)}"
