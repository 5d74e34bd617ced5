"""`labelworth merge DATA BATCH`: labels that were filled in, back into the data; answers, into a file of answers."""

from pathlib import Path
from typing import Annotated

import typer

from labelworth.cli.console import STANDARD, answer, name_of, tell
from labelworth.cli.options import AnswerFileOptions, DataOptions, Json, Only, Without


def merge(
    *,
    data: Annotated[DataOptions, Without("labels", "min_documents", "max_words")],
    batch: Annotated[
        Path, typer.Argument(metavar="BATCH", help="What `labelworth next` wrote, with labels or answers filled in.")
    ],
    held: Annotated[
        AnswerFileOptions,
        Only("answers", "id_column", "answer_columns", "annotator_columns", "count_from", "rename_answers"),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The file to write: the data, or the answers, with the new ones."),
    ] = None,
    in_place: Annotated[
        bool, typer.Option("--in-place", help="Write onto DATA, or with --answers onto that file, instead.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Merge a batch that was filled in into the data, so that `plan` can be asked again with all labels.

    With --answers FILE, BATCH is a sheet of answers (`labelworth next --sheet`), and FILE what they are added to.

    Examples
    --------
    labelworth merge mails.csv batch.csv --in-place
    labelworth merge mails.csv sheet.csv --answers answers.csv --in-place
    """
    from labelworth.errors import InvalidInputError

    held.require_file()
    if data.exported is not None:
        raise InvalidInputError(
            f"{data.path} was exported by an annotation tool: import labels there, or make a table of it first "
            "(labelworth convert)."
        )
    if held.answers is None:
        _merge_labels(data, batch, output, in_place=in_place, as_json=as_json)
    else:
        _merge_answers(data, batch, held, output, in_place=in_place, as_json=as_json)


def _merge_answers(
    data: DataOptions, batch: Path, held: AnswerFileOptions, output: Path | None, *, in_place: bool, as_json: bool
) -> None:
    from labelworth.cli.batches.sheets import AnswerSheet, merged_answers
    from labelworth.cli.inputs.answered import AnswersBeside
    from labelworth.data.digest import file_digest
    from labelworth.data.files import require_writable, write_lines
    from labelworth.data.readers.streams import on_disk
    from labelworth.errors import InvalidInputError
    from labelworth.report.record import Record, Stopwatch
    from labelworth.report.tables import show_lines

    if (output is None) != in_place:
        raise InvalidInputError("Say once where to write: --output NEW, or --in-place for onto the file of answers.")
    watch = Stopwatch()
    with watch.timing("merge"):
        samples = data.read()
        beside = AnswersBeside(samples, held)
        if in_place:
            _require_file(beside.path)
        target, is_new = output or beside.path, not on_disk(beside.path).exists()
        require_writable(target, (batch, *data.files) if in_place else (batch, beside.path, *data.files))
        outcome = merged_answers(AnswerSheet(samples.batches(None), batch), beside, target)
        # A file that nothing is added to is not touched.
        is_written = bool(outcome.n_answers) or not in_place
        if is_written:
            write_lines(target, [outcome.text])
    asked = {**data.asked(), **held.asked(), "batch": batch, "output": output, "in_place": in_place}
    figures = {
        "output": target,
        "n_answers": outcome.n_answers,
        "n_same": outcome.n_same,
        "n_repeated": outcome.n_repeated,
        "n_empty": outcome.n_empty,
        "annotators": list(outcome.annotators),
        "output_digest": None if target == STANDARD else file_digest(target),
    }
    record = Record("merge", asked, figures, None, data.digest(), watch.durations)
    answer(record, lambda console: show_lines(console, outcome.lines(beside.path)), as_json=as_json)
    if is_written:
        tell(f"Wrote {name_of(target)}{', which is new' if is_new and in_place else ''}")


def _merge_labels(data: DataOptions, batch: Path, output: Path | None, *, in_place: bool, as_json: bool) -> None:
    from labelworth.cli.batches.merging import merged
    from labelworth.data.digest import file_digest
    from labelworth.data.files import require_writable, write_lines
    from labelworth.errors import InvalidInputError
    from labelworth.report.record import Record, Stopwatch
    from labelworth.report.tables import show_lines

    target = _target(data.path, output, in_place=in_place)
    require_writable(target, (batch,) if in_place else (batch, *data.files))
    watch = Stopwatch()
    with watch.timing("merge"):
        samples = data.read()
        batches = samples.batches(batch)
        outcome = merged(batches, batches.read(batch))
        if not outcome.n_labels and not outcome.n_same:
            raise InvalidInputError(f"No label of {batch} is filled in: there is nothing to merge.")
        digest = data.digest()
        is_written = bool(outcome.n_labels) or not in_place
        if is_written:
            write_lines(target, [outcome.text])
    asked = {**data.asked(), "batch": batch, "output": output, "in_place": in_place}
    figures = {
        "output": target,
        "n_samples": outcome.n_samples,
        "n_labels": outcome.n_labels,
        "n_same": outcome.n_same,
        "n_empty": len(outcome.empty),
        "empty": list(outcome.empty),
        "output_digest": None if target == STANDARD else file_digest(target),
    }
    record = Record("merge", asked, figures, None, digest, watch.durations)
    answer(record, lambda console: show_lines(console, outcome.lines(samples.sample)), as_json=as_json)
    if is_written:
        tell(f"Wrote {name_of(target)}{'' if data.encoding.lower() in ('utf-8', 'utf8') else ' in UTF-8'}")


def _target(data: Path, output: Path | None, *, in_place: bool) -> Path:
    from labelworth.data.readers.choose import ending
    from labelworth.errors import InvalidInputError

    if (output is None) != in_place:
        raise InvalidInputError("Say once where to write: --output NEW, or --in-place for onto DATA.")
    if output is None:
        _require_file(data)
        return data
    if output != STANDARD and ending(output) != ending(data):
        raise InvalidInputError(
            f"The data stay in the form they have: end the name of the output in {ending(data)}, not in "
            f"{ending(output) or 'nothing'}."
        )
    return output


def _require_file(path: Path) -> None:
    from labelworth.errors import InvalidInputError

    if path == STANDARD:
        raise InvalidInputError("Nothing is written onto standard input: leave --in-place out, and name an --output.")
