"""What is looked at before a plan is trusted."""
