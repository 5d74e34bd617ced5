"""How a channel's probabilities are given: one protocol (`form.py`), and a file for each kind of channel."""
