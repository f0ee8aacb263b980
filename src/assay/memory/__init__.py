"""This machine's free memory, where its host takes that back: to be told of, and to be held while one measures."""
