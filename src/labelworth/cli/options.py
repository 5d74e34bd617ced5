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


class Covariance(StrEnum):
    """Shapes of a Gaussian's covariance."""

    SHARED = "shared"
    DIAGONAL = "diagonal"
    FULL = "full"


_DATA = "The data"
_MODEL = "The model"

Data = Annotated[
    Path, typer.Argument(help="JSONL, CSV, TSV or Parquet with a text and a label column, svmlight, or .npz.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON record on stdout instead of words and tables.")]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of everything left to chance.")]

TextColumn = Annotated[str, typer.Option(help="The column of texts.", rich_help_panel=_DATA)]
LabelColumn = Annotated[
    str, typer.Option(help="The column of labels; an empty label is an unlabeled row.", rich_help_panel=_DATA)
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
        help="jsonl, csv, tsv, parquet, svmlight or npz, where the file's ending does not say.", rich_help_panel=_DATA
    ),
]
Encoding = Annotated[str, typer.Option(help="The encoding of text files.", rich_help_panel=_DATA)]
MinDocuments = Annotated[
    int, typer.Option(min=1, help="Leave out words in fewer texts than this.", rich_help_panel=_DATA)
]
MaxWords = Annotated[
    int | None, typer.Option(min=1, help="Keep only so many of the most frequent words.", rich_help_panel=_DATA)
]

Model = Annotated[ModelKind, typer.Option("--model", help="The class-conditional model.", rich_help_panel=_MODEL)]
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
