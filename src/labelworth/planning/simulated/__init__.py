"""Plans by simulation: forecasts as accuracies, and as a surface."""
