from typing import Any

import numpy as np
import pytest

from labelworth.data.evidence import Evidence
from labelworth.data.lengths import LengthDistribution
from labelworth.data.readers.raw_sequences import RawTokens
from labelworth.data.sequences import Sequences
from labelworth.models.chains.boltzmann_chain import BoltzmannChainModel
from labelworth.policies.spec import parse_policy
from labelworth.report.figures import draw
from labelworth_studies.paper import fig2_chunks_none, fig2_chunks_window, fig3_crf
from labelworth_studies.paper.parts import chunk_panel, chunk_panel_fit
from labelworth_studies.paper.parts.chunk_panel_fit import compute, limit_model, policy_spec, sentences
from labelworth_studies.paper.parts.chunk_panel_grid import PanelGrid
from labelworth_studies.paper.parts.chunk_panel_theory import paper_excess
from labelworth_studies.runner.study import canonical


def drawn_tokens(n_sentences: int, seed: int) -> RawTokens:
    """Sentences whose chunks mostly follow from the word, with a rare word now and then."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(2, 7, size=n_sentences))])
    words = rng.choice(["dog", "runs", "of", "Rome", "1987"], p=[0.4, 0.3, 0.24, 0.03, 0.03], size=offsets[-1])
    labels_of = {"dog": ["B-NP", "I-NP"], "runs": ["B-VP", "I-VP"], "of": ["B-PP", "O"]}
    labels = tuple(labels_of.get(word, ["B-NP", "O"])[rng.random() < 0.4] for word in words)
    return RawTokens((tuple(words),), ("word",), 0, offsets, labels, "here")


@pytest.fixture
def small_corpus(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = {"train": drawn_tokens(60, 0), "test": drawn_tokens(20, 1)}
    monkeypatch.setattr(chunk_panel_fit, "conll2000", lambda split: parts[split])
    monkeypatch.setattr(chunk_panel_fit, "MIN_WORD_COUNT", 30)
    monkeypatch.setattr(chunk_panel_fit, "MIN_PAIR_COUNT", 2)
    sentences.cache_clear()
    limit_model.cache_clear()
    yield
    sentences.cache_clear()
    limit_model.cache_clear()


def made_up(cell: dict[str, Any], slope_of_share: float = 1.0) -> dict[str, Any]:
    """A result whose losses fall with the sentences, and with the share labeled whole unless told otherwise."""
    if cell["sort"] == "limit":
        return {"joint": 10.0, "conditional": 2.0, "token_error": 0.1, "f1": 0.8}
    if cell["sort"] == "theory":
        shares = [_whole(spec) for spec in cell["policies"]]
        # The smallest shares are not told.
        told = {
            "excess": [(2 - share) if share > 0.1 else None for share in shares],
            "excess_se": [0.001 if share > 0.1 else None for share in shares],
        }
        return {"labels": shares, "n_drawn": 1, "n_parameters": 3, "joint": told, "conditional": told}
    if cell["sort"] == "robust":
        excess = [100 * (2 - _whole(cell["policy"])) / size for size in cell["sizes"]]
        told = {"excess": excess, "bias": [value / 2 for value in excess]}
        errors = {"excess": [value / 1000 for value in excess], "excess_se": [1e-4 for _ in excess]}
        return {"told": True, "joint": told, "conditional": told, "token_error": errors}
    share, size = _whole(cell["policy"]), cell["n_sentences"]
    noise = 1e-6 * cell["seed"]
    excess = (1 + slope_of_share * (1 - share)) * 100 / size + noise
    return {
        "n_labels": round(20 * share * size),
        "joint": 10 + excess,
        "conditional": 2 + excess,
        "token_error": 0.1 + excess / 1000,
        "f1": 0.7,
    }


def _whole(spec: str) -> float:
    return {rule.spec: weight for rule, weight in parse_policy(spec).items()}.get("everything", 0.0)


def grid_of(rule: str, slope_of_share: float = 1.0) -> PanelGrid:
    cells = chunk_panel.cells(False, 0, kind="boltzmann-chain", rules=(rule,))
    return PanelGrid.of([(cell, made_up(cell, slope_of_share)) for cell in cells], rule)


def test_policies_are_mixtures_with_whole_sentences() -> None:
    assert policy_spec(1.0, "nothing") == "everything"
    for share in chunk_panel.SHARES[:-1]:
        policy = parse_policy(policy_spec(share, "window:5"))
        assert {rule.spec: weight for rule, weight in policy.items()} == pytest.approx(
            {"everything": share, "window:5": 1 - share}
        )


@pytest.mark.usefixtures("small_corpus")
def test_rare_words_share_entries_by_their_shape() -> None:
    train = sentences("train")
    assert train.evidence.classes == ("B-NP", "B-VP", "I-NP", "I-VP", "O")
    assert set(train.feature_names[:3]) == {"dog", "runs", "of"}
    assert len(train.feature_names) == 3 + 7
    assert sentences("test").feature_names == train.feature_names


@pytest.mark.usefixtures("small_corpus")
def test_a_larger_share_keeps_the_labels_of_a_smaller_one() -> None:
    train = sentences("train")
    some, more = (parse_policy(policy_spec(share, "nothing")).draw(train, 3).labeled for share in (0.2, 0.5))
    assert some.any()
    assert not (some & ~more).any()
    assert more.sum() > some.sum()


@pytest.mark.parametrize("kind", ["boltzmann-chain", "crf"])
@pytest.mark.usefixtures("small_corpus")
def test_cells_of_every_sort_are_answered(kind: str) -> None:
    fit = {"sort": "fit", "kind": kind, "policy": policy_spec(0.5, "window:5"), "n_sentences": 30, "seed": 2}
    found, limit = compute(fit), compute({"sort": "limit", "kind": kind})
    assert compute(fit) == found
    assert compute({**fit, "seed": 3}) != found
    assert (found["joint"] is None) == (kind == "crf")
    assert limit["conditional"] < found["conditional"]
    specs = [policy_spec(share, "window:5") for share in (0.5, 1.0)]
    theory = compute({"sort": "theory", "kind": kind, "policies": specs, "n_draws": 2048, "seed": 0})
    canonical(theory)
    partial, whole = theory["conditional"]["excess"]
    assert partial > whole
    asked = {"sort": "robust", "kind": kind, "policy": specs[0], "sizes": [30, 300], "n_population": 60, "seed": 0}
    robust = compute(asked)
    canonical(robust)
    assert robust["told"]
    for name in ("conditional", "token_error"):
        assert robust[name]["excess"][0] > robust[name]["excess"][1]
    assert compute({**asked, "n_population": 40})["conditional"] != robust["conditional"]


def test_theory_of_whole_sentences_is_that_of_the_complete_information() -> None:
    rng = np.random.default_rng(5)
    model = BoltzmannChainModel(("a", "b"), None, rng.normal(size=(2, 2)), rng.normal(size=(2, 3)), ("u", "v", "w"))
    lengths = LengthDistribution.from_mapping({3: 0.5, 5: 0.5})
    codes, offsets = np.zeros(8, dtype=np.int64), np.array([0, 3, 8])
    inputs = Sequences(codes, offsets, Evidence(np.full(8, -1), ("a", "b")), ("u", "v", "w"))
    assert model.coordinates.n_free == 10
    answer = paper_excess(model, inputs, [parse_policy("everything")], n_draws=1024, seed=0)
    # Two of the ten weights are redundant.
    np.testing.assert_allclose(answer["joint"]["excess"], [8 / 2], rtol=1e-6)
    assert answer["labels"] == [lengths.mean]


def test_every_step_and_every_dominated_design_is_counted() -> None:
    grid = grid_of("window:5")
    steps = grid.steps("joint")
    assert steps["sentences"] == {"n": 18, "falling": 1.0, "n_clearly_falling": 18, "n_clearly_rising": 0}
    assert steps["share_whole"]["n"] == 20
    assert steps["share_whole"]["falling"] == 1.0
    backwards = grid_of("window:5", slope_of_share=-0.5).steps("joint")
    assert backwards["share_whole"]["falling"] == 0.0
    assert backwards["share_whole"]["n_clearly_rising"] == 20
    places = {(design["n_sentences"], design["share_whole"]) for design in grid.dominated("joint")}
    expected = {
        (n, p)
        for p in grid.shares
        for n in grid.sizes
        for q in grid.shares
        for m in grid.sizes
        if round(20 * q * m) <= round(20 * p * n) and (2 - q) / m < (2 - p) / n
    }
    assert places == expected
    assert places
    boundary = grid.boundary("joint")
    assert all(grid.dominated_by("joint")[index] is None for index in boundary)
    assert (np.diff(grid.mean_labels.ravel()[boundary]) > 0).all()
    assert (np.diff(grid.mean("joint").ravel()[boundary]) < 0).all()


def test_what_unlabeled_sentences_add_is_told_at_equal_labels() -> None:
    added = grid_of("nothing").whole_instead("joint")
    pairs = {(row["n_whole"], row["n_others"]): row["added"] for row in added}
    assert pairs.keys() == {(100, 100), (200, 200)}
    assert pairs[100, 100] == pytest.approx(1.5 * 100 / 200 - 100 / 100)


def test_agreement_is_perfect_where_the_experiment_follows_the_formula() -> None:
    grid = grid_of("nothing")
    paper, robust = (grid.agreement("joint", formula) for formula in ("paper", "robust"))
    assert paper["spearman"] == pytest.approx(1.0)
    np.testing.assert_allclose(paper["ratio_all_labels"], 100.0, rtol=1e-4)
    np.testing.assert_allclose(robust["ratio_all_labels"], 1.0, rtol=1e-4)
    assert robust["ratio_median_partial"] == pytest.approx(1.0, rel=1e-4)
    assert grid_of("nothing", slope_of_share=-0.9).agreement("joint", "robust")["spearman"] < 0.9


def test_designs_that_a_formula_does_not_tell_are_left_out_and_counted() -> None:
    grid = grid_of("nothing")
    assert np.isnan(grid.formulas["paper"]["joint"][0]).all()
    paper, robust = (grid.agreement("joint", formula) for formula in ("paper", "robust"))
    assert (paper["n_told"], robust["n_told"], paper["n_designs"]) == (20, 24, 24)


@pytest.mark.parametrize("study", [fig2_chunks_window.STUDY, fig2_chunks_none.STUDY, fig3_crf.STUDY])
@pytest.mark.parametrize("quick", [True, False])
def test_panels_are_summed_up_and_drawn(study: Any, quick: bool) -> None:
    cells = study.cells(quick, 0)
    outcome = study.summarize([(cell, made_up(cell)) for cell in cells])
    canonical(dict(outcome.figures))
    n_designs = len({(cell["policy"], cell["n_sentences"]) for cell in cells if cell["sort"] == "fit"})
    assert outcome.grid is not None
    # Sentences that are all labeled whole stand under both rules of the CRF's panel.
    twice = len({cell["n_sentences"] for cell in cells if cell["sort"] == "fit"}) if study is fig3_crf.STUDY else 0
    assert len(outcome.grid.rows) == n_designs + twice
    picture = outcome.pictures[""]
    assert len(draw(picture).axes) >= len(picture.panels)
