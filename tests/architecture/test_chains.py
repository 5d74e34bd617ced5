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
