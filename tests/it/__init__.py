"""Whole runs on real clusters (`it`): Assay as its user drives it."""
