"""Whether a file or folder is what an annotation tool exported; of plain data that is told without loading much."""

from pathlib import Path
from typing import TYPE_CHECKING

from labelworth.errors import InvalidInputError
from labelworth.formats.source import Reading, Source

if TYPE_CHECKING:
    from labelworth.formats.as_data import ExportedData


def exported_data(
    path: Path, format: str | None, reading: Reading, *, tokenizer: str | None, label_column: str | None
) -> "ExportedData | None":
    """What an annotation tool exported; None where the file is data as it is.

    A column of labels is what tools call a question: `label_column` names it too.

    Raises
    ------
    InvalidInputError
        If something was said of it that goes with exports alone, and it is none.
    """
    known = None
    source = Source(path, Reading(reading.text_field, encoding=reading.encoding))
    if format is not None or not source.is_plain:
        from labelworth.formats.choose import FORMATS, format_named, found_format

        if format is None:
            known = found_format(source)
        elif format in FORMATS:
            known = format_named(format)
    if known is None or known.is_data:
        said = {
            "question": reading.question,
            "empty_means": reading.empty_means,
            "approved": reading.approved,
            "tokenizer": tokenizer,
        }
        extra = next((name for name, value in said.items() if value is not None), None)
        if extra is not None:
            raise InvalidInputError(
                f"{extra}= goes with exports of annotation tools, and {path} is none. Leave it out."
            )
        return None
    from labelworth.formats.as_data import ExportedData
    from labelworth.formats.choose import read_export

    export = read_export(
        path,
        format=known.name,
        text_column=reading.text_field,
        question=label_column or reading.question,
        empty_means=reading.empty_means,
        approved=reading.approved,
        encoding=reading.encoding,
    )
    return ExportedData(export, tokenizer)
