"""Engines: what executes the jobs and knows their history."""
