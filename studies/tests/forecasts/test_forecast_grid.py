"""Which pilots the forecast studies draw."""

from labelworth_studies.corpora.populations import DRAWN
from labelworth_studies.forecasts import forecast, forecast_tuning
from labelworth_studies.forecasts.parts.forecast_cell import factors_of


def test_factors_stop_where_labels_run_out() -> None:
    assert factors_of("rcv1", 100, 1989) == (2, 4, 8)
    assert factors_of("rcv1", 200, 1989) == (2, 4)
    assert factors_of("rcv1", 400, 1989) == (2,)


def test_tuning_and_table_share_no_pilot() -> None:
    tuned = {(cell["corpus"], cell["seed"]) for cell in forecast_tuning.cells(False, 0)}
    shown = {(cell["corpus"], cell["seed"]) for cell in forecast.cells(False, 0)}
    assert not tuned & shown
    assert {corpus for corpus, _ in tuned} == {"newsgroups", "r52", *(f"drawn-{place}" for place in range(1, 7))}
    assert not {corpus for corpus, _ in tuned if corpus in DRAWN} & {corpus for corpus, _ in shown}
    assert len(forecast.cells(False, 0)) == 4 * 3 * 20 + 3 * 2 * 20
