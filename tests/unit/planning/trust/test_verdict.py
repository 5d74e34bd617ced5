"""What is said of unlabeled data, and what is done where nothing can be said."""

from labelworth.planning.trust.verdict import Verdict, _measured
from labelworth.robust.harm import PairedDifference, combined


def test_the_figures_shown_are_those_that_decided() -> None:
    error = PairedDifference("error", 0.121, 0.122, 0.001, 0.01)
    log_loss = PairedDifference("log_loss", 0.41, 0.62, 0.21, 0.02)
    assert combined(error, log_loss) == "hurts"
    told = _measured("hurts", error, log_loss, "only on 100 held-out labels")
    assert told.words == "it hurts (log-loss 0.62 with it and 0.41 with labels only on 100 held-out labels)."
    clear = PairedDifference("error", 0.12, 0.19, 0.07, 0.01)
    assert "(error 19 % with it and 12 % with" in _measured("hurts", clear, log_loss, "only").words
    unclear = PairedDifference("log_loss", 0.41, 0.42, 0.01, 0.02)
    assert "(error 12.2 % with it and 12.1 % with" in _measured("cannot be told", error, unclear, "only").words


def test_what_cannot_be_told_and_looks_worse_is_left_alone() -> None:
    assert not Verdict("cannot be told", "", 0.172, 0.183).allows_use
    assert Verdict("cannot be told", "", 0.183, 0.172).allows_use
    assert Verdict("helps", "", 0.172, 0.183).allows_use
    # A model that was chosen with or without it has decided.
    assert Verdict("cannot be told", "", 0.172, 0.183, is_used=True).allows_use
