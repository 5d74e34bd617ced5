"""What a reader should know of figures that were sampled, in words."""


def rarely_drawn(n_drawn: int, n_hardly_met: int) -> list[str]:
    """That draws say too little of some parameters; nothing if they do not."""
    if not n_hardly_met:
        return []
    return [
        f"{n_drawn} draws say too little of {n_hardly_met} parameter(s), as of words too rare to be drawn. Standard "
        "errors do not show that, and figures may be off by more: it needs more draws."
    ]


def too_few_draws(n_drawn: int, needed: int, relative_error: float) -> list[str]:
    """That standard errors are larger than was asked for; nothing if they are not."""
    if needed <= n_drawn:
        return []
    return [
        f"After {n_drawn} draws some standard errors exceed {relative_error:.2g} of their figure; about {needed} "
        "draws would do."
    ]
