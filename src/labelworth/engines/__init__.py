"""Who does work that is cut into pieces: threads, processes, or a cluster."""
