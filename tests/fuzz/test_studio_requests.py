"""A few hundred damaged requests; `make fuzz` sends tens of thousands."""

from fuzz.studio_requests import SECONDS, fuzz


def test_no_request_ends_in_an_error_of_ours(tmp_path, seed):
    found = fuzz(400, tmp_path, seed)
    assert found["answered_badly"] == 0, found["statuses"]
    assert {"200", "401", "403"} <= set(found["statuses"]), "and some come through"
    assert found["slowest"] < SECONDS
