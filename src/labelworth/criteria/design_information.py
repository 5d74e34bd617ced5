"""What single samples are worth that anybody answers: shares of them get nothing, gold, or answers of channels."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.channels.arm import Arm
from labelworth.channels.channel import Channel
from labelworth.criteria.table import Asked, InformationTable, tabulate
from labelworth.errors import InvalidInputError
from labelworth.fisher.criteria import require_n_samples
from labelworth.fisher.documents.channels import ArmSet, channel_information
from labelworth.fisher.documents.population import KindMethod
from labelworth.models.protocol import Model
from labelworth.progress import SILENT, Progress


def design_information(
    model: Model,
    *,
    kinds: Sequence[Channel | Arm],
    designs: Sequence[Sequence[float]],
    n_samples: float,
    method: KindMethod = "auto",
    seed: int = 0,
    relative_error: float = 0.01,
    max_draws: int | None = None,
    progress: Progress = SILENT,
) -> InformationTable:
    r"""What the samples of a model are worth, in every design over kinds of answers.

    .. math:: I(w) = \sum_a w_a I_a, \qquad I_a = I_{XY} - E[\operatorname{Var}(S \mid x, z)]

    with z what channel a answers. Where a confusion is unknown, I is that of model and confusion together, and
    figures are those of the model when both are estimated.

    Parameters
    ----------
    model : Model
        With the parameters taken for true.
    kinds : sequence of Channel or Arm
        A channel stands for one row answered by it, with its first number of votes; an arm for what it says, such as
        ``Arm.of(channel, gold=True)``, an audited row.
    designs : sequence of sequences of float
        Shares of samples that get nothing, gold, then each of `kinds` in order; every design sums to 1.
    n_samples : float
        All samples together.
    method : {"auto", "enumeration", "formula", "sampling", "matrix-free"}
        "auto": exact where it can be, else sampling; multinomial models with too many parameters for matrices go
        without: random probes of products over drawn documents, of which `max_draws` says how many.
    seed, relative_error, max_draws, progress
        As in `labelworth.criteria.information.document_information`.

    Raises
    ------
    InvalidInputError
        If a channel does not go with the classes, or a design with the kinds.
    MoreSamplesNeededError
        If sampling gave no sensible information within its limits.

    Examples
    --------
    A channel that is right in 80 of 100 cases, and we know that, or have to find out:

    >>> from labelworth.data.lengths import LengthDistribution
    >>> from labelworth.models.classes.multinomial import MultinomialModel
    >>> words = [[0.8, 0.2], [0.3, 0.7]]
    >>> model = MultinomialModel(("ham", "spam"), [0.5, 0.5], words, LengthDistribution.single(4))
    >>> known = Channel("known", accuracy=0.8)
    >>> unknown = Channel("unknown", [[0.8, 0.2], [0.2, 0.8]], unknown=True)
    >>> designs = [[0.9, 0.1, 0, 0], [0.4, 0.1, 0.5, 0], [0.4, 0.1, 0, 0.5]]
    >>> table = design_information(model, kinds=[known, unknown], designs=designs, n_samples=1000)
    >>> [round(1000 * point.figures["total_variance"], 3) for point in table.points]
    [2.457, 1.697, 2.011]
    """
    require_n_samples(n_samples)
    arms = ArmSet.of([Arm.of(kind) if isinstance(kind, Channel) else kind for kind in kinds], model.classes)
    if not len(designs):
        raise InvalidInputError(
            f"designs must not be empty: shares of samples that get {', '.join(arms.names)}, as in "
            f"{[1 / len(arms.arms)] * len(arms.arms)}."
        )
    weights = [arms.weights_of(design) for design in designs]
    chosen = channel_information(
        model,
        arms,
        weights,
        method,
        np.random.default_rng(seed),
        relative_error=relative_error,
        max_draws=max_draws,
        progress=progress,
    )
    asked = [Asked.of_design(shares, arms.names, arms.n_answers) for shares in weights]
    table = tabulate(chosen, asked, n_samples, relative_error=relative_error)
    return replace(table, notes=(*_order_notes(arms, weights, table), *table.notes))


def _order_notes(arms: ArmSet, weights: Sequence[FloatArray], table: InformationTable) -> list[str]:
    """Where a design tells classes apart without telling which is which."""
    notes: dict[str, None] = {}
    for shares, point in zip(weights, table.points, strict=True):
        if point.is_identifiable:
            for group in arms.exchangeable(shares):
                notes[
                    f"{point.policy}: nobody says which of {', '.join(group)} is which, so they are found only up to "
                    "their order. A gold label of each, or a channel whose confusion is known, settles it."
                ] = None
    return list(notes)
