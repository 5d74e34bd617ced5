from pathlib import Path

import numpy as np
import pytest

from labelworth.errors import InvalidInputError
from labelworth.report.figures import draw, plot, save_picture
from labelworth.report.values import BarsPanel, ComparisonPanel, Curve, CurvesPanel, Panel, Picture, SurfacePanel

LABELS = np.array([20.0, 50.0, 100.0])
ERRORS = np.array([0.3, 0.2, 0.15])
CURVES = (
    Curve("labels alone", LABELS, ERRORS, ERRORS - 0.01, ERRORS + 0.01),
    Curve("with unlabeled data", LABELS, ERRORS * 0.8, style="dashed", color=3),
    Curve("realized", LABELS, ERRORS * 0.9, ERRORS * 0.9 - 0.02, ERRORS * 0.9 + 0.02, style="points", color=3),
)
SURFACE = SurfacePanel(
    "Surface",
    "n",
    "fraction",
    "error",
    np.array([10.0, 100.0, 1000.0]),
    np.array([0.1, 1.0]),
    np.array([[1.0, 0.1, 0.01], [0.5, 0.05, np.nan]]),
)
PANELS: tuple[Panel, ...] = (
    CurvesPanel("Curves", "labels", "error", CURVES, x_scale="log"),
    SURFACE,
    ComparisonPanel("Comparison", "predicted", "realized", CURVES[2:], scale="log"),
    BarsPanel("Bars", "accuracy", ("20", "50", "100"), CURVES),
)


def test_a_picture_has_every_panel_with_its_title_and_labels() -> None:
    figure = draw(Picture("All", PANELS))
    titles = {axes.get_title(loc="left") for axes in figure.axes}
    assert {"Curves", "Surface", "Comparison", "Bars"} <= titles
    assert figure.get_suptitle() == "All"


def test_curves_that_belong_together_share_their_color() -> None:
    axes = plot(PANELS[0])
    dashed = axes.get_lines()[1]
    points = axes.containers[0].lines[0]
    assert dashed.get_color() == points.get_color() != axes.get_lines()[0].get_color()


def test_few_values_on_a_logarithmic_axis_are_the_ticks() -> None:
    assert [tick.get_text() for tick in plot(PANELS[0]).get_xticklabels()] == ["20", "50", "100"]


def test_a_comparison_shows_the_whole_error_bars() -> None:
    axes = plot(PANELS[2])
    low, high = axes.get_ylim()
    assert low < CURVES[2].low.min()
    assert high > CURVES[2].high.max()


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_the_same_picture_is_the_same_file(tmp_path: Path, ending: str) -> None:
    picture = Picture("Twice", PANELS[:1])
    first = save_picture(picture, tmp_path / f"first.{ending}").read_bytes()
    second = save_picture(picture, tmp_path / f"second.{ending}").read_bytes()
    assert first == second
    assert len(first) > 1000


def test_other_formats_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="png"):
        save_picture(Picture("None", PANELS[:1]), tmp_path / "picture.jpg")


def test_a_surface_of_nothing_but_zeros_is_refused() -> None:
    flat = SurfacePanel("Flat", "n", "f", "v", np.arange(2.0), np.arange(2.0), np.zeros((2, 2)))
    with pytest.raises(InvalidInputError, match="positive"):
        plot(flat)


def test_bars_with_long_names_lie_and_have_them_beside() -> None:
    values = Curve("", np.arange(3.0), np.array([0.3, 0.2, 0.1]))
    names = ("every other token", "a half of all sentences, whole, and nothing of the others", "all")
    ax = plot(BarsPanel("Bars", "error", names, (values,)))
    assert [label.get_text() for label in ax.get_yticklabels()] == list(names)
    assert [bar.get_width() for bar in ax.patches] == [0.3, 0.2, 0.1]
    assert ax.get_xlabel() == "error"
    stands = plot(BarsPanel("Bars", "error", ("a", "b", "c"), (values,)))
    assert [bar.get_height() for bar in stands.patches] == [0.3, 0.2, 0.1]
