"""Word frequency: how often each word of a text occurs, special characters removed and in lower case (1 job).

The storage subsystem study's section 5.2.1. Its text are books; here text is made from a seed, or the user's own. The
rule by which words are found is that of the job's `WordScanner`, and is found again here in another way.
"""

import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping
from typing import ClassVar

from assay.model.doubt import Verdict, verdict
from assay.model.engine import Engine, Launch, LaunchReport
from assay.model.input import Dataset, Graph, GraphFacts
from assay.model.progress import Progress
from assay.model.registry import WORKLOADS
from assay.model.store import Store
from assay.model.trial import Estimate, WorkloadSpec
from assay.model.workload import Variant
from assay.workload.base import BYTES_S, JOB_S, MadeWorkload, Options, scratch_directory
from assay.workload.text import OwnText, Tally, TooManyError, compare, counted_lines, most_held_bytes, pieces_of_text

MIB = 1 << 20
# A word that is shipped: lengths, 6 bytes or so of UTF-8, and its count; in spills of both sides, merged once more.
_SHIPPED_COPIES = 3
_MAKE_BYTES_S, _CHECK_BYTES_S, _MAP_BYTES_S = 24e6, 18e6, 12e6


class WordFrequency(MadeWorkload):
    """Maps find the words, a combiner adds up those of a task, reducers those of all."""

    summary: ClassVar[str] = "counts the words of natural text, in lower case and without special characters"
    stresses: ClassVar[str] = (
        "the maps' processors and sorts; `plain` also spills and shuffles a record for each word of the text"
    )
    source: ClassVar[str] = "storage subsystem study, section 5.2.1"
    result: ClassVar[str] = "`word<TAB>count`"
    verified: ClassVar[str] = (
        "Python counts the words again and compares every count; the sum and the counters equal the words; unknown if"
        " the different words take more than 1 GiB of memory"
    )
    variants: ClassVar[Mapping[str, Variant]] = {
        "paper": Variant(
            about="as published: maps combine the counts of a word at each spill",
            jobs=("count",),
            command="word-frequency",
        ),
        "plain": Variant(
            about="no combiner: each occurrence is shuffled", jobs=("count",), command="word-frequency-plain"
        ),
    }
    defaults: ClassVar[Mapping[str, str]] = {"size": "1GB", "files": "4", "seed": "1", "directory": ""}
    option_help: ClassVar[Mapping[str, str]] = {
        "size": "bytes of generated text: 50,000 made-up words with the frequencies of Zipf and Mandelbrot",
        "files": "number of its files",
        "seed": "seed of the text",
        "directory": "your own text files instead: the plain UTF-8 files in this directory whose names begin with "
        "neither `.` nor `_`",
    }
    path_options: ClassVar[Collection[str]] = ("directory",)

    def __init__(self, spec: WorkloadSpec, base: str) -> None:
        """Raises BadInputError when an option is unknown or impossible."""
        super().__init__(spec, base)
        own = self.options.text("directory")
        self._text = OwnText(self.options, spec, strict=False) if own else MadeText(self.options)

    def estimate(self, facts: GraphFacts, staged_bytes: int) -> Estimate:
        """The text, what `plain` spills, and the counts; the verification holds the different pieces, and words."""
        size = self._text.bytes
        copies = 1 + (_SHIPPED_COPIES if self.spec.variant == "plain" else 1)
        seconds = JOB_S + size * (1 / BYTES_S + 1 / _MAKE_BYTES_S + 1 / _CHECK_BYTES_S + copies / 2 / _MAP_BYTES_S)
        held = 2 * most_held_bytes(size, self._text.pieces)
        return Estimate(disk_bytes=copies * size, memory_bytes=128 * MIB + held, seconds=seconds)

    def stage(self, dataset: Dataset, store: Store, engine: Engine, progress: Progress) -> LaunchReport:
        """Make the text, or put the user's files."""
        return self._text.stage(self.input, store, engine, progress)

    def run(self, engine: Engine, progress: Progress) -> LaunchReport:
        """The variant's command."""
        command = self.variants[self.spec.variant].command
        launch = Launch(command=command, input=self.input, output=self.output, properties=self.spec.hadoop)
        return engine.run(launch, progress)

    def verify(self, graph: Graph, store: Store, report: LaunchReport) -> tuple[Verdict, ...]:
        """Count what ASCII's white space separates as it stands, and find the words in the different ones alone."""
        raw: Tally[bytes] = Tally()
        try:
            for pieces in pieces_of_text(store, self.input):
                raw.add(pieces)
        except TooManyError as error:
            return (error.verdict,)
        expected: Counter[str] = Counter()
        for piece, count in raw.counts.items():
            for word in words_in(piece.decode(errors="replace")):
                expected[word] += count
        words, distinct = expected.total(), len(expected)
        found = compare(expected, counted_lines(store.lines(self.output)))
        told = (report.result.get("words"), report.result.get("distinct_words"))
        return (
            found.verdict,
            verdict(
                "counts add up to the words",
                passed=found.total == words,
                detail=f"{found.total} counted, {words} in text",
            ),
            verdict(
                "counters equal the words", passed=told == (words, distinct), detail=f"{told} and {(words, distinct)}"
            ),
        )


def words_in(text: str) -> list[str]:
    """The words of a text, in order."""
    # Here too white space is Unicode's, and U+001C to U+001F.
    return [word for piece in text.split() if (word := _plain(piece))]


def _plain(piece: str) -> str:
    """What is left of a piece: letters, marks and decimal digits, each in its simple lower case."""
    if piece.isascii():
        return "".join(filter(str.isalnum, piece)).lower()
    kept = (one for one in piece if (kind := unicodedata.category(one))[0] in "LM" or kind == "Nd")
    # Python knows the full mapping only; where that has two characters (U+0130) the simple one is its first.
    return "".join(one.lower()[0] for one in kept)


class MadeText:
    """Files of natural text, by the options `size`, `files` and `seed`."""

    def __init__(self, options: Options) -> None:
        """Raises BadInputError for an impossible size or number."""
        self._files, self._seed = options.count("files"), options.count("seed", least=0)
        self._file_bytes = options.size_bytes("size") // self._files
        if not self._file_bytes:
            raise options.refusal("files", "at most the bytes of size")
        self.bytes = self._files * self._file_bytes

    @property
    def pieces(self) -> int:
        """How many different ones white space separates, at most."""
        from assay.input.text import PIECES

        return PIECES

    def stage(self, path: str, store: Store, engine: Engine, progress: Progress) -> LaunchReport:
        """One file after the other: made in a temporary directory, put, and removed."""
        # The generator takes half a second to import numpy and make its vocabulary.
        from assay.input.text import TextMaker

        maker = TextMaker(self._seed)
        with scratch_directory(self._file_bytes) as scratch:
            file = scratch / "text"
            for at in range(self._files):
                progress.detail(f"text {at + 1} of {self._files}")
                maker.write(file, self._file_bytes)
                store.put(file, f"{path}/text-{at:05d}")
        return LaunchReport(jobs=(), result={})


WORKLOADS.add("word-frequency", WordFrequency, place=11)
