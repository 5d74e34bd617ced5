"""One table of formats, and two doors: an export is read from a file or folder, and written to one."""

import os
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from labelworth.data.readers.streams import open_binary
from labelworth.data.shards.manifest import refuse_shards
from labelworth.errors import InvalidInputError
from labelworth.formats.export import Export
from labelworth.formats.format import Format
from labelworth.formats.losses import Loss
from labelworth.formats.source import EmptyMeans, Reading, Source

_HOMES = {
    "label-studio": ("label_studio", "LABEL_STUDIO"),
    "label-studio-min": ("label_studio", "LABEL_STUDIO_MIN"),
    "prodigy": ("prodigy", "PRODIGY"),
    "doccano": ("doccano", "DOCCANO"),
    "doccano-members": ("doccano", "DOCCANO_MEMBERS"),
    "argilla": ("argilla", "ARGILLA"),
    "spacy": ("spacy", "SPACY"),
    "webanno": ("webanno", "WEBANNO"),
    "brat": ("brat", "BRAT"),
    "hugging-face": ("hugging_face", "HUGGING_FACE"),
    "conll": ("token_files", "CONLL"),
    "tokens-jsonl": ("token_files", "TOKENS_JSONL"),
    "csv": ("tables", "CSV"),
    "tsv": ("tables", "TSV"),
    "excel": ("tables", "EXCEL"),
    "jsonl": ("tables", "JSONL"),
}
"""By name, the module and what it is called there, in the order in which content is held against them."""
FORMATS = tuple(_HOMES)


def format_named(name: str) -> Format:
    if name not in _HOMES:
        raise InvalidInputError(f"There is no format {name!r}. Choose one of {', '.join(FORMATS)}.")
    module, attribute = _HOMES[name]
    found: Format = getattr(import_module(f"labelworth.formats.{module}"), attribute)
    return found


def format_of_ending(path: Path) -> Format:
    """The one format that is written to files of such a name."""
    matching = [known for known in map(format_named, FORMATS) if path.suffix in known.endings]
    if len(matching) != 1:
        meant = ", ".join(known.name for known in matching) or ", ".join(FORMATS)
        raise InvalidInputError(
            f"The name {path.name!r} does not say which format to write. Say to=, one of {meant}."
        )
    return matching[0]


def found_format(source: Source) -> Format | None:
    """The format that the content shows; None where it shows none.

    Raises
    ------
    InvalidInputError
        If it may be of several.
    """
    if not source.path.exists():
        # Whoever opens it says what is near.
        with open_binary(source.path):
            pass
    matching = [known for known in map(format_named, FORMATS) if known.knows(source)]
    if len(matching) > 1:
        names = " or ".join(f"format={known.name!r}" for known in matching)
        raise InvalidInputError(f"{source.path} may be {' or '.join(k.title for k in matching)}. Say which: {names}.")
    return matching[0] if matching else None


def read_export(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    text_column: str | None = None,
    question: str | None = None,
    empty_means: EmptyMeans | None = None,
    approved: str | os.PathLike[str] | None = None,
    encoding: str = "utf-8",
) -> Export:
    """Read what an annotation tool wrote.

    Parameters
    ----------
    path : path
        A file, or a folder for formats that are one. The format is found from the content, whatever the name.
    format : str, optional
        Its name, such as "label-studio", where several may be meant.
    text_column : str, optional
        The field that holds the texts, where it is not called "text".
    question : str, optional
        Which question of several: what Label Studio calls from_name, Argilla a question and WebAnno a layer.
    empty_means : "unlabeled" or "nothing", optional
        What an item without a label means, where a format does not tell whether somebody looked at it.
    approved : path, optional
        For doccano: the export of the approved examples alone. Those in it were looked at, others were not. Of a
        folder with a file per member it is such a folder, or one file that counts for all of them.
    encoding : str
        Of text files.

    Raises
    ------
    DataUnavailableError
        If there is no such file.
    InvalidInputError
        If it is not what it should be, or does not say what it is: says where, what is wrong, and what to do.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "tasks.json"
    >>> _ = path.write_text('[{"id": 1, "data": {"text": "good"}, "annotations": []}]')
    >>> export = read_export(path)
    >>> export.items[0].state, export.notes[0].endswith("was read as Label Studio JSON.")
    ('unlabeled', True)
    """
    if empty_means not in (None, "unlabeled", "nothing"):
        raise InvalidInputError(f"empty_means must be unlabeled or nothing. Got {empty_means!r}.")
    refuse_shards(Path(path))
    reading = Reading(text_column, question, empty_means, None if approved is None else Path(approved), encoding)
    source = Source(Path(path), reading)
    known = format_named(format) if format is not None else found_format(source)
    if known is None:
        raise InvalidInputError(
            f"The content of {source.path} is of no format that is known. Name it with format= (one of "
            f"{', '.join(FORMATS)})."
        )
    if reading.approved is not None and not known.takes_approved:
        raise InvalidInputError(f"approved= goes with exports of doccano. {source.path} was read as {known.title}.")
    export = known.read(source)
    if not export.items:
        raise InvalidInputError(f"{source.path} holds no items. Was it written completely?")
    return replace(export, notes=(f"{source.path} was read as {known.title}.", *export.notes))


def write_export(
    export: Export, path: str | os.PathLike[str], format: str, *, accept_losses: bool = False
) -> tuple[Loss, ...]:
    """Write an export as an annotation tool reads it, whole or not at all.

    Parameters
    ----------
    export : Export
    path : path
        A file, or a folder that is not there yet for formats that are one.
    format : str
    accept_losses : bool
        Whether to write what the format can hold where that is not everything.

    Returns
    -------
    losses
        What was lost; each says in words what, and names the items.

    Raises
    ------
    InvalidInputError
        If something would be lost and that was not accepted, or cannot be written at all.
    OutputError
        If the file cannot be written.
    """
    known = format_named(format)
    losses = known.losses(export)
    if losses and not accept_losses:
        raise InvalidInputError(
            f"{known.title} cannot hold all of {export.source}: {'; '.join(map(str, losses))}. Write it all the same "
            "with accept_losses=True, or choose another format."
        )
    return known.write(export, Path(path))
