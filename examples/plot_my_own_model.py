"""
My own model
============

If your model is a classifier with ``fit`` and ``predict``, hand it over as it is. If it is a probability
p(x, y) that no library has, write it down as a function, and it is fitted, checked and planned with like any other
(``pip install 'labelworth[jax]'``).
"""

# %%
# A classifier of somebody else
# -----------------------------
# Any estimator or pipeline of scikit-learn's manners. There are no formulas for it: labels are simulated on your rows
# and the classifier is refitted.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.pipeline import make_pipeline

import labelworth as lw

pixels, digits = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(digits))[:700]
y = np.where(np.arange(700) < 150, digits[order], -1)
classifier = make_pipeline(PCA(16, random_state=0), LinearDiscriminantAnalysis())
plan = lw.plan(pixels[order], y, model=classifier, target=0.08)
print(*plan.lines()[:3], sep="\n")

# %%
# A model that you write
# ----------------------
# Measurements with outliers: Student's t instead of a normal law. ``log_joint`` gives log p(x, y) of one row for
# all classes; derivatives are found automatically.
import jax.numpy as jnp
from jax.scipy.stats import t


def log_joint(parameters, x):
    densities = t.logpdf(x, 3.0, parameters["locations"], parameters["scales"])
    return jnp.log(parameters["shares"]) + densities.sum(axis=1)


model = lw.WrittenModel(
    log_joint,
    start={
        "shares": np.array([0.5, 0.5]),
        "locations": np.array([[-1.0, -1.0], [1.0, 1.0]]),
        "scales": np.ones((2, 2)),
    },
    constraints={"shares": "simplex", "scales": "positive"},
    classes=("healthy", "ill"),
)
rng = np.random.default_rng(1)
codes = rng.integers(2, size=300)
rows = np.array([[0.0, 0.0], [2.0, 1.5]])[codes] + rng.standard_t(3, size=(300, 2))
labels = [model.classes[code] if row < 60 else None for row, code in enumerate(codes)]
model.fit(rows, labels)
print(*lw.check(rows, labels, model=model, specification=False).lines()[:2], sep="\n")

# %%
# Where it draws the line, with 60 labels (filled) and 240 rows without one.
grid = np.stack(np.meshgrid(np.linspace(-5, 7, 80), np.linspace(-5, 7, 80)), axis=-1)
ill = model.predict_proba(grid.reshape(-1, 2))[:, 1].reshape(80, 80)
figure, ax = plt.subplots(figsize=(6, 4.4))
ax.contourf(grid[..., 0], grid[..., 1], ill, levels=10, alpha=0.35, cmap="Blues")
ax.scatter(*rows[60:].T, s=12, facecolors="none", edgecolors="gray", linewidths=0.6, label="no label")
for code, color in ((1, "C0"), (0, "C1")):
    ax.scatter(*rows[:60][codes[:60] == code].T, s=22, color=color, label=model.classes[code])
ax.set(xlim=(-5, 7), ylim=(-5, 7), title="probability of 'ill': the darker, the higher")
ax.legend(loc="lower right")
plt.show()
