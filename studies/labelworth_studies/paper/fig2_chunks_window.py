"""The paper's first chunking panel: whole sentences with some probability, otherwise a window of five tokens.

Paper: fig:lorem2.
"""

from labelworth_studies.paper.parts.chunk_panel import boltzmann_study

STUDY = boltzmann_study(
    "fig2-chunks-window",
    "CoNLL-2000, Boltzmann chain: log-perplexity against labeled tokens, whole sentences or windows of five",
    "window:5",
)
