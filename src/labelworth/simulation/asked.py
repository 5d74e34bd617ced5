"""Designs over kinds of labels where the truth is known: labels drawn for the real pool, answers drawn given them.

An answer of a channel to a row of the simulated label y is drawn from q(. | y), the same for all designs, so that
their differences are far less noisy than they are. Confusions that are not known are estimated in every refit, from
the usual prior and not from the guess that answers are drawn by.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from labelworth.arrays import FloatArray
from labelworth.channels.arm import Arm
from labelworth.channels.channel import Channel
from labelworth.channels.forms.form import Classes
from labelworth.channels.forms.question import IsItOneOf
from labelworth.data.answers import Answers
from labelworth.data.evidence import Evidence
from labelworth.data.protocol import DataT
from labelworth.errors import InvalidInputError
from labelworth.policies.rule import Rule
from labelworth.progress import SILENT, Progress
from labelworth.simulation.jobs import Keep, Refit, keep_nothing, run_fits
from labelworth.simulation.learner import Learner
from labelworth.simulation.metrics import Metric
from labelworth.simulation.simulator import LabelSource, Replicate


@dataclass(frozen=True)
class AskedDesign:
    """How many gold labels there are already, and how many more rows go to every arm."""

    n_gold: int
    counts: tuple[int, ...]

    @property
    def n_rows(self) -> int:
        return self.n_gold + sum(self.counts)

    @property
    def name(self) -> str:
        return f"{self.n_gold}+{','.join(map(str, self.counts))}"


def refit_channel(channel: Channel, classes: Classes) -> Channel:
    """What a refit is told of a channel: all that is known; where that is nothing, that it answers.

    Its votes are of different annotators that are alike, so all of them count.

    Raises
    ------
    InvalidInputError
        If its answers are neither classes nor yes and no.
    """
    is_question = isinstance(channel.form, IsItOneOf)
    if not is_question and channel.table(classes).probabilities.shape[1] != len(classes):
        raise InvalidInputError(
            f"Simulated plans take kinds of labels that answer with a class, or yes and no to a question. Got "
            f"{channel.name!r}, whose answers are {', '.join(channel.table(classes).answers)}: take "
            "source='asymptotic'."
        )
    if channel.is_unknown:
        return Channel(channel.name, "unknown", independent=True)
    return Channel(channel.name, channel.form, independent=True)


class AskedReplicate(Replicate[DataT]):
    """One draw of labels, and of all that channels could be asked about the positions of the pool.

    Arm by arm, `parts` are the rules by which positions are chosen; none: samples are asked about whole.
    """

    def __init__(
        self,
        data: DataT,
        source: LabelSource,
        n_held_out: int,
        seed: int,
        replicate: int,
        arms: Sequence[Arm],
        parts: Sequence[Rule] = (),
    ) -> None:
        super().__init__(data, source, n_held_out, seed, replicate)
        self.arms, classes = tuple(arms), data.evidence.classes
        # The same random numbers for every rule, as where curves of rules are simulated.
        pool = self.pool
        every = np.arange(pool.n_samples)
        self._chosen_by = [rule.draw_for(pool, every, np.random.default_rng(self.policy_seed)) for rule in parts]
        most: dict[str, int] = {}
        channels: dict[str, Channel] = {}
        for arm in arms:
            for channel, count in arm.asked:
                channels[channel.name] = channel
                most[channel.name] = max(most.get(channel.name, 0), count)
        self._names = tuple(channels)
        self._said: dict[str, Any] = {}  # By channel, (votes, n): Codes of evidence of what it would say.
        weights = [np.empty((0, len(classes)))]
        n_weights = 0
        truth = pool.evidence.codes
        for number, (name, channel) in enumerate(channels.items()):
            rng = np.random.default_rng([seed, replicate, 1 + number])
            shares = channel.table(classes).probabilities.cumsum(axis=1)[truth]
            uniforms = rng.random((most[name], len(truth), 1)) * shares[:, -1:]
            said = np.minimum((uniforms >= shares).sum(axis=2), shares.shape[1] - 1)
            if isinstance(channel.form, IsItOneOf):
                inside = channel.form.inside(name, classes)
                weights.append(np.stack([inside, 1 - inside]))
                said = -2 - n_weights - said
                n_weights += 2
            self._said[name] = said
        self._weights = np.concatenate(weights)

    def shown(self, design: AskedDesign) -> DataT:
        """The pool with gold and answers where a design has them: gold first, then arm by arm, in random order."""
        pool = self.pool
        codes = np.full(pool.evidence.n_samples, -1)
        gold = pool.positions_of(self.order[: design.n_gold])
        codes[gold] = pool.evidence.codes[gold]
        start, rows, annotators, said = design.n_gold, [], [], []
        for index, (arm, count) in enumerate(zip(self.arms, design.counts, strict=True)):
            part = pool.positions_of(self.order[start : start + count])
            if self._chosen_by:
                part = part[self._chosen_by[index][part]]
            start += count
            if arm.has_gold:
                codes[part] = pool.evidence.codes[part]
            for channel, votes in arm.asked:
                for vote in range(votes):
                    rows.append(part)
                    annotators.append(np.full(len(part), self._names.index(channel.name)))
                    said.append(self._said[channel.name][vote, part])
        evidence = Evidence(codes, pool.evidence.classes)
        data = pool.with_evidence(evidence)
        if not sum(map(len, rows)):
            return data
        given = Evidence(np.concatenate(said), evidence.classes, self._weights)
        answers = Answers(np.concatenate(rows), np.concatenate(annotators), self._names, given)
        known: Any = data
        answered: DataT = replace(known, answers=answers.take(np.arange(answers.n_answers)))
        return answered

    def asked_losses(
        self, learner: Learner[DataT], design: AskedDesign, metrics: Sequence[Metric] = ()
    ) -> tuple[float, ...]:
        """Error, log-loss and shortfalls of a refit to what the design shows."""
        return self.judged(learner, self.shown(design), metrics)


def simulate_asked(
    learner: Learner[DataT],
    data: DataT,
    source: LabelSource,
    arms_of: Callable[[int], Sequence[Arm]],
    designs: Sequence[AskedDesign],
    *,
    parts: Sequence[Rule] = (),
    n_held_out: int,
    replicates: Sequence[int],
    seed: int,
    metrics: Sequence[Metric] = (),
    workers: int | None = 1,
    progress: Progress = SILENT,
    keep: Keep = keep_nothing,
) -> FloatArray:
    """Losses of every design in every replicate, (n_replicates, n_designs, 2 + n_metrics).

    Parameters
    ----------
    learner : Learner
        That learns from answers, in the mode that the plan has.
    arms_of : function
        The arms of a replicate: the same, but that confusions may be drawn anew as surely as they are known.
    parts : sequence of Rule
        About which part of a sample every arm asks; none: about all of it.
    replicates : sequence of int
        Their numbers; the same number is the same draw of everything.
    """
    drawn = {
        number: AskedReplicate(data, source, n_held_out, seed, number, arms_of(number), parts)
        for number in replicates
    }
    jobs = [(number, design) for number in replicates for design in designs]

    def fit(job: tuple[int, AskedDesign]) -> Refit[tuple[float, ...]]:
        return Refit(AskedReplicate.asked_losses, drawn[job[0]], (learner, job[1], tuple(metrics)))

    losses = run_fits(
        fit,
        jobs,
        name=lambda job: f"asked/{job[0]}/{job[1].name}",
        keep=keep,
        in_processes=learner.in_processes,
        workers=workers,
        title="simulating answers",
        progress=progress,
        work=lambda job: learner.work(job[1].n_rows, data.n_samples),
    )
    return np.array(losses).reshape(len(replicates), len(designs), 2 + len(metrics))
