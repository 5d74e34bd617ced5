"""
A metric I am held to
=====================

"Find 90 % of the fraud, and nine of ten alarms must be right." Such a target is a sentence here:
``recall of fraud >= 90% at precision 90%``. The plan says the least that it costs.
"""

# %%
# One row in eight is fraud. 200 of 2,000 rows have a label.
import matplotlib.pyplot as plt
import numpy as np

import labelworth as lw

rng = np.random.default_rng(1)
truth = rng.random(2000) < 1 / 8
rows = rng.standard_normal((2000, 10)) + truth[:, None] * np.linspace(1.6, 0.2, 10)
y = np.where(np.arange(2000) < 200, np.where(truth, "fraud", "fine"), "")

plan = lw.plan(
    rows, y, model="logistic", unlabeled="", target="recall of fraud >= 90% at precision 90%", currency="EUR"
)
print(*plan.lines(), sep="\n")

# %%
# The metric over the number of labels, as forecast from the pilot.
curve = plan.forecast
figure, ax = plt.subplots(figsize=(7, 3.8))
low, middle, high = (1 - np.array(line) for line in (curve.high, curve.error, curve.low))
ax.fill_between(curve.labels, low, high, alpha=0.2, label="90 % interval")
ax.plot(curve.labels, middle, label="forecast")
ax.axhline(0.9, linestyle=":", color="gray", label="the target")
ax.set(xscale="log", xlabel="labels in all", ylabel="recall at precision 90 %")
ax.legend()
plt.show()
