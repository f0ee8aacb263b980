"""Stores: the storage subsystem that holds the data set; one kind per file."""
