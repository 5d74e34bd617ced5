"""`labelworth data list` and `labelworth data get NAME`: the corpora of the studies, for who does not have them."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelworth.cli.application import add_command, application
from labelworth.cli.console import answer, tell, working
from labelworth.cli.options import Json

if TYPE_CHECKING:
    from rich.console import Console

    from labelworth_studies.corpora.catalogue import Corpus

ALL = "all"
app = application("data", help="The corpora of the studies: which there are, which are here, and getting them.")


def list_corpora(as_json: Json = False) -> None:
    """List the corpora: licence, size, whether they are here, and how they are had.

    Examples
    --------
    labelworth data list
    """
    from labelworth.report.record import Record
    from labelworth.report.tables import show_lines, show_table
    from labelworth.report.values import Table
    from labelworth_studies.corpora.catalogue import CATALOGUE
    from labelworth_studies.corpora.folder import corpora_folder
    from labelworth_studies.corpora.getting import is_here

    folder = corpora_folder()
    needed = _needed()
    facts = [
        {**_facts(corpus), "is_here": is_here(corpus, folder), "needed_by": needed[corpus.name]}
        for corpus in CATALOGUE.values()
    ]
    rows = tuple(
        (
            fact["name"],
            f"{fact['n_rows']:,}",
            "yes" if fact["is_here"] else "no",
            fact["how"],
            len(fact["needed_by"]),
        )
        for fact in facts
    )
    table = Table(
        f"Corpora in {folder}",
        ("name", "rows", "here", "how to get it", "studies"),
        rows,
        note="`labelworth data get NAME` gets one, `labelworth data get all` all that can be had. SHA-256 of files: "
        "what is fetched is verified by a digest known from elsewhere; of rows: what is made of it must be, bit for "
        "bit, what our records were computed on. Where only another edition can be had, that is said when it is got. "
        "--json has places and digests.",
    )
    record = Record("data", {}, {"folder": str(folder), "corpora": facts})

    def show(console: "Console") -> None:
        show_table(console, table)
        # As lines: in columns beside the others they would be cut in the middle of words.
        show_lines(console, [f"{fact['name']}: {fact['title']}. Licence: {fact['licence']}." for fact in facts])

    answer(record, show, as_json=as_json)


def get_corpora(
    names: Annotated[list[str], typer.Argument(help='Which, by their names in the list, or "all".')],
) -> None:
    """Get corpora from public sources: resumed, verified, and kept where the studies look.

    Examples
    --------
    labelworth data get newsgroups
    labelworth data get all
    """
    from labelworth.data.files import make_folder
    from labelworth.errors import DataUnavailableError
    from labelworth_studies.corpora.catalogue import CATALOGUE, corpus_named
    from labelworth_studies.corpora.folder import corpora_folder
    from labelworth_studies.corpora.getting import get, is_here

    corpora = [*CATALOGUE.values()] if names == [ALL] else [corpus_named(name) for name in names]
    folder = make_folder(corpora_folder())
    failed: list[str] = []
    for corpus in corpora:
        if names == [ALL] and not corpus.sources and not is_here(corpus, folder):
            tell(f"{corpus.name}: not got by a command. {corpus.instead}")
            continue
        try:
            with working() as progress:
                tell(f"{corpus.name}: {get(corpus, folder, progress)}. Licence: {corpus.licence}.")
        except KeyboardInterrupt:
            raise KeyboardInterrupt("Stopped. The same command goes on from what is kept.") from None
        except DataUnavailableError as error:
            if len(corpora) == 1:
                raise
            failed.append(corpus.name)
            tell(f"{corpus.name}: {error}")
    tell(f"The corpora are in {folder}")
    if failed:
        raise DataUnavailableError(f"Not got: {', '.join(failed)}. The same command goes on where it stopped.")


def _facts(corpus: "Corpus") -> dict[str, Any]:
    """What is known of a corpus, as JSON values."""
    return {
        "name": corpus.name,
        "title": corpus.title,
        "n_rows": corpus.n_rows,
        "licence": corpus.licence,
        "files": {f"{corpus.folder}/{name}": sha256 or None for name, sha256 in corpus.files.items()},
        "how": corpus.how,
        "instead": corpus.instead,
        "sources": [
            {
                "files": [{"place": remote.place, "sha256": remote.sha256} for remote in source.files],
                "differs": source.differs,
            }
            for source in corpus.sources
        ],
    }


def _needed() -> dict[str, list[str]]:
    """Which studies read a corpus, by its name."""
    from labelworth_studies.corpora.catalogue import CATALOGUE
    from labelworth_studies.runner import registry

    studies = [registry.find(name) for name in registry.names()]
    return {name: [study.name for study in studies if name in study.corpora] for name in CATALOGUE}


add_command(app, list_corpora, "list")
add_command(app, get_corpora, "get")
