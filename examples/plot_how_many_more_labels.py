"""
How many more labels?
=====================

You have 1,297 images, 150 of them labeled, and money for 600 labels in all. What error will that buy, and what would
more money buy? ``lw.plan`` answers from the 150 labels alone; here the other labels are known too, so the forecast
can be held against what happens.
"""

# %%
# Hand over everything, labeled or not: ``-1`` says that nobody has looked yet. Any classifier will do. The last 500
# images are kept aside to see what came true.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import labelworth as lw

pixels, digits = load_digits(return_X_y=True)
pixels = pixels / 16
order = np.random.default_rng(0).permutation(len(digits))
pool, held_out = order[:-500], order[-500:]
y = np.where(np.arange(len(pool)) < 150, digits[pool], -1)

classifier = LogisticRegression(max_iter=1000)
plan = lw.plan(pixels[pool], y, model=classifier, budget=600)
print(*plan.lines(), sep="\n")

# %%
# The first line is the answer; what follows is why, how surely, and what to watch. The same as a page that opens in
# any browser and moves when you drag its slider: ``labelworth plan data.csv --budget 600 --report plan.html``
# (:doc:`three of them, live </live>`).
#
# Now buy the labels, at random beside the 150, five times, and look.
sizes = [150, 300, 600, 1200]
realized = np.empty((5, len(sizes)))
for draw in range(5):
    more = np.concatenate([pool[:150], np.random.default_rng(draw).permutation(pool[150:])])
    for place, size in enumerate(sizes):
        classifier.fit(pixels[more[:size]], digits[more[:size]])
        realized[draw, place] = 1 - classifier.score(pixels[held_out], digits[held_out])

curve = plan.forecast
figure, ax = plt.subplots(figsize=(7, 4))
ax.fill_between(curve.labels, curve.low, curve.high, alpha=0.2, label="90 % interval")
ax.plot(curve.labels, curve.error, label="forecast from 150 labels")
ax.plot(sizes, realized.mean(axis=0), "o", label="what happened, on 500 images kept aside")
ax.axvline(plan.recommended.labels_in_all, linestyle=":", color="gray", label="the plan")
ax.set(xscale="log", xlabel="labels in all", ylabel="share of wrong predictions", ylim=(0, None))
ax.set_xticks(sizes, labels=sizes)
ax.minorticks_off()
ax.legend()
plt.show()
