"""Which jobs get a small SSD, how they are directed to it, and what was changed on a cluster for that."""
