"""Answers kept as they come, one JSON file each, so that interrupted work is never lost."""

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Lock
from typing import Any

from labelworth.data.files import atomic_write, make_folder, require_writable
from labelworth.errors import InvalidInputError


class CorruptAnswerError(InvalidInputError):
    """A kept file is not what was written."""


class Checkpoint:
    """Answers under one folder, each in a file called after the SHA-256 of what it depends on.

    Parameters
    ----------
    folder : path or None
        Made when the first answer is kept; None keeps nothing.
    context : mapping
        What every answer depends on beside its own question: the digest of the data, the seed, versions, the model.

    Attributes
    ----------
    n_reused : int
        How many steps were answered from before.
    """

    def __init__(self, folder: Path | None, context: Mapping[str, Any]) -> None:
        self.folder = folder
        self._context = json.dumps(context, sort_keys=True, default=str)
        self._lock = Lock()
        self.n_reused = 0

    def step(
        self, question: Any, compute: Callable[[], Any], is_final: Callable[[Any], bool] = lambda answer: True
    ) -> Any:
        """The answer, as JSON values: that of before, or else computed now and kept, where it is final.

        A file that cannot be read as it was written is computed again. Threads may ask different questions at once.
        """
        if self.folder is None:
            return compute()
        try:
            answer = self.load(question)
        except CorruptAnswerError:
            answer = None
        if answer is not None:
            with self._lock:
                self.n_reused += 1
            return answer
        # Through its text, so that a fresh answer and one read back are the same value.
        answer = json.loads(_text(compute()))
        if is_final(answer):
            self.save(question, answer)
        return answer

    def path(self, question: Any) -> Path:
        """Where the answer lies, or would."""
        if self.folder is None:
            raise InvalidInputError("Nothing is kept without a folder.")
        return self.folder / f"{_digest([self._context, question])[:32]}.json"

    def load(self, question: Any) -> Any:
        """The answer of before; None where there is none.

        Raises
        ------
        CorruptAnswerError
            If the file is there but damaged.
        """
        path = self.path(question)
        try:
            content = json.loads(path.read_bytes())
            answer = content["answer"]
            intact = content["digest"] == _digest([question, answer])
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CorruptAnswerError(f"The cell {path} cannot be read ({type(error).__name__}).") from error
        if not intact:
            raise CorruptAnswerError(f"The cell {path} was changed after it was written.")
        return answer

    def save(self, question: Any, answer: Any) -> None:
        """Keep an answer, whole or not at all."""
        path = self.path(question)
        content = {"question": question, "answer": answer, "digest": _digest([question, answer])}
        with self._lock:
            make_folder(path.parent)
            atomic_write(path, _text(content) + "\n")

    def require_writable(self) -> None:
        """Refuse a folder in which nothing can be kept, before anything is computed."""
        if self.folder is not None:
            require_writable(make_folder(self.folder) / "answer.json")


def _text(value: Any) -> str:
    """The one JSON text of a value: sorted names, no spaces, doubles to the last bit."""
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"Only JSON values can be kept ({error}); use .tolist() for arrays.") from error


def _digest(value: Any) -> str:
    return hashlib.sha256(_text(value).encode()).hexdigest()
