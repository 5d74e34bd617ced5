"""
Which tokens?
=============

You pay per token. Whole sentences, a window, every other token, or the first half of each sentence? The same number
of labels buys different accuracy, and for a model with given parameters that is a matter of calculation.
"""

# %%
# A small tagger whose parameters are taken for true: two tags, four kinds of words, sentences of six tokens. A rare
# tag is hard to leave once it has begun, and the words tell it only in part. Half of the tokens, labeled in six ways.
import matplotlib.pyplot as plt

import labelworth as lw
from labelworth.models.chains.hidden_markov import HiddenMarkovModel

tagger = HiddenMarkovModel(
    ("outside", "inside"),
    [0.9, 0.1],
    [[0.9, 0.1], [0.25, 0.75]],
    [[0.5, 0.3, 0.15, 0.05], [0.15, 0.15, 0.3, 0.4]],
)
policies = [
    "0.5*everything + 0.5*nothing",
    "every-other",
    "random:0.5",
    "window:3",
    "prefix:0.5",
    "0.4*everything + 0.6*prefix:1",
]
table = lw.information(tagger, lengths={6: 1.0}, policies=policies, n_samples=1000)
figure, ax = plt.subplots(figsize=(8, 4))
lw.PolicyDisplay(table).plot(ax=ax)
figure.tight_layout()
plt.show()

# %%
# Shorter is better: excess log-loss is how much worse the tagger will be than the best possible one. The last column
# says how much of what complete labels would tell is told along the weakest direction of the parameters; near zero, a
# part of the model is left to chance.
for point in table.points:
    loss, share = point.figures["excess_log_loss"], point.smallest_share
    print(f"{point.policy:32} {point.expected_labels:.1f} labels  excess log-loss {loss:.5f}  weakest {share:.0%}")

# %%
# With sentences of your own: ``tagger = lw.HiddenMarkov().fit(sentences, tags)``, then
# ``tagger.information(sentences, policies=[...])``. On real sentences the first half of each was by far the worst:
# :doc:`/studies/policy_ranking`.
