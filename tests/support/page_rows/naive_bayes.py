"""Naive Bayes on texts."""

from collections.abc import Iterator
from typing import Any

from support.page_rows.records import figures, share


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


def misspecification() -> Iterator[str]:
    found = figures("misspecification")
    for row in found["rows"]:
        if row["fraction"] in (1.0, 0.3, 0.05):
            refused = "" if row["share_refused"] is None else f"{100 * row['share_refused']:.0f}%"
            yield (
                f"| {row['cut']} | {row['n_samples']} | {row['fraction']:g} | {row['realized']:.2f} ± "
                f"{row['realized_se']:.2f} | {row['realized_near_truth']:.2f} | {row['robust']:.2f} | "
                f"{row['paper']:.2f} | {refused} |"
            )
    yield f"off by {found['worst_factor_robust']:.2f}"
    yield f"off by more than 2.5 at {found['n_rows_paper_off']} places"
    yield f"refuses {100 * found['share_refused_when_right']:.1f} %"
