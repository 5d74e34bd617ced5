"""What a plan is asked: the question, what annotation costs, and where figures come from."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import typer

from labelworth.cli.options.choosing import CHOOSING
from labelworth.cli.options.table import COMMON, Keywords, Options

if TYPE_CHECKING:
    from labelworth.cli.inputs.documents import Documents
    from labelworth.cli.inputs.sequences import TokenSequences
    from labelworth.tradeoff.annotation_times import TimedPrices
    from labelworth.tradeoff.costs import Prices

_PLAN = "The plan"

Checkpoint = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="A folder for finished steps; the same command goes on from there.",
        rich_help_panel=_PLAN,
    ),
]


@dataclass(frozen=True)
class Question(Options):
    """Exactly one of them is asked."""

    budget: Annotated[
        float | None, typer.Option(help="The least error for this much money, with the labels that are held.")
    ] = None
    target: Annotated[
        str | None,
        typer.Option(
            metavar="TARGET",
            help="The least cost for this error: a number, or words as 'error <= 5%', 'macro-F1 >= 90%', 'recall of "
            "spam >= 95% at precision 90%'.",
        ),
    ] = None
    alpha: Annotated[float | None, typer.Option(help="The least cost + alpha x error.")] = None

    def require_valid(self) -> None:
        """Refuse none, several or an invalid one, before any work."""
        from labelworth.planning.targets import read_target
        from labelworth.tradeoff.problem import Question as TradeoffQuestion

        target, _ = read_target(self.target, None)
        TradeoffQuestion.of(budget=self.budget, target=target, alpha=self.alpha)

    def asked(self) -> dict[str, Any]:
        """A target that is a number is one in records."""
        asked = super().asked()
        if self.target is None:
            return asked
        try:
            return {**asked, "target": float(self.target)}
        except ValueError:
            return asked

    @classmethod
    def from_record(cls, asked: Mapping[str, Any], source: str) -> Self:
        target = asked.get("target")
        if isinstance(target, int | float) and not isinstance(target, bool):
            asked = {**asked, "target": repr(float(target))}
        return super().from_record(asked, source)


@dataclass(frozen=True)
class PlanOptions(Options):
    """What error means, where figures come from, what may be labeled."""

    panel: ClassVar[str] = _PLAN

    criterion: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What error means: error, log_loss, excess_error, excess_log_loss, total_variance, ...; or a metric "
            "such as macro-F1, 'recall of CLASS at precision 90%', 'precision of CLASS at recall 80%'. The share of "
            "wrong predictions unless named.",
        ),
    ] = None
    source: Annotated[
        Literal["auto", "asymptotic", "simulated"],
        typer.Option(
            metavar="SOURCE", help="asymptotic: formulas; simulated: simulated labels on the real pool; auto chooses."
        ),
    ] = "auto"
    rules: Annotated[
        str | None,
        typer.Option(
            metavar="RULES", help="For sequences: the menu of labeling rules, as everything,nothing,window:5."
        ),
    ] = None
    pool: Annotated[
        float | None, typer.Option(help="Samples that can still be had; those without a label unless given.")
    ] = None
    use_unlabeled: Annotated[
        Literal["auto", "yes", "no"],
        typer.Option(help="Learn from unlabeled data; auto: unless cross-validation says it hurts."),
    ] = "auto"
    max_time: Annotated[
        float | None,
        typer.Option(
            metavar="MINUTES",
            help="About how long simulations may take: repeats that do not fit are left out, and said. Where not "
            "even the least fits, the plan is refused once the first refits were timed.",
        ),
    ] = None
    kind: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND",
            help="Again and again: who else can be asked, as 'expert: price 0.5, accuracy 0.97', "
            "'crowd: price 0.02, confusion 0.85 0.15 / 0.30 0.70, votes 1 3 5, unknown', 'screener: question spam, "
            "price 0.05, accuracy 0.95'. Gold labels cost --price-label.",
        ),
        Keywords("channels"),
    ] = None
    kinds: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The same from a file: a kind per line, indented lines (YAML), or JSON."),
    ] = None

    by: Annotated[
        Literal["random", "uncertainty", "worth"],
        CHOOSING,
    ] = "random"

    def asked(self) -> dict[str, Any]:
        """Without what was not asked for, as records were before it could be."""
        asked = super().asked()
        return {
            name: value
            for name, value in asked.items()
            if not (name in ("kind", "kinds") and not value) and (name, value) != ("by", "random")
        }

    def arguments(self) -> dict[str, Any]:
        """As the library takes them: kinds of labels are channels."""
        asked = super().asked()
        kind, kinds = asked.pop("kind"), asked.pop("kinds")
        if asked["by"] == "random":
            del asked["by"]
        if not (kind or kinds):
            return asked
        from labelworth.channels.kinds import kinds_of, read_kinds

        return {**asked, "channels": kinds_of([*(read_kinds(kinds) if kinds else ()), *(kind or ())])}


@dataclass(frozen=True)
class PriceOptions(Options):
    """What annotation costs: as said, or by the times that a column of the data says."""

    panel: ClassVar[str] = "Prices"

    price_label: Annotated[
        float, typer.Option(help="What one label costs.", rich_help_panel=COMMON), Keywords("per_label")
    ] = 1.0
    price_token: Annotated[float, typer.Option(help="Of reading one token."), Keywords("per_token")] = 0.0
    price_sequence: Annotated[
        float, typer.Option(help="Of opening one document or sequence."), Keywords("per_sequence")
    ] = 0.0
    price_unlabeled: Annotated[
        float, typer.Option(help="Of having one unlabeled sample."), Keywords("per_unlabeled")
    ] = 0.0
    price_fixed: Annotated[float, typer.Option(help="Paid once."), Keywords("fixed")] = 0.0
    seconds_column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="A column that says how many seconds annotators took for a row: prices per label, token and "
            "sequence are estimated from it.",
        ),
    ] = None
    currency: Annotated[
        str | None, typer.Option(metavar="UNIT", help="What money is in, as EUR or $: stands before every amount.")
    ] = None
    price_hour: Annotated[
        float, typer.Option(help="Of an hour of annotation, with --seconds-column; 3600 counts in seconds.")
    ] = 3600.0

    def asked(self) -> dict[str, Any]:
        """Without a currency, as records were before there was one."""
        return {name: value for name, value in super().asked().items() if name != "currency" or value is not None}

    def prices(self, data: "Documents | TokenSequences", say: Callable[[str], None]) -> "Prices":
        """Prices as the library takes them; those that are measured are said."""
        from labelworth.tradeoff.costs import Prices

        said = Prices(self.price_label, self.price_token, self.price_sequence, self.price_unlabeled, self.price_fixed)
        self._require_consistent()
        if self.seconds_column is None:
            return said
        timed = prices_of_column(data, self.seconds_column, self.price_hour)
        say(timed.words(self.currency or ""))
        return replace(timed.prices, per_unlabeled=said.per_unlabeled, fixed=said.fixed)

    def _require_consistent(self) -> None:
        from labelworth.errors import InvalidInputError

        if not (isfinite(self.price_hour) and self.price_hour > 0):
            raise InvalidInputError(f"--price-hour must be a positive number. Got {self.price_hour:g}.")
        usual = PriceOptions()
        if self.seconds_column is None:
            if self.price_hour != usual.price_hour:
                raise InvalidInputError(
                    "--price-hour goes with --seconds-column, which says how long annotators took."
                )
        elif any(getattr(self, name) != getattr(usual, name) for name in _MEASURED):
            raise InvalidInputError(
                "--seconds-column estimates the prices of labels, tokens and sequences; leave --price-label, "
                "--price-token and --price-sequence out, and say with --price-hour what an hour costs."
            )


_MEASURED = ("price_label", "price_token", "price_sequence")


def prices_of_column(data: "Documents | TokenSequences", column: str, per_hour: float) -> "TimedPrices":
    """What annotation costs by the seconds in a column, from the samples that carry labels and a time.

    Parameters
    ----------
    per_hour : float
        What an hour of annotation costs.
    """
    import numpy as np

    from labelworth.data.readers.cells import missing_column
    from labelworth.errors import InvalidInputError
    from labelworth.tradeoff.annotation_times import prices_from_times

    path, written = data.options.path, data.written()
    if written is None:
        raise InvalidInputError(f"{path} has no columns: annotation times go with files of one sample per row.")
    if column not in written.names:
        raise missing_column(str(path), column, written.names, "seconds_column")
    seconds = np.array([written.seconds(row, column) for row in data.objects(written)])
    labels, tokens = data.labels_and_tokens()
    timed = ~np.isnan(seconds) & (labels > 0)
    if not timed.any():
        raise InvalidInputError(f"No labeled row of {path} has a time in the column {column!r}.")
    return prices_from_times(seconds[timed], labels[timed], tokens[timed], per_hour=per_hour)
