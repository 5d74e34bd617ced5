"""
From Label Studio and back
==========================

What an annotation tool exported is taken as it is: ``labelworth plan export.json --budget 500``. Three states are
kept apart that exports often mix up: unlabeled, looked at and *nothing* found, and labeled.
"""

# %%
# An export of Label Studio: one text labeled by two people, one labeled as nothing, one that nobody has opened.
import json
import tempfile
from pathlib import Path

import labelworth as lw


def choice(name):
    return {"from_name": "kind", "to_name": "text", "type": "choices", "value": {"choices": [name]}}


tasks = [
    {
        "id": 1,
        "data": {"text": "The parcel came broken."},
        "annotations": [
            {"id": 11, "completed_by": 7, "result": [choice("complaint")], "lead_time": 4.1},
            {"id": 12, "completed_by": 8, "result": [choice("question")], "lead_time": 9.8},
        ],
    },
    {"id": 2, "data": {"text": "(no text)"}, "annotations": [{"id": 13, "completed_by": 7, "result": []}]},
    {"id": 3, "data": {"text": "When do you open?"}, "annotations": []},
]
folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "export.json"
path.write_text(json.dumps(tasks))

export = lw.read_export(path)
for item in export.items:
    print(f"{item.id}: {item.state:10} {len(item.judgements)} judgements  {item.text}")

# %%
# Into another tool
# -----------------
# Formats differ in what they can hold. What would be lost is told first, and nothing is written unless you accept it.
try:
    lw.write_export(export, Path(folder.name) / "doccano.jsonl", "doccano")
except lw.InvalidInputError as refusal:
    print(refusal)

# %%
losses = lw.write_export(export, Path(folder.name) / "argilla.json", "argilla", accept_losses=True)
print("Lost on the way to Argilla:", *[str(loss) for loss in losses] or ["nothing"], sep="\n  ")

# %%
# Back into Label Studio
# ----------------------
# With nothing lost: the same items, people and states as before.
lw.write_export(export, Path(folder.name) / "back.json", "label-studio", accept_losses=True)
again = lw.read_export(Path(folder.name) / "back.json")
print([item.state for item in again.items] == [item.state for item in export.items])
folder.cleanup()

# %%
# On the command line this is ``labelworth convert export.json tasks.jsonl --to argilla``; :doc:`/formats` lists every
# format with what it holds.
