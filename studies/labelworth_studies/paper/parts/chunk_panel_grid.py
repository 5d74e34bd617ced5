"""What the fits of a chunking panel say over numbers of sentences and policies: means, steps, dominated designs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from labelworth.arrays import FloatArray
from labelworth.policies.spec import parse_policy
from labelworth.tradeoff.problem import dominators
from labelworth_studies.runner.study import Cell, Result

LOSSES = ("joint", "conditional")
CLEAR = 2.0
"""So many standard errors away from zero a difference is called clear."""


@dataclass(frozen=True, eq=False)
class PanelGrid:
    """Fits of one model under "whole with probability p, otherwise by `rule`"; draws are shared by all designs."""

    rule: str
    shares: tuple[float, ...]  # The probabilities of labeling a whole sentence, rising.
    sizes: tuple[int, ...]  # Numbers of sentences, rising.
    labels: FloatArray  # (n_shares, n_sizes, n_draws): Labeled tokens.
    figures: Mapping[str, FloatArray]  # (n_shares, n_sizes, n_draws): What was measured on the test sentences.
    limit: Mapping[str, float]  # The same of a fit to all training sentences with all labels.
    # By formula ("paper", "robust") and by figure, the predicted excess, (n_shares, n_sizes); NaN where not
    # told.
    formulas: Mapping[str, Mapping[str, FloatArray]]
    formula_errors: Mapping[str, Mapping[str, FloatArray]]  # Standard errors of those that have one.
    # By loss, the part of the robust formula's excess that no number of draws takes away.
    bias: Mapping[str, FloatArray]

    @classmethod
    def of(cls, pairs: Sequence[tuple[Cell, Result]], rule: str) -> "PanelGrid":
        """Gather the cells of one rule; sentences that are all labeled whole belong to every rule."""
        limit = next(result for cell, result in pairs if cell["sort"] == "limit")
        asked, theory = next((cell, result) for cell, result in pairs if cell["sort"] == "theory")
        share_of = {spec: share for spec in asked["policies"] if (share := _share(spec, rule)) is not None}
        specs = sorted(share_of, key=share_of.__getitem__)
        fits = [(cell, result) for cell, result in pairs if cell["sort"] == "fit" and cell["policy"] in share_of]
        sizes = tuple(sorted({cell["n_sentences"] for cell, _ in fits}))
        seeds = sorted({cell["seed"] for cell, _ in fits})
        result_of = {(cell["policy"], cell["n_sentences"], cell["seed"]): result for cell, result in fits}

        def measured(name: str) -> FloatArray:
            rows = [[[result_of[s, n, d][name] for d in seeds] for n in sizes] for s in specs]
            return np.array(rows, dtype=np.float64)

        names = [name for name in limit if limit[name] is not None]
        shares = tuple(share_of[spec] for spec in specs)
        figures = {name: measured(name) for name in names}
        indices = [asked["policies"].index(spec) for spec in specs]
        robust = [
            next(result for cell, result in pairs if cell["sort"] == "robust" and cell["policy"] == spec)
            for spec in specs
        ]
        losses = [name for name in names if name in LOSSES]
        formulas = {
            "paper": {loss: _per_sentence(theory[loss]["excess"], indices, sizes) for loss in losses},
            "robust": {name: _told(robust, name, "excess", len(sizes)) for name in (*losses, "token_error")},
        }
        errors = {
            "paper": {loss: _per_sentence(theory[loss]["excess_se"], indices, sizes) for loss in losses},
            "robust": {"token_error": _told(robust, "token_error", "excess_se", len(sizes))},
        }
        bias = {loss: _told(robust, loss, "bias", len(sizes)) for loss in losses}
        limits = {name: limit[name] for name in names}
        return cls(rule, shares, sizes, measured("n_labels"), figures, limits, formulas, errors, bias)

    def mean(self, name: str) -> FloatArray:
        """Over the draws, (n_shares, n_sizes)."""
        means: FloatArray = self.figures[name].mean(axis=2)
        return means

    def standard_error(self, name: str) -> FloatArray:
        """Of `mean`."""
        return _standard_error(self.figures[name])

    def excess(self, name: str) -> FloatArray:
        """The mean above the limit."""
        return self.mean(name) - self.limit[name]

    @cached_property
    def mean_labels(self) -> FloatArray:
        """Labeled tokens of every design, (n_shares, n_sizes)."""
        means: FloatArray = self.labels.mean(axis=2)
        return means

    def steps(self, name: str) -> dict[str, Any]:
        """How many steps to more sentences, and to more of them whole, lower the mean; compared draw by draw."""
        return {
            "sentences": _steps(np.diff(self.figures[name], axis=1)),
            "share_whole": _steps(np.diff(self.figures[name], axis=0)),
        }

    def dominated_by(self, name: str) -> list[int | None]:
        """For every design, by rows, the best of those that have no more labels and no more loss."""
        return dominators(self.mean_labels.ravel(), self.mean(name).ravel())

    def boundary(self, name: str) -> list[int]:
        """The designs that nobody dominates, of equal ones the first: labels rise, the loss falls."""
        labels, means = self.mean_labels.ravel().tolist(), self.mean(name).ravel().tolist()
        undominated = [index for index, by in enumerate(self.dominated_by(name)) if by is None]
        first = {(labels[index], means[index]): index for index in reversed(undominated)}
        return [first[key] for key in sorted(first)]

    def dominated(self, name: str) -> list[dict[str, Any]]:
        """The designs that another one beats at no higher cost, by how much, and which one that is."""
        draws = self.figures[name].reshape(-1, self.labels.shape[2])
        dominated = []
        for index, by in enumerate(self.dominated_by(name)):
            if by is None:
                continue
            difference = draws[index] - draws[by]
            mean, error = float(difference.mean()), float(_standard_error(difference))
            dominated.append(
                {
                    **self.design(index),
                    "by": self.design(by),
                    "worse_by": mean,
                    "worse_by_se": error,
                    "is_clear": mean > CLEAR * error,
                }
            )
        return dominated

    def design(self, index: int) -> dict[str, Any]:
        """In words that a record keeps."""
        row, column = divmod(index, len(self.sizes))
        labels = float(self.mean_labels[row, column])
        return {"n_sentences": int(self.sizes[column]), "share_whole": float(self.shares[row]), "labels": labels}

    def whole_instead(self, name: str) -> list[dict[str, Any]]:
        """Where as many sentences were also labeled whole and nothing else was there: what the rest adds."""
        comparisons = []
        for index, share in enumerate(self.shares[:-1]):
            for column, size in enumerate(self.sizes):
                n_whole = round(share * size)
                if n_whole not in self.sizes:
                    continue
                alone = self.figures[name][-1, self.sizes.index(n_whole)]
                difference = self.figures[name][index, column] - alone
                comparisons.append(
                    {
                        "n_whole": n_whole,
                        "n_others": size - n_whole,
                        "added": float(difference.mean()),
                        "added_se": float(_standard_error(difference)),
                    }
                )
        return comparisons

    def agreement(self, name: str, formula: str) -> dict[str, Any]:
        """A formula against the experiment over the grid: rank correlation, and experiment over formula."""
        theory, realized = self.formulas[formula][name], self.excess(name)
        told = np.isfinite(theory)
        ratio = realized / theory
        partly = told & (np.array(self.shares) < 1)[:, None]
        return {
            "n_told": int(told.sum()),
            "n_designs": int(told.size),
            "spearman": float(spearmanr(theory[told], realized[told]).statistic),
            "ratio_all_labels": [float(value) for value in ratio[-1]],
            "ratio_median_partial": float(np.median(ratio[partly])) if partly.any() else None,
            "ratio_range_partial": [float(ratio[partly].min()), float(ratio[partly].max())] if partly.any() else None,
        }


def _share(spec: str, rule: str) -> float | None:
    """How probable whole sentences are in a policy of `rule`; None for one of another rule."""
    weights = {part.spec: weight for part, weight in parse_policy(spec).items()}
    return weights.get("everything", 0.0) if weights.keys() <= {"everything", rule} else None


def _per_sentence(values: Sequence[float | None], indices: Sequence[int], sizes: Sequence[int]) -> FloatArray:
    """A figure of one sentence as that of every number of them, (n_shares, n_sizes)."""
    return np.array(values, dtype=np.float64)[indices][:, None] / np.array(sizes, dtype=np.float64)


def _told(results: Sequence[Result], name: str, figure: str, n_sizes: int) -> FloatArray:
    """What the robust formula told, (n_shares, n_sizes)."""
    return np.array([result[name][figure] if result["told"] else [np.nan] * n_sizes for result in results])


def _standard_error(values: FloatArray) -> FloatArray:
    """Over the last axis."""
    error: FloatArray = values.std(axis=-1, ddof=1) / np.sqrt(values.shape[-1])
    return error


def _steps(differences: FloatArray) -> dict[str, Any]:
    mean, error = differences.mean(axis=-1), _standard_error(differences)
    return {
        "n": int(mean.size),
        "falling": float((mean < 0).mean()),
        "n_clearly_falling": int((mean < -CLEAR * error).sum()),
        "n_clearly_rising": int((mean > CLEAR * error).sum()),
    }
