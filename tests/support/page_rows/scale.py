"""Data larger than the memory."""

from collections.abc import Iterator

from support.page_rows.records import figures


def scale() -> Iterator[str]:
    who = {
        "shards, 1 worker": "shards, 1 worker",
        "shards, 2 workers": "shards, 2 workers",
        "memory, 1 worker": "in memory",
        "partial_fit, 1 worker": "`MultinomialNB.partial_fit`",
    }
    for size, power in zip(figures("scale")["sizes"], (5, 6), strict=True):
        for key, words in who.items():
            own = size[key]
            each = 1e9 * own["pass_processor_seconds"] / size["shard"]["n_stored"]
            memory = f"{own['peak_bytes'] / 2**20:,.0f}"
            yield f"| 10^{power} | {words} | {own['pass_processor_seconds']:.2f} | {each:.0f} | {memory} |"
