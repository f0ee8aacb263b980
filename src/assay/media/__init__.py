"""Media: places to keep bytes, one kind per file."""
