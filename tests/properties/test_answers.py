"""Answers say the same long and wide; whatever else is in a file, only our own errors come out."""

import tempfile
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzz.mutations import mutated_bytes, mutated_cells
from labelworth.data.answers import Answers
from labelworth.data.readers.answers import read_answers
from labelworth.errors import LabelworthError

FAST = settings(max_examples=60, deadline=None)
CLASSES = ("a", "b", "c")
N_SAMPLES = 6
cells = st.sampled_from(["a", "b", "c", "a|b", "b|c", "cannot say", '{"a": 0.25, "c": 0.75}'])
tables = st.dictionaries(
    st.tuples(st.integers(0, N_SAMPLES - 1), st.sampled_from(["ann", "bob", "eve"])), cells, min_size=1
)


def said(answers: Answers) -> list[Any]:
    names = [answers.names[code] for code in answers.annotators]
    return list(zip(answers.rows.tolist(), names, answers.evidence.dense().tolist(), strict=True))


@FAST
@given(tables, st.randoms(use_true_random=False))
def test_long_and_wide_tables_say_the_same(table: dict[tuple[int, str], str], random: Random) -> None:
    entries = list(table.items())
    random.shuffle(entries)
    long = pd.DataFrame([(f"d{row}", who, cell) for (row, who), cell in entries], columns=["task", "worker", "label"])
    ids = [f"d{row}" for row in range(N_SAMPLES)]
    first = Answers.of(long, classes=CLASSES, ids=ids)
    wide = long.pivot_table(index="task", columns="worker", values="label", aggfunc="first")
    second = Answers.of(wide, classes=CLASSES, ids=ids)
    back = wide.reset_index().melt("task", var_name="worker", value_name="label")
    assert said(first) == said(second) == said(Answers.of(back, classes=CLASSES, ids=ids))
    assert said(first) == sorted(said(first), key=lambda answer: answer[:2])


@FAST
@given(tables)
def test_answers_come_back_from_a_file_one_each(table: dict[tuple[int, str], str]) -> None:
    lines = [f'{row},{who},"{cell.replace(chr(34), chr(34) * 2)}"\n' for (row, who), cell in table.items()]
    with tempfile.TemporaryDirectory() as folder:
        once, twice = Path(folder) / "once.csv", Path(folder) / "twice.csv"
        once.write_text("row,annotator,answer\n" + "".join(lines))
        twice.write_text("row,annotator,answer\n" + "".join(lines + lines))
        first = read_answers(once, classes=CLASSES, n_samples=N_SAMPLES)
        assert first.n_answers == len(table)
        assert said(read_answers(twice, classes=CLASSES, n_samples=N_SAMPLES)) == said(first)


@pytest.mark.parametrize("seed", range(60))
def test_damaged_files_are_answered_with_a_sentence(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    rows = ["0,ann,a,,3,0.5", "0,bob,a|b,,,", "1,ann,yes,b,2,", '2,bob,"[0.2, 0.3, 0.5]",,,', "3,eve,?,,1,1"]
    text = mutated_cells("\n".join(["item,annotator,answer,question,seconds,price", *rows]), ",", random)
    content = text.encode(errors="surrogatepass")
    path = tmp_path / "answers.csv"
    path.write_bytes(mutated_bytes(content, random) if random.random() < 0.7 else content)
    with suppress(LabelworthError):
        answers = read_answers(path, classes=random.choice([None, CLASSES]), n_samples=random.choice([None, 4]))
        assert answers.n_answers > 0
