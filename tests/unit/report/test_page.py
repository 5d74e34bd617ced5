"""The page of a plan is one file that refers to nothing outside of itself and says what the plan says."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.interpolate import PchipInterpolator

from labelworth.errors import OutputError
from labelworth.planning.landscape import Solutions
from labelworth.report.page import page, write_page
from labelworth.report.page_data import page_data
from support.plans import document_plan


def _data(text: str) -> dict[str, object]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, flags=re.DOTALL)
    assert found is not None
    parsed: dict[str, object] = json.loads(found[1])
    return parsed


def test_the_page_carries_its_data_through_a_json_script() -> None:
    plan = document_plan()
    assert _data(page(plan, {"seed": 0})) == json.loads(json.dumps(page_data(plan)))


def test_no_element_refers_to_another_file() -> None:
    text = page(document_plan(), {"seed": 0})
    elements = re.findall(
        r"<(?:script|link|img|iframe|source)\b[^>]*>", re.sub(r"<script>.*?</script>", "", text, flags=re.S)
    )
    assert elements
    assert not [element for element in elements if re.search(r"\b(?:src|href)=", element)]


def test_words_are_escaped_and_provenance_is_shown() -> None:
    text = page(document_plan(), {"data_digest": "sha256:<1>"})
    assert "A class &lt;rare&gt; &amp; odd" in text
    assert "<dt>data_digest</dt><dd>sha256:&lt;1&gt;</dd>" in text


def test_the_control_holds_the_question_in_its_place_and_leaves_the_infeasible_out() -> None:
    plan = document_plan()
    data = page_data(plan)
    amounts = [one["amount"] for one in data["control"]["budget"]["solutions"]]
    assert amounts == sorted(amounts)
    assert amounts[data["problem"]["index"]] == plan.question.value
    assert min(amounts) > 50.0


def test_the_interval_belongs_to_the_question_that_was_asked() -> None:
    data = page_data(document_plan())
    shown = [one["labels_low"] for one in data["control"]["budget"]["solutions"]]
    assert shown[data["problem"]["index"]] == 350.0
    assert sum(low is not None for low in shown) == 1


def test_the_worth_of_labels_is_the_fall_of_the_forecast_with_its_band() -> None:
    plan = document_plan()
    assert plan.forecast is not None
    labels, unknown = np.array(plan.forecast.labels), (None,) * len(plan.forecast.labels)
    gain = tuple((3.0 / labels**2).tolist())
    curve = replace(plan.forecast, gain=gain, gain_low=tuple(0.5 * own for own in gain), gain_high=gain)
    drawn = page_data(replace(plan, forecast=curve))["worth"]
    assert drawn["labels"] == plan.forecast.labels
    # Of the next ten labels, in nats: what the curve falls by, and along its slope where it ends.
    smooth = PchipInterpolator(np.log(labels), plan.forecast.error)
    falls = smooth(np.log(labels)) - smooth(np.log(labels + 10))
    falls[-1] = 10 * gain[-1]
    assert drawn["value"] == pytest.approx(falls)
    assert drawn["low"] == pytest.approx(falls - 5 * np.array(gain))
    alone = replace(curve, gain_low=unknown, gain_high=unknown)
    assert page_data(replace(plan, forecast=alone))["worth"]["low"] is None
    assert (
        "the next 10 labels lower the excess log-loss (nats per sample), after so many labels, with its 90 %"
        in page(replace(plan, forecast=curve), {})
    )
    in_points = replace(plan, forecast=curve, question=replace(plan.question, criterion="error"))
    assert page_data(in_points)["worth"]["value"] == pytest.approx(100 * falls)


def test_a_plan_without_a_surface_forecast_or_grid_has_a_page_without_these_pictures() -> None:
    bare = replace(document_plan(), surface=None, forecast=None, solutions=Solutions())
    text = page(bare, {})
    assert 'id="frontier-chart"' in text
    for absent in ("surface", "forecast", "worth"):
        assert f'id="{absent}-chart"' not in text


def test_what_stands_beside_a_forecast_is_in_its_table_and_named() -> None:
    plan = replace(document_plan(), source="simulated")
    assert plan.forecast is not None
    text = page(plan, {})
    assert '<th scope="col">power law</th><th scope="col">formulas</th>' in text
    assert "beside it a plain power law through the pilot and the formulas moved to the level of the pilot" in text
    bare = page(replace(plan, forecast=replace(plan.forecast, asymptotic=())), {})
    assert '<th scope="col">power law</th></tr>' in bare
    assert "beside it a plain power law through the pilot;" in bare


def test_the_surface_says_what_it_is_and_has_a_table() -> None:
    plan = document_plan()
    assert plan.surface is not None
    text = page(replace(plan, surface=replace(plan.surface, words="Refits to <parts>.")), {})
    assert "Refits to &lt;parts&gt;." in text
    assert '<th scope="col">labeled</th>' in text
    assert '<th scope="col">5,100 samples</th>' in text


def test_a_page_without_a_surface_says_why() -> None:
    assert "This plan learns from labels alone" in page(replace(document_plan(), surface=None), {})


def test_a_simulated_plan_uses_all_documents_or_only_the_labeled_ones() -> None:
    plan = replace(document_plan(), source="simulated")
    labeled = plan.held.n_labeled + sum(arm.count for arm in plan.recommended.arms)
    plan = replace(plan, held=replace(plan.held, n_samples=2 * int(labeled)))
    for uses, expected in ((True, plan.held.n_samples), (False, labeled)):
        data = page_data(replace(plan, uses_unlabeled=uses))
        assert data["control"]["budget"]["solutions"][data["problem"]["index"]]["n_samples"] == expected


def test_a_folder_that_is_not_there_is_told_and_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(OutputError):
        write_page(document_plan(), tmp_path / "absent" / "plan.html", {})
    assert list(tmp_path.iterdir()) == []
