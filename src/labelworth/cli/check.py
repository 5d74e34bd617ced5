"""`labelworth check DATA`: does the unlabeled data help or hurt; do the labels of sequences pin a model down?"""

from typing import TYPE_CHECKING, Annotated

import typer

from labelworth.cli import options
from labelworth.cli.console import answer, working
from labelworth.cli.options import Covariance, ModelKind, RareWords
from labelworth.cli.reading import Kind, Source, classes_named, features_to_learn
from labelworth.cli.sequence_reading import SequenceSource, TaggerKind, holds_sequences, usual_model

if TYPE_CHECKING:
    from rich.console import Console

    from labelworth.robust.check import CheckReport


def check(
    data: options.Data,
    model: options.Model = None,
    classes: options.Classes = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(help="For sequences: a labeling policy to be judged too, as 0.5*window:5 + 0.5*nothing."),
    ] = None,
    specification: Annotated[
        bool, typer.Option(help="Also test whether the model is right; the slowest part.")
    ] = True,
    text_column: options.TextColumn = "text",
    label_column: options.LabelColumn = "label",
    labels: options.Labels = None,
    unlabeled: options.Unlabeled = None,
    format: options.Format = None,
    encoding: options.Encoding = "utf-8",
    min_documents: options.MinDocuments = 1,
    max_words: options.MaxWords = None,
    alpha: options.Alpha = 1.0,
    document_length: options.DocumentLength = None,
    binarize: options.Binarize = 0.0,
    covariance: options.CovarianceShape = Covariance.SHARED,
    template: options.Template = None,
    min_count: options.MinCount = 1,
    rare_words: options.RareWordsBecome = RareWords.ENTRY,
    c2: options.SquaredPenalty = 1.0,
    label_smoothing: options.LabelSmoothing = 1.0,
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> None:
    """Say whether the unlabeled data helps or hurts, or what the labels of sequences leave open."""
    if holds_sequences(data, format, model):
        from labelworth.cli.sequences import check_tags

        tokens = SequenceSource.of(
            data, text_column, label_column, unlabeled=unlabeled, format=format, encoding=encoding
        )
        read = tokens.read_quietly()
        tagger = TaggerKind(
            model or usual_model(read), alpha, label_smoothing, c2, template, min_count, rare_words.value
        )
        named = options.names(classes)
        check_tags(tokens, tagger, classes=named, policies=policy or [], seed=seed, as_json=as_json, raw=read)
        return
    source = Source(data, text_column, label_column, labels, unlabeled, format, encoding)
    kind = Kind(model or ModelKind.MULTINOMIAL, alpha, document_length, binarize, covariance)
    from labelworth.report.record import Record, Stopwatch

    watch = Stopwatch()
    with working() as progress:
        with watch.timing("read"):
            raw = source.read()
            features, _ = features_to_learn(raw, min_documents=min_documents, max_words=max_words)
        kind.require_suitable(features)
        named = None if classes is None else classes_named(classes, raw.labels)
        with watch.timing("check"):
            report = kind.classifier(seed).check(
                features,
                list(raw.labels),
                classes=named,
                specification=specification,
                seed=seed,
                progress=progress,
            )
    asked = {
        "source": source,
        "kind": kind,
        "classes": named,
        "specification": specification,
        "min_documents": min_documents,
        "max_words": max_words,
    }
    record = Record("check", asked, report.to_dict(), seed, source.digest(), watch.durations)
    answer(record, lambda console: _show(console, report), as_json=as_json)
    if report.exit_code:
        raise typer.Exit(report.exit_code)


def _show(console: "Console", report: "CheckReport") -> None:
    from rich.text import Text

    console.print(Text(f"Verdict: {report.verdict}.", style="bold"))
    for line in report.lines():
        console.print(Text(line))
