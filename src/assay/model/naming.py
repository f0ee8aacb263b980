"""Hints for words that are not known."""

import difflib
from collections.abc import Sequence


def nearest(word: str, words: Sequence[str]) -> str:
    """A hint for a word that isn't among some words: the most similar one, else all of them."""
    close = difflib.get_close_matches(word, words, n=1, cutoff=0.6)
    return f"did you mean {close[0]!r}?" if close else f"possible are {', '.join(words)}"
