"""Options that several commands share, spelled once."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class ModelKind(StrEnum):
    """What can be fitted."""

    MULTINOMIAL = "multinomial"
    BERNOULLI = "bernoulli"
    GAUSSIAN = "gaussian"
    HIDDEN_MARKOV = "hidden-markov"
    BOLTZMANN_CHAIN = "boltzmann-chain"
    CONDITIONAL_RANDOM_FIELD = "conditional-random-field"


SEQUENCE_MODELS = (ModelKind.HIDDEN_MARKOV, ModelKind.BOLTZMANN_CHAIN, ModelKind.CONDITIONAL_RANDOM_FIELD)


class RareWords(StrEnum):
    """What words without an entry of their own become."""

    ENTRY = "entry"
    SHAPES = "shapes"
    NONE = "none"


class Covariance(StrEnum):
    """Shapes of a Gaussian's covariance."""

    SHARED = "shared"
    DIAGONAL = "diagonal"
    FULL = "full"


_DATA = "The data"
_MODEL = "The model"
_SEQUENCES = "Models of sequences"

Data = Annotated[
    Path,
    typer.Argument(
        help="JSONL, CSV, TSV or Parquet with a text and a label column, svmlight, or .npz; for sequences CoNLL "
        "columns, JSONL with tokens and tags, or a crfsuite file."
    ),
]
Classes = Annotated[
    str | None, typer.Option(help="All classes there are, with commas between; found in the labels unless given.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON record on stdout instead of words and tables.")]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of everything left to chance.")]

TextColumn = Annotated[
    str,
    typer.Option(help="The column of texts; of words, counted from 0, in CoNLL columns.", rich_help_panel=_DATA),
]
LabelColumn = Annotated[
    str,
    typer.Option(
        help="The column of labels; an empty label is an unlabeled row. In CoNLL columns a number, the last (-1) "
        "unless named; 'none' if there are no labels.",
        rich_help_panel=_DATA,
    ),
]
Labels = Annotated[
    Path | None, typer.Option(help="For .npz: labels in a file of their own, one per line.", rich_help_panel=_DATA)
]
Unlabeled = Annotated[
    str | None,
    typer.Option(
        metavar="MARKER",
        help="The label of unlabeled rows, beside empty ones; 'none' if there is no such label.",
        rich_help_panel=_DATA,
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        help="jsonl, csv, tsv, parquet, svmlight or npz, or for sequences conll, tokens-jsonl or crfsuite, where the "
        "file's ending does not say.",
        rich_help_panel=_DATA,
    ),
]
Encoding = Annotated[str, typer.Option(help="The encoding of text files.", rich_help_panel=_DATA)]
MinDocuments = Annotated[
    int, typer.Option(min=1, help="Leave out words in fewer texts than this.", rich_help_panel=_DATA)
]
MaxWords = Annotated[
    int | None, typer.Option(min=1, help="Keep only so many of the most frequent words.", rich_help_panel=_DATA)
]

Model = Annotated[
    ModelKind | None,
    typer.Option(
        "--model",
        help="The model: multinomial unless named, hidden-markov for sequences.",
        rich_help_panel=_MODEL,
    ),
]
Alpha = Annotated[float, typer.Option(min=0.0, help="Smoothing of the counts.", rich_help_panel=_MODEL)]
DocumentLength = Annotated[
    float | None,
    typer.Option(help="Rescale every document to this many words (multinomial).", rich_help_panel=_MODEL),
]
Binarize = Annotated[
    float, typer.Option(help="A value above this counts as present (Bernoulli).", rich_help_panel=_MODEL)
]
CovarianceShape = Annotated[
    Covariance, typer.Option("--covariance", help="The covariance (Gaussian).", rich_help_panel=_MODEL)
]
UnlabeledWeight = Annotated[
    float,
    typer.Option(min=0.0, help="How much an unlabeled row counts; 0 uses the labels only.", rich_help_panel=_MODEL),
]

Template = Annotated[
    str | None,
    typer.Option(
        help="Makes attributes of columns (conditional random field): chunking, or a template file of CRF++.",
        rich_help_panel=_SEQUENCES,
    ),
]
MinCount = Annotated[
    int,
    typer.Option(min=1, help="Words or attributes that occur less often are rare.", rich_help_panel=_SEQUENCES),
]
RareWordsBecome = Annotated[
    RareWords,
    typer.Option(
        "--rare-words",
        help="What rare and unseen words become: one entry, entries by shape, or no word.",
        rich_help_panel=_SEQUENCES,
    ),
]
SquaredPenalty = Annotated[
    float,
    typer.Option(
        "--c2",
        min=0.0,
        help="Coefficient of the sum of squared weights (Boltzmann chain, conditional random field).",
        rich_help_panel=_SEQUENCES,
    ),
]
LabelSmoothing = Annotated[
    float,
    typer.Option(
        min=0.0, help="Smoothing of first labels and transitions (hidden Markov).", rich_help_panel=_SEQUENCES
    ),
]


def names(listed: str | None) -> list[str] | None:
    """The names of a list with commas between."""
    return None if listed is None else [name.strip() for name in listed.split(",")]
