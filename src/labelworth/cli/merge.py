"""`labelworth merge DATA BATCH`: labels that were filled in, back into the data."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from labelworth.cli import options
from labelworth.cli.console import answer, tell
from labelworth.cli.merging_documents import merge_documents
from labelworth.cli.merging_sequences import merge_sequences
from labelworth.cli.reading import Source
from labelworth.cli.sequence_reading import SequenceSource, holds_sequences
from labelworth.cli.written_rows import suffix_of

if TYPE_CHECKING:
    from rich.console import Console

    from labelworth.cli.merging import Merged


def merge(
    data: options.Data,
    batch: Annotated[Path, typer.Argument(help="What `labelworth next` wrote, with labels filled in.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write the data with the new labels.")
    ] = None,
    in_place: Annotated[bool, typer.Option("--in-place", help="Write onto DATA instead.")] = False,
    classes: options.Classes = None,
    text_column: options.TextColumn = "text",
    label_column: options.LabelColumn = "label",
    unlabeled: options.Unlabeled = None,
    format: options.Format = None,
    encoding: options.Encoding = "utf-8",
    as_json: options.Json = False,
) -> None:
    """Merge a batch that was filled in into the data, so that `plan` can be asked again with all labels."""
    from labelworth.data.files import file_digest, require_writable
    from labelworth.data.writers.text_file import write_lines
    from labelworth.errors import InvalidInputError
    from labelworth.report.record import Record, Stopwatch

    target = _target(data, batch, output, in_place=in_place)
    require_writable(target)
    watch = Stopwatch()
    is_sequences = holds_sequences(data, format, None)
    with watch.timing("merge"):
        if is_sequences:
            tokens = SequenceSource.of(
                data, text_column, label_column, unlabeled=unlabeled, format=format, encoding=encoding
            )
            merged = merge_sequences(tokens, batch, classes)
        else:
            rows = Source(data, text_column, label_column, None, unlabeled, format, encoding)
            merged = merge_documents(rows, batch, classes)
        if not merged.n_labels and not merged.n_same:
            raise InvalidInputError(f"No label of {batch} is filled in: there is nothing to merge.")
        digest = file_digest(data)
        write_lines(target, [merged.text])
    asked = {"path": data, "batch": batch, "classes": classes, "output": output, "in_place": in_place}
    figures = {
        "output": target,
        "n_samples": merged.n_samples,
        "n_labels": merged.n_labels,
        "n_same": merged.n_same,
        "n_empty": len(merged.empty),
        "empty": list(merged.empty),
        "output_digest": file_digest(target),
    }
    record = Record("merge", asked, figures, None, digest, watch.durations)
    kind = "sequence" if is_sequences else "document"
    answer(record, lambda console: _show(console, merged, kind), as_json=as_json)
    tell(f"Wrote {target}{'' if encoding.lower() in ('utf-8', 'utf8') else ' in UTF-8'}")


def _target(data: Path, batch: Path, output: Path | None, *, in_place: bool) -> Path:
    """Where to write; never onto the data or the batch unless that is asked for."""
    from labelworth.errors import InvalidInputError

    if (output is None) != in_place:
        raise InvalidInputError("Say once where to write: --output NEW, or --in-place for onto DATA.")
    if output is None:
        return data
    for other, cure in ((data, "Use --in-place if that is meant."), (batch, "Name another file.")):
        if output.exists() and other.exists() and output.samefile(other):
            raise InvalidInputError(f"--output {output} would overwrite {other}. {cure}")
    if suffix_of(output) != suffix_of(data):
        raise InvalidInputError(
            f"The data stay in the form they have: end the name of the output in {suffix_of(data)}, not in "
            f"{suffix_of(output) or 'nothing'}."
        )
    return output


def _show(console: "Console", merged: "Merged", kind: str) -> None:
    from rich.text import Text

    for line in merged.lines(kind):
        console.print(Text(line))
