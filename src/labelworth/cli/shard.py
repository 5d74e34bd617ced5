"""`labelworth shard DATA -o FOLDER`: data that may be larger than the memory becomes a folder of shards."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelworth.cli.console import STANDARD, answer, tell, working
from labelworth.cli.options import Between, DataOptions, Json

if TYPE_CHECKING:
    from rich.console import Console

    from labelworth.data.shards.folder import Shards
    from labelworth.progress import Progress


def shard(
    *,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FOLDER", help="The folder of shards to write.")
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="DATA is a folder of shards: look at every byte of it.")
    ] = False,
    to_parquet: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="DATA is a folder of shards: write it as Parquet, a file per shard."),
    ] = None,
    shard_values: Annotated[
        int | None,
        typer.Option(
            help="How many values (different words of documents) a shard holds, about; enough to outnumber the sums "
            "of a pass unless given."
        ),
        Between(1000),
    ] = None,
    hash_bits: Annotated[
        int | None,
        typer.Option(
            help="Hash words of texts to 2^BITS columns instead of keeping a vocabulary: for memory that cannot hold "
            "all different words. Words can then not be named, and only shards made alike be predicted."
        ),
        Between(1, 31),
    ] = None,
    data: DataOptions,
    as_json: Json = False,
) -> None:
    """Write data of any size as a folder of shards, which fit, predict, check and plan take as DATA.

    Texts (JSONL, CSV, TSV, Parquet) are read row by row, in bounded memory; the same command goes on where it was
    stopped. Other formats are read whole.

    Examples
    --------
    labelworth shard mails.csv -o mails-shards
    labelworth shard mails-shards --verify
    """
    from labelworth.data.shards.folder import Shards
    from labelworth.errors import InvalidInputError
    from labelworth.report.record import Record, Stopwatch

    if (output is None) == (not verify and to_parquet is None):
        raise InvalidInputError(
            "Name the folder to write with --output; or, of a folder of shards, say --verify or --to-parquet FOLDER."
        )
    if STANDARD in (output, to_parquet):
        raise InvalidInputError("A folder cannot go to standard output: name one.")
    if output is None:
        data.refuse_of_shards()
    watch = Stopwatch()
    with working() as progress, watch.timing("shard"):
        shards = (
            Shards.open(data.path) if output is None else _written(data, output, shard_values, hash_bits, progress)
        )
        if verify:
            shards.verify(progress)
        if to_parquet is not None:
            from labelworth.data.shards.parquet import write_parquet

            write_parquet(shards, to_parquet, progress)
    manifest = shards.manifest
    figures = {
        "output": output or to_parquet,
        "kind": manifest.kind,
        "n_samples": manifest.n_samples,
        "n_labeled": int(shards.data.is_labeled.sum()),
        "n_features": manifest.n_features,
        "n_stored": manifest.n_stored,
        "n_bytes": manifest.n_bytes,
        "n_shards": len(manifest.shards),
        "classes": list(manifest.classes),
    }
    record = Record("shard", data.asked(), figures, None, manifest.digest, watch.durations)

    def show(console: "Console") -> None:
        console.print(
            f"{manifest.n_samples:,} samples, {figures['n_labeled']:,} of them labeled, {len(manifest.classes)} "
            f"classes; {manifest.n_features:,} features; {manifest.n_stored:,} values in {len(manifest.shards):,} "
            f"shards, {manifest.n_bytes / 2**20:,.1f} MB"
        )

    answer(record, show, as_json=as_json)
    done = "Every byte is as it was written" if verify else f"Wrote {output or to_parquet}"
    tell(done)


def _written(
    data: DataOptions, output: Path, shard_values: int | None, hash_bits: int | None, progress: "Progress"
) -> "Shards":
    from labelworth.cli.options.data import NONE
    from labelworth.data.readers.cells import NOT_NAMED
    from labelworth.data.readers.choose import document_format
    from labelworth.data.readers.row_streams import STREAMED, stream_rows
    from labelworth.data.readers.streams import on_disk
    from labelworth.data.shards.bounds import SHARD_WORK
    from labelworth.data.shards.manifest import refuse_shards
    from labelworth.data.shards.texts import Words, shard_texts
    from labelworth.errors import InvalidInputError

    refuse_shards(data.path)
    format = data.format or document_format(data.path)
    if data.holds_sequences() or format not in STREAMED or data.rename is not None:
        if hash_bits is not None:
            raise InvalidInputError("Words are hashed of texts that are read row by row: JSONL, CSV, TSV, Parquet.")
        return _written_whole(data, output, shard_values or SHARD_WORK, progress)
    marker: Any = NOT_NAMED if data.unlabeled is None else data.unlabeled
    rows = stream_rows(
        data.path,
        str(format),
        text_column=data.text_column or "text",
        label_column=None if data.label_column == NONE else data.label_name,
        unlabeled=None if marker == NONE else marker,
        encoding=data.encoding,
    )
    kept = on_disk(data.path)
    size, changed = (kept.stat().st_size, kept.stat().st_mtime_ns) if kept.exists() else (0, 0)
    return shard_texts(
        rows,
        output,
        words=Words(data.min_documents, data.max_words, hash_bits=hash_bits),
        classes=None if data.classes is None else [name.strip() for name in data.classes.split(",")],
        stored_per_shard=shard_values,
        source=f"{data.path.name}, {size:,} bytes",
        asked=[data.asked(), changed],
        progress=progress,
    )


def _written_whole(data: DataOptions, output: Path, shard_values: int, progress: "Progress") -> "Shards":
    """What is read whole: columns of tokens, matrices, labels to be renamed."""
    from labelworth.data.samples import Samples
    from labelworth.data.shards.folder import Shards

    progress.say(f"{data.path} is read whole, into memory.")
    samples: Any = data.read()
    if data.holds_sequences():
        return Shards.write(output, samples.raw.sequences(classes=samples.classes), stored_per_shard=shard_values)
    vocabulary = samples.reading.vocabulary
    names = None if vocabulary is None else vocabulary.words
    reading = None if vocabulary is None else vocabulary.to_mapping()
    whole = Samples(samples.X, samples.raw.evidence(samples.classes), feature_names=names)
    kept = None if reading is None else {name: reading[name] for name in ("token_pattern", "lowercase")}
    return Shards.write(output, whole, stored_per_shard=shard_values, reading=kept)
