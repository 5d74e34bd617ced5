"""
What can be had for what?
=========================

A budget is often not fixed. The frontier shows every cost with the least error it buys, and which ways to spend are
dominated: something else is cheaper and better.
"""

# %%
# Unlabeled documents cost too (collecting, cleaning): 0.05 each; a label costs 1.
import matplotlib.pyplot as plt
import numpy as np

import labelworth as lw

rng = np.random.default_rng(2)
words = rng.dirichlet(np.full(12, 1.0), size=3)
truth = rng.integers(3, size=3000)
counts = np.array([rng.multinomial(5, words[code]) for code in truth])
y = np.where(np.arange(3000) < 400, truth, -1)

prices = {"per_label": 1.0, "per_unlabeled": 0.05}
frontier = lw.frontier(counts, y, model="multinomial", prices=prices, criterion="excess_log_loss")
print(*frontier.lines(), sep="\n")

# %%
# Ways to go on from the 400 labels held: a dot is beaten by another way in both cost and error, the corners of the
# line are not, and what lies below cannot be had.
figure, ax = plt.subplots(figsize=(7, 4.6))
lw.FrontierDisplay(frontier.points, frontier.criterion_words).plot(ax=ax)
figure.tight_layout()
plt.show()

# %%
# One point of it: the least cost for a target. The certificate is a proof: no other design is better by more than
# the gap.
plan = lw.plan(counts, y, model="multinomial", prices=prices, criterion="excess_log_loss", target=0.004, n_draws=50)
print(plan.lines()[0])
print(f"gap {plan.certificate.gap:.1e}")
