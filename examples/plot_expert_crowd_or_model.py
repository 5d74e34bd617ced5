"""
Expert, crowd or model?
=======================

A gold label costs 1.00, an expert 0.50, a crowd answer 0.02, a language model 0.001, and all but gold are sometimes
wrong. For the same money, whom should you ask, and about how many documents?
"""

# %%
# Five hundred documents of three classes, 100 of them with a gold label.
import matplotlib.pyplot as plt
import numpy as np

import labelworth as lw

rng = np.random.default_rng(0)
classes = np.array(["bill", "complaint", "praise"])
words = 0.7 * rng.dirichlet(np.full(150, 0.5)) + 0.3 * rng.dirichlet(np.full(150, 0.3), size=3)
truth = rng.choice(3, size=500, p=[0.4, 0.35, 0.25])
counts = np.array([rng.multinomial(12, words[code]) for code in truth])
y = np.where(np.arange(500) < 100, classes[truth], "")

# %%
# Say who can be asked. How often crowd and model are right is a guess here (``unknown``): it will be estimated with
# the classifier, from documents that have both an answer and a gold label.
plan = lw.plan(
    counts,
    y,
    model=lw.MultinomialNaiveBayes(unlabeled=""),
    classes=classes,
    budget=140,
    prices={"per_label": 1.0},
    channels=[
        "expert: price 0.5, accuracy 0.95",
        "crowd: price 0.02, accuracy 0.75, votes 1 3, unknown",
        "model: price 0.001, accuracy 0.8, unknown",
    ],
    seed=0,
)
print(*plan.lines(), sep="\n")

# %%
# What an answer of each kind is worth at most, beside what you pay for it.
known = [kind for kind in plan.kinds if kind.worth is not None]
place = np.arange(len(known))
figure, ax = plt.subplots(figsize=(7, 3))
ax.barh(place + 0.2, [kind.worth for kind in known], 0.36, label="worth at most")
ax.barh(place - 0.2, [kind.price for kind in known], 0.36, label="price")
ax.set_yticks(place, [kind.kind for kind in known])
ax.set(xscale="log", xlabel="money per answer")
ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
figure.tight_layout()
plt.show()
