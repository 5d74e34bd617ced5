"""Studies of labels that are not gold."""
