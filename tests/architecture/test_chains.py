"""Documents are fitted without the machinery of sequences."""

import subprocess
import sys

FIT = """
import sys
import labelworth as lw
classifier = lw.MultinomialNaiveBayes().fit([[2, 0], [1, 0], [0, 2], [1, 1]], [0, 0, 1, -1])
classifier.predict([[1, 0]])
print([name for name in sys.modules if name.startswith(("labelworth.kernels.chains", "labelworth.models.chains"))])
"""


def test_fitting_documents_loads_no_kernel_or_model_of_chains() -> None:
    finished = subprocess.run([sys.executable, "-c", FIT], capture_output=True, text=True, check=True)
    assert finished.stdout == "[]\n"


ASKED = """
import sys
import labelworth as lw
from labelworth.data.lengths import LengthDistribution
from labelworth.models.classes.multinomial import MultinomialModel
words = [[0.8, 0.2], [0.3, 0.7], [0.5, 0.5]]
model = MultinomialModel(("a", "b", "c"), [0.2, 0.3, 0.5], words, LengthDistribution.single(4))
lw.information(model, labeled_fractions=[0.5], n_samples=10)
lw.information(model, labeled_fractions=[0.5], n_samples=10, method="sampling", max_draws=200)
rooms = ("kernels.chains", "models.chains", "fisher.sequences", "fisher.matrix_free", "policies", "data.sequences")
print([name for name in sys.modules if name.startswith(tuple(f"labelworth.{room}" for room in rooms))])
"""


def test_asking_what_documents_are_worth_loads_nothing_of_sequences() -> None:
    finished = subprocess.run([sys.executable, "-c", ASKED], capture_output=True, text=True, check=True)
    assert finished.stdout == "[]\n"
