"""Which pilots the forecast study draws."""

from labelworth_studies.corpora.populations import CORPORA
from labelworth_studies.forecasts import forecast
from labelworth_studies.forecasts.parts.forecast_cell import factors_of


def test_factors_stop_where_labels_run_out() -> None:
    assert factors_of("rcv1", 100, 1989) == (2, 4, 8)
    assert factors_of("rcv1", 200, 1989) == (2, 4)
    assert factors_of("rcv1", 400, 1989) == (2,)


def test_every_corpus_is_forecast_for_all_its_learners() -> None:
    cells = forecast.cells(False, 0)
    for name, corpus in CORPORA.items():
        for learner in corpus.learners:
            drawn = {
                (cell["n_pilot"], cell["seed"])
                for cell in cells
                if (cell["corpus"], cell["learner"]) == (name, learner)
            }
            n_pilots = forecast.N_SLOW_PILOTS if learner in forecast.SLOW else forecast.N_PILOTS
            assert drawn == {(n_pilot, seed) for n_pilot in corpus.pilots for seed in range(n_pilots)}
    assert {cell["corpus"] for cell in cells} - set(CORPORA) == {"drawn-7", "drawn-8", "drawn-9"}
    assert len(forecast.cells(True, 0)) < len(cells) / 4
