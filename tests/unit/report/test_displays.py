import numpy as np
import pytest
from matplotlib.figure import Figure

from labelworth import InvalidInputError
from labelworth.data.lengths import LengthDistribution
from labelworth.models.multinomial import MultinomialModel
from labelworth.report.displays import InformationDisplay

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
