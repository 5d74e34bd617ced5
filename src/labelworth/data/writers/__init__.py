"""Writers: what the readers of sequences read, written whole or not at all."""

from labelworth.data.writers.conll import write_conll as write_conll
from labelworth.data.writers.crfsuite import write_crfsuite as write_crfsuite
from labelworth.data.writers.tokens_jsonl import write_tokens_jsonl as write_tokens_jsonl
