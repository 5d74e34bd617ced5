"""The tables of docs/scale.md, from the record of `labelworth reproduce scale`.

``python -m labelworth_studies.scale.parts.page results/scale.json`` prints them.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from labelworth_studies.scale.scale import COMMANDS, PASSES, of_command


def tables(figures: Mapping[str, Any]) -> dict[str, list[str]]:
    """Rows of Markdown, by what they are of."""
    passes, commands = [], []
    for held in figures["sizes"]:
        size = f"{held['n_documents']:,}"
        for who in PASSES:
            if who in held:
                own = held[who]
                passes.append(
                    f"| {size} | {who} | {own['pass_seconds']:.2f} | {own['pass_processor_seconds']:.2f} | "
                    f"{own['nanoseconds_per_value']:.0f} | {own['peak_bytes'] / 2**20:,.0f} | "
                    f"{own['peak_own_bytes'] / 2**20:,.0f} |"
                )
        for stage in COMMANDS:
            if stage in held:
                own = held[stage]
                limit = f"{own['limit_bytes'] / 2**20:,.0f}" if own["limit_bytes"] else "none"
                commands.append(
                    f"| {size} | `{stage.split(',')[0]}` | {of_command(own, 'processor_seconds'):,.0f} | "
                    f"{own['peak_bytes'] / 2**20:,.0f} | {limit} |"
                )
    ratios = [f"| {name} | {value:.2f} |" for name, value in sorted(figures["ratios"].items())]
    paper = figures["on_paper"]
    checked = [
        f"| {int(size):,} | {ratio:.2f} | {paper['shard_bytes_over_measured'][size]:.3f} |"
        for size, ratio in paper["foretold_over_measured"].items()
    ]
    web = [f"| {name.replace('_', ' ')} | {_short(value)} |" for name, value in sorted(paper["web"].items())]
    return {"passes": passes, "commands": commands, "ratios": ratios, "checked": checked, "web": web}


def _short(value: float) -> str:
    return f"{value:.1e}" if value >= 1e6 else f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


if __name__ == "__main__":
    for name, rows in tables(json.loads(Path(sys.argv[1]).read_text())["figures"]).items():
        sys.stdout.write("\n".join([name, *rows, ""]) + "\n")
