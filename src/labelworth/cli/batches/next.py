"""`labelworth next DATA`: which rows, or which tokens of which sequences, to label now."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from labelworth.cli.completion import export_names
from labelworth.cli.console import STANDARD, answer, name_of, tell, write_json
from labelworth.cli.inquiry import read_plan_file
from labelworth.cli.options import (
    AnswerFileOptions,
    ChoosingOptions,
    DataOptions,
    Json,
    ModelOptions,
    Only,
    PriceOptions,
    Seed,
    Without,
)
from labelworth.cli.options.table import Between

if TYPE_CHECKING:
    from labelworth.formats.export import Export
    from labelworth.formats.format import Format
    from labelworth.planning.next import Batch
    from labelworth.report.record import Record

_ANSWERS = "Answers"


def next_batch(
    *,
    plan: Annotated[Path | None, typer.Option(metavar="PLAN", help="A plan file: label what it recommends.")] = None,
    count: Annotated[int | None, typer.Option(help="How many documents or sequences to label."), Between(1)] = None,
    policy: Annotated[
        str | None,
        typer.Option(metavar="POLICY", help="For sequences, with --count: as '0.5*window:5 + 0.5*everything'."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The file to fill in: .jsonl, .csv, or .conll for sequences; with --to any name. Without it, or "
            "with -, JSON lines on standard output.",
        ),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT",
            autocompletion=export_names,
            help="Write --output as an annotation tool imports it: label-studio, doccano, ...",
        ),
    ] = None,
    sheet: Annotated[
        Path | None,
        typer.Option(
            help="Where to write who should answer what: .csv, .tsv or .jsonl; with --output too, the same samples "
            "get labels and answers.",
            rich_help_panel=_ANSWERS,
        ),
    ] = None,
    annotators: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Who can be asked, as 'ann,bob,eve'; of a plan with kinds of labels 'crowd: ann,bob', once each.",
            rich_help_panel=_ANSWERS,
        ),
    ] = None,
    votes: Annotated[
        int | None,
        typer.Option(
            help="With --count: how many different annotators answer for each, 1 unless given.",
            rich_help_panel=_ANSWERS,
        ),
        Between(1),
    ] = None,
    audit: Annotated[
        bool,
        typer.Option(
            "--audit",
            help="With --count: ask about what has a label (--sheet), or label what has answers (--output): "
            "both show how often annotators are right.",
            rich_help_panel=_ANSWERS,
        ),
    ] = False,
    choosing: ChoosingOptions,
    prices: Annotated[PriceOptions, Only("price_label", "price_token", "price_sequence")],
    held: Annotated[AnswerFileOptions, Without("cannot_say", "repeated", "outside")],
    data: Annotated[DataOptions, Without("min_documents", "max_words")],
    model: Annotated[ModelOptions, Only("model")],
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Draw what to label now, at random among what has no label and no answer yet, and who should answer.

    Examples
    --------
    labelworth next mails.csv --count 50 -o batch.csv
    labelworth next mails.csv --plan plan.json -o batch.csv
    labelworth next mails.csv --count 50 --sheet sheet.csv --annotators ann,bob
    """
    from labelworth.cli.batches.asking import Asking, asked_of_plan
    from labelworth.cli.batches.choosing import chosen_batch, words_of
    from labelworth.data.files import write_lines
    from labelworth.errors import InvalidInputError
    from labelworth.report.record import Record, Stopwatch

    _require_one_source(plan, count, policy, has_votes=votes is not None or audit)
    if choosing.by is not None and (policy is not None or sheet is not None or audit):
        raise InvalidInputError("--by chooses documents that get a label: leave --policy, --sheet and --audit out.")
    held.require_file()
    output = None if output == STANDARD and to is None else output
    _require_places(output, sheet, (plan, held.answers, *data.files), audit=audit)
    watch = Stopwatch()
    tool = _tool(to, output)
    samples = data.read(model.model)
    batches = samples.batches(None if tool is not None else output)
    batches.require_form()
    digest = data.digest()
    if plan is not None:
        counts, expected, planned = _counts_of_plan(plan, digest)
        asking = asked_of_plan(planned.figures, sheet, list(annotators or ()))
        model = model if choosing.by is None else _model_of_plan(plan, planned, model)
        held = _held_by_plan(plan, planned, held)
    else:
        counts, expected = {"everything": int(count or 0)}, None
        asking = Asking.of(sheet, list(annotators or ()), votes, audit=audit, has_output=output is not None)
    batch = None if sheet is not None or audit else chosen_batch(batches, counts, choosing, model, prices, seed)
    batch = batch or asking.drawn(batches, held, counts, policy, seed)
    asked = asking.text_of(batches, batch, seed, held)
    labels = asking.with_gold(batch, also=output is not None)
    told: list[tuple[Path, str]] = [] if sheet is None or not asked.text else [(sheet, asked.text)]
    if len(labels.rows) and tool is not None and output is not None:
        _write_export(batches.export_of(labels), output, tool)
    elif len(labels.rows) and output is not None:
        told.append((output, batches.text_of(labels)))
    elif len(labels.rows) and not as_json:
        write_json(batches.text_of(labels))
    for path, text in told:
        write_lines(path, [text])
    if as_json:
        typed = {**data.asked(), "plan": plan, "count": count, "policy": policy, "output": output, **held.asked()}
        typed |= choosing.asked() | ({} if to is None else {"to": to}) | asking.asked(annotators, votes)
        figures = {**batch.to_dict(), "output": output, **asked.figures}
        record = Record("next", typed, figures, seed, digest, watch.durations)
        answer(record, lambda console: None, as_json=True)
    _tell_labels(labels, samples.sample, seed, output, tool)
    for line in (*words_of(labels), *asked.lines(data.path, seed, held.answers)):
        tell(line)
    if sheet is not None and not asked.text:
        tell(f"The plan buys labels alone: nobody is asked for an answer, and {sheet} was not written.")
    if expected is not None and not asking.has_kinds and abs(batch.n_labels - expected) >= 1:
        tell(f"The plan counted on {expected:.4g} labels: sequences of mean length. These have their own.")


def _tell_labels(labels: "Batch", sample: str, seed: int, output: Path | None, tool: "Format | None") -> None:
    from labelworth.wording import count as amount

    if len(labels.rows):
        where = (
            "" if output is None else f", written to {name_of(output)}{'' if tool is None else f' as {tool.title}'}"
        )
        what = amount(len(labels.rows), sample)
        tell(f"{what} to label ({amount(labels.n_labels, 'label')}), drawn with seed {seed}{where}.")
    elif output is not None:
        tell(f"The plan buys answers alone: nothing is to be labeled, and {output} was not written.")


def _tool(to: str | None, output: Path | None) -> "Format | None":
    """The format of an annotation tool that a batch is written in; None: rows with labels to fill in."""
    from labelworth.errors import InvalidInputError
    from labelworth.formats.choose import format_named

    if to is None:
        return None
    known = format_named(to)
    if output is None:
        raise InvalidInputError("--to says how --output is written: name a file with --output.")
    if known.is_data:
        raise InvalidInputError(f"{known.title} is what --output writes without --to, by the ending of its name.")
    return known


def _write_export(export: "Export", path: Path, tool: "Format") -> None:
    """Write what is asked about. What the tool cannot hold was said by nobody: it is told, and not refused."""
    for loss in tool.losses(export):
        tell(f"Not in {name_of(path)}: {loss}.")
    tool.write(export, path)


def _require_one_source(plan: Path | None, count: int | None, policy: str | None, *, has_votes: bool) -> None:
    """Refuse to be told how much to label twice, or not at all."""
    from labelworth.errors import InvalidInputError

    if (plan is None) == (count is None):
        raise InvalidInputError("Say how much to label, once: --plan plan.json or --count N.")
    if policy is not None and count is None:
        raise InvalidInputError("A plan has its own rules; --policy goes with --count.")
    if has_votes and count is None:
        raise InvalidInputError("A plan says who is asked how often; --votes and --audit go with --count.")


def _require_places(output: Path | None, sheet: Path | None, inputs: tuple[Path | None, ...], *, audit: bool) -> None:
    """Refuse to write labels and answers to one file, or onto what is read."""
    from labelworth.data.files import require_writable
    from labelworth.errors import InvalidInputError

    if audit and output is not None and sheet is not None:
        raise InvalidInputError(
            "--audit asks about what has a label already (--sheet), or labels what has answers (--output): leave one "
            "of the two out."
        )
    if sheet is not None and output is not None and sheet.resolve() == output.resolve():
        raise InvalidInputError(f"Labels and answers cannot both be filled in {str(sheet)!r}: name two files.")
    for path in (output, sheet):
        if path is not None:
            require_writable(path, inputs)


def _require_rules(counts: Mapping[str, int], path: Path) -> None:
    """Refuse arms that are no labeling rules."""
    from labelworth.errors import InvalidInputError
    from labelworth.policies.spec import parse_rule

    for spec in counts:
        try:
            parse_rule(spec)
        except InvalidInputError as error:
            raise InvalidInputError(
                f"The plan file {str(path)!r} names an arm that is no labeling rule: {error}"
            ) from error


def _model_of_plan(path: Path, planned: "Record", model: ModelOptions) -> ModelOptions:
    """The model that rows are chosen by: as typed, or that of the plan."""
    if model != ModelOptions():
        return model
    return ModelOptions.from_record(planned.asked, f"The plan file {str(path)!r}")


def _held_by_plan(path: Path, planned: "Record", held: AnswerFileOptions) -> AnswerFileOptions:
    """The answers that there are already: as typed, or those that the plan knew; says if they are newer than it."""
    known = AnswerFileOptions.from_record(planned.asked, f"The plan file {str(path)!r}")
    held = held if held.answers is not None else known
    if held.answers is not None and held.answers.exists() and held.answers.stat().st_mtime > path.stat().st_mtime:
        tell(
            f"{held.answers} has changed since the plan was made: plan again, unless none of that was bought by this "
            "plan."
        )
    return held


def _counts_of_plan(path: Path, digest: str) -> "tuple[dict[str, int], float, Record]":
    """How many samples of every arm a plan recommends, how many labels it expects them to take, and its record."""
    from labelworth.errors import InvalidInputError
    from labelworth.planning.next import counts_of_plan

    record = read_plan_file(path)
    if record.data_digest != digest:
        raise InvalidInputError(
            f"The data has changed since the plan {str(path)!r} was made: plan again (labelworth plan --again), or "
            "say how much with --count."
        )
    counts = counts_of_plan(record.figures, f"The plan file {str(path)!r}", "labelworth next --count")
    if not record.figures.get("menu"):
        _require_rules(counts, path)
    return counts, float(record.figures["recommended"]["labels"]), record
