"""Classifiers and taggers that are not ours, known by their fits alone."""
