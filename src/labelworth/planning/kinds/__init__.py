"""Plans over kinds of labels: whom to ask, what answers cost and are worth, by formulas and by simulation."""
