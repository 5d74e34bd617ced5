"""Fitted estimators in a file that runs no code when read: a header in JSON and plain arrays, in one archive."""

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Hashable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from labelworth.arrays import AnyArray
from labelworth.data.files import atomic_writer
from labelworth.data.guard import guarded, read_archive, read_array
from labelworth.data.readers.json_files import parse_json
from labelworth.data.text import Vocabulary
from labelworth.errors import DataUnavailableError, InvalidInputError
from labelworth.estimators.kinds import KINDS
from labelworth.estimators.targets import class_array
from labelworth.models.protocol import Model

if TYPE_CHECKING:
    from labelworth.estimators.classifier import GenerativeClassifier
    from labelworth.estimators.tagger import SequenceTagger
    from labelworth.models.chains.protocol import ChainModel


FORMAT = "labelworth-model"
VERSION = 1

_HEADER = "header.json"
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the same model gives the same bytes


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
    learned = classifier.learned()
    if learned:
        extra["learned"] = learned
    annotators = getattr(classifier, "annotators_", None)
    if annotators is not None:
        extra["annotators"] = annotators.to_mapping()
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
        classifier.restore(extra.get("learned", {}), model)
        if "annotators" in extra:
            from labelworth.estimators.answered import FittedAnnotators

            classifier.annotators_ = FittedAnnotators.from_mapping(extra["annotators"], tuple(model.classes))
    except Exception as error:  # whatever settings that somebody else wrote bring about
        raise InvalidInputError(
            f"{str(path)!r} holds a model, but not a classifier with its settings ({error}). "
            "Use labelworth.estimators.storage.load_model for the model alone."
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


def save_model(
    path: str | os.PathLike[str], model: "Model | ChainModel", extra: Mapping[str, Any] | None = None
) -> None:
    """Write a model, whole or not at all.

    Parameters
    ----------
    path : path
        Any name; an existing file is replaced.
    model : Model or ChainModel
        Classes must be strings, integers, floats or booleans, and come back as they were.
    extra : mapping, optional
        Anything JSON can hold, stored beside the model: a vocabulary, settings, provenance.

    Raises
    ------
    InvalidInputError
        If a class or `extra` cannot be stored.
    OutputError
        If the file cannot be written.
    """
    members = {f"{name}.npy": _array_bytes(array) for name, array in sorted(model.to_arrays().items())}
    header = {
        "format": FORMAT,
        "version": VERSION,
        "kind": model.kind,
        "classes": [_class_to_json(name) for name in model.classes],
        "feature_names": None if model.feature_names is None else list(model.feature_names),
        "extra": dict(extra or {}),
        "arrays": {name: hashlib.sha256(content).hexdigest() for name, content in members.items()},
    }
    header_bytes = _json_bytes(header)
    with atomic_writer(path) as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(_HEADER, _EPOCH), header_bytes)
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), content)


def load_model(path: str | os.PathLike[str]) -> tuple[Any, dict[str, Any]]:
    """Read a model, of samples or of sequences, and what was stored beside it. Nothing in the file is ever run.

    Raises
    ------
    DataUnavailableError
        If there is no such file.
    InvalidInputError
        If it is no model, is damaged, was changed, or was written by a newer version.
    """
    header, members = _read(path)
    _require_known(header, path)
    arrays = {}
    for name, digest in header["arrays"].items():
        content = members.get(name)
        if content is None or hashlib.sha256(content).hexdigest() != digest:
            raise _damaged(path, f"the array {name!r} is missing or was changed")
        arrays[name.removesuffix(".npy")] = _array(content, name, path)
    names = header["feature_names"]
    with _guarded(path, "its parts do not fit together"):
        try:
            classes = tuple(_class_from_json(entry) for entry in header["classes"])
            model = KINDS[header["kind"]].model.from_arrays(
                arrays, classes=classes, feature_names=None if names is None else tuple(names)
            )
        except InvalidInputError as error:
            raise _damaged(path, str(error)) from error
    return model, header["extra"]


def _read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The header and the raw members."""
    try:
        content = Path(path).read_bytes()
    except FileNotFoundError as error:
        raise DataUnavailableError(f"There is no model file {str(path)!r}.") from error
    except (OSError, ValueError) as error:
        raise DataUnavailableError(
            f"Cannot read {str(path)!r}: {getattr(error, 'strerror', None) or error}."
        ) from error
    with _guarded(path, "it is not a model file of labelworth, or was cut short"):
        members = read_archive(content, path, may_be_packed=False)
    with _guarded(path, "it has no header of labelworth"):
        header = parse_json(members.pop(_HEADER))
    if not isinstance(header, dict):
        raise _damaged(path, "it has no header of labelworth")
    return header, members


def _require_known(header: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    if header.get("format") != FORMAT:
        raise _damaged(path, "it is another kind of file")
    version = header.get("version")
    if not isinstance(version, int) or isinstance(version, bool):
        raise _damaged(path, "its version is missing")
    if version > VERSION:
        raise InvalidInputError(
            f"{str(path)!r} was written in version {version} of the format; this labelworth reads up to {VERSION}. "
            "Update labelworth, or save the model again with this one."
        )
    kinds = {"arrays": dict, "classes": list, "extra": dict}
    if any(not isinstance(header.get(name), kind) for name, kind in kinds.items()):
        raise _damaged(path, "its header is incomplete")
    names = header.get("feature_names", 0)
    if not (names is None or (isinstance(names, list) and all(isinstance(name, str) for name in names))):
        raise _damaged(path, "its feature names are not names")
    if header.get("kind") not in list(KINDS):  # a list compares, a dict would hash
        raise _damaged(path, f"it holds a model of the unknown kind {header.get('kind')!r}")
    if names is None and KINDS[header["kind"]].takes_sequences:
        raise _damaged(path, "it does not say which words or attributes it is about")


def _array_bytes(array: AnyArray) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.ascontiguousarray(array), allow_pickle=False)
    return buffer.getvalue()


def _array(content: bytes, name: str, path: str | os.PathLike[str]) -> AnyArray:
    with _guarded(path, f"the array {name!r} cannot be read"):
        array = read_array(content)
    if array.dtype.kind not in "fiu":
        raise _damaged(path, f"the array {name!r} does not hold numbers")
    return array


def _class_to_json(name: Hashable) -> Sequence[Any]:
    """[type, value]: JSON alone would not tell 1 from 1.0, nor keep infinities."""
    value = name.item() if isinstance(name, np.generic) else name
    kind = type(value).__name__
    if isinstance(value, float):
        return [kind, value.hex()]
    if kind in {"str", "int", "bool"}:
        return [kind, value]
    raise InvalidInputError(
        f"Classes in a model file must be strings, integers, floats or booleans. Got {name!r} of type {kind}."
    )


def _class_from_json(entry: Any) -> Hashable:
    if isinstance(entry, list) and len(entry) == 2:
        kind, value = entry
        if kind == "float" and isinstance(value, str):
            try:
                return float.fromhex(value)
            except ValueError as error:
                raise InvalidInputError(f"a class is written as {entry!r}") from error
        if kind in ("str", "int", "bool") and type(value).__name__ == kind:
            plain: Hashable = value
            return plain
    raise InvalidInputError(f"a class is written as {entry!r}")


def _json_bytes(header: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(header, allow_nan=False, sort_keys=True).encode()
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"What is stored beside a model must be plain JSON; {error}.") from error


def _guarded(path: str | os.PathLike[str], reason: str) -> AbstractContextManager[None]:
    return guarded(repr(str(path)), f"cannot be used as a model: {reason}", "Save or copy the model again.")


def _damaged(path: str | os.PathLike[str], reason: str) -> InvalidInputError:
    return InvalidInputError(f"{str(path)!r} cannot be used as a model: {reason}. Save or copy the model again.")
