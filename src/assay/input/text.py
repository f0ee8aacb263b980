"""Text with the word frequencies of natural language, made from a seed.

A made-up vocabulary follows the law of Zipf and Mandelbrot: the word of rank r has a share that goes with
1 / (r + 2.7) ^ 1.1 (B. Mandelbrot, 1953). Frequent words are short. Words appear in lower case, with a capital, in
capitals, before a comma or a full stop, in quotation marks, and with an apostrophe; some have letters beyond ASCII.
"""

from pathlib import Path

import numpy as np

SHIFT, EXPONENT = 2.7, 1.1
WORDS = 50_000
# Words drawn at once, and words per line.
_BATCH, _LINE = 1 << 18, 12
# Few of the letters are beyond ASCII, as in most languages that are written with Latin letters.
_ONSETS = 40 * ["br", "ch", "cr", "dr", "fl", "gr", "pl", "pr", "qu", "sh", "st", "th", "tr", *"bcdfghjklmnprstvwz"]
_VOWELS = 50 * ["ai", "ea", "ee", "ou", *"aaaeeeiioou"]
_ENDS = 20 * ["", "", "", "n", "r", "s", "t", "l", "nd", "st"]
_FOREIGN = (list("ñçðжλ"), list("éöüåøю"), ["ß"])
# How a word stands in the text, with its share.
_FORMS = (
    ("{}", 0.78), ("{},", 0.06), ("{}.", 0.06), ("{}\u2019s", 0.01), ("{}'t", 0.01), ("\u201c{}\u201d", 0.01),
    ("{}\u2014", 0.005), ("({})", 0.005), ("{}#", 0.005), ("{}!?", 0.005),
)  # fmt: skip
_CAPITAL, _CAPITALS = 0.04, 0.01
# Different pieces at most: each word in each form, with a capital, and in capitals.
PIECES = WORDS * (len(_FORMS) + 2)


class TextMaker:
    """An endless text; the same seed gives the same one."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        shares = (np.arange(1, WORDS + 1) + SHIFT) ** -EXPONENT
        self._words = np.cumsum(shares / shares.sum())
        self._forms = np.cumsum([*(share for _, share in _FORMS), _CAPITAL, _CAPITALS])
        common = (_ONSETS, _VOWELS, _ENDS)
        self._sounds = [[*some, *foreign] for some, foreign in zip(common, _FOREIGN, strict=True)]
        vocabulary = self._vocabulary()
        shown = [[form.format(word) for word in vocabulary] for form, _ in _FORMS]
        shown += [[word.capitalize() for word in vocabulary], [word.upper() for word in vocabulary]]
        self._shown = [word.encode() for words in shown for word in words]

    def write(self, file: Path, size_bytes: int) -> None:
        """Lines of a dozen words until there are `size_bytes`; the last line is cut after the word that reaches it."""
        written = 0
        with file.open("wb") as opened:
            while written < size_bytes:
                text = self._batch()
                if written + len(text) > size_bytes:
                    end = text.find(b" ", size_bytes - written)
                    text = text[: end if end >= 0 else len(text)].rstrip() + b"\n"
                written += opened.write(text)

    def _batch(self) -> bytes:
        ranks = np.searchsorted(self._words, self._random.random(_BATCH))
        forms = np.searchsorted(self._forms / self._forms[-1], self._random.random(_BATCH))
        drawn = (np.minimum(forms, len(self._forms) - 1) * WORDS + np.minimum(ranks, WORDS - 1)).tolist()
        shown = [self._shown[at] for at in drawn]
        return b"".join(b" ".join(shown[at : at + _LINE]) + b"\n" for at in range(0, _BATCH, _LINE))

    def _vocabulary(self) -> list[str]:
        """Different words; the syllables grow in number with the rank."""
        words: dict[str, None] = {}
        while len(words) < WORDS:
            syllables = 1 + int(np.log10(1 + len(words) / 40))
            words[self._word(syllables)] = None
        return list(words)

    def _word(self, syllables: int) -> str:
        pick = self._random.random((syllables, 3))
        return "".join(
            of[int(share * len(of))] for row in pick.tolist() for of, share in zip(self._sounds, row, strict=True)
        )
