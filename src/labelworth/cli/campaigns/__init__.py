"""`labelworth campaign`: labels that people make together."""
