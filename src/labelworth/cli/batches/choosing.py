"""Rows that are chosen by a score: what `next` draws with --by."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.cli.batches.documents import DocumentBatches
from labelworth.cli.inputs.documents import Documents
from labelworth.errors import InvalidInputError
from labelworth.estimators.automatic import AutomaticModel
from labelworth.estimators.reading import pool_of
from labelworth.planning.next import Batch, row_scores
from labelworth.policies.choosing import RANDOM

if TYPE_CHECKING:
    from labelworth.cli.batches.sequences import SequenceBatches
    from labelworth.cli.options import ChoosingOptions, ModelOptions, PriceOptions


def chosen_batch(
    batches: "DocumentBatches | SequenceBatches",
    counts: Mapping[str, int],
    options: "ChoosingOptions",
    model: "ModelOptions",
    prices: "PriceOptions",
    seed: int,
) -> Batch | None:
    """Fit the model, score the rows, and draw; None: nothing is to be chosen.

    Where a file says how its rows were drawn, the next batch says so too, also at random.

    Raises
    ------
    InvalidInputError
        If these are no documents to be labeled, or the model has no such score.
    """
    is_logged = isinstance(batches, DocumentBatches) and batches.samples.is_logged
    if options.by is None and (not is_logged or set(counts) != {"everything"}):
        return None
    if not isinstance(batches, DocumentBatches) or set(counts) != {"everything"}:
        raise InvalidInputError(
            "--by chooses documents that get a label; of sequences --policy says which tokens to label, and kinds of "
            "labels are drawn at random."
        )
    samples, choosing = batches.samples, options.choosing()
    if choosing.by == RANDOM:
        return batches.choose(counts["everything"], choosing, np.ones(samples.n_samples), seed)
    scores = _scores(samples, options, model, prices, seed)
    return batches.choose(counts["everything"], choosing, scores, seed)


def _scores(
    samples: Documents, options: "ChoosingOptions", model: "ModelOptions", prices: "PriceOptions", seed: int
) -> FloatArray:
    estimator = model.estimator(samples, seed, may_choose=True)
    if isinstance(estimator, AutomaticModel):
        estimator = replace(estimator, has_worth=options.by == "worth")
    pool = pool_of(samples.X_for(estimator), samples.y, estimator, unlabeled=None, seed=seed)
    each = np.full(samples.n_samples, prices.price_label + prices.price_sequence)
    if prices.price_token:
        each += prices.price_token * samples.labels_and_tokens()[1]
    return row_scores(pool, options.choosing().by, each)


def words_of(batch: Batch) -> list[str]:
    """How many rows were chosen, and how many drawn evenly."""
    drawn_by = batch.drawn_by or ()
    chosen = [by for by in drawn_by if by != RANDOM]
    if not chosen:
        return []
    return [
        f"Chosen by {chosen[0]}: {len(chosen):,}; drawn evenly: {len(drawn_by) - len(chosen):,}. Keep the columns "
        "that say so: forecasts and verdicts count every label by its probability."
    ]
