"""Documents drawn from models whose classes overlap."""

import numpy as np
import pytest

from labelworth.errors import InvalidInputError
from labelworth_studies.corpora import populations as forecast_data


def test_drawn_documents_are_the_same_whenever_they_are_drawn_and_overlap() -> None:
    whole = forecast_data.population("drawn-1")
    again = forecast_data.WORLDS["drawn-1"].draw(whole.data.n_samples)
    assert (again.counts != whole.data.counts).nnz == 0
    np.testing.assert_array_equal(again.evidence.codes, whole.data.evidence.codes)
    # Even a fit to all of them errs.
    model = whole.learner.fit(whole.data)
    wrong = whole.learner.predict(model, whole.data).best != whole.data.evidence.codes
    assert 0.1 < wrong.mean() < 0.4
    with pytest.raises(InvalidInputError, match="no corpus"):
        forecast_data.corpus_of("drawn-99")
