"""Prices, arms, three problems with their certificates, whole counts, the frontier."""
