"""`labelworth studio`: it listens on this machine alone, prints the link of the manager, and ends when told."""

import signal
import socket
import subprocess
import sys

import pytest

from labelworth.campaign.campaign import Campaign
from support.command_line import labelworth
from support.studio import Browser
from support.studio_server import client, started


@pytest.fixture
def mails(tmp_path):
    path = tmp_path / "mails.db"
    with Campaign.create(path, name="Mails", classes=["ham", "spam"]) as campaign:
        campaign.add(["one", "two", "three"])
        campaign.assign(count=3)
    return str(path)


@pytest.mark.parametrize("told", [signal.SIGINT, signal.SIGTERM])
def test_the_link_of_the_manager_opens_the_page_and_the_first_interrupt_ends_it(mails, told):
    with started(mails) as (process, link), client(link) as connection:
        assert link.startswith("http://127.0.0.1:")
        boss = Browser(connection, link.partition("#")[2])
        assert "With a gold label" in boss.get("/manage").text
        boss.label("0")
        process.send_signal(told)
        assert process.wait(timeout=60) == 0
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()
    with Campaign.open(mails) as campaign:
        assert len(campaign.answers()) == 1


def test_what_cannot_be_served_is_told(mails, tmp_path):
    absent = labelworth("studio", str(tmp_path / "none.db"))
    assert absent.code == 2
    assert "There is no campaign" in absent.stderr
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = labelworth("studio", mails, "--port", str(other.getsockname()[1]))
    assert taken.code == 2
    assert "Cannot listen on 127.0.0.1" in taken.stderr
    wrong = labelworth("studio", mails, "--port", "0", "--url", "labels.example.org/x")
    assert wrong.code == 2
    assert "https://labels.example.org" in wrong.stderr


def test_a_studio_starts_without_the_compiler_and_what_plans_need():
    heavy = ("numba", "sklearn", "scipy.optimize", "matplotlib", "labelworth.planning.plan")
    code = f"import sys, labelworth.studio.serving; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
