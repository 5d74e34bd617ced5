"""From a file named on the command line to what a classifier takes."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labelworth.cli.options import Covariance, ModelKind

if TYPE_CHECKING:
    from labelworth.data.readers import RawFeatures, RawTexts
    from labelworth.estimators.classifier import GenerativeClassifier
    from labelworth.estimators.storage import Reading

NO_MARKER = "none"


@dataclass(frozen=True)
class Source:
    """The file and how to read it."""

    path: Path
    text_column: str = "text"
    label_column: str | None = "label"
    labels: Path | None = None
    unlabeled: str | None = None
    format: str | None = None
    encoding: str = "utf-8"

    def read(self, *, zero_based: bool | None = None, n_features: int | None = None) -> "RawTexts | RawFeatures":
        """Read it."""
        from labelworth.data.readers import NOT_NAMED, read

        marker: Any = NOT_NAMED if self.unlabeled is None else self.unlabeled
        return read(
            self.path,
            text_column=self.text_column,
            label_column=None if self.label_column == NO_MARKER else self.label_column,
            labels=self.labels,
            unlabeled=None if marker == NO_MARKER else marker,
            format=self.format,
            encoding=self.encoding,
            zero_based=zero_based,
            n_features=n_features,
        )

    def digest(self) -> str:
        """The SHA-256 of the file."""
        from labelworth.data.files import file_digest

        return file_digest(self.path)


@dataclass(frozen=True)
class Kind:
    """The classifier that was asked for."""

    model: ModelKind
    alpha: float = 1.0
    document_length: float | None = None
    binarize: float = 0.0
    covariance: Covariance = Covariance.SHARED
    unlabeled_weight: float = 1.0

    def require_suitable(self, features: Any) -> None:
        """Refuse texts and sparse counts for a Gaussian."""
        from labelworth.errors import InvalidInputError

        if self.model is ModelKind.GAUSSIAN and hasattr(features, "tocsr"):
            raise InvalidInputError(
                "A gaussian model takes dense vectors (an .npz file with an array X). "
                "Texts and sparse counts go with --model multinomial or --model bernoulli."
            )

    def classifier(self, seed: int) -> "GenerativeClassifier":
        """Build it; an empty label is the only marker left after reading."""
        import labelworth as lw

        shared: dict[str, Any] = {
            "unlabeled_weight": self.unlabeled_weight,
            "unlabeled": None,
            "random_state": seed,
        }
        if self.model is ModelKind.GAUSSIAN:
            return lw.GaussianClasses(covariance=self.covariance.value, **shared)
        if self.model is ModelKind.BERNOULLI:
            return lw.BernoulliNaiveBayes(alpha=self.alpha, binarize=self.binarize, **shared)
        return lw.MultinomialNaiveBayes(alpha=self.alpha, document_length=self.document_length, **shared)


def classes_named(listed: str, labels: tuple[Any, ...]) -> list[Any]:
    """The classes of a list with commas between, each as the data writes it: numbers where the labels are numbers."""
    found = {label for cell in labels for label in (cell if isinstance(cell, list) else [cell])} - {None}
    are_numbers = bool(found) and not any(isinstance(label, str | bool) for label in found)
    as_in_data = {str(label): label for label in found}
    return [_class(name.strip(), as_in_data, are_numbers=are_numbers) for name in listed.split(",")]


def _class(name: str, as_in_data: dict[str, Any], *, are_numbers: bool) -> Any:
    if name in as_in_data or not are_numbers:
        return as_in_data.get(name, name)
    from labelworth.errors import InvalidInputError

    try:
        return int(name)
    except ValueError:
        raise InvalidInputError(
            f"The labels in the data are numbers. Got the class {name!r} in --classes; name numbers there too."
        ) from None


def features_to_learn(
    raw: "RawTexts | RawFeatures", *, min_documents: int, max_words: int | None
) -> "tuple[Any, Reading]":
    """The features of the rows, and how they were made."""
    from labelworth.data.readers import RawTexts
    from labelworth.data.text import count_words
    from labelworth.estimators.storage import Reading

    if not isinstance(raw, RawTexts):
        return raw.features, Reading(zero_based=raw.zero_based)
    vocabulary, counts = count_words(raw.texts, min_df=min_documents, max_features=max_words)
    return counts, Reading(vocabulary=vocabulary)


def features_to_predict(raw: "RawTexts | RawFeatures", reading: "Reading") -> Any:
    """The features of the rows, made as the fitted classifier knows them."""
    from labelworth.data.readers import RawTexts
    from labelworth.errors import InvalidInputError

    if isinstance(raw, RawTexts) and reading.vocabulary is not None:
        return reading.vocabulary.counts(raw.texts)
    if not isinstance(raw, RawTexts) and reading.vocabulary is None:
        return raw.features
    fitted, given = ("texts", "a matrix of features") if reading.vocabulary else ("a matrix of features", "texts")
    raise InvalidInputError(f"The model was fitted to {fitted}, and {raw.source} holds {given}; give the same kind.")
