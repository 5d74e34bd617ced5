import numpy as np
import pytest

from labelworth.data.evidence import Evidence
from labelworth.data.readers.raw_sequences import RawTokens
from labelworth.estimation.conditional_fit import fit_conditional
from labelworth.models.chains.crf_features import feature_set
from labelworth_studies.chains import chunking_crf as chunking
from labelworth_studies.chains import chunking_tuning
from labelworth_studies.chains.parts import chunking_fit
from labelworth_studies.chains.parts.chunking_fit import Settings, cell_of, compute
from labelworth_studies.corpora import chunking_data
from labelworth_studies.corpora.chunking_data import AttributeChoice, Divided, with_attributes, with_words
from labelworth_studies.runner.study import canonical

SENTENCES = [
    [("He", "PRP", "B-NP"), ("sees", "VBZ", "B-VP"), ("the", "DT", "B-NP"), ("dog", "NN", "I-NP")],
    [("Dogs", "NNS", "B-NP"), ("run", "VBP", "B-VP"), (".", ".", "O")],
    [("The", "DT", "B-NP"), ("cat", "NN", "I-NP"), ("runs", "VBZ", "B-VP"), (".", ".", "O")],
]


def tokens(sentences: list[list[tuple[str, str, str]]]) -> RawTokens:
    flat = [token for sentence in sentences for token in sentence]
    words, tags, labels = (tuple(column) for column in zip(*flat, strict=True))
    offsets = np.concatenate([[0], np.cumsum([len(sentence) for sentence in sentences])])
    return RawTokens((words, tags), ("word", "part of speech"), 0, offsets, labels, "here")


@pytest.fixture
def small_corpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few sentences instead of the corpus; the test set has a label that the training set lacks."""
    test = [*SENTENCES, [("1", "LS", "B-LST")]]
    parts = {"train": tokens(SENTENCES * 4), "test": tokens(test), "all": tokens(SENTENCES * 4 + test)}
    monkeypatch.setattr(chunking_data, "conll2000", lambda split: parts[split])
    _forget()
    yield
    _forget()


def _forget() -> None:
    for cached in (chunking_data.divided_tokens, with_attributes, with_words):
        cached.cache_clear()


@pytest.mark.parametrize("settings", chunking._NAMES)
@pytest.mark.usefixtures("small_corpus")
def test_every_model_learns_the_small_corpus(settings: Settings) -> None:
    result = compute(cell_of("test", Settings(settings.kind, 0.01, 1, settings.template, settings.pairs)))
    canonical(result)
    assert result["converged"]
    # Seven of the eight chunks of the test sentences can be found; the label of the eighth was never seen.
    assert result["recall"] == pytest.approx(7 / 8)
    assert result["conditional_log_perplexity"] < 0.7


@pytest.mark.usefixtures("small_corpus")
def test_labels_that_were_never_seen_count_as_wrong_and_unknown() -> None:
    divided = with_words("test", 1)
    assert "B-LST" not in divided.train.evidence.classes
    assert divided.test_tags[-1] == "B-LST"
    assert divided.test.evidence.codes[-1] == -1


@pytest.mark.usefixtures("small_corpus")
def test_the_later_sentences_are_the_last_fifth() -> None:
    earlier, later = chunking_data.divided_tokens("later")
    assert (len(earlier.offsets) - 1, len(later.offsets) - 1) == (10, 2)
    assert earlier.words + later.words == tokens(SENTENCES * 4).words


@pytest.mark.usefixtures("small_corpus")
def test_a_study_says_what_it_found() -> None:
    for study in (chunking.STUDY, chunking_tuning.STUDY):
        pairs = [
            (cell, compute(cell)) for cell in study.cells(True, 0) if cell["settings"]["kind"] == "hidden-markov"
        ]
        outcome = study.summarize(pairs)
        canonical(dict(outcome.figures))
        assert outcome.words
        assert len(outcome.tables[0].rows) == len(pairs)
    assert chunking_fit.Settings("crf", 1.0, 3, "rich", "all").in_words.endswith("attributes in 3 tokens or more")


def test_what_is_chosen_is_among_the_choices() -> None:
    assert chunking.RICH in chunking_tuning.CRF_CHOICES
    assert chunking.HIDDEN_MARKOV in chunking_tuning.HIDDEN_MARKOV_CHOICES
    assert chunking.BOLTZMANN_CHAIN in chunking_tuning.BOLTZMANN_CHOICES


@pytest.fixture(scope="module")
def corpus() -> Divided:
    return with_attributes("test", AttributeChoice("tutorial"))


@pytest.mark.corpus("conll2000")
def test_the_tutorial_has_the_attributes_and_weights_of_crfsuite(corpus: Divided) -> None:
    assert corpus.train.n_features == 335_674
    assert feature_set(corpus.train).n_weights == 452_755


@pytest.mark.corpus("conll2000")
def test_a_part_of_the_corpus_climbs_as_high_as_crfsuite(corpus: Divided, tmp_path) -> None:
    """Ten iterations of both are not comparable, the top is: 200 sentences, loss to 1e-6."""
    pycrfsuite = pytest.importorskip("pycrfsuite")
    part = corpus.train.take(np.arange(200))
    said: list[str] = []

    class Trainer(pycrfsuite.Trainer):
        def message(self, message: str) -> None:
            said.append(message)

    trainer = Trainer("lbfgs", {"c2": 1.0, "delta": 1e-10, "epsilon": 1e-7, "max_iterations": 1000}, verbose=True)
    rows, names, classes = part.attributes, part.feature_names, part.evidence.classes
    for first, last in zip(part.offsets, part.offsets[1:], strict=False):
        inputs = [
            [names[place] for place in rows.indices[rows.indptr[t] : rows.indptr[t + 1]]] for t in range(first, last)
        ]
        trainer.append(inputs, [classes[code] for code in part.evidence.codes[first:last]])
    trainer.train(str(tmp_path / "model"))
    log = "".join(said)
    used = sorted(set(part.evidence.codes.tolist()))
    codes = np.searchsorted(used, part.evidence.codes)
    same_labels = part.with_evidence(Evidence(codes, tuple(classes[code] for code in used)))
    fitted = fit_conditional(same_labels, tolerance=1e-9)
    assert fitted.model.features.n_weights == int(log.partition("Number of features: ")[2].split()[0])
    np.testing.assert_allclose(-fitted.objective, float(log.rpartition("Loss: ")[2].split()[0]), rtol=1e-6)
