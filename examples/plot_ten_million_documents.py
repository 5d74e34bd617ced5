"""
Ten million documents
=====================

Data that does not fit into the memory is cut into *shards*, files in a folder, and ``fit``, ``predict``, ``check``
and ``plan`` take the folder in place of the data. The result is the same, bit for bit, for one thread, many,
processes or a cluster. Here with 8,000 documents; what is known of larger ones stands below.
"""

# %%
# A file of texts: 20 words each out of 3,000, four classes, a fiftieth of the rows labeled.
import json
import subprocess
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import labelworth as lw

folder = tempfile.TemporaryDirectory()
texts, shards = Path(folder.name) / "mail.jsonl", Path(folder.name) / "mail-shards"
rng = np.random.default_rng(0)
zipf = 1 / np.arange(1, 3001)
names = np.array([f"w{number}" for number in range(3000)])
truth = rng.integers(4, size=8_000)
with texts.open("w") as file:
    for code in range(4):
        tilted = zipf * rng.gamma(0.5, size=3000)
        drawn = rng.choice(names, size=((truth == code).sum(), 20), p=tilted / tilted.sum())
        for words in drawn:
            label = f"class {code}" if rng.random() < 0.02 else None
            print(json.dumps({"text": " ".join(words), "label": label}), file=file)

# %%
# One command cuts the words once. The memory holds the vocabulary and one shard.
command = ["labelworth", "shard", str(texts), "-o", str(shards), "--shard-values", "40000"]
told = subprocess.run(command, capture_output=True, text=True, check=True)
print(*(path.name for path in sorted(shards.iterdir())), sep="\n")

# %%
# The folder in place of the data. Finished passes are kept where ``checkpoint=`` says, so that a killed run goes on.
opened = lw.Shards.open(shards, engine="threads", checkpoint=Path(folder.name) / "passes")
model = lw.MultinomialNaiveBayes(alpha=0.1).fit(opened)
in_one_piece = lw.MultinomialNaiveBayes(alpha=0.1).fit(lw.Shards.open(shards, workers=1))
same = np.array_equal(model.predict_proba(opened), in_one_piece.predict_proba(opened))
print(f"{opened.data.n_samples:,} documents; one thread and many give the same bits: {same}")
folder.cleanup()

# %%
# What is known of larger data
# ----------------------------
# ``labelworth reproduce scale`` measured up to ten million documents of 20 words out of 200,000, in memory up to a
# million: ``results/scale.json``. Processor time per pass and memory, read from that record. :doc:`/scale` does the
# arithmetic up to a billion, and says what breaks first.
path = next(parent for parent in [Path.cwd(), *Path.cwd().parents] if (parent / "results/scale.json").exists())
record = json.loads((path / "results/scale.json").read_text())["figures"]["sizes"]
ways = {
    "shards, 1 worker": "shards, 1 worker",
    "memory, 1 worker": "in memory",
    "partial_fit, 1 worker": "scikit-learn",
}
figure, axes = plt.subplots(1, 2, figsize=(8, 3.6))
for key, name in ways.items():
    measured = [size for size in record if key in size]
    sizes = [size["n_documents"] for size in measured]
    axes[0].plot(sizes, [size[key]["pass_processor_seconds"] for size in measured], "o-", label=name)
    axes[1].plot(sizes, [size[key]["peak_bytes"] / 1e6 for size in measured], "o-", label=name)
for ax, label in zip(axes, ("processor seconds per pass", "peak memory, MB"), strict=True):
    ax.set(xscale="log", yscale="log", xlabel="documents", ylabel=label)
axes[0].legend()
figure.tight_layout()
plt.show()
