"""What is said of too few draws."""

from labelworth.criteria.draw_notes import rarely_drawn, too_few_draws


def test_nothing_is_said_where_nothing_is_amiss() -> None:
    assert rarely_drawn(1000, 0) == []
    assert too_few_draws(1000, 1000, 0.01) == []


def test_what_is_amiss_is_said_with_its_numbers() -> None:
    (rare,) = rarely_drawn(1000, 3)
    assert rare.startswith("1000 draws say too little of 3 parameter(s)")
    (few,) = too_few_draws(1000, 4000, 0.05)
    assert few == "After 1000 draws some standard errors exceed 0.05 of their figure; about 4000 draws would do."
