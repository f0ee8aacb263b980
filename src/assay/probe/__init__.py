"""Probes: measuring instruments attached to a trial; one per file."""
