"""`labelworth demo`: the whole story on built-in data, with a picture."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelworth.cli.console import answer, tell, working
from labelworth.cli.options import Json, Seed

if TYPE_CHECKING:
    from labelworth.progress import Progress
    from labelworth.report.values import Outcome


def demo(
    sequences: Annotated[
        bool, typer.Option("--sequences", help="Which tokens to label: policies on synthetic sequences.")
    ] = False,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the picture (.png or .svg).")] = Path(
        "labelworth-demo.png"
    ),
    quick: Annotated[bool, typer.Option("--quick", help="Fewer draws: the same story, rougher.")] = False,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Tell the whole story on scikit-learn's digits, in under a minute, with a picture."""
    from labelworth.data.files import require_writable
    from labelworth.report.figures import picture_format, save_picture
    from labelworth.report.record import Record, Stopwatch
    from labelworth.report.tables import show_outcome

    picture_format(output)
    require_writable(output)
    watch = Stopwatch()
    tell_story = _on_sequences if sequences else _on_digits
    with working() as progress, watch.timing("demonstration"):
        settings, told, digest = tell_story(quick, seed, progress)
    [picture] = told.pictures.values()
    save_picture(picture, output)
    figures = {"picture": output, **told.figures}
    record = Record("demo", {"settings": settings, "sequences": sequences}, figures, seed, digest, watch.durations)
    answer(record, lambda console: show_outcome(console, told), as_json=as_json)
    tell(f"Wrote {output}")


def _on_digits(quick: bool, seed: int, progress: "Progress") -> "tuple[Any, Outcome, str | None]":
    from labelworth.data.digest import file_digest
    from labelworth.demo.digits import QUICK, DemoSettings, data_path, demonstrate
    from labelworth.demo.digits_outcome import outcome

    settings = QUICK if quick else DemoSettings()
    return settings, outcome(demonstrate(settings, seed, progress)), file_digest(data_path())


def _on_sequences(quick: bool, seed: int, progress: "Progress") -> "tuple[Any, Outcome, str | None]":
    from labelworth.demo.policies import QUICK, SequenceDemoSettings, demonstrate_policies
    from labelworth.demo.policies_outcome import outcome

    settings = QUICK if quick else SequenceDemoSettings()
    return settings, outcome(demonstrate_policies(settings, seed, progress)), None
