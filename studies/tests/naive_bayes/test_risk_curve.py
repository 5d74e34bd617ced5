import json
from dataclasses import asdict

import numpy as np
import pytest
from scipy import stats

from labelworth.data.lengths import LengthDistribution
from labelworth.data.samples import Samples
from labelworth.models.classes.multinomial import MultinomialModel
from labelworth_studies.corpora.newsgroups_documents import Documents
from labelworth_studies.naive_bayes import risk_curve as study

SETTINGS = study.RiskSettings(
    n_words=15, labels_per_class=20, smoothing=0.5, n_probes=30, n_named_probes=30, with_dense=True
)


@pytest.fixture(scope="module")
def samples() -> Samples:
    rng = np.random.default_rng(3)
    words = rng.dirichlet(np.full(30, 0.5), 3) + 5e-3
    words /= words.sum(axis=1, keepdims=True)
    model = MultinomialModel(("a", "b", "c"), np.full(3, 1 / 3), words, LengthDistribution.single(12))
    return model.sample(400, rng)


@pytest.fixture(scope="module")
def result(samples: Samples) -> dict:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(study, "counted_documents", lambda division: Documents(samples, samples))
        return json.loads(json.dumps(study.compute({"settings": asdict(SETTINGS), "seed": 0})))


def test_pilot_keeps_the_most_frequent_words_and_the_labels_asked_for(samples: Samples) -> None:
    pilot = study.fit_pilot(samples, SETTINGS, seed=0)

    totals = np.sort(samples.counts.sum(axis=0))[::-1]
    np.testing.assert_array_equal(np.sort(pilot.samples.counts.sum(axis=0))[::-1], totals[:15])
    assert pilot.samples.evidence.label_counts().tolist() == [20, 20, 20]
    assert pilot.samples.counts.sum(axis=1).min() > 0


def test_fractions_run_from_the_fitted_one_to_all(result: dict) -> None:
    fractions = np.array(result["fractions"])

    assert len(fractions) == 50
    np.testing.assert_allclose(fractions[0], 60 / result["n_samples"], rtol=1e-12)
    assert fractions[-1] == 1.0
    assert (np.diff(fractions) > 0).all()
    assert result["residual"] < 1e-5


@pytest.mark.statistical
@pytest.mark.parametrize("name", ["excess_log_loss", "total_variance"])
def test_probes_and_matrices_agree_within_error(name: str, result: dict) -> None:
    # The fractions share their probes: one quantile at a rate of 1e-6 shared over all of them is on the safe side.
    quantile = stats.t.isf(1e-6 / (2 * 50), SETTINGS.n_probes - 1)

    assert study.largest_deviation(result, name) < quantile
    off = {**result, "dense": {name: [1.5 * value for value in result["dense"][name]]}}
    assert study.largest_deviation(off, name) > quantile
    # Complete labels need no probes.
    np.testing.assert_allclose(result["matrix_free"][name][-1], result["dense"][name][-1], rtol=1e-5)


def test_more_labels_never_hurt(result: dict) -> None:
    for name in ("excess_log_loss", "total_variance"):
        assert (np.diff(result["matrix_free"][name]) < 0).all()


def test_summary_tells_how_certain_it_is(result: dict) -> None:
    outcome = study.summarize([({"settings": asdict(SETTINGS), "seed": 0}, result)])

    assert "standard error" in outcome.words[0]
    assert "dense matrices differ" in outcome.words[0]
    assert len(outcome.tables[0].rows) == 3
    json.dumps(outcome.figures)


def test_grid_has_the_whole_vocabulary_and_the_cut() -> None:
    whole, cut = study.cells(quick=False, seed=0)

    assert whole["settings"]["n_words"] is None
    assert 20 * cut["settings"]["n_words"] - 1 == 1999
    assert cut["settings"]["with_dense"]
