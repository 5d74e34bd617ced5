"""
Which model?
============

Several models could learn from your labels; which of them is best may change as labels are added. Leave ``model=``
out, and a plan compares a list of candidates on the pilot, with and without the unlabeled rows, and says how each is
expected to do.
"""

# %%
# Eight principal components of 700 images; 150 have a label.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

import labelworth as lw

pixels, digits = load_digits(return_X_y=True)
vectors = PCA(8, random_state=0).fit_transform(pixels)
order = np.random.default_rng(1).permutation(len(digits))[:700]
y = np.where(np.arange(700) < 150, digits[order], -1)

plan = lw.plan(vectors[order], y, budget=400)
print(*plan.lines(), sep="\n")

# %%
# Every candidate by its cross-validated error on the pilot, beside the one that was chosen (the line). The bar is the
# standard error of the difference, image by image: where it crosses the line, the choice hardly matters. How often
# this choice costs something is on record: :ref:`how far to trust it <trust>`.
models = sorted([plan.models.chosen, *plan.models.others], key=lambda model: -model.error)
figure, ax = plt.subplots(figsize=(8, 4.4))
ax.axvline(plan.models.chosen.error, color="C1")
for row, model in enumerate(models):
    ax.errorbar(model.error, row, xerr=model.difference_se, fmt="o", color="C0" if model.difference_se else "C1")
ax.set_yticks(range(len(models)), [model.name for model in models])
ax.set(xlabel="share of wrong predictions, cross-validated on 150 labels")
figure.tight_layout()
plt.show()
