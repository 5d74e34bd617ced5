"""Data larger than the memory."""

from collections.abc import Iterator

from labelworth_studies.scale.parts.page import tables
from support.page_rows.records import figures


def scale() -> Iterator[str]:
    for rows in tables(figures("scale")).values():
        yield from rows
    yield from _kills()


def _kills() -> Iterator[str]:
    """What happened to a cluster whose workers, and then whose scheduler, were killed."""
    works = figures("cluster-kills")
    for name, own in works.items():
        killed, lost = own["workers"], own["scheduler"]
        yield (
            f"| {name} | {killed['kills']} | {killed['wrong']} | {killed['longest']:.0f} s | "
            f"{lost['killed_in']} of {lost['steps']} | {lost['done_again']} |"
        )
    told = [own["scheduler"]["told_after_seconds"] for own in works.values()]
    yield f"told as lost after {min(told):.0f} to {max(told):.0f} seconds"
