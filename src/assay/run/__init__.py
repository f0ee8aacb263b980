"""Running a plan: what it needs, in which order its trials come, and the loop that runs them."""
