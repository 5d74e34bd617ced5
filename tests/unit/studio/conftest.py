"""Studios to test with."""

from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from labelworth.campaign.campaign import Campaign
from support.studio import browser, studio_of


@pytest.fixture
def campaign(tmp_path) -> Iterator[Campaign]:
    with Campaign.create(tmp_path / "mails.db", name="Mails", classes=["ham", "news", "spam"], currency="EUR") as own:
        own.add([{"id": f"m{index}", "text": f"mail number {index}"} for index in range(30)])
        own.assign(count=10)
        yield own


@pytest.fixture
def sequences(tmp_path) -> Iterator[Campaign]:
    path = tmp_path / "names.db"
    with Campaign.create(path, name="Names", kind="sequences", classes=["O", "PER"]) as own:
        own.add(
            [{"id": f"s{index}", "tokens": ["Ann", "met", "Bob", f"in{index}", "Rome", "."]} for index in range(8)]
        )
        own.assign(count=8, policy="window:2")
        yield own


@pytest.fixture
def people(campaign) -> SimpleNamespace:
    """A studio with two annotators and a manager in it."""
    studio = studio_of(campaign)
    invited = {
        "ann": campaign.invite("ann", price=0.1),
        "bob": campaign.invite("bob", price=0.1),
        "mia": campaign.invite("mia", role="manager"),
    }
    tokens = {name: own.token for name, own in invited.items()}
    browsers = {name: browser(studio, token) for name, token in tokens.items()}
    return SimpleNamespace(studio=studio, tokens=tokens, stranger=browser(studio), campaign=campaign, **browsers)
