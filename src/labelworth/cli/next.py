"""`labelworth next DATA`: which rows, or which tokens of which sequences, to label now."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelworth.cli import options
from labelworth.cli.batch_writing import batch_writer
from labelworth.cli.console import answer, tell
from labelworth.cli.reading import NO_MARKER, Source
from labelworth.cli.sequence_reading import SequenceSource, holds_sequences

if TYPE_CHECKING:
    from labelworth.cli.written_rows import WrittenRows
    from labelworth.planning.next import Batch


def next_batch(
    data: options.Data,
    plan: Annotated[Path | None, typer.Option(help="A plan file: label what it recommends.")] = None,
    count: Annotated[int | None, typer.Option(min=1, help="How many documents or sequences to label.")] = None,
    policy: Annotated[
        str | None, typer.Option(help="For sequences, with --count: as 0.5*window:5 + 0.5*everything.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Where to write what to label: .jsonl, .csv, or .conll for sequences."),
    ] = None,
    model: options.Model = None,
    text_column: options.TextColumn = "text",
    label_column: options.LabelColumn = "label",
    labels: options.Labels = None,
    unlabeled: options.Unlabeled = None,
    format: options.Format = None,
    encoding: options.Encoding = "utf-8",
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> None:
    """Draw what to label now, at random among what has no label yet."""
    from labelworth.data.files import file_digest, require_writable
    from labelworth.errors import InvalidInputError
    from labelworth.planning.words import count as amount
    from labelworth.report.record import Record, Stopwatch

    if (plan is None) == (count is None):
        raise InvalidInputError("Say how much to label, once: --plan plan.json or --count N.")
    if policy is not None and count is None:
        raise InvalidInputError("A plan has its own rules; --policy goes with --count.")
    watch = Stopwatch()
    is_sequences = holds_sequences(data, format, model)
    if is_sequences:
        tokens = SequenceSource.of(
            data, text_column, label_column, unlabeled=unlabeled, format=format, encoding=encoding
        )
        raw: Any = tokens.read_quietly()
    else:
        if policy is not None:
            raise InvalidInputError("Documents are labeled whole; --policy is for sequences.")
        raw = Source(data, text_column, label_column, labels, unlabeled, format, encoding).read()
    written, column = _columns(data, raw, text_column, label_column, format, encoding)
    writer = batch_writer(output, raw, written, column)
    if output is not None:
        require_writable(output)
    digest = file_digest(data)
    counts, expected = _counts_of_plan(plan, digest) if plan is not None else ({"everything": int(count or 0)}, None)
    batch = _drawn(raw, counts, policy, seed, is_sequences=is_sequences)
    asked = {"path": data, "plan": plan, "count": count, "policy": policy, "output": output}
    record = Record("next", asked, {**batch.to_dict(), "output": output}, seed, digest, watch.durations)
    if output is not None or not as_json:
        writer.write(output, batch)
    if as_json:
        answer(record, lambda console: None, as_json=True)
    where = "" if output is None else f", written to {output}"
    what = amount(len(batch.rows), "sequence" if is_sequences else "document")
    tell(f"{what} to label ({amount(batch.n_labels, 'label')}), drawn with seed {seed}{where}.")
    if expected is not None and abs(batch.n_labels - expected) >= 1:
        tell(f"The plan counted on {expected:.4g} labels: sequences of mean length. These have their own.")


def _columns(
    data: Path, raw: Any, text_column: str, label_column: str, format: str | None, encoding: str
) -> "tuple[WrittenRows | None, str]":
    """All columns of the data as they are written, and which of them holds labels."""
    from labelworth.cli.written_rows import written_rows
    from labelworth.cli.written_sequences import tags_column, written_sequences

    if not hasattr(raw, "offsets"):
        return written_rows(data, format, encoding), "label" if label_column == NO_MARKER else label_column
    written = written_sequences(data, text_column, format, encoding)
    return written, tags_column(written, label_column)


def _drawn(raw: Any, counts: dict[str, int], policy: str | None, seed: int, *, is_sequences: bool) -> "Batch":
    from labelworth.planning.next import counts_of_policy, next_documents, next_sequences
    from labelworth.policies.spec import parse_policy

    if is_sequences:
        if policy is not None:
            counts = counts_of_policy(parse_policy(policy), sum(counts.values()))
        return next_sequences(raw.sequences(), counts, seed)
    return next_documents(~raw.evidence().is_unlabeled, counts.get("everything", 0), seed)


def _counts_of_plan(path: Path, digest: str) -> tuple[dict[str, int], float]:
    """How many samples of every arm a plan recommends, and how many labels it expects them to take."""
    from labelworth.errors import InfeasiblePlanError, InvalidInputError
    from labelworth.report.record import Record

    record = Record.read(path)
    if record.command != "plan":
        raise InvalidInputError(f"{str(path)!r} is the record of {record.command!r}, not of a plan.")
    if record.data_digest != digest:
        raise InvalidInputError(
            f"The data has changed since the plan {str(path)!r} was made: plan again (labelworth plan --again), or "
            "say how much with --count."
        )
    arms = record.figures["recommended"]["arms"]
    counts = {arm["arm"]: round(arm["count"]) for arm in arms if arm["arm"] != "nothing" and arm["count"] > 0}
    if record.figures["advice"] == "larger pilot":
        raise InfeasiblePlanError(f"The plan recommends no labels. {record.figures['lines'][0]}")
    if not counts:
        raise InfeasiblePlanError(
            f"The plan says to stop: {record.figures['why_stop'] or 'nothing is to be labeled.'}"
        )
    return counts, float(record.figures["recommended"]["labels"])
