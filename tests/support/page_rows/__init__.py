"""What pages must say, word by word, if they agree with the records in results/: rows of tables, pieces of sentences.

A page's rows are a function that writes them anew from its records: where a record is made again, the page is
changed, never these.
"""

from collections.abc import Callable, Iterator, Mapping

from support.page_rows import answers, chains, forecasts, naive_bayes, paper_figures, scale

ROWS: Mapping[str, Callable[[], Iterator[str]]] = {
    "derivations/forecast": forecasts.priors,
    "derivations/planning": forecasts.planned,
    "studies/channels": answers.channels,
    "studies/forecast": forecasts.forecast,
    "studies/chunking": chains.chunking,
    "studies/chosen": forecasts.chosen,
    "studies/crowd": answers.crowd,
    "studies/crowd_calibration": answers.crowd_calibration,
    "studies/guards": answers.guards,
    "studies/metrics": forecasts.metrics,
    "studies/misspecification": naive_bayes.misspecification,
    "studies/model_choice": forecasts.model_choice,
    "studies/newsgroups_em": naive_bayes.newsgroups_em,
    "studies/paper_figures": paper_figures.paper_figures,
    "studies/plan_calibration": forecasts.plan_calibration,
    "studies/policy_ranking": chains.policy_ranking,
    "scale": scale.scale,
}
"""By page of docs/."""
