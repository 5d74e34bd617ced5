"""The paper's second chunking panel: whole sentences with some probability, otherwise no label at all.

Paper: fig:lorem2.
"""

from labelworth_studies.paper.parts.chunk_panel import boltzmann_study

STUDY = boltzmann_study(
    "fig2-chunks-none",
    "CoNLL-2000, Boltzmann chain: log-perplexity against labeled tokens, whole sentences or nothing",
    "nothing",
)
