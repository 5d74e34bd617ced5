"""
A campaign from start to end
============================

Texts come in, people answer, a plan says how many more, and what it forecast is held against what came true. A
campaign is one file that all of this is kept in. (In a browser: ``labelworth studio letters.db``, :doc:`/studio`.)
"""

# %%
# Six hundred letters; the truth is kept here to play the annotators.
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import labelworth as lw

rng = np.random.default_rng(0)
vocabulary = np.array([f"word{number}" for number in range(80)])
words = 0.5 * rng.dirichlet(np.full(80, 0.8)) + 0.5 * rng.dirichlet(np.full(80, 0.4), size=2)
truth = np.array(["ham", "spam"])[rng.integers(2, size=600)]
texts = [" ".join(rng.choice(vocabulary, size=9, p=words[int(name == "spam")])) for name in truth]

folder = tempfile.TemporaryDirectory()
campaign = lw.Campaign.create(
    Path(folder.name) / "letters.db", name="Letters", classes=["ham", "spam"], currency="EUR"
)
campaign.add(texts)


def work(person, accuracy):
    """What a person says of every item that is due for them; wrong now and then."""
    while tasks := campaign.lease(person, 50):
        for task in tasks:
            name = truth[texts.index(task.item.text)]
            if rng.random() > accuracy:
                name = "ham" if name == "spam" else "spam"
            campaign.answer(person, task.request.id, name, key=f"{person.name}-{task.request.id}", seconds=4.0)


# %%
# An expert labels a pilot drawn at random. These are gold, what plans learn from.
ann = campaign.invite("ann", price=0.30).person
campaign.assign(count=60)
work(ann, 1.0)
status = campaign.status()
print(f"{status.n_labeled} of {status.n_items} items are labeled, for {status.settings.currency} {status.spent:.2f}.")

# %%
# A plan, kept with the campaign. Then just what it says is asked for, and done.
job = campaign.plan(budget=60, model="multinomial")
print(*job.lines[:3], sep="\n")
campaign.assign(plan=job.id)
work(ann, 1.0)

# %%
# What came true of the forecast? The planned model is measured with the labels of now, by five folds.
true = campaign.realise(job.id)
print(f"Forecast with {true.labels:.0f} labels: {true.forecast:.1%} wrong (90 %: {true.low:.1%}-{true.high:.1%}).")
print(f"Measured: {true.error:.1%}, with a standard error of {true.error_se:.1%}.")

# %%
# Every answer is a row that nobody can change: who, what, when, how long, at what price, why asked. The campaign
# as a picture of labels and money:
status = campaign.status()
figure, ax = plt.subplots(figsize=(7, 2.6))
held = [batch.given for batch in status.batches]
ax.barh([f"batch {n}: {batch.why}" for n, batch in enumerate(status.batches, 1)], held)
ax.invert_yaxis()
ax.set(xlabel="answers given", title=f"{status.n_labeled} labels for {status.settings.currency} {status.spent:.2f}")
figure.tight_layout()
plt.show()
campaign.close()
folder.cleanup()
