"""Two stages and more: pilot, plan with its uncertainty, re-plan, what to label next."""
