"""`labelworth completion SHELL`: what makes the Tab key finish commands, options and their values."""

import os
from typing import Annotated, Literal

import typer

_VARIABLE = "_LABELWORTH_COMPLETE"  # Set by the script when the shell asks what could be typed next.
# Written here once more: who presses a key does not wait for the rooms that read files. A test holds them equal.
_FILES = ("jsonl", "csv", "tsv", "parquet", "svmlight", "npz", "conll", "crfsuite", "tokens-jsonl")
_EXPORTS = (
    "label-studio", "label-studio-min", "prodigy", "doccano", "doccano-members", "argilla", "spacy", "webanno",
    "brat", "hugging-face", "conll", "tokens-jsonl", "csv", "tsv", "excel", "jsonl",
)  # fmt: skip


def completion(
    shell: Annotated[Literal["bash", "zsh", "fish", "powershell"], typer.Argument(help="For which shell.")],
) -> None:
    """Print the script that makes the Tab key finish commands, options and their values.

    bash: `eval "$(labelworth completion bash)"` in ~/.bashrc. zsh: `eval "$(labelworth completion zsh)"` in ~/.zshrc,
    after compinit. fish: `labelworth completion fish > ~/.config/fish/completions/labelworth.fish`.

    Examples
    --------
    labelworth completion bash
    """
    from typer.completion import get_completion_script  # type: ignore[attr-defined]

    typer.echo(get_completion_script(prog_name="labelworth", complete_var=_VARIABLE, shell=shell))


def answer_the_shell() -> None:
    """Know the shells that may ask, if one asks."""
    if _VARIABLE in os.environ:
        from typer.completion import completion_init  # type: ignore[attr-defined]

        completion_init()


def model_names() -> list[str]:
    from labelworth.estimators.kinds import AUTO, KINDS
    from labelworth.estimators.others.named_classifiers import NAMED

    return [AUTO, *KINDS, *NAMED]


def format_names() -> tuple[str, ...]:
    """Of files that are read, exports of tools among them."""
    return _FILES + tuple(name for name in _EXPORTS if name not in _FILES)


def export_names() -> tuple[str, ...]:
    return _EXPORTS
