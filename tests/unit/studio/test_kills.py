"""A studio that is killed loses nothing that it acknowledged; `make chaos` kills it a hundred times."""

from chaos.full_disk import Disk, filled
from chaos.kills import FAULTS, chaos


def test_five_kills_lose_and_double_nothing(tmp_path):
    found = chaos(str(tmp_path / "chaos.db"), 5, n_annotators=4, longest=1.0)
    assert found["acknowledged"] > 20
    assert {name: found[name] for name in FAULTS} == dict.fromkeys(FAULTS, 0)


def test_a_full_disk_is_told_and_nothing_acknowledged_is_lost(tmp_path):
    """By files that may not grow; `make chaos` fills a file system of its own."""
    found = filled(Disk(tmp_path, is_real=False))
    assert found["told"] > 0
    assert {name: found[name] for name in FAULTS} == dict.fromkeys(FAULTS, 0)


def test_an_answer_that_was_never_kept_is_counted_as_lost(tmp_path, monkeypatch):
    """The count can fail: what clients think was acknowledged is looked for in the store."""
    from chaos import kills
    from labelworth.campaign.campaign import Campaign

    monkeypatch.setattr(kills, "LEASE_MINUTES", 0.001)
    where = str(tmp_path / "x.db")
    with Campaign.create(where, name="x", classes=["a", "b"]) as campaign:
        campaign.add(["one"])
        campaign.assign(count=1)
        campaign.invite("annotator 0")
    liar = kills.Annotator("", 0, None, None, acknowledged={"lease 7": (1, "a")})
    assert kills.counted(where, [liar])["lost"] == 1
