"""What plans need of data and fit: a pool, of documents or of sequences."""
