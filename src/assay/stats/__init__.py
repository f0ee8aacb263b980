"""Statistics over records: no clock, no processes."""
