"""`labelworth doctor`: whether all is well here, the answer first."""

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import typer

from labelworth.cli.console import write_json
from labelworth.cli.options import Json

if TYPE_CHECKING:
    from labelworth.cli.checkup import Checkup

BROKEN = 1


def doctor(as_json: Json = False) -> None:
    """Say whether all is well here: what is installed, threads, compiled kernels, and how fast a pass is.

    Examples
    --------
    labelworth doctor
    """
    from labelworth.cli.checkup import checkup

    found = checkup()
    if as_json:
        write_json(json.dumps(found.document(), indent=2, ensure_ascii=False) + "\n")
    else:
        typer.echo("\n".join(_lines(found)))
    if found.is_broken:
        raise typer.Exit(BROKEN)


def _lines(found: "Checkup") -> Iterator[str]:
    """The answer first, then what it rests on."""
    from labelworth.cli.checkup import DATA_FOLDER

    n_found = len(found.findings)
    if not n_found:
        yield "All is well."
    elif found.is_broken:
        yield "Something is broken."
    else:
        yield f"It works. {'One thing' if n_found == 1 else f'{n_found} things'} could be better."
    for finding in sorted(found.findings, key=lambda finding: not finding.is_broken):
        yield f"- {finding.what} {finding.cure}"
    for title, entries in (
        ("Installed", {name: version or "missing" for name, version in found.versions.items()}),
        ("Extras", {name: _extra_words(name, told) for name, told in found.extras.items()}),
        ("Threads", dict(_thread_words(found.threads))),
        ("Compiled kernels", dict(_kernel_words(found.kernels))),
        ("Data of the studies", {DATA_FOLDER: _folder_words(found.data)}),
        ("Speed", dict(_speed_words(found.speed))),
    ):
        yield ""
        yield title
        width = max(map(len, entries), default=0)
        for name, words in entries.items():
            yield f"  {name.ljust(width)}  {words}"


def _folder_words(data: Mapping[str, Any]) -> str:
    where = data["folder"] or "not set"
    return where if data["there"] else f"{where}; `labelworth data list` says where corpora are looked for"


def _extra_words(extra: str, told: Mapping[str, Any]) -> str:
    from labelworth.cli.checkup import installing

    return told["gives"] if told["installed"] else f"not installed: {told['gives']}; {installing(extra)}"


def _thread_words(threads: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "processors", str(threads["processors"])
    if "kernels" in threads:
        yield "of them usable", str(threads["usable"])
        yield "kernels", f"{threads['kernels']} threads of their own (Numba's layers are not used)"
        for library in threads["libraries"]:
            yield (
                library["internal_api"],
                f"{library['num_threads']} threads, version {library['version'] or 'unknown'}",
            )
    for name, value in threads["settings"].items():
        yield name, value or "not set"


def _kernel_words(kernels: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if not kernels:
        yield "kept in", "not looked at: something that they need is missing"
    elif "folder" in kernels:
        yield "kept in", f"{kernels['folder']}: {kernels['files']} files, {kernels['bytes'] / 1e6:.1f} MB"
    else:
        yield "kept in", "no folder"


def _speed_words(speed: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if not speed:
        yield "one EM pass", "not measured: something that it needs is missing"
        return
    how = "compiling included" if speed["first_compiled"] else "nothing was compiled"
    yield "first call", f"{speed['first_seconds']:.2f} s, {how}"
    yield (
        "one EM pass",
        f"{speed['counts_per_second'] / 1e6:,.3g} million stored counts a second, {speed['classes']} classes "
        f"({speed['stored_counts']:,} in {speed['pass_seconds']:.3g} s)",
    )
    yield "for orientation", f"{speed['on_record'] / 1e6:,.3g} million on two cores of an AMD EPYC server"
