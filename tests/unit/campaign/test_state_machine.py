"""Random histories of a campaign against a simple model of it in memory."""

import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import labelworth as lw
from labelworth.campaign.campaign import Campaign
from unit.campaign.conftest import Clock, new_database

CLASSES = ("a", "b", "c")
PEOPLE = ("ann", "bob", "eve")
MINUTES = 10.0


@dataclass
class Model:
    """What a campaign should hold."""

    votes: dict[int, int] = field(default_factory=dict)  # By request.
    item_of: dict[int, int] = field(default_factory=dict)
    leases: dict[tuple[str, int], float] = field(default_factory=dict)  # By who holds what, when it runs out.
    ever: set[tuple[str, int]] = field(default_factory=set)
    standing: dict[tuple[str, int], tuple[int, object]] = field(default_factory=dict)  # Number and what was said.
    keys: dict[tuple[str, str], tuple[object, ...]] = field(default_factory=dict)
    log: list[tuple[str, int, object]] = field(default_factory=list)

    def held_by(self, name: str, now: float) -> list[int]:
        return [request for (who, request), until in self.leases.items() if who == name and until > now]

    def expire(self, now: float) -> None:
        self.leases = {key: until for key, until in self.leases.items() if until > now}

    def items_of(self, name: str) -> set[int]:
        answered = {self.item_of[request] for who, request in self.standing if who == name}
        return answered | {self.item_of[request] for who, request in self.leases if who == name}

    def taken(self, request: int) -> int:
        given = sum(other == request for _, other in self.standing)
        return given + sum(other == request for _, other in self.leases)


class Histories(RuleBasedStateMachine):
    """Anybody does anything at any time."""

    def where(self) -> str:
        self.folder = tempfile.TemporaryDirectory()
        return str(Path(self.folder.name) / "campaign.db")

    @initialize(votes=st.integers(1, 3), n_items=st.integers(1, 6))
    def begin(self, votes, n_items):
        self.clock, self.model = Clock(), Model()
        self.place = self.where()
        self.campaign = Campaign.create(
            self.place, name="x", classes=CLASSES, lease_minutes=MINUTES, clock=self.clock, votes=votes
        )
        self.campaign.add([f"text {number}" for number in range(n_items)])
        self.people = {name: self.campaign.invite(name, price=0.5).person for name in PEOPLE}
        self.n_free, self.n_keys = n_items, 0

    @precondition(lambda self: self.n_free)
    @rule(data=st.data())
    def assign(self, data):
        count = data.draw(st.integers(1, self.n_free))
        votes = data.draw(st.integers(1, 3))
        self.campaign.assign(count=count, votes=votes)
        self.n_free -= count
        number = max(self.model.votes, default=0)
        while (request := self.campaign.request(number + 1)) is not None:
            number += 1
            self.model.votes[number], self.model.item_of[number] = votes, request.item_id

    @rule(name=st.sampled_from(PEOPLE), n=st.integers(1, 4))
    def lease(self, name, n):
        now = self.clock.now
        self.model.expire(now)
        before = self.model.held_by(name, now)
        held = [task.request.id for task in self.campaign.lease(self.people[name], n)]
        assert held[: len(before)] == before[:n]
        for request in held[len(before) :]:
            assert self.model.item_of[request] not in self.model.items_of(name)
            assert self.model.taken(request) < self.model.votes[request]
            self.model.leases[name, request] = now + 60 * MINUTES
            self.model.ever.add((name, request))
        if len(held) < n:
            free = [one for one in self.model.votes if self.model.taken(one) < self.model.votes[one]]
            assert {self.model.item_of[request] for request in free} <= self.model.items_of(name)

    @rule(minutes=st.sampled_from([1.0, 4.0, 11.0]))
    def wait(self, minutes):
        self.clock.go_on(minutes)

    @precondition(lambda self: self.model.votes)
    @rule(data=st.data(), name=st.sampled_from(PEOPLE), said=st.sampled_from([*CLASSES, None, ("a", "b")]))
    def answer(self, data, name, said):
        now, own = self.clock.now, sorted(request for who, request in self.model.ever if who == name)
        request = data.draw(st.sampled_from(own or sorted(self.model.votes)))
        self.n_keys += 1
        key = f"k{self.n_keys}"
        has_answered = any(
            who == name and self.model.item_of[other] == self.model.item_of[request]
            for who, other in self.model.standing
        )
        holds = self.model.leases.get((name, request), 0.0) > now
        # Of leases that ran out, those that nobody looked at since still count as held by others.
        others = self.model.taken(request) - ((name, request) in self.model.leases)
        is_wanted = (name, request) in self.model.ever and others < self.model.votes[request]
        if has_answered or not (holds or is_wanted):
            with pytest.raises(lw.NotWantedError):
                self.campaign.answer(self.people[name], request, said, key=key, seconds=1)
            return
        done = self.campaign.answer(self.people[name], request, said, key=key, seconds=1)
        assert done.is_new
        self.model.leases.pop((name, request), None)
        self.model.standing[name, request] = (done.answer_id, said)
        self.model.keys[name, key] = (request, said, done.answer_id)
        self.model.log.append((name, request, said))

    @precondition(lambda self: self.model.keys)
    @rule(data=st.data())
    def send_again(self, data):
        name, key = data.draw(st.sampled_from(sorted(self.model.keys)))
        request, said, number = self.model.keys[name, key]
        again = self.campaign.answer(self.people[name], request, said, key=key, seconds=9)
        assert (again.is_new, again.answer_id) == (False, number)
        other = "c" if said != "c" else "b"
        with pytest.raises(lw.NotWantedError):
            self.campaign.answer(self.people[name], request, other, key=key)

    @rule(name=st.sampled_from(PEOPLE))
    def undo(self, name):
        own = {number: request for (who, request), (number, _) in self.model.standing.items() if who == name}
        self.n_keys += 1
        if not own:
            with pytest.raises(lw.NotWantedError):
                self.campaign.undo(self.people[name], key=f"k{self.n_keys}")
            return
        request = own[max(own)]
        back = self.campaign.undo(self.people[name], key=f"k{self.n_keys}")
        assert back.task.request.id == request
        del self.model.standing[name, request]
        self.model.leases[name, request] = self.clock.now + 60 * MINUTES
        self.model.log.append((name, request, "undo"))

    @rule(name=st.sampled_from(PEOPLE))
    def release(self, name):
        own = [request for who, request in self.model.leases if who == name]
        assert self.campaign.release(self.people[name]) == len(own)
        for request in own:
            del self.model.leases[name, request]

    @rule()
    def look(self):
        now = self.clock.now
        status = self.campaign.status()
        live = [key for key, until in self.model.leases.items() if until > now]
        assert status.given == len(self.model.standing)
        assert status.held == len(live)
        assert status.wanted == sum(self.model.votes.values())
        assert status.due == status.wanted - status.given - status.held
        assert status.spent == 0.5 * len(self.model.standing)
        told = {key for key, (_, said) in self.model.standing.items() if said is not None}
        assert status.n_labeled == len({self.model.item_of[request] for _, request in told})
        assert {
            one.person.name: (one.others_agreed, one.others_compared) for one in status.people
        } == self.agreement()

    def agreement(self) -> dict[str, tuple[int, int]]:
        counts = {name: [0, 0] for name in PEOPLE}
        for (name, request), (_, said) in self.model.standing.items():
            for (other, also), (_, theirs) in self.model.standing.items():
                is_same = self.model.item_of[also] == self.model.item_of[request]
                if other != name and is_same and isinstance(said, str) and isinstance(theirs, str):
                    counts[name][0] += said == theirs
                    counts[name][1] += 1
        return {name: (agreed, in_all) for name, (agreed, in_all) in counts.items()}

    @rule()
    def open_again(self):
        self.campaign.close()
        self.campaign = Campaign.open(self.place, clock=self.clock)

    @invariant()
    def the_log_holds_all_that_was_acknowledged(self):
        if not hasattr(self, "campaign"):
            return
        log = self.campaign.answers(limit=10_000)
        said = [entry for entry in self.model.log if entry[2] != "undo"]
        assert [(one.annotator, one.request_id, one.said[0]) for one in reversed(log)] == said
        stands = Counter((one.annotator, one.request_id) for one in log if one.stands)
        assert stands == Counter(self.model.standing.keys())

    def teardown(self):
        if hasattr(self, "campaign"):
            self.campaign.close()
        if hasattr(self, "folder"):
            self.folder.cleanup()


class PostgresHistories(Histories):
    server: str

    def where(self) -> str:
        self.database = new_database(self.server)
        return self.database.__enter__()

    def teardown(self):
        super().teardown()
        if hasattr(self, "database"):
            self.database.__exit__(None, None, None)


def run(machine, examples: int) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=40,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_random_histories_on_sqlite():
    run(Histories, 30)


def test_random_histories_on_postgresql(postgres):
    PostgresHistories.server = postgres
    run(PostgresHistories, 15)
