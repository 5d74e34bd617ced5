"""
Is my annotator copying?
========================

Four people label; one of them is fast and looks good, because he copies another. Copies count twice in a vote and
make everything look surer than it is. Let all of them answer some rows that have a gold label, and errors that
coincide give him away.
"""

# %%
# Three classes, 600 rows, 150 of them with a gold label; four people answer every
# row that has one, and some others.
# ``dan`` looks at what ``cat`` wrote in nine cases of ten.
import matplotlib.pyplot as plt
import numpy as np

import labelworth as lw

rng = np.random.default_rng(5)
names = np.array(["bug", "wish", "praise"])
truth = rng.integers(3, size=600)
rows = rng.standard_normal((600, 4)) + 1.5 * np.eye(3, 4)[truth]
y = [names[code] if row < 150 else None for row, code in enumerate(truth)]


def answer(code, accuracy):
    return code if rng.random() < accuracy else rng.choice([other for other in range(3) if other != code])


table = {"item": [], "annotator": [], "answer": []}
for row in range(300):
    said = {who: answer(truth[row], accuracy) for who, accuracy in {"ann": 0.95, "bob": 0.8, "cat": 0.8}.items()}
    said["dan"] = said["cat"] if rng.random() < 0.9 else answer(truth[row], 0.8)
    for who, code in said.items():
        table["item"].append(row)
        table["annotator"].append(who)
        table["answer"].append(names[code])
answers = lw.Answers.of(table, classes=names, n_samples=600, count_from=0)

report = lw.check(rows, y, model="gaussian", answers=answers, specification=False)
print(*report.answers.lines(), sep="\n")

# %%
# Who is how good, by the fit to all answers, gold and rows together, with two standard errors.
model = lw.GaussianClasses(unlabeled=None).fit(rows, y, answers=answers)
figure, ax = plt.subplots(figsize=(7, 3.4))
lw.AnnotatorsDisplay.from_estimator(model).plot(ax=ax)
figure.tight_layout()
plt.show()
