"""Data larger than the memory."""

from collections.abc import Iterator

from labelworth_studies.scale.parts.page import tables
from support.page_rows.records import figures


def scale() -> Iterator[str]:
    for rows in tables(figures("scale")).values():
        yield from rows
    yield from _said()
    yield from _kills()


def _said() -> Iterator[str]:
    """Of the same record, in sentences."""
    sizes = figures("scale")["sizes"]
    small, large = (held["shards, 1 worker"]["nanoseconds_per_value"] for held in (sizes[0], sizes[-1]))
    yield (
        f"a pass takes {small:.0f} ns per value, and {large:.0f} ns at 10^7, a factor of {small / large:.2f}, so "
        "that in this range time is not linear within the 1.5 that were asked for"
    )
    two, peer, one = (
        f"{sizes[-1][who]['peak_bytes'] / 2**20:.0f} MB"
        for who in ("shards, 2 workers", "partial_fit, 1 worker", "shards, 1 worker")
    )
    yield f"two workers hold {two} where `partial_fit` holds {peer}, and one holds {one}"


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
    yield f"told as lost after {max(told):.1f} seconds at most"
