"""What passes over shards cost on paper: bytes, operations, seconds and money, from what two sizes took."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from labelworth.data.shards.texts import values_per_shard

PRICE_PER_CORE_HOUR = 0.05
"""Dollars; about what clouds ask for a core with 4 GB."""
N_PASSES = 30
_BYTES_PER_VALUE = 5  # an index of four, a count of one
_BYTES_PER_ROW = 5  # where it ends, and the code of its label
_HEAD_BYTES_PER_ROW = 17  # code and weight, and the code that travels


@dataclass(frozen=True)
class Work:
    """So many documents, as a pass sees them."""

    n_documents: int
    n_stored: float
    n_words: int
    n_classes: int
    n_shards: int

    @classmethod
    def of(cls, n_documents: int, values_per_document: float, n_words: int, n_classes: int) -> "Work":
        n_stored = n_documents * values_per_document
        n_shards = int(np.ceil(n_stored / values_per_shard(n_classes, n_words)))
        return cls(n_documents, n_stored, n_words, n_classes, n_shards)

    @property
    def table_bytes(self) -> float:
        """Of parameters, or of sums."""
        return 8.0 * self.n_words * self.n_classes

    @property
    def shard_bytes(self) -> float:
        return _BYTES_PER_VALUE * self.n_stored + _BYTES_PER_ROW * self.n_documents

    @property
    def sum_bytes(self) -> float:
        """Sums that travel between workers with every pass."""
        return self.table_bytes * self.n_shards

    @property
    def operations(self) -> float:
        """A product and a sum per value and class, for the responsibilities and for the counts."""
        return 4.0 * self.n_stored * self.n_classes

    @property
    def head_bytes(self) -> float:
        """What is known of the rows, and the tables of three models and of sums under way."""
        return _HEAD_BYTES_PER_ROW * self.n_documents + (6 + float(np.log2(self.n_shards))) * self.table_bytes


@dataclass(frozen=True)
class Cost:
    """Processor seconds of a pass: some per value and class, some per number of each shard's table."""

    per_value: float
    per_number: float

    @classmethod
    def through(cls, small: tuple[Work, float], large: tuple[Work, float]) -> "Cost":
        """Of two sizes that were measured; times are never negative."""
        works = np.array([[work.n_stored, work.n_shards * work.table_bytes / 8] for work, _ in (small, large)])
        seconds = np.array([small[1], large[1]])
        per_value, per_number = np.linalg.solve(works, seconds)
        if min(per_value, per_number) < 0:
            per_value, per_number = large[1] / large[0].n_stored, 0.0
        return cls(float(per_value), float(per_number))

    def seconds(self, work: Work) -> float:
        return self.per_value * work.n_stored + self.per_number * work.n_shards * work.table_bytes / 8


def on_paper(sizes: Mapping[int, Mapping[str, Any]], n_classes: int) -> dict[str, Any]:
    """Constants from the smallest and the largest size, held against those between, and taken to 10^9 documents."""
    works = {
        size: Work(
            size,
            held["shard, 1 worker"]["n_stored"],
            held["shard, 1 worker"]["n_features"],
            n_classes,
            held["shard, 1 worker"]["n_shards"],
        )
        for size, held in sizes.items()
    }
    took = {size: held["shards, 1 worker"]["pass_processor_seconds"] for size, held in sizes.items()}
    small, large = min(sizes), max(sizes)
    cost = Cost.through((works[small], took[small]), (works[large], took[large]))
    per_document = works[large].n_stored / large
    web = Work.of(10**9, per_document, 10**6, n_classes)
    seconds = cost.seconds(web)
    return {
        "nanoseconds_per_value": 1e9 * cost.per_value,
        "nanoseconds_per_number": 1e9 * cost.per_number,
        "foretold_over_measured": {str(size): cost.seconds(work) / took[size] for size, work in works.items()},
        "shard_bytes_over_measured": {
            str(size): work.shard_bytes / sizes[size]["shard, 1 worker"]["n_bytes"] for size, work in works.items()
        },
        "web": {
            "n_shards": web.n_shards,
            "gigabytes_read": web.shard_bytes / 1e9,
            "gigabytes_of_sums": web.sum_bytes / 1e9,
            "megabytes_of_parameters": web.table_bytes / 1e6,
            "gigabytes_at_head": web.head_bytes / 1e9,
            "operations": web.operations,
            "core_seconds_per_pass": seconds,
            "core_hours": seconds * N_PASSES / 3600,
            "dollars": seconds * N_PASSES / 3600 * PRICE_PER_CORE_HOUR,
            "core_hours_of_sharding": sizes[large]["shard, 1 worker"]["sharding_processor_seconds"]
            / large
            * 10**9
            / 3600,
        },
    }
