"""In which order the gallery shows its questions: those that most people have come first."""

ORDER = (
    "how_many_more_labels",
    "which_model",
    "does_unlabeled_data_hurt",
    "stop_now",
    "expert_crowd_or_model",
    "a_metric_i_am_held_to",
    "which_rows_first",
    "which_tokens",
    "is_my_annotator_copying",
    "labels_that_say_one_of_these",
    "what_can_be_had",
    "before_there_is_any_data",
    "my_own_model",
    "a_campaign",
    "label_studio_and_back",
    "ten_million_documents",
)


class QuestionOrder:
    """A key for sorting files of a folder, as sphinx-gallery asks for one."""

    def __init__(self, src_dir: str) -> None:
        pass

    def __call__(self, filename: str) -> int:
        return ORDER.index(filename.removeprefix("plot_").removesuffix(".py"))
