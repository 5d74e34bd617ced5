"""`labelworth next DATA`: which rows, or which tokens of which sequences, to label now."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from labelworth.cli.console import answer, tell, write_json
from labelworth.cli.inquiry import read_plan_file
from labelworth.cli.options import DataOptions, Json, ModelOptions, Only, Seed, Without
from labelworth.cli.options.table import Between


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
        typer.Option("--output", "-o", help="Where to write what to label: .jsonl, .csv, or .conll for sequences."),
    ] = None,
    data: Annotated[DataOptions, Without("classes", "min_documents", "max_words")],
    model: Annotated[ModelOptions, Only("model")],
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Draw what to label now, at random among what has no label yet."""
    from labelworth.data.files import require_writable, write_lines
    from labelworth.errors import InvalidInputError
    from labelworth.planning.words import count as amount
    from labelworth.report.record import Record, Stopwatch

    if (plan is None) == (count is None):
        raise InvalidInputError("Say how much to label, once: --plan plan.json or --count N.")
    if policy is not None and count is None:
        raise InvalidInputError("A plan has its own rules; --policy goes with --count.")
    if output is not None:
        require_writable(output, (plan, *data.files))
    watch = Stopwatch()
    samples = data.read(model.model)
    batches = samples.batches(output)
    batches.require_form()
    digest = data.digest()
    counts, expected = _counts_of_plan(plan, digest) if plan is not None else ({"everything": int(count or 0)}, None)
    batch = batches.draw(counts, policy, seed)
    if output is not None:
        write_lines(output, [batches.text_of(batch)])
    elif not as_json:
        write_json(batches.text_of(batch))
    if as_json:
        asked = {**data.asked(), "plan": plan, "count": count, "policy": policy, "output": output}
        record = Record("next", asked, {**batch.to_dict(), "output": output}, seed, digest, watch.durations)
        answer(record, lambda console: None, as_json=True)
    where = "" if output is None else f", written to {output}"
    what = amount(len(batch.rows), samples.sample)
    tell(f"{what} to label ({amount(batch.n_labels, 'label')}), drawn with seed {seed}{where}.")
    if expected is not None and abs(batch.n_labels - expected) >= 1:
        tell(f"The plan counted on {expected:.4g} labels: sequences of mean length. These have their own.")


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


def _counts_of_plan(path: Path, digest: str) -> tuple[dict[str, int], float]:
    """How many samples of every arm a plan recommends, and how many labels it expects them to take."""
    from labelworth.errors import InfeasiblePlanError, InvalidInputError

    record = read_plan_file(path)
    if record.data_digest != digest:
        raise InvalidInputError(
            f"The data has changed since the plan {str(path)!r} was made: plan again (labelworth plan --again), or "
            "say how much with --count."
        )
    arms = record.figures["recommended"]["arms"]
    counts = {arm["arm"]: round(arm["count"]) for arm in arms if arm["arm"] != "nothing" and arm["count"] > 0}
    _require_rules(counts, path)
    if bool(counts) and record.figures["advice"] == "stop":
        raise InvalidInputError(
            f"The plan file {str(path)!r} contradicts itself: it says to stop, and to label {sum(counts.values()):,} "
            "more. Plan again (labelworth plan --again)."
        )
    if record.figures["advice"] == "larger pilot":
        more = record.figures["more_pilot"]
        raise InfeasiblePlanError(
            f"The plan asks for a larger pilot first: label {more:,} more drawn at random (labelworth next --count "
            f"{more}), then plan again."
        )
    if not counts:
        raise InfeasiblePlanError(
            f"The plan says to stop: {record.figures['why_stop'] or 'nothing is to be labeled.'}"
        )
    return counts, float(record.figures["recommended"]["labels"])
