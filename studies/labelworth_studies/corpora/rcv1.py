"""Reuters RCV1 as it is distributed: the token files of LYRL2004, and the weights that scikit-learn fetches.

A story is labeled if it has exactly one top-level topic; stories with several are read as unlabeled.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelworth.data.counts import as_counts
from labelworth.data.readers.raw import RawFeatures, RawTexts
from labelworth.data.readers.streams import read_lines
from labelworth.errors import InvalidInputError

TOP_LEVEL = ("CCAT", "ECAT", "GCAT", "MCAT")
"""Corporate and industrial, economics, government and social, markets."""
_STORY, _WORDS = ".I", ".W"


def read_lyrl2004(token_files: Sequence[Path], topics_file: Path) -> RawTexts:
    """Read token files of LYRL2004 and the topics of their stories.

    Parameters
    ----------
    token_files : sequence of Path
        ``lyrl2004_tokens_train.dat``, ``lyrl2004_tokens_test_pt0.dat``, ...: a line ``.I <id>``, a line ``.W``, then
        lines of stemmed words until a blank one. Compressed or not.
    topics_file : Path
        ``rcv1-v2.topics.qrels``: lines ``<topic> <id> 1``, where a story has the topics above its own too.

    Returns
    -------
    RawTexts
        A text of words per story, in the order of the files.

    Raises
    ------
    InvalidInputError
        If a line is not of these formats, a story occurs twice, or no story has a topic.
    """
    if not token_files:
        raise InvalidInputError("Give at least one token file, such as lyrl2004_tokens_train.dat.")
    topics = read_topics(topics_file)
    stories: dict[int, str] = {}
    for path in token_files:
        for story, words in _stories(path):
            if story in stories:
                raise InvalidInputError(f"{path}: the story {story} occurs twice. Name every file once.")
            stories[story] = words
    if not any(story in topics for story in stories):
        raise InvalidInputError(
            f"None of the {len(stories)} stories has a topic in {topics_file}. Is it the topics file of these "
            "stories (rcv1-v2.topics.qrels)?"
        )
    labels = tuple(single_topic(topics.get(story, ())) for story in stories)
    return RawTexts(tuple(stories.values()), labels, f"Reuters RCV1, {', '.join(path.name for path in token_files)}")


def read_topics(path: Path) -> dict[int, list[str]]:
    """The topics of every story, from lines ``<topic> <id> 1``."""
    topics: dict[int, list[str]] = {}
    for number, line in enumerate(read_lines(path, "ascii"), start=1):
        cells = line.split()
        if not cells:
            continue
        if len(cells) != 3 or not cells[1].isdecimal():
            raise InvalidInputError(
                f"{path}, line {number}: a line of topics is '<topic> <story> 1'. Got {line.strip()!r} instead."
            )
        topics.setdefault(int(cells[1]), []).append(cells[0])
    return topics


def single_topic(topics: Iterable[str]) -> str | None:
    """The top-level topic if there is exactly one, else None.

    Examples
    --------
    >>> single_topic(["C15", "CCAT"]), single_topic(["CCAT", "MCAT"])
    ('CCAT', None)
    """
    matching = [topic for topic in TOP_LEVEL if topic in set(topics)]
    return matching[0] if len(matching) == 1 else None


def rcv1_of_scikit_learn(fetched: Mapping[str, Any]) -> RawFeatures:
    r"""What ``sklearn.datasets.fetch_rcv1`` gives, as features and labels.

    Parameters
    ----------
    fetched : Bunch
        With ``data`` (stories by terms), ``target`` (stories by topics, sparse zeros and ones) and ``target_names``.

    Returns
    -------
    RawFeatures
        The weights as they are.

    Notes
    -----
    **These are not counts**, and counts cannot be had from them: a weight is :math:`(1 + \log c_{iw}) \log(N / N_w)`,
    divided by the length of the story's vector, so that the number of words of a story is lost. The multinomial model
    reads them as fractional counts in the way it reads inverse-document weights: rescale every story to the same
    number of words (`rescale_documents`, or ``document_length=``), without which a story would count as a handful of
    words. Panels of raw documents need the token files.
    """
    try:
        data, target, names = fetched["data"], fetched["target"], list(fetched["target_names"])
    except (KeyError, TypeError) as error:
        raise InvalidInputError(
            "This is not what fetch_rcv1 gives: it needs data, target and target_names. Pass its result whole."
        ) from error
    missing = [topic for topic in TOP_LEVEL if topic not in names]
    if missing:
        raise InvalidInputError(f"target_names lacks the top-level topics {', '.join(missing)}. Fetch all topics.")
    features, indicators = as_counts(data, name="data"), sp.csc_array(target)
    if indicators.shape != (features.shape[0], len(names)):
        raise InvalidInputError(
            f"target must have a row per story and a column per topic, {(features.shape[0], len(names))}. "
            f"Got shape {indicators.shape} instead."
        )
    chosen = indicators[:, [names.index(topic) for topic in TOP_LEVEL]].toarray() > 0
    labels = tuple(TOP_LEVEL[int(row.argmax())] if row.sum() == 1 else None for row in np.asarray(chosen))
    return RawFeatures(features, labels, "Reuters RCV1, weights of scikit-learn")


def _stories(path: Path) -> Iterator[tuple[int, str]]:
    """The stories of one token file with their words."""
    story: int | None = None
    lines: list[str] = []
    in_words = False
    for number, line in enumerate(read_lines(path, "latin-1"), start=1):
        text = line.strip()
        if text.startswith(f"{_STORY} "):
            if story is not None:
                yield story, " ".join(lines)
            story, lines, in_words = _story_number(text, path, number), [], False
        elif text == _WORDS and story is not None and not in_words:
            in_words = True
        elif text and in_words:
            lines.append(text)
        elif text:
            raise InvalidInputError(
                f"{path}, line {number}: a story begins with '.I <number>' and '.W'. Got {text[:40]!r} instead."
            )
    if story is None:
        raise InvalidInputError(f"{path} holds no story. Was it written completely?")
    yield story, " ".join(lines)


def _story_number(text: str, path: Path, number: int) -> int:
    cell = text.removeprefix(_STORY).strip()
    if not cell.isdecimal():
        raise InvalidInputError(
            f"{path}, line {number}: a story has a number, as '.I 2286'. Got {text[:40]!r} instead."
        )
    return int(cell)
