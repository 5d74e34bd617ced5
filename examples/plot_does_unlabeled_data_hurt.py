"""
Does my unlabeled data hurt?
============================

Learning from unlabeled rows helps where the model is right and can hurt where it is wrong; more of them make it
worse then. ``lw.check`` tries both on your pilot and says "helps", "hurts" or "cannot be told".
"""

# %%
# The same 150 labels, once with a model that is right about the data, once with one that is not: documents also have
# a topic that has nothing to do with the class, and unlabeled rows teach naive Bayes the topics.
import matplotlib.pyplot as plt
import numpy as np

import labelworth as lw

rng = np.random.default_rng(4)
n_words, n = 60, 3000
words = rng.dirichlet(np.full(n_words, 1.5), size=2)
truth = rng.integers(2, size=n)
right = np.array([rng.multinomial(10, words[code]) for code in truth])
topics = rng.integers(3, size=n)  # what else a document is about, whatever its class
about = rng.dirichlet(np.full(n_words, 0.2), size=3)
wrong = np.array([rng.multinomial(10, 0.4 * words[c] + 0.6 * about[t]) for c, t in zip(truth, topics, strict=True)])

y = np.where(np.arange(n) < 150, truth, -1)[:2000]
for name, counts in {"right": right, "wrong": wrong}.items():
    report = lw.check(counts[:2000], y, model="multinomial", specification=False)
    print(f"The model is {name}:", *report.lines(), sep="\n  ", end="\n\n")

# %%
# What happened, on a thousand other documents: the error with labels alone, and with the unlabeled rows as well.
sizes = [50, 150, 500, 1500]
figure, axes = plt.subplots(1, 2, figsize=(8, 3.6), sharey=True)
for ax, (name, counts) in zip(axes, {"right": right, "wrong": wrong}.items(), strict=True):
    for label, weight in {"labels alone": 0.0, "with unlabeled rows": 1.0}.items():
        errors = []
        for size in sizes:
            known = np.where(np.arange(2000) < size, truth[:2000], -1)
            model = lw.MultinomialNaiveBayes(unlabeled_weight=weight).fit(counts[:2000], known)
            errors.append(np.mean(model.predict(counts[2000:]) != truth[2000:]))
        ax.plot(sizes, errors, "o-", label=label)
    ax.set(title=f"the model is {name}", xscale="log", xlabel="labels")
axes[0].set(ylabel="share of wrong predictions", ylim=(0, None))
axes[0].legend()
figure.tight_layout()
plt.show()
