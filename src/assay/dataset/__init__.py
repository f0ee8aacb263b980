"""Datasets: read, downloaded and checked, or generated from a seed."""
