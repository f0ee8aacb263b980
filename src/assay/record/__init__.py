"""Records: the run folder, atomic, append-only, versioned."""
