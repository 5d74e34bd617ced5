"""
A label that says "one of these"
================================

"Not sure, but it is A or B", "anything but spam": half a label is still evidence. A list in place of a class says
so, for documents and for tokens, and is learned from as it is.
"""

# %%
# Ten digits, 60 labels; the annotator is torn between two digits for another 240.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

import labelworth as lw

pixels, digits = load_digits(return_X_y=True)
vectors = PCA(8, random_state=0).fit_transform(pixels)
rng = np.random.default_rng(0)
order = rng.permutation(len(digits))
vectors, digits = vectors[order], digits[order]
torn = [[int(digit), int(rng.choice([d for d in range(10) if d != digit]))] for digit in digits]


def labels(n_gold, n_torn):
    gold = [int(digit) for digit in digits[:n_gold]]
    return gold + torn[n_gold : n_gold + n_torn] + [-1] * (1297 - n_gold - n_torn)


ways = {
    "60 labels": (60, 0),
    "60 labels, 240 'one of two'": (60, 240),
    "60 labels, 600 'one of two'": (60, 600),
    "300 labels": (300, 0),
}
errors = {}
for name, (n_gold, n_torn) in ways.items():
    model = lw.GaussianClasses(unlabeled_weight=0.1).fit(vectors[:1297], labels(n_gold, n_torn))
    errors[name] = np.mean(model.predict(vectors[1297:]) != digits[1297:])

figure, ax = plt.subplots(figsize=(7, 2.8))
ax.barh(list(errors), list(errors.values()))
ax.invert_yaxis()
ax.set(xlabel="share of wrong predictions on 500 other images")
figure.tight_layout()
plt.show()

# %%
# What would such answers be worth before anybody is asked? They are a kind of label as any other:
# the word ``sets`` of :doc:`/which_labels_to_buy`.
