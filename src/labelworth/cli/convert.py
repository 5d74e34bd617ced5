"""`labelworth convert A B`: what one annotation tool holds, as another one reads it."""

from pathlib import Path
from typing import Annotated

import typer

from labelworth.cli.completion import export_names
from labelworth.cli.console import STANDARD, name_of, tell
from labelworth.cli.options import OF_EXPORTS, DataOptions, Only


def convert(
    *,
    data: Annotated[DataOptions, Only("path", "text_column", "format", "encoding", *OF_EXPORTS)],
    converted: Annotated[
        Path,
        typer.Argument(
            metavar="TARGET", help="A file, or a folder for formats that are one; - is standard output, with --to."
        ),
    ],
    to: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT",
            autocompletion=export_names,
            help="The format to write, where the ending of TARGET does not say: see --format.",
        ),
    ] = None,
    accept_losses: Annotated[
        bool, typer.Option("--accept-losses", help="Write what the format can hold, where that is not everything.")
    ] = False,
) -> None:
    """Write what one annotation tool exported as another one reads it; say first what that cannot hold.

    Formats are label-studio, label-studio-min, prodigy, doccano, doccano-members, argilla, spacy, webanno, brat,
    hugging-face, conll, tokens-jsonl, csv, tsv, excel and jsonl; docs/formats.md says what each holds.

    Examples
    --------
    labelworth convert mails.csv mails.json --to label-studio
    labelworth convert mails.json - --to csv
    """
    from labelworth.data.files import require_writable
    from labelworth.errors import InvalidInputError
    from labelworth.formats.choose import format_named, format_of_ending, read_export, write_export
    from labelworth.formats.tokens import tokenizer_words, with_tokens
    from labelworth.wording import count

    known = format_named(to) if to is not None else format_of_ending(converted)
    if converted != STANDARD and converted.resolve() == data.path.resolve():
        raise InvalidInputError(f"Writing {str(converted)!r} would overwrite what is read. Name another file.")
    if not converted.is_dir():
        require_writable(converted, data.files)
    export = read_export(
        data.path,
        format=data.format,
        text_column=data.text_column,
        question=data.question,
        empty_means=data.empty_means,
        approved=data.approved,
        encoding=data.encoding,
    )
    for note in export.notes:
        tell(note)
    if export.kind == "spans" and (data.tokenizer is not None or export.kind in known.needs_tokens):
        tell(f"Spans are put on tokens (tokenizer: {tokenizer_words(export, data.tokenizer)}).")
        export = with_tokens(export, data.tokenizer)
    losses = write_export(export, converted, known.name, accept_losses=accept_losses)
    for loss in losses:
        tell(f"Lost: {loss}.")
    tell(f"{count(len(export.items), 'item')} written to {name_of(converted)} as {known.title}.")
