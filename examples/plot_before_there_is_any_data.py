"""
Before there is any data
========================

No labels, not even a pilot, but an idea of what the data looks like: how different the classes are, how long the
documents. That is enough to say what labeled and unlabeled documents would be worth, exactly.
"""

# %%
# Two classes, 1,000 words with Zipf's frequencies, documents of 20 words. The classes use a tenth of the words
# differently.
import matplotlib.pyplot as plt
import numpy as np

import labelworth as lw
from labelworth.data.lengths import LengthDistribution
from labelworth.models.classes.multinomial import MultinomialModel

rng = np.random.default_rng(0)
zipf = 1 / np.arange(1, 1001)
tilt = np.where(rng.random(1000) < 0.1, rng.choice([1 / 3, 3.0], size=1000), 1.0)
words = np.array([zipf / zipf.sum(), zipf * tilt / (zipf * tilt).sum()])
truth = MultinomialModel(("ham", "spam"), np.array([0.5, 0.5]), words, LengthDistribution.single(20))

table = lw.information(truth, labeled_fractions=np.geomspace(0.01, 1, 20), n_samples=10_000)
print(f"By {table.method}: no simulation, no standard error.")

# %%
# How many unlabeled documents do as much good as one more label, and what the excess log-loss is (how much worse
# than the best possible predictions), over the share of documents that are labeled.
figure, axes = plt.subplots(1, 2, figsize=(9, 3.8))
lw.InformationDisplay(table, "excess_log_loss").plot(ax=axes[0])
lw.InformationDisplay(table, "unlabeled_per_label").plot(ax=axes[1])
for ax in axes:
    ax.set_title("")
figure.tight_layout()
plt.show()

# %%
# Read it as a trade: what labels cost against what collecting documents costs. On the command line the same is asked
# with a small JSON file: ``labelworth information spec.json``; and once there are labels, ask
# ``lw.plan`` (:ref:`how many more labels? <sphx_glr_gallery_plot_how_many_more_labels.py>`).
for fraction in (0.01, 0.1, 1.0):
    point = min(table.points, key=lambda point: abs(point.labeled_fraction - fraction))
    worth = point.figures["unlabeled_per_label"]
    print(f"{point.labeled_fraction:.0%} labeled: a label is worth {worth:.1f} unlabeled documents")
