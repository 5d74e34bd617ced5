"""Accuracy where asymptotics stops: labels simulated on the real pool, and forecasts calibrated on the pilot."""
