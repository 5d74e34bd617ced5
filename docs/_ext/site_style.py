"""Pictures of examples in the colors and the type of the page of a plan."""

from typing import Any


def before_an_example(gallery_conf: dict[str, Any], name: str) -> None:
    """What sphinx-gallery calls before every example."""
    drawn_as_reports_are()


def drawn_as_reports_are() -> None:
    """Set matplotlib for all pictures to come."""
    import matplotlib as mpl

    from labelworth.report.axis_style import PALETTE

    mpl.rcdefaults()
    mpl.use("agg")
    mpl.rcParams.update(
        {
            "axes.prop_cycle": mpl.cycler(color=PALETTE),
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.edgecolor": "#5b6470",
            "axes.labelcolor": "#1c1f23",
            "axes.grid": True,
            "axes.axisbelow": True,
            "axes.formatter.min_exponent": 4,
            "grid.color": "#d7dce2",
            "grid.linewidth": 0.6,
            "font.size": 10.5,
            "legend.framealpha": 0.85,
            "legend.edgecolor": "none",
            "figure.dpi": 110,
            "savefig.dpi": 160,
            "savefig.bbox": "tight",
        }
    )
