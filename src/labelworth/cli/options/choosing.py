"""How rows are chosen that are to be labeled."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import typer

from labelworth.cli.options.table import Between, Options

if TYPE_CHECKING:
    from labelworth.policies.choosing import Choosing


CHOOSING = typer.Option(
    metavar="HOW",
    help="Choose documents by worth (whose label lowers the log-loss most per money), by uncertainty, or at random, "
    "the safe choice: others pay where a class is rare, and may cost a point or two elsewhere; plans say what they "
    "would buy.",
)
"""How --by is explained, wherever it is taken."""


@dataclass(frozen=True)
class ChoosingOptions(Options):
    """By what, and how much is left to chance."""

    panel: ClassVar[str] = "Choosing rows"

    by: Annotated[
        Literal["random", "uncertainty", "worth"] | None,
        CHOOSING,
    ] = None
    random_share: Annotated[
        float,
        typer.Option(help="With --by: the share drawn evenly, on average, which keeps what is measured honest."),
        Between(0, 1),
    ] = 0.25
    floor: Annotated[
        float,
        typer.Option(help="With --by: no row has less than this share of the probability it would have at random."),
        Between(0, 1),
    ] = 0.02

    def asked(self) -> dict[str, Any]:
        """Nothing where nobody asked, as records were before rows could be chosen."""
        return {} if self.by is None else super().asked()

    def choosing(self) -> "Choosing":
        """As the library takes it."""
        from labelworth.policies.choosing import RANDOM, Choosing

        return Choosing(self.by or RANDOM, self.random_share, self.floor)
