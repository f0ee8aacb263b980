"""Workloads: named computations, each with how to stage, run and verify it; one per file."""
