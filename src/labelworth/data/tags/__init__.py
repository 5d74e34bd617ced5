"""Tag schemes: how chunks are written as one tag per token, and from one scheme to another."""
