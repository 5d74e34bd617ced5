"""
Which rows first?
=================

Rows at random are the safe choice, and what plans speak of. Rows of which the model is least sure can be worth more
per label, or nothing more at all. ``by=`` says beforehand what choosing would buy; ``labelworth next --by`` draws
such rows, each with its probability, so that later estimates can be weighted back.
"""

# %%
# One class is rare: one row in twelve. 150 of 2,000 rows have a label, drawn at random.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

import labelworth as lw

rng = np.random.default_rng(0)
truth = (rng.random(4000) < 1 / 12).astype(int)
rows = rng.standard_normal((4000, 6)) + truth[:, None] * np.array([1.6, 1.2, 0.8, 0.4, 0, 0])
pool, test = slice(0, 2000), slice(2000, None)
y = np.where(np.arange(2000) < 150, truth[pool], -1)

plan = lw.plan(rows[pool], y, model="logistic", budget=300, by="uncertainty")
chosen = plan.chosen
print(plan.lines()[0])
print(f"{chosen.n_rows} more rows at random: {chosen.error_at_random:.2%} wrong; chosen: {chosen.error:.2%}.")

# %%
# What happened, with labels bought in batches of 50: at random, and three quarters of each batch by how unsure the
# classifier is. Ten runs each, tested on 2,000 other rows.
from labelworth.policies.choosing import Choosing


def errors(by, seed):
    rng, known, told = np.random.default_rng(seed), np.arange(2000) < 150, []
    while known.sum() <= 500:
        fitted = LogisticRegression().fit(rows[pool][known], truth[pool][known])
        told.append(1 - fitted.score(rows[test], truth[test]))
        left = np.flatnonzero(~known)
        unsure = 1 - fitted.predict_proba(rows[pool][left]).max(axis=1)
        known[left[Choosing(by=by).draw(unsure, 50, rng).rows]] = True
    return told


figure, ax = plt.subplots(figsize=(7, 3.8))
for by in ("random", "uncertainty"):
    runs = np.array([errors(by, seed) for seed in range(10)])
    labels = 150 + 50 * np.arange(runs.shape[1])
    ax.errorbar(labels, runs.mean(axis=0), yerr=runs.std(axis=0) / np.sqrt(10), fmt="o-", label=f"rows by {by}")
ax.set(xlabel="labels in all", ylabel="share of wrong predictions")
ax.legend()
plt.show()

# %%
# On real texts the gain of choosing went from a half of the error to none: :doc:`/studies/chosen`.
