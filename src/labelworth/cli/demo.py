"""`labelworth demo`: the whole story on built-in data, with a picture."""

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from labelworth.cli.console import answer, working, wrote
from labelworth.cli.options import Json, Seed


def demo(
    sequences: Annotated[
        bool, typer.Option("--sequences", help="Which tokens to label: policies on synthetic sequences.")
    ] = False,
    answers: Annotated[
        bool, typer.Option("--answers", help="Which labels to buy: gold, an expert, a crowd or a model.")
    ] = False,
    output: Annotated[Path, typer.Option("--output", "-o", help="The picture to write, .png or .svg.")] = Path(
        "labelworth-demo.png"
    ),
    quick: Annotated[bool, typer.Option("--quick", help="Fewer draws: the same story, rougher.")] = False,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Tell the whole story on built-in data, in under a minute, with a picture.

    Examples
    --------
    labelworth demo
    labelworth demo --answers --quick -o answers.png
    """
    from labelworth.errors import InvalidInputError

    if sequences and answers:
        raise InvalidInputError("There is one story at a time: --sequences or --answers.")
    from labelworth.data.files import require_writable
    from labelworth.demo.story import Scenario
    from labelworth.report.figures import picture_format, save_picture
    from labelworth.report.record import Record, Stopwatch
    from labelworth.report.tables import show_outcome

    picture_format(output)
    require_writable(output)
    told = "policies" if sequences else "kinds" if answers else "digits"
    scenario: Scenario = import_module(f"labelworth.demo.{told}").tell
    watch = Stopwatch()
    with working() as progress, watch.timing("demonstration"):
        story = scenario(quick, seed, progress)
    [picture] = story.outcome.pictures.values()
    save_picture(picture, output)
    figures = {"picture": output, **story.outcome.figures}
    asked = {"settings": story.settings, "sequences": sequences, **({"answers": True} if answers else {})}
    record = Record("demo", asked, figures, seed, story.data_digest, watch.durations)
    answer(record, lambda console: show_outcome(console, story.outcome), as_json=as_json)
    wrote(output)
