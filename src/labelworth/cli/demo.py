"""`labelworth demo`: the whole story on built-in data, with a picture."""

from pathlib import Path
from typing import Annotated

import typer

from labelworth.cli.console import answer, tell, working
from labelworth.cli.options import Json, Seed


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the picture (.png or .svg).")] = Path(
        "labelworth-demo.png"
    ),
    quick: Annotated[bool, typer.Option("--quick", help="Fewer draws: the same story, rougher.")] = False,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Tell the whole story on scikit-learn's digits, in under a minute, with a picture."""
    from labelworth.data.files import file_digest, require_writable
    from labelworth.report.figures import picture_format, save_picture
    from labelworth.report.record import Record, Stopwatch
    from labelworth.report.tables import show_outcome
    from labelworth.studies.demo import QUICK, DemoSettings, data_path, demonstrate
    from labelworth.studies.demo_outcome import outcome

    picture_format(output)
    require_writable(output)
    settings = QUICK if quick else DemoSettings()
    watch = Stopwatch()
    with working() as progress, watch.timing("demonstration"):
        told = outcome(demonstrate(settings, seed, progress))
    [picture] = told.pictures.values()
    save_picture(picture, output)
    figures = {"picture": output, **told.figures}
    record = Record("demo", {"settings": settings}, figures, seed, file_digest(data_path()), watch.durations)
    answer(record, lambda console: show_outcome(console, told), as_json=as_json)
    tell(f"Wrote {output}")
