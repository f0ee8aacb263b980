"""Text as input: natural text generated from a seed, the text of Hadoop's RandomTextWriter, or the user's files.

Natural text has the word frequencies of natural language. A made-up vocabulary follows the law of Zipf and Mandelbrot:
the word of rank r has a share that goes with 1 / (r + 2.7) ^ 1.1 (B. Mandelbrot, 1953). Frequent words are short. Words
appear in lower case, with a capital, in capitals, before a comma or a full stop, in quotation marks, and with an
apostrophe; some have letters beyond ASCII.
"""

import codecs
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from assay.input.staging import example, scratch_directory
from assay.model.dataset import Amounts
from assay.model.engine import LINES_OUTPUT, Engine, LaunchReport, stored
from assay.model.errors import BadInputError
from assay.model.input import Input
from assay.model.progress import Progress
from assay.model.store import Store

SHIFT, EXPONENT = 2.7, 1.1
WORDS = 50_000
# Words drawn at once, and words per line.
_BATCH, _LINE = 1 << 18, 12
_GENERATED_LINE_BYTES = 84
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
_BLOCK_BYTES = 1 << 22
_BEGINNING_BYTES = 1 << 16
_FIRST_BYTES = 1 << 28
"""They are looked at in less than a second."""
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
        sounds = [[*some, *foreign] for some, foreign in zip(common, _FOREIGN, strict=True)]
        vocabulary: dict[str, None] = {}  # different words, in their order
        while len(vocabulary) < WORDS:
            syllables = 1 + int(np.log10(1 + len(vocabulary) / 40))
            draws = self._random.random((syllables, 3)).tolist()
            word = [of[int(share * len(of))] for draw in draws for of, share in zip(sounds, draw, strict=True)]
            vocabulary["".join(word)] = None
        shown = [[form.format(word) for word in vocabulary] for form, _ in _FORMS]
        shown += [[word.capitalize() for word in vocabulary], [word.upper() for word in vocabulary]]
        self._shown = [word.encode() for forms in shown for word in forms]

    def write(self, file: Path, size_bytes: int) -> None:
        """Write lines of a dozen words; the last line is cut after the word that reaches `size_bytes`."""
        written = 0
        with file.open("wb") as opened:
            while written < size_bytes:
                ranks = np.searchsorted(self._words, self._random.random(_BATCH))
                forms = np.searchsorted(self._forms / self._forms[-1], self._random.random(_BATCH))
                drawn = (np.minimum(forms, len(self._forms) - 1) * WORDS + np.minimum(ranks, WORDS - 1)).tolist()
                shown = [self._shown[at] for at in drawn]
                text = b"".join(b" ".join(shown[at : at + _LINE]) + b"\n" for at in range(0, _BATCH, _LINE))
                if written + len(text) > size_bytes:
                    end = text.find(b" ", size_bytes - written)
                    text = text[: end if end >= 0 else len(text)].rstrip() + b"\n"
                written += opened.write(text)


class TextInput(Input):
    """Files of text; `properties` are Hadoop's, with which they were written."""

    properties: Mapping[str, str] = {}
    distinct: int | None = None
    """How many different texts white space separates at most, where that is known."""

    def __init__(self, size_bytes: int) -> None:
        self._bytes = size_bytes

    def size(self) -> Amounts:
        line_bytes = self.line_bytes()
        return Amounts(bytes=self._bytes, lines=self._bytes / line_bytes if line_bytes else 0)

    def line_bytes(self) -> float:
        """Bytes of a line on average, roughly; 0 where that is not known."""
        return 0


class GeneratedText(TextInput):
    """Files of natural text, the same for the same seed."""

    distinct = PIECES

    def __init__(self, files: int, file_bytes: int, seed: int) -> None:
        super().__init__(files * file_bytes)
        self._files, self._file_bytes, self._seed = files, file_bytes, seed

    def line_bytes(self) -> float:
        return _GENERATED_LINE_BYTES

    def put(self, path: str, store: Store, progress: Progress) -> None:
        with scratch_directory(self._file_bytes) as scratch:
            store.put_all(self._made(scratch / "text", path, progress))

    def _made(self, file: Path, path: str, progress: Progress) -> Iterator[tuple[Path, str]]:
        """Make one after the other in the same place."""
        maker = TextMaker(self._seed)
        for at in range(self._files):
            progress.detail(f"text {at + 1} of {self._files}")
            maker.write(file, self._file_bytes)
            yield file, f"{path}/text-{at:05d}"


class RandomText(TextInput):
    """Lines of words that RandomTextWriter draws evenly from a list of 1000, one file per map task.

    Without a bound RandomTextWriter writes 10 GB per node: both its bounds are always set.
    """

    def __init__(self, files: int, file_bytes: int) -> None:
        super().__init__(files * file_bytes)
        self.properties = {
            "mapreduce.randomtextwriter.totalbytes": str(files * file_bytes),
            "mapreduce.randomtextwriter.bytespermap": str(file_bytes),
            "mapreduce.output.fileoutputformat.compress": "false",
        }

    def stage(self, path: str, store: Store, engine: Engine, progress: Progress) -> LaunchReport:
        """Stage by one job, whose lines are 5 to 9 words, a tab, and 10 to 99 words."""
        program = example("RandomTextWriter", ("-outFormat", LINES_OUTPUT, stored(path)), self.properties, "generate")
        return engine.run_program(program, progress)


class UserText(TextInput):
    """Files of the user's; `strict` refuses bytes that are not UTF-8.

    The first of each file are looked at before anything starts, all of them when they are staged.
    """

    def __init__(self, files: Sequence[Path], *, strict: bool) -> None:
        """Raises BadInputError for a file that begins with bytes that are not UTF-8."""
        for file in files if strict else ():
            status = file.stat()
            _require_utf8_first(file, status.st_size, status.st_mtime_ns)
        super().__init__(sum(file.stat().st_size for file in files))
        self._files, self._strict = files, strict

    def line_bytes(self) -> float:
        """By the beginning of the largest file."""
        with max(self._files, key=lambda file: file.stat().st_size).open("rb") as file:
            block = file.read(_BEGINNING_BYTES)
        return len(block) / max(1, block.count(b"\n"))

    def put(self, path: str, store: Store, progress: Progress) -> None:
        """Put the files under new names, in the order of theirs: HDFS takes fewer characters than others."""
        store.put_all(self._checked(path, progress))

    def _checked(self, path: str, progress: Progress) -> Iterator[tuple[Path, str]]:
        for at, file in enumerate(self._files):
            progress.detail(f"{file.name} ({at + 1} of {len(self._files)})")
            if self._strict:
                _require_utf8(file)
            yield file, f"{path}/text-{at:05d}"


@lru_cache(maxsize=1024)
def _require_utf8_first(file: Path, size_bytes: int, changed_ns: int) -> None:  # noqa: ARG001 - else it is another file
    """Look at a file as it is since a time, once, however often it is planned."""
    _require_utf8(file, _FIRST_BYTES)


def _require_utf8(file: Path, most_bytes: int | None = None) -> None:
    """Raises BadInputError for bytes that are no UTF-8, among the first ones where a number is given."""
    decoder, read = codecs.getincrementaldecoder("utf-8")(), 0
    with file.open("rb") as opened:
        while (most_bytes is None or read < most_bytes) and (block := opened.read(_BLOCK_BYTES)):
            pending = len(decoder.getstate()[0])
            try:
                decoder.decode(block)
            except UnicodeDecodeError as error:
                at = read - pending + error.start
                raise BadInputError(
                    f"{file} is not UTF-8 text at byte {at}; recode it, for example with iconv"
                ) from None
            read += len(block)
    if decoder.getstate()[0] and read == file.stat().st_size:
        raise BadInputError(f"{file} ends within a character of UTF-8; recode it, for example with iconv")
