from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from labelworth import InvalidInputError, information
from labelworth.data.lengths import LengthDistribution
from labelworth.models.chains.hidden_markov import HiddenMarkovModel
from labelworth.models.classes.multinomial import MultinomialModel
from labelworth.planning.landscape import FrontierDesign
from labelworth.report.displays import FrontierDisplay, InformationDisplay, PolicyDisplay, RiskSurfaceDisplay
from support.plans import document_plan

MODEL = MultinomialModel(("a", "b"), [0.5, 0.5], [[0.8, 0.2], [0.3, 0.7]], LengthDistribution.single(3))


def display(**options: object) -> InformationDisplay:
    return InformationDisplay.from_model(MODEL, labeled_fractions=[1.0, 0.1, 0.5], n_samples=100, **options)


def test_a_display_draws_on_the_axes_it_is_given() -> None:
    ax = Figure().add_subplot()
    assert display().plot(ax=ax) is ax
    [line] = ax.get_lines()
    np.testing.assert_array_equal(line.get_xdata(), [0.1, 0.5, 1.0])
    assert ax.get_ylabel() == "excess log-loss (nats per sample)"


def test_a_display_shows_the_figure_it_was_asked_for() -> None:
    shown = display(figure="total_variance")
    values = {point.labeled_fraction: point.figures["total_variance"] for point in shown.table.points}
    [line] = shown.plot().get_lines()
    np.testing.assert_array_equal(line.get_ydata(), [values[0.1], values[0.5], values[1.0]])


def test_sampled_figures_have_a_band_and_exact_ones_none() -> None:
    exact, sampled = display().panel().curves[0], display(method="sampling").panel().curves[0]
    assert exact.low is None
    assert sampled.low is not None
    assert (sampled.low < sampled.y).all()


def test_an_unknown_figure_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="no figure 'nonsense'"):
        display(figure="nonsense")


def test_an_unidentified_model_has_nothing_to_show() -> None:
    hopeless = MultinomialModel(("a", "b"), [0.5, 0.5], [[0.8, 0.2], [0.3, 0.7]], LengthDistribution.single(1))
    shown = InformationDisplay.from_model(hopeless, labeled_fractions=[0.0], n_samples=100)
    with pytest.raises(InvalidInputError, match="not identifiable"):
        shown.plot()


def test_a_frontier_draws_the_cloud_the_undominated_stairs_and_the_plan() -> None:
    plan = document_plan()
    panel = FrontierDisplay.from_plan(plan).panel()
    assert np.all(np.diff(panel.boundary_x) > 0)
    assert np.all(np.diff(panel.boundary_y) < 0)
    assert len(panel.boundary_x) + len(panel.cloud[0].x) == len(plan.frontier)
    ax = Figure().add_subplot()
    assert FrontierDisplay.from_plan(plan).plot(ax) is ax
    star = next(line for line in ax.get_lines() if line.get_marker() == "*")
    np.testing.assert_array_equal(star.get_xydata(), [[plan.recommended.cost, plan.recommended.error]])


def test_a_frontier_without_an_identified_point_is_told() -> None:
    open_point = FrontierDesign("nothing", (0.0,), 0.0, 0.0, float("inf"))
    with pytest.raises(InvalidInputError, match="No design identifies"):
        FrontierDisplay((open_point,)).panel()


def test_a_surface_draws_what_the_plan_holds_and_sequences_have_none() -> None:
    plan = document_plan()
    panel = RiskSurfaceDisplay.from_plan(plan).panel()
    assert plan.surface is not None
    np.testing.assert_array_equal(panel.values, np.array(plan.surface.error))
    assert RiskSurfaceDisplay.from_plan(plan).plot().get_xlabel() == "samples"
    with pytest.raises(InvalidInputError, match="for sequences"):
        RiskSurfaceDisplay.from_plan(replace(plan, surface=None))


def test_policies_stand_side_by_side_with_the_labels_they_take() -> None:
    model = HiddenMarkovModel(("a", "b"), [0.6, 0.4], [[0.7, 0.3], [0.2, 0.8]], [[0.9, 0.1], [0.3, 0.7]])
    table = information(model, policies=["everything", "every-other"], lengths={3: 1.0}, n_samples=100)
    panel = PolicyDisplay(table).panel()
    assert panel.categories == ("everything (3 labels)", "every-other (2 labels)")
    np.testing.assert_array_equal(panel.series[0].y, [point.figures["excess_log_loss"] for point in table.points])
    assert panel.series[0].y[0] < panel.series[0].y[1]
    with pytest.raises(InvalidInputError, match="no figure 'cost'"):
        PolicyDisplay(table, figure="cost")


def test_a_legend_tells_of_no_dots_where_there_are_none() -> None:
    names = ("nothing more", "10 labeled")
    points = tuple(FrontierDesign(name, (n,), n, n, 0.2 / (1 + n), None) for n, name in enumerate(names))
    ax = FrontierDisplay(points).plot(Figure().add_subplot())
    assert "achievable" not in [text.get_text() for text in ax.get_legend().get_texts()]
