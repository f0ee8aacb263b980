"""Nodes: how anything is done on a host of the platform; one kind per file."""
