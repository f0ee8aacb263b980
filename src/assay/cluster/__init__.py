"""Clusters: where daemons run; one kind per file."""
