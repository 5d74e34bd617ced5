"""`labelworth fit DATA --output model.lw`: learn a classifier or a tagger from labeled and unlabeled data."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelworth.cli import options
from labelworth.cli.console import answer, tell, working
from labelworth.cli.options import Covariance, ModelKind, RareWords
from labelworth.cli.reading import Kind, Source, features_to_learn
from labelworth.cli.sequence_reading import SequenceSource, TaggerKind, holds_sequences, usual_model

if TYPE_CHECKING:
    from labelworth.estimators.classifier import GenerativeClassifier
    from labelworth.report.values import Table


def fit(
    data: options.Data,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the model.")],
    model: options.Model = None,
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
    unlabeled_weight: options.UnlabeledWeight = 1.0,
    classes: options.Classes = None,
    template: options.Template = None,
    min_count: options.MinCount = 1,
    rare_words: options.RareWordsBecome = RareWords.ENTRY,
    c2: options.SquaredPenalty = 1.0,
    label_smoothing: options.LabelSmoothing = 1.0,
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> None:
    """Fit a classifier to labeled and unlabeled rows, or a tagger to sequences, and write it to a file."""
    if holds_sequences(data, format, model):
        from labelworth.cli.sequences import fit_sequences

        tokens = SequenceSource.of(
            data, text_column, label_column, unlabeled=unlabeled, format=format, encoding=encoding
        )
        read = tokens.read_quietly()
        tagger = TaggerKind(
            model or usual_model(read),
            alpha,
            label_smoothing,
            c2,
            template,
            min_count,
            rare_words.value,
            unlabeled_weight,
        )
        fit_sequences(tokens, tagger, output, classes=options.names(classes), seed=seed, as_json=as_json, raw=read)
        return
    source = Source(data, text_column, label_column, labels, unlabeled, format, encoding)
    kind = Kind(model or ModelKind.MULTINOMIAL, alpha, document_length, binarize, covariance, unlabeled_weight)
    from labelworth.data.files import require_writable
    from labelworth.estimators.storage import save
    from labelworth.report.record import Record, Stopwatch
    from labelworth.report.tables import show_table

    require_writable(output)
    watch = Stopwatch()
    with working() as progress:
        with watch.timing("read"):
            raw = source.read()
            features, reading = features_to_learn(raw, min_documents=min_documents, max_words=max_words)
        kind.require_suitable(features)
        progress.say(f"Fitting {len(raw.labels):,} rows of {data}")
        with watch.timing("fit"):
            classifier = kind.classifier(seed).fit(features, list(raw.labels), progress=progress)
        save(classifier, output, reading=reading)
    figures = _figures(classifier, raw.labels, output)
    asked = {"source": source, "kind": kind, "min_documents": min_documents, "max_words": max_words}
    record = Record("fit", asked, figures, seed, source.digest(), watch.durations)
    answer(record, lambda console: show_table(console, _table(classifier, figures)), as_json=as_json)
    tell(f"Wrote {output}")


def _figures(classifier: "GenerativeClassifier", labels: tuple[Any, ...], output: Path) -> dict[str, Any]:
    evidence_counts = [sum(label == name for label in labels) for name in classifier.classes_.tolist()]
    return {
        "output": output,
        "n_rows": len(labels),
        "n_labeled": sum(evidence_counts),
        "n_unlabeled": sum(label is None for label in labels),
        "n_features": classifier.n_features_in_,
        "n_parameters": classifier.model_.coordinates.n_free,
        "classes": [
            {"class": name, "n_labels": count, "probability": share}
            for name, count, share in zip(
                classifier.classes_.tolist(),
                evidence_counts,
                classifier.model_.tables["class_probabilities"].ravel().tolist(),
                strict=True,
            )
        ],
        "log_likelihood": classifier.fit_.log_likelihood,
        "objective": classifier.fit_.objective,
        "converged": classifier.converged_,
        "n_iterations": classifier.n_iter_,
    }


def _table(classifier: "GenerativeClassifier", figures: dict[str, Any]) -> "Table":
    from labelworth.report.values import Table

    rows = tuple((str(row["class"]), row["n_labels"], row["probability"]) for row in figures["classes"])
    state = "converged" if figures["converged"] else "did not converge"
    note = (
        f"{figures['n_rows']:,} rows, {figures['n_labeled']:,} labeled, {figures['n_unlabeled']:,} unlabeled; "
        f"{figures['n_features']:,} features, {figures['n_parameters']:,} parameters; "
        f"{state} in {figures['n_iterations']} EM steps"
    )
    return Table(type(classifier).__name__, ("class", "labels", "share of all rows"), rows, note)
