"""The picture of the README: that of the example "how many more labels?", written where the README shows it.

python docs/readme_picture.py docs/how_many_more_labels.png      # or: make picture
"""

import runpy
import sys
from pathlib import Path

import matplotlib.pyplot as plt

from site_style import drawn_as_reports_are

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "plot_how_many_more_labels.py"

drawn_as_reports_are()
plt.show = lambda: plt.savefig(sys.argv[1], dpi=130, bbox_inches="tight")
runpy.run_path(str(EXAMPLE))
