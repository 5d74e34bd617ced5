"""What `fit`, `predict` and `check` do with sequences."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from labelworth.cli.console import answer, tell, working
from labelworth.cli.sequence_reading import SequenceSource, TaggerKind
from labelworth.cli.sequence_writing import as_lines, prediction_writer

if TYPE_CHECKING:
    from rich.console import Console

    from labelworth.data.readers.raw_sequences import RawAttributes, RawTokens
    from labelworth.estimators.tagger import SequenceTagger
    from labelworth.evaluation.sequences import SequenceEvaluation
    from labelworth.report.values import Table
    from labelworth.robust.sequences.check import SequenceCheckReport


def fit_sequences(
    source: SequenceSource,
    kind: TaggerKind,
    output: Path,
    *,
    classes: list[str] | None,
    seed: int,
    as_json: bool,
    raw: "RawTokens | RawAttributes",
) -> None:
    """Fit a tagger to sequences, and write it to a file."""
    from labelworth.data.files import require_writable
    from labelworth.estimators.storage import Reading, save
    from labelworth.report.record import Record, Stopwatch
    from labelworth.report.tables import show_table

    require_writable(output)
    watch = Stopwatch()
    with working() as progress:
        for note in raw.notes:
            progress.say(note)
        progress.say(f"Fitting {len(raw.offsets) - 1:,} sequences of {source.path}")
        with watch.timing("fit"):
            tagger = kind.tagger(seed, classes).fit(raw, progress=progress)
        save(tagger, output, reading=Reading(n_columns=len(raw.columns) if hasattr(raw, "columns") else None))
    figures = _fit_figures(tagger, raw, output)
    record = Record(
        "fit", {"source": source, "kind": kind, "classes": classes}, figures, seed, source.digest(), watch.durations
    )
    answer(record, lambda console: show_table(console, _fit_table(tagger, figures)), as_json=as_json)
    tell(f"Wrote {output}")


def _fit_figures(tagger: "SequenceTagger", raw: "RawTokens | RawAttributes", output: Path) -> dict[str, Any]:
    evidence = raw.evidence(tagger.model_.classes)
    return {
        "output": output,
        "model": tagger.model_.kind,
        "n_sequences": len(raw.offsets) - 1,
        "n_tokens": evidence.n_samples,
        "n_labeled": int(evidence.is_gold.sum()),
        "n_unlabeled": int(evidence.is_unlabeled.sum()),
        "n_features": tagger.model_.n_features,
        "n_parameters": tagger.model_.coordinates.n_free,
        "classes": [
            {"class": name, "n_labels": int(count)}
            for name, count in zip(evidence.classes, evidence.label_counts(), strict=True)
        ],
        "log_likelihood": tagger.fit_.log_likelihood,
        "objective": tagger.fit_.objective,
        "converged": tagger.converged_,
        "n_iterations": tagger.n_iter_,
        "notes": list(raw.notes),
    }


def _fit_table(tagger: "SequenceTagger", figures: dict[str, Any]) -> "Table":
    from labelworth.report.values import Table

    rows = tuple(
        (str(row["class"]), row["n_labels"], f"{row['n_labels'] / max(1, figures['n_labeled']):.1%}")
        for row in figures["classes"]
    )
    state = "converged" if figures["converged"] else "did not converge"
    note = (
        f"{figures['n_sequences']:,} sequences, {figures['n_tokens']:,} tokens, {figures['n_labeled']:,} of them "
        f"labeled; {figures['n_features']:,} words or attributes, {figures['n_parameters']:,} parameters; "
        f"{state} in {figures['n_iterations']} steps"
    )
    return Table(type(tagger).__name__, ("label", "tokens", "share of labeled tokens"), rows, note)


def predict_sequences(
    tagger: "SequenceTagger", model: Path, source: SequenceSource, output: Path | None, *, known: bool, as_json: bool
) -> None:
    """Predict the labels of every sequence, and score them where the file has labels."""
    from labelworth.data.files import require_writable
    from labelworth.report.record import Record, Stopwatch

    watch = Stopwatch()
    with working() as progress:
        raw = source.read_to_predict(tagger.reading_.n_columns)
        writer = prediction_writer(output, raw)
        if output is not None:
            require_writable(output)
        progress.say(f"Predicting {len(raw.offsets) - 1:,} sequences of {source.path}")
        with watch.timing("predict"):
            labels = _kept(raw) if known else None
            predicted = tagger.predict(raw, labels)
            # Files hold labels alone.
            probabilities = [] if output is not None else tagger.predict_proba(raw, labels)
        coverage = tagger.coverage(raw)
        progress.say(coverage.words)
    flat = [label for sequence in predicted for label in sequence]
    scores = None if known else _scores(tagger, raw, flat)
    rows = None
    if output is None:
        rows = _rows(tagger, raw, predicted, probabilities)
    else:
        writer(output, raw, flat)
        tell(f"Wrote the labels of {len(flat):,} tokens to {output}")
    figures = {
        "model": model,
        "classes": list(tagger.model_.classes),
        "n_sequences": len(predicted),
        "n_tokens": len(flat),
        "n_unknown": coverage.n_unknown,
        "output": output,
        "evaluation": None if scores is None else _evaluation(scores),
        "predictions": rows,
    }
    asked = {"model": model, "source": source, "known": known}
    record = Record("predict", asked, figures, None, source.digest(), watch.durations)
    if as_json or rows is not None:
        answer(record, lambda console: as_lines(rows or []), as_json=as_json)
    if scores is not None:
        tell(_words(scores))


def _kept(raw: "RawTokens | RawAttributes") -> list[list[Any]]:
    """The labels of a file, sequence by sequence."""
    return [list(raw.labels[first:end]) for first, end in pairwise(raw.offsets.tolist())]


def _rows(
    tagger: "SequenceTagger", raw: "RawTokens | RawAttributes", predicted: list[list[Any]], probabilities: list[Any]
) -> list[dict[str, Any]]:
    code_of = {name: code for code, name in enumerate(tagger.model_.classes)}
    words: Sequence[str] | None = getattr(raw, "words", None)
    rows = []
    for (first, end), labels, table in zip(pairwise(raw.offsets.tolist()), predicted, probabilities, strict=True):
        tokens = {} if words is None else {"tokens": list(words[first:end])}
        chosen = [float(row[code_of[label]]) for row, label in zip(table, labels, strict=True)]
        rows.append({**tokens, "tags": labels, "probabilities": chosen})
    return rows


def _scores(
    tagger: "SequenceTagger", raw: "RawTokens | RawAttributes", flat: list[Any]
) -> "SequenceEvaluation | None":
    import numpy as np

    from labelworth.evaluation.sequences import evaluate_labels

    truth = tagger.truth(raw)
    if not truth.evidence.is_gold.any():
        return None
    code_of = {name: code for code, name in enumerate(truth.evidence.classes)}
    return evaluate_labels(np.array([code_of[label] for label in flat]), truth)


def _evaluation(scores: "SequenceEvaluation") -> dict[str, Any]:
    chunks = scores.chunks
    return {
        "n_tokens": scores.n_tokens,
        "accuracy": scores.accuracy,
        "accuracy_se": scores.accuracy_se,
        "chunks": None
        if chunks is None
        else [
            {
                "type": found.name or None,
                "n_true": found.n_true,
                "n_found": found.n_found,
                "n_correct": found.n_correct,
                "precision": found.precision,
                "recall": found.recall,
                "f1": found.f1,
            }
            for found in (chunks.overall, *chunks.types)
        ],
        "notes": list(scores.notes),
    }


def _words(scores: "SequenceEvaluation") -> str:
    lines = [
        f"Accuracy {scores.accuracy:.4f} (standard error {scores.accuracy_se:.4f}) on {scores.n_tokens:,} tokens "
        "whose labels are known."
    ]
    if scores.chunks is not None:
        lines += ["Chunks as conlleval counts them:", scores.chunks.report()]
    return "\n".join([*lines, *scores.notes])


def check_tags(
    source: SequenceSource,
    kind: TaggerKind,
    *,
    classes: list[str] | None,
    policies: list[str],
    seed: int,
    as_json: bool,
    raw: "RawTokens | RawAttributes",
) -> None:
    """Say what the labels of sequences pin down and what they leave open."""
    from labelworth.report.record import Record, Stopwatch

    watch = Stopwatch()
    with working() as progress:
        for note in raw.notes:
            progress.say(note)
        with watch.timing("check"):
            report = kind.tagger(seed, classes).check(raw, policies=policies, seed=seed, progress=progress)
    asked = {"source": source, "kind": kind, "classes": classes, "policies": policies}
    record = Record("check", asked, report.to_dict(), seed, source.digest(), watch.durations)
    answer(record, lambda console: _show_report(console, report), as_json=as_json)
    if report.exit_code:
        raise typer.Exit(report.exit_code)


def _show_report(console: "Console", report: "SequenceCheckReport") -> None:
    from rich.text import Text

    console.print(Text(f"Verdict: {report.verdict}.", style="bold"))
    for line in report.lines():
        console.print(Text(line))
