"""Shards for people: a Parquet file each, a row per document or token."""

from pathlib import Path
from typing import Any

import numpy as np

from labelworth.data.files import atomic_writer, make_folder
from labelworth.data.shards.folder import Shards
from labelworth.errors import InvalidInputError
from labelworth.progress import SILENT, Progress, tracking


def write_parquet(shards: Shards, folder: Path, progress: Progress = SILENT) -> None:
    """Write ``000000.parquet``, ..: label (null where there is none, or a set), and words with counts, or a vector.

    Raises
    ------
    InvalidInputError
        If pyarrow is not installed.
    """
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise InvalidInputError(
            "Writing Parquet needs pyarrow, which is not installed. Use: pip install 'labelworth[parquet]'"
        ) from error
    features: Any = shards.data.features
    evidence, names = shards.data.evidence, shards.feature_names
    labels = np.array([None if name is None else str(name) for name in (*evidence.classes, None)], dtype=object)
    make_folder(folder)
    bounds = features.bounds
    with tracking(progress, "Writing Parquet", len(features.parts)) as task:
        for entry, part, first, end in zip(shards.manifest.shards, features.parts, bounds, bounds[1:], strict=False):
            codes = evidence.codes[first:end]
            columns = {"label": pa.array(labels[np.where(codes < 0, len(evidence.classes), codes)], pa.string())}
            columns |= _columns(pa, part.read(), names)
            with atomic_writer(folder / f"{entry.name}.parquet") as stream:
                parquet.write_table(pa.table(columns), stream)
            task.advance()


def _columns(pa: Any, features: Any, names: tuple[str, ...] | None) -> dict[str, Any]:
    words = None if names is None else pa.array(names, pa.string())
    if isinstance(features, np.ndarray) and features.ndim == 1:
        return {"word": pa.array(features) if words is None else words.take(pa.array(features, mask=features < 0))}
    if isinstance(features, np.ndarray):
        ends = np.arange(len(features) + 1) * features.shape[1]
        return {"vector": pa.LargeListArray.from_arrays(ends, pa.array(features.ravel()))}
    ends, held = features.indptr.astype(np.int64), pa.array(features.indices)
    return {
        "words": pa.LargeListArray.from_arrays(ends, held if words is None else words.take(held)),
        "counts": pa.LargeListArray.from_arrays(ends, pa.array(features.data)),
    }
