"""Who answers: q(answer | class), what an answer costs, and what one row is asked."""
