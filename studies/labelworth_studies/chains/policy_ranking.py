"""Half of the tokens, labeled in seven ways: does the theory rank the policies as the experiment does?"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from labelworth.progress import Progress
from labelworth.report.values import BarsPanel, Curve, Measured, Outcome, Panel, Picture, Table
from labelworth_studies.chains.parts.policy_ranking_fit import (
    MIN_PAIR_COUNT,
    MIN_TAG_COUNT,
    PENALTY,
    compute,
    sentences,
)
from labelworth_studies.chains.parts.policy_ranking_order import POLICIES, mean_of, ranked, ranking_of, ranking_words
from labelworth_studies.corpora.chunking_data import conll2000_digest
from labelworth_studies.runner.study import Cell, Result, Study

ALL_LABELS = "everything"
THEORY_GROUPS: tuple[tuple[tuple[str, ...], int | None], ...] = (
    ((*list(POLICIES)[:4], ALL_LABELS), None),
    ((*list(POLICIES)[4:], ALL_LABELS), 1 << 15),
)
"""Policies whose rules are drawn together, and how often at most; None: until they are told or it takes too long.
A group is computed afresh only where it changes."""
QUICK_THEORY_DRAWS = 1 << 12
KINDS = ("boltzmann-chain", "crf")
ROBUST_KINDS = ("boltzmann-chain",)
"""The robust formula takes one word per token; the CRF has three attributes."""
N_SENTENCES = 1000
QUICK_SENTENCES = 400
QUICK_POPULATION = 1000
"""Training sentences that the robust formula speaks of; all of them otherwise."""
N_DRAWS = 10
_TITLES = {"boltzmann-chain": "Boltzmann chain", "crf": "CRF"}
_LOSSES = {"boltzmann-chain": ("joint", "conditional"), "crf": ("conditional",)}
_THEORY = {"joint": "excess_joint_log_loss", "conditional": "excess_log_loss"}


def cells(quick: bool, seed: int) -> list[dict[str, Any]]:
    """Theory and limit of both models, and every policy on the same draws; the quick grid has two smaller draws."""
    n_draws, size = (2, QUICK_SENTENCES) if quick else (N_DRAWS, N_SENTENCES)
    grid: list[dict[str, Any]] = []
    for kind in KINDS:
        asked = [*POLICIES, ALL_LABELS]
        grid += [
            _theory_cell(kind, group, size, QUICK_THEORY_DRAWS if quick else most, seed)
            for group, most in THEORY_GROUPS
        ]
        grid.append({"sort": "limit", "kind": kind})
        grid += [
            {"sort": "fit", "kind": kind, "policy": policy, "n_sentences": size, "seed": seed + draw}
            for draw in range(n_draws)
            for policy in asked
        ]
        grid += [
            {"sort": "robust", "kind": kind, "policy": policy, "n_sentences": size, "seed": seed}
            | ({"n_population": QUICK_POPULATION} if quick else {})
            for policy in asked
            if kind in ROBUST_KINDS
        ]
    return grid


def _theory_cell(kind: str, policies: Sequence[str], size: int, max_draws: int | None, seed: int) -> dict[str, Any]:
    cell = {"sort": "theory", "kind": kind, "policies": list(policies), "n_sentences": size, "seed": seed}
    return cell if max_draws is None else {**cell, "max_draws": max_draws}


def summarize(pairs: Sequence[tuple[Cell, Result]]) -> Outcome:
    """Rankings side by side, model by model."""
    figures, tables, panels, words = {}, [], [], []
    for kind in KINDS:
        findings = _figures(kind, [(cell, result) for cell, result in pairs if cell["kind"] == kind])
        figures[kind] = findings
        tables.append(_table(kind, findings))
        panels += _panels(kind, findings)
        words += _words(kind, findings)
    panels.append(_f1_panel(figures))
    return Outcome(
        figures=figures,
        words=tuple(words),
        tables=tuple(tables),
        pictures={"": Picture("Half of the tokens, labeled in seven ways", tuple(panels), n_columns=2)},
        grid=_grid(figures),
    )


def _figures(kind: str, pairs: Sequence[tuple[Cell, Result]]) -> dict[str, Any]:
    theory = [(cell["policies"], result) for cell, result in pairs if cell["sort"] == "theory"]
    limit = next(result for cell, result in pairs if cell["sort"] == "limit")
    predicted = {
        policy: point for asked, result in theory for policy, point in zip(asked, result["points"], strict=True)
    }
    notes = list(dict.fromkeys(note for _, result in theory for note in result["notes"]))
    size = next(cell["n_sentences"] for cell, _ in pairs if cell["sort"] == "fit")
    findings: dict[str, Any] = {"n_sentences": size, "limit": limit, "notes": notes, "policies": {}}
    robust = {cell["policy"]: result for cell, result in pairs if cell["sort"] == "robust"}
    fits = [(cell["policy"], result) for cell, result in pairs if cell["sort"] == "fit"]
    draws = {policy: [result for drawn, result in fits if drawn == policy] for policy in (*POLICIES, ALL_LABELS)}
    for policy, results in draws.items():
        row: dict[str, Any] = {
            "labeled_share": float(np.mean([result["labeled_share"] for result in results])),
            "predicted_labels_per_sentence": predicted[policy]["expected_labels_per_sample"],
        }
        row |= mean_of("f1", np.array([result["f1"] for result in results]))
        for loss in _LOSSES[kind]:
            values = np.array([result[loss] for result in results])
            row |= mean_of(loss, values)
            row |= mean_of(f"excess_{loss}", values - limit[loss])
            # Draws share their sentences, so policies are compared draw by draw.
            whole = np.array([result[loss] for result in draws[ALL_LABELS]])
            row |= mean_of(f"{loss}_above_all_labels", values - whole)
            row[f"predicted_excess_{loss}"] = predicted[policy][_THEORY[loss]]
            row[f"predicted_excess_{loss}_se"] = predicted[policy].get(f"{_THEORY[loss]}_se")
            if robust:
                row[f"robust_excess_{loss}"] = robust[policy][loss]
        findings["policies"][policy] = row
    findings["rankings"] = {loss: ranking_of(findings, draws, loss, "predicted") for loss in _LOSSES[kind]}
    if robust:
        findings["robust_rankings"] = {loss: ranking_of(findings, draws, loss, "robust") for loss in _LOSSES[kind]}
    findings["rankings"]["f1"] = {"experiment": ranked(findings, "f1")[::-1]}
    return findings


def _words(kind: str, findings: Mapping[str, Any]) -> list[str]:
    told_of = []
    for loss in _LOSSES[kind]:
        experiment = ", ".join(POLICIES[policy] for policy in findings["rankings"][loss]["experiment"])
        told = f"{_TITLES[kind]}, {loss} log-perplexity, best first. Experiment: {experiment}."
        told += " Theory" + ranking_words(findings["rankings"][loss])
        if "robust_rankings" in findings:
            told += " Robust formula" + ranking_words(findings["robust_rankings"][loss])
        told_of.append(told)
    return told_of


def _table(kind: str, findings: Mapping[str, Any]) -> Table:
    columns = ["policy", "labeled share", "F1"]
    for loss in _LOSSES[kind]:
        columns += [f"-log p, {loss}", "above all labels", "theory: excess"]
        columns += ["robust: excess"] if kind in ROBUST_KINDS else []
    rows = []
    for policy, row in findings["policies"].items():
        entries: list[Any] = [POLICIES.get(policy, "all labels, at twice the cost"), row["labeled_share"]]
        entries.append(Measured(100 * row["f1"], 100 * row["f1_se"]))
        for loss in _LOSSES[kind]:
            entries += [
                Measured(row[loss], row[f"{loss}_se"]),
                Measured(row[f"{loss}_above_all_labels"], row[f"{loss}_above_all_labels_se"]),
                _measured(row[f"predicted_excess_{loss}"], row[f"predicted_excess_{loss}_se"]),
            ]
            entries += [_measured(row[f"robust_excess_{loss}"], None)] if kind in ROBUST_KINDS else []
        rows.append(tuple(entries))
    return Table(
        f"{_TITLES[kind]}: {findings['n_sentences']} sentences, half of the tokens labeled",
        tuple(columns),
        tuple(rows),
        note="Nats per test sentence; means over draws of sentences and labels with their standard errors. Chunks of "
        f"nouns and verbs; parts of speech that occur {MIN_TAG_COUNT} times or more; weights of the CRF for pairs "
        f"that occur {MIN_PAIR_COUNT} times or more; penalty {PENALTY:g}. 'above all "
        "labels' compares draw by draw; theory is the excess over the best weights, at the fit to all sentences; the "
        "robust formula has bias and noise on the real sentences.",
    )


def _grid(figures: Mapping[str, Any]) -> Table:
    """Every policy of every model in a row, for a CSV file."""
    rows = []
    for kind in KINDS:
        for policy, row in figures[kind]["policies"].items():
            entries: list[Any] = [kind, policy, row["labeled_share"], Measured(row["f1"], row["f1_se"])]
            for loss in ("joint", "conditional"):
                for figure in (f"excess_{loss}", f"predicted_excess_{loss}", f"robust_excess_{loss}"):
                    value = row.get(figure)
                    entries.append(None if value is None else Measured(value, row.get(f"{figure}_se")))
            rows.append(tuple(entries))
    losses = (f"{sort}excess_{loss}" for loss in ("joint", "conditional") for sort in ("", "predicted_", "robust_"))
    return Table("Policies", ("model", "policy", "labeled_share", "f1", *losses), tuple(rows))


def _f1_panel(figures: Mapping[str, Any]) -> BarsPanel:
    positions = np.arange(len(POLICIES), dtype=np.float64)
    series = []
    for kind in KINDS:
        rows = [figures[kind]["policies"][policy] for policy in POLICIES]
        missing = np.array([100 * (1 - row["f1"]) for row in rows])
        margin = np.array([200 * row["f1_se"] for row in rows])
        series.append(Curve(_TITLES[kind], positions, missing, missing - margin, missing + margin))
    return BarsPanel("Chunks missed or made up", "100 - F1, two s.e.", tuple(POLICIES.values()), tuple(series))


def _measured(value: float | None, error: float | None) -> "Measured | str":
    return "not told" if value is None else Measured(value, error)


def _panels(kind: str, findings: Mapping[str, Any]) -> list[Panel]:
    names = tuple(POLICIES.values())
    rows = [findings["policies"][policy] for policy in POLICIES]
    positions = np.arange(len(rows), dtype=np.float64)

    def bars(label: str, figure: str) -> Curve:
        values = np.array([np.nan if row[figure] is None else row[figure] for row in rows])
        errors = 2 * np.array([row.get(f"{figure}_se") or 0.0 for row in rows])
        return Curve(label, positions, values, values - errors, values + errors)

    panels: list[Panel] = []
    for loss in _LOSSES[kind]:
        formulas = [bars("theory", f"predicted_excess_{loss}")]
        formulas += [bars("robust formula", f"robust_excess_{loss}")] if kind in ROBUST_KINDS else []
        panels.append(
            BarsPanel(
                f"{_TITLES[kind]}: {loss} log-loss above the limit",
                "nats per sentence, two s.e.",
                names,
                (bars("experiment", f"excess_{loss}"), *formulas),
                y_scale="log",
            )
        )
    return panels


def prepare(progress: Progress) -> None:
    """Say what comes first, and fail at once where the corpus is missing."""
    progress.say("Reading 10 948 sentences, once per process.")
    sentences("crf", "train")


STUDY = Study(
    name="policy-ranking",
    title="CoNLL-2000: seven ways to label half of the tokens, theory and experiment",
    cells=cells,
    compute=compute,
    summarize=summarize,
    corpora=("conll2000",),
    data_digest=conll2000_digest,
    prepare=prepare,
)
