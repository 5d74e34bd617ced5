"""`labelworth fit DATA --output model.lw`: learn a classifier or a tagger from labeled and unlabeled data."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelworth.cli.console import answer, working, wrote
from labelworth.cli.options import (
    AnsweredFitOptions,
    AnswerFileOptions,
    DataOptions,
    EngineOptions,
    Json,
    ModelOptions,
    Seed,
)

if TYPE_CHECKING:
    from rich.console import Console

    from labelworth.data.answers import Answers
    from labelworth.data.evidence import Evidence
    from labelworth.report.annotators import AnnotatorsReport
    from labelworth.report.values import Table


def fit(
    *,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="The model file to write; models of others are fitted for --recovered alone."
        ),
    ] = None,
    data: DataOptions,
    model: ModelOptions,
    held: AnswerFileOptions,
    answered: AnsweredFitOptions,
    walkers: EngineOptions,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Fit a classifier to labeled and unlabeled rows and to answers, or a tagger to sequences; write it to a file.

    Of a folder of shards every pass is kept beside the model until that is written: the same command goes on where
    it was stopped.

    Examples
    --------
    labelworth fit mails.csv -o model.lw
    labelworth fit mails.csv --answers answers.csv --recovered recovered.csv
    """
    from labelworth.data.digest import file_digest
    from labelworth.data.files import require_writable, write_lines
    from labelworth.data.readers.written import TABLES, require_ending
    from labelworth.errors import InvalidInputError
    from labelworth.estimators.storage import save
    from labelworth.report.record import Record, Stopwatch
    from labelworth.report.tables import show_lines, show_table

    written = output or answered.recovered
    if output is not None:
        model.require_storable()
    if written is None:
        raise InvalidInputError(
            "Say with --output FILE where to write the model, or with --recovered what was answered."
        )
    held.require_file()
    answered.require_answers(held)
    for path in (output, answered.recovered):
        if path is not None:
            require_writable(path, (*data.files, *model.files, held.answers))
    require_ending(answered.recovered, TABLES, "Recovered labels are", ".csv, .tsv or .jsonl")
    watch = Stopwatch()
    with working() as progress:
        with watch.timing("read"):
            passes = written.with_name(f".{written.name}.passes")
            samples = data.read(model.model, lambda: walkers.opened(data.path, passes))
            estimator = model.estimator(samples, seed)
            X, evidence = samples.X, samples.raw.evidence(samples.classes)
            answers = held.read(samples)
            notes = (*samples.notes, *(() if answers is None else answers.notes))
        for note in (*notes, *_notes(evidence, has_answers=answers is not None)):
            progress.say(note)
        progress.say(f"Fitting {samples.n_samples:,} {samples.sample}s of {data.path}")
        with watch.timing("fit"):
            estimator.fit(X, samples.y, answers=answers, confusion=answered.confusion or "shared", progress=progress)
        if output is not None:
            save(estimator, output, reading=samples.reading)
        shutil.rmtree(passes, ignore_errors=True)
        if answered.recovered is not None and answers is not None:
            from labelworth.cli.recovered import recovered_labels

            write_lines(answered.recovered, [recovered_labels(answered.recovered, estimator, answers, samples)])
    told = None if answers is None else _annotators(estimator, answers, samples)
    figures = {
        **({} if output is None else {"output": output}),
        "model": estimator.model_.kind,
        **samples.sizes,
        **_figures(estimator, samples.raw.evidence(estimator.model_.classes)),
        "notes": list(notes),
    }
    if told is not None and held.answers is not None:
        figures["answers"] = {**told.to_dict(), "digest": file_digest(held.answers)}
    asked = {**data.asked(), **model.asked(), **held.asked(), **answered.asked()}
    record = Record("fit", asked, figures, seed, data.digest(), watch.durations)

    def show(console: "Console") -> None:
        show_table(console, _table(getattr(estimator, "kind", type(estimator).__name__), figures))
        if told is not None:
            show_lines(console, told.lines())
            show_table(console, told.table())

    answer(record, show, as_json=as_json)
    wrote(output, answered.recovered)


def _annotators(estimator: Any, answers: "Answers", samples: Any) -> "AnnotatorsReport":
    from labelworth.report.annotators import AnnotatorsReport

    gold = samples.raw.evidence(estimator.annotators_.classes)
    unit = "row" if samples.offsets is None else "token"
    return AnnotatorsReport.of(answers, gold, estimator.annotators_, estimator.answered_posteriors_, unit)


def _notes(evidence: "Evidence", *, has_answers: bool) -> list[str]:
    missing = [repr(name) for name, n in zip(evidence.classes, evidence.label_counts(), strict=True) if not n]
    if not missing:
        return []
    known, them = "what answers say" if has_answers else "little", "it" if len(missing) == 1 else "them"
    more = f" or one of {len(missing) - 5} others" if len(missing) > 5 else ""
    return [f"No label is {' or '.join(missing[:5])}{more}: what is fitted knows {known} of {them}."]


def _figures(estimator: Any, evidence: "Evidence") -> dict[str, Any]:
    counts, model = evidence.label_counts().tolist(), estimator.model_
    classes = [{"class": name, "n_labels": int(count)} for name, count in zip(evidence.classes, counts, strict=True)]
    tables = getattr(model, "tables", {})
    shares = tables.get("class_probabilities")
    if shares is not None:
        classes = [{**row, "probability": share} for row, share in zip(classes, shares.ravel().tolist(), strict=True)]
    return {
        "n_labeled": int(evidence.is_gold.sum()),
        "n_unlabeled": int(evidence.is_unlabeled.sum()),
        # Models of others do not say.
        **({"n_features": model.n_features, "n_parameters": model.coordinates.n_free} if tables else {}),
        "classes": classes,
        "log_likelihood": estimator.fit_.log_likelihood,
        "objective": estimator.fit_.objective,
        "converged": estimator.converged_,
        "n_iterations": estimator.n_iter_,
    }


def _table(title: str, figures: dict[str, Any]) -> "Table":
    from labelworth.report.values import Table

    n_labeled = max(1, figures["n_labeled"])
    rows = tuple(
        (str(row["class"]), row["n_labels"], row.get("probability", row["n_labels"] / n_labeled))
        for row in figures["classes"]
    )
    share = "share of all rows" if "n_rows" in figures else "share of labeled tokens"
    counted = (("n_rows", "rows"), ("n_sequences", "sequences"), ("n_tokens", "tokens"))
    amounts = [f"{figures[name]:,} {words}" for name, words in counted if name in figures]
    has_sizes = "n_features" in figures
    sizes = f"{figures['n_features']:,} features, {figures['n_parameters']:,} parameters; " if has_sizes else ""
    state = "converged" if figures["converged"] else "did not converge"
    note = (
        f"{', '.join(amounts)}; {figures['n_labeled']:,} labeled, {figures['n_unlabeled']:,} unlabeled; "
        f"{sizes}{state} in {figures['n_iterations']} steps"
    )
    return Table(title, ("class", "labels", share), rows, note)
