"""Fitted estimators in a file: the model, the settings, and how the features were read."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from labelworth.data.text import Vocabulary
from labelworth.errors import InvalidInputError
from labelworth.estimators.classifier import GenerativeClassifier
from labelworth.estimators.kinds import KINDS
from labelworth.estimators.model_file import load_model, save_model
from labelworth.estimators.targets import class_array

if TYPE_CHECKING:
    from labelworth.estimators.tagger import SequenceTagger


@dataclass(frozen=True)
class Reading:
    """How features were made from a file, so that the next file is read alike."""

    vocabulary: Vocabulary | None = None  # For texts.
    zero_based: bool | None = None  # For svmlight files: whether columns were counted from zero.
    n_columns: int | None = None  # For tokens in columns: how many there were beside the labels.

    def to_mapping(self) -> dict[str, Any]:
        """As JSON knows it."""
        words = None if self.vocabulary is None else self.vocabulary.to_mapping()
        return {"vocabulary": words, "zero_based": self.zero_based, "n_columns": self.n_columns}

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any]) -> Self:
        """Build it again, checking everything."""
        words, zero_based, n_columns = (mapping.get(name) for name in ("vocabulary", "zero_based", "n_columns"))
        if not (zero_based is None or isinstance(zero_based, bool)):
            raise InvalidInputError(f"zero_based must be true, false or null. Got {zero_based!r} instead.")
        if not (n_columns is None or type(n_columns) is int):
            raise InvalidInputError(f"n_columns must be a whole number or null. Got {n_columns!r} instead.")
        return cls(None if words is None else Vocabulary.from_mapping(words), zero_based, n_columns)


def save(
    classifier: "GenerativeClassifier | SequenceTagger",
    path: str | os.PathLike[str],
    *,
    reading: Reading | None = None,
) -> None:
    """Write a fitted classifier or tagger, whole or not at all; see `load`.

    Raises
    ------
    InvalidInputError
        If a setting or a class cannot be written as plain JSON.
    OutputError
        If the file cannot be written.
    """
    check_is_fitted(classifier)
    settings = {name: _storable(value) for name, value in classifier.get_params(deep=False).items()}
    if "random_state" in settings and not isinstance(settings["random_state"], int):
        settings["random_state"] = None
    reading = reading or getattr(classifier, "reading_", None) or Reading()
    extra = {
        "settings": settings,
        "n_iterations": classifier.n_iter_,
        "converged": classifier.converged_,
        "reading": reading.to_mapping(),
    }
    save_model(path, classifier.model_, extra)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a classifier or tagger that `save` wrote. Nothing in the file is ever run.

    Returns
    -------
    GenerativeClassifier or SequenceTagger
        Fitted; ``reading_`` says how its features are made from a file. How it was found (``fit_``) is not kept.

    Raises
    ------
    DataUnavailableError
        If there is no such file.
    InvalidInputError
        If it is no classifier, is damaged, or was written by a newer version.
    """
    model, extra = load_model(path)
    try:
        classifier = KINDS[model.kind].estimator(**_restored(extra["settings"]))
        classifier.require_parameters()
        classifier.n_iter_ = int(extra["n_iterations"])
        classifier.converged_ = bool(extra["converged"])
        classifier.reading_ = Reading.from_mapping(extra["reading"])
    except Exception as error:  # whatever settings that somebody else wrote bring about
        raise InvalidInputError(
            f"{str(path)!r} holds a model, but not a classifier with its settings ({error}). "
            "Use labelworth.estimators.model_file.load_model for the model alone."
        ) from error
    classifier.model_ = model
    classifier.classes_ = class_array(model.classes)
    if KINDS[model.kind].takes_sequences:
        return classifier
    classifier.n_features_in_ = model.n_features
    if model.feature_names is not None:
        classifier.feature_names_in_ = class_array(model.feature_names).astype(object)
    return classifier


def _storable(value: Any) -> Any:
    """A setting as JSON knows it."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, np.generic | np.ndarray):
        # A search over numpy's numbers leaves them in the settings.
        return value.tolist()
    if isinstance(value, tuple | list):
        return [_storable(entry) for entry in value]
    from labelworth.data.tokens.templates import Template

    return value.to_mapping() if isinstance(value, Template) else value


def _restored(settings: Mapping[str, Any]) -> dict[str, Any]:
    restored = dict(settings)
    if isinstance(restored.get("template"), Mapping):
        from labelworth.data.tokens.templates import Template

        restored["template"] = Template.from_mapping(restored["template"])
    return restored
