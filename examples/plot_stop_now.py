"""
Stop now?
=========

Every label lowers the error a little less than the one before it. Say what an error costs you, and a plan says
whether the next labels are worth their price. Ask again after each batch.
"""

# %%
# A point of error (one wrong row in a hundred) costs 400, so an error of 100 % costs 40,000; a label costs 1. Three
# rounds.
import matplotlib.pyplot as plt
import numpy as np

import labelworth as lw

rng = np.random.default_rng(3)
words = 0.6 * rng.dirichlet(np.full(150, 0.6)) + 0.4 * rng.dirichlet(np.full(150, 0.4), size=3)
truth = rng.integers(3, size=2000)
counts = np.array([rng.multinomial(10, words[code]) for code in truth])

rounds = []
for n_labels in (200, 500, 1200):
    y = np.where(np.arange(2000) < n_labels, truth, -1)
    plan = lw.plan(counts, y, model="multinomial", alpha=40_000, n_draws=50)
    print(f"With {n_labels} labels: {plan.lines()[0]}")
    curve = plan.forecast
    rounds.append((n_labels, curve.labels, [40_000 * gain for gain in curve.gain]))
    if plan.advice == "stop":
        break

# %%
# What the next label saves, as seen from each round. Where the line falls below the price of a label, it is time to
# stop. A forecast from few labels is rough, and so is the place where it crosses: that is why one asks again.
figure, ax = plt.subplots(figsize=(7, 3.6))
for held, labels, saved in rounds:
    ax.plot(labels, saved, label=f"seen from {held} labels")
ax.axhline(1.0, linestyle=":", color="gray", label="price of a label")
ax.set(xscale="log", yscale="log", xlabel="labels in all", ylabel="money that the next label saves")
ax.legend()
plt.show()
