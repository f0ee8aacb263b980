"""Datasets: named input graphs, one kind per file; `opening.open_dataset` chooses the kind."""
