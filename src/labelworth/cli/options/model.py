"""Which model is fitted, and its settings."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import typer

from labelworth.cli.completion import model_names
from labelworth.cli.imported import imported, is_imported
from labelworth.cli.options.table import COMMON, Between, Keywords, Options, options_of_group

if TYPE_CHECKING:
    from labelworth.cli.inputs.documents import Documents
    from labelworth.cli.inputs.sequences import TokenSequences

_SEQUENCES = "Models of sequences"


@dataclass(frozen=True)
class ModelOptions(Options):
    """The model and its settings; a setting that a kind of model does not have is left aside."""

    panel: ClassVar[str] = "The model"

    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            autocompletion=model_names,
            help="auto: chosen on the labels (unless named, in plans and checks); multinomial (in fit), bernoulli, "
            "gaussian; to plan with: logistic, linear-svm, boosting, forest, nearest-neighbors, self-training; of "
            "sequences: hidden-markov (unless named), boltzmann-chain, conditional-random-field; or "
            "package.module:name, an estimator of your own, which is imported.",
            rich_help_panel=COMMON,
        ),
    ] = None
    smoothing: Annotated[float, typer.Option(help="Smoothing of the counts."), Between(0), Keywords("alpha")] = 1.0
    class_smoothing: Annotated[
        float,
        typer.Option(help="Smoothing of class shares; 1e6 makes all classes equally frequent."),
        Between(0),
    ] = 1.0
    word_weights: Annotated[
        Literal["counts", "inverse-document"],
        typer.Option(
            metavar="KIND", help="Of words (multinomial): counts; or inverse-document, rare ones count more."
        ),
    ] = "counts"
    document_length: Annotated[
        float | None, typer.Option(help="Rescale every document to this many words (multinomial).")
    ] = None
    binarize: Annotated[float, typer.Option(help="A value above this counts as present (Bernoulli).")] = 0.0
    covariance: Annotated[
        Literal["shared", "diagonal", "full"],
        typer.Option(metavar="SHAPE", help="Of the covariance (Gaussian): shared, diagonal or full."),
    ] = "shared"
    unlabeled_weight: Annotated[
        float, typer.Option(help="How much an unlabeled row counts; 0 uses the labels only."), Between(0)
    ] = 1.0
    start_smoothing: Annotated[
        float, typer.Option(help="How many times stronger the smoothing is where EM starts."), Between(0)
    ] = 1.0
    template: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Makes attributes of columns (conditional random field): 'chunking', or a template file of CRF++.",
            rich_help_panel=_SEQUENCES,
        ),
    ] = None
    min_count: Annotated[
        int,
        typer.Option(help="Words or attributes that occur less often are rare.", rich_help_panel=_SEQUENCES),
        Between(1),
    ] = 1
    rare_words: Annotated[
        Literal["entry", "shapes", "none"],
        typer.Option(
            metavar="KIND",
            help="What rare and unseen words become: one entry, entries by shape ('shapes'), or none.",
            rich_help_panel=_SEQUENCES,
        ),
    ] = "entry"
    c2: Annotated[
        float,
        typer.Option(
            help="Coefficient of the sum of squared weights (Boltzmann chain, conditional random field).",
            rich_help_panel=_SEQUENCES,
        ),
        Between(0),
    ] = 1.0
    label_smoothing: Annotated[
        float,
        typer.Option(help="Smoothing of first labels and transitions (hidden Markov).", rich_help_panel=_SEQUENCES),
        Between(0),
    ] = 1.0

    @classmethod
    def of_settings(cls, settings: Mapping[str, Any]) -> "ModelOptions":
        """What to type for settings by the keywords of the estimators; those without an option are left aside."""
        option_of = {
            keyword: option.name for option in options_of_group(cls) for keyword in option.keywords or (option.name,)
        }
        return cls(**{option_of[name]: value for name, value in settings.items() if name in option_of})

    @property
    def is_imported(self) -> bool:
        """Whether the model is the user's own."""
        return is_imported(self.model)

    def require_storable(self) -> None:
        """Refuse, before anything is read, a model that cannot be written to a file.

        Raises
        ------
        InvalidInputError
        """
        from labelworth.errors import InvalidInputError
        from labelworth.estimators.others.any_classifier import not_storable
        from labelworth.estimators.others.named_classifiers import NAMED

        if self.model is not None and (self.is_imported or self.model in NAMED):
            raise InvalidInputError(not_storable(self.model))

    def estimator(self, data: "Documents | TokenSequences", seed: int, *, may_choose: bool = False) -> Any:
        """The estimator that was asked for, or the usual one for the data; yet to be fitted.

        With `may_choose`, of documents: what chooses a model, unless one is named or a setting is given.

        Raises
        ------
        InvalidInputError
            If the model is not one for such data, or has no template.
        """
        import numpy as np

        from labelworth.errors import InvalidInputError
        from labelworth.estimators.automatic import AutomaticModel
        from labelworth.estimators.kinds import AUTO, kind_named
        from labelworth.estimators.others.named_classifiers import NAMED

        if data.sample == "document" and (self.model == AUTO or (self == type(self)() and may_choose)):
            if not may_choose:
                raise InvalidInputError(
                    "One model is fitted: name it with --model. auto is for plan, frontier and check."
                )
            return AutomaticModel(unlabeled=None, seed=seed)
        if self.model is not None and (self.is_imported or self.model in NAMED):
            return self._classifier(self.model, data, seed)
        kind = kind_named(data.usual_model if self.model in (None, AUTO) else self.model)
        wanted = "sequence" if kind.takes_sequences else "document"
        if data.sample != wanted:
            raise InvalidInputError(
                f"{data.options.path} holds {data.sample}s, and {kind.name} is a model of {wanted}s. Name another "
                "with --model, or say with --format what the file holds."
            )
        if kind.takes == "vectors" and not (isinstance(data.X, np.ndarray) or getattr(data, "holds_vectors", False)):
            raise InvalidInputError(
                f"A {kind.name} model takes dense vectors (an .npz file with an array X, or lists in Parquet). "
                "Texts and sparse counts go with --model multinomial or --model bernoulli."
            )
        known = inspect.signature(kind.estimator).parameters
        if self.template is not None and "template" not in known:
            raise InvalidInputError(
                f"A {kind.name} model makes no attributes: --template is for sequences, with --model "
                "conditional-random-field."
            )
        # What was not seen is None after reading.
        settings = {**self._settings(), "classes": data.classes, "unlabeled": None, "random_state": seed}
        return kind.estimator(**{name: value for name, value in settings.items() if name in known})

    @property
    def files(self) -> tuple[Path, ...]:
        """What is read, where the template is a file."""
        return () if self.template is None else (Path(self.template),)

    def _classifier(self, model: str, data: "Documents | TokenSequences", seed: int) -> Any:
        """One that is fitted by others' code, with its own settings."""
        from labelworth.errors import InvalidInputError
        from labelworth.estimators.reading import estimator_of, seeded

        idle = [option for option in options_of_group(ModelOptions) if option.name != "model"]
        given = next((option for option in idle if getattr(self, option.name) != option.default), None)
        if given is not None:
            raise InvalidInputError(f"{given.flag} is for other models; {model} has its own settings. Leave it out.")
        # What was not seen is None after reading.
        estimator = seeded(estimator_of(imported(model) if self.is_imported else model, None), seed)
        wanted = "sequence" if estimator.takes_sequences else "document"
        if data.sample != wanted:
            raise InvalidInputError(
                f"{data.options.path} holds {data.sample}s, and {model} is for {wanted}s. Name another with --model, "
                "or say with --format what the file holds."
            )
        return estimator

    def _settings(self) -> dict[str, Any]:
        """By the keyword of the estimators."""
        values = {**self.asked(), "template": _template_text(self.template)}
        return {
            keyword: values[option.name]
            for option in options_of_group(ModelOptions)
            for keyword in option.keywords or (option.name,)
        }


def _template_text(template: str | None) -> str | None:
    """The name of a template, or what is in the file of that name."""
    if template is None:
        return None
    from labelworth.errors import DataUnavailableError
    from labelworth.estimators.conditional_random_field import TEMPLATES

    if template in TEMPLATES:
        return template
    try:
        return Path(template).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataUnavailableError(
            f"Cannot read the template {template!r}: {getattr(error, 'strerror', None) or error}. Name a file in the "
            f"language of CRF++, or one of: {', '.join(TEMPLATES)}."
        ) from error
