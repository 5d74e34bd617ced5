"""Naive Bayes on texts."""

from collections.abc import Iterator
from typing import Any

from support.page_rows.records import figures, share

TRIED = {
    "log(n / n_w) | 4 | .005 | equal": ("inverse-document", 4.0, 0.005, True),
    "log(n / n_w) | 6 | .02 | equal": ("inverse-document", 6.0, 0.02, True),
    "log(n / n_w) | 6 | .005 | estimated": ("inverse-document", 6.0, 0.005, False),
    "counts | 6 | .005 | equal": ("counts", 6.0, 0.005, True),
    "counts (as published) | 9 | .001 | estimated": ("counts", 9.0, 0.001, False),
}


def newsgroups_em() -> Iterator[str]:
    em, alone = figures("newsgroups-em")["em"], figures("newsgroups-em")["supervised"]

    def cell(own: Any, name: str, place: int) -> str:
        value, error = own[name][place], own[f"{name}_se"][place]
        digits = 4 if error < 0.0005 else 3
        return f"{share(value, digits)} ± {share(error, digits)}"

    for place, size in enumerate(em["labels_per_class"]):
        lead = em["lead_in_joint_standard_errors"][place]
        ours, published = cell(em, "accuracy", place), cell(em, "published_accuracy", place)
        labels = f"{cell(alone, 'accuracy', place)} | {cell(alone, 'published_accuracy', place)}"
        yield f"| {size} | {ours} | {published} | {lead:.1f} | {labels} |"
    assert min(em["lead_in_joint_standard_errors"]) > 0
    yield f"labels alone are level at 256 and ahead by {share(alone['accuracy'][-1] - em['accuracy'][-1])} at 512"
    yield "| words | length | smoothing | classes | 1 | 8 | 64 | 256 |"
    tuning = figures("newsgroups-em-tuning")
    assert tuning["labels_per_class"] == [1, 8, 64, 256]
    found = {tuple(own["settings"].values()): own["accuracy"] for own in tuning["em"]}
    for words, settings in TRIED.items():
        yield f"| {words} | {' | '.join(share(value) for value in found[settings])} |"
    chosen, labels = (tuning["chosen"][kind]["settings"] for kind in ("em", "supervised"))
    yield f"then every post is rescaled to length {chosen['document_length']:g}"
    yield f"Smoothing {share(chosen['smoothing'])} per word"
    yield f"length {labels['document_length']:g}, smoothing {share(labels['smoothing'], 2)}"
    yield f"({share(chosen['smoothing'])} against {share(labels['smoothing'], 2)}, at like lengths)"


def misspecification() -> Iterator[str]:
    found = figures("misspecification")
    rows = found["rows"]
    for row in rows:
        if row["fraction"] in (1.0, 0.3, 0.05):
            refused = "" if row["share_refused"] is None else f"{100 * row['share_refused']:.0f}%"
            yield (
                f"| {row['cut']} | {row['n_samples']} | {row['fraction']:g} | {row['realized']:.2f} ± "
                f"{row['realized_se']:.2f} | {row['realized_near_truth']:.2f} | {row['robust']:.2f} | "
                f"{row['paper']:.2f} | {refused} |"
            )
    n, off = len(rows), found["n_rows_robust_off"]
    yield f"holds all {n} places"
    yield f"is within a factor 1.35 at {n - off} of {n} places"
    yield f"realized errors reach {found['worst_factor_paper']:.0f} times what the paper's formula says"
    (worst,) = [row for row in rows if max(row["realized"] / row["robust"], row["robust"] / row["realized"]) > 1.35]
    yield (
        f"At one place it is off by {found['worst_factor_robust']:.2f} ({worst['realized']:.2f} ± "
        f"{worst['realized_se']:.2f} realized, {worst['robust']:.2f} predicted): {worst['cut']}, "
        f"{worst['n_samples']} documents, {worst['n_samples'] * worst['fraction']:.0f} of them labeled"
    )
    yield f"EM from {worst['n_samples'] * worst['fraction']:.0f} labels often ends in another one"
    yield f"the same draws give {worst['realized_near_truth']:.2f}"
    yield f"the formula is then within {found['worst_factor_robust_near_truth']:.2f}"
    yield f"off by more than 2.5 at {found['n_rows_paper_off']} places"
    paper_off = [row for row in rows if row["realized"] > 2.5 * row["paper"]]
    assert len(paper_off) == found["n_rows_paper_off"]
    assert all(row["share_refused"] == 1 for row in paper_off if row["n_samples"] == 2000)
    yield f"in at least {100 * found['least_share_refused_where_paper_off']:.0f} % of the draws (at 5 %)"
    yield "and in all of them at n = 2000"
    yield f"refuses {100 * found['share_refused_when_right']:.1f} %"
