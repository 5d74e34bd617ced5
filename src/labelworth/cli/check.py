"""`labelworth check DATA`: does the unlabeled data help or hurt; do the labels of sequences pin a model down?"""

from typing import Annotated, Any

import typer

from labelworth.cli.console import answer, working
from labelworth.cli.options import AnswerFileOptions, DataOptions, EngineOptions, Json, ModelOptions, Seed, Without

_CHECK = "The check"


def check(
    *,
    data: DataOptions,
    model: Annotated[ModelOptions, Without("unlabeled_weight")],
    policy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="POLICY",
            help="For sequences: a labeling policy to be judged too, as '0.5*window:5 + 0.5*nothing'.",
            rich_help_panel=_CHECK,
        ),
    ] = None,
    specification: Annotated[
        bool,
        typer.Option(
            help="For documents: also test whether the model is right; the slowest part.", rich_help_panel=_CHECK
        ),
    ] = True,
    held: AnswerFileOptions,
    walkers: EngineOptions,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Say whether unlabeled data helps or hurts, what labels of sequences leave open, and whose answers to use.

    Examples
    --------
    labelworth check mails.csv
    labelworth check mails.csv --answers answers.csv
    """
    from labelworth.report.record import Record, Stopwatch
    from labelworth.report.tables import show_lines

    held.require_file()
    watch = Stopwatch()
    policies = list(policy or ())
    with walkers.at_work(), working() as progress:
        with watch.timing("read"):
            samples = data.read(model.model)
            estimator = model.estimator(samples, seed, may_choose=True)
            answers = held.read(samples)
            notes = (
                *samples.notes,
                *getattr(samples, "sampling_notes", ()),
                *(() if answers is None else answers.notes),
            )
        for note in notes:
            progress.say(note)
        options: dict[str, Any] = {"seed": seed, "progress": progress}
        with watch.timing("check"):
            report = samples.check(
                estimator,
                specification=specification,
                policies=policies,
                **(options if answers is None else {**options, "answers": answers}),
            )
    asked = {**data.asked(), **model.asked(), "specification": specification, "policies": policies, **held.asked()}
    figures = report.to_dict()
    figures["notes"] = [*notes, *figures["notes"]]
    record = Record("check", asked, figures, seed, data.digest(), watch.durations)
    answer(record, lambda console: show_lines(console, report.lines(), report.headline), as_json=as_json)
    if report.exit_code:
        raise typer.Exit(report.exit_code)
