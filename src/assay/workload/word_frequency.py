"""Word frequency: how often each word of a text occurs, special characters removed and in lower case (1 job).

The storage subsystem study's section 5.2.1. Its text are books; here text is made from a seed, or the user's own. The
rule by which words are found is that of the job's `WordScanner`, and is found again here in another way.
"""

import unicodedata
from collections import Counter

from assay.input.text import GeneratedText, TextInput
from assay.model.dataset import InputKind
from assay.model.doubt import CheckResult
from assay.model.engine import LaunchReport
from assay.model.registry import WORKLOADS
from assay.model.store import Store
from assay.model.trial import ResourceEstimate
from assay.model.workload import BYTES_S, MIB, Option, hadoop_cost
from assay.workload.base import BaseWorkload
from assay.workload.text import (
    OWN_FILES,
    TextCounter,
    TooManyTextsError,
    counted_lines,
    judge_counts,
    most_held_bytes,
    pieces_of_text,
    user_text,
)

# A word that is shipped: lengths, 6 bytes or so of UTF-8, and its count; in spills of both sides, merged once more.
_SHIPPED_COPIES = 3
_MAKE_BYTES_S, _CHECK_BYTES_S, _MAP_BYTES_S = 24e6, 18e6, 12e6


class WordFrequency(BaseWorkload):
    """Maps find the words, a combiner adds up those of a task, reducers those of all."""

    takes = InputKind.TEXT
    needs_files = False
    summary = "counts the words of natural text, in lower case and without special characters"
    stresses = "the maps' processors and sorts; `plain` also spills and shuffles a record for each word of the text"
    source = "storage subsystem study, section 5.2.1"
    result = "`word<TAB>count`"
    verified = (
        "Python counts the words again and compares every count; the sum and the counters equal the words; unknown if"
        " the different words take more than 1 GiB of memory"
    )
    known_options = {
        "size": Option(
            "1GB", "bytes of generated text: 50,000 made-up words with the frequencies of Zipf and Mandelbrot"
        ),
        "files": Option("4", "number of its files"),
        "seed": Option("1", "seed of the text"),
        "directory": Option("", OWN_FILES, is_path=True),
    }

    input: TextInput

    def read_options(self) -> None:
        user = user_text(self.options, self.spec, strict=False)
        self.input = user or GeneratedText(*self.options.file_size(), self.options.count("seed", least=0))

    def command_options(self) -> tuple[str, ...]:
        """Pass no options: they are about the text."""
        return ()

    def estimate(self) -> ResourceEstimate:
        """Estimate by the text, what `plain` spills, and the counts; verification holds different pieces and words."""
        size = self.input.size()
        copies = 1 + (_SHIPPED_COPIES if self.variant.ships_all else 1)
        byte_s = 1 / BYTES_S + 1 / _MAKE_BYTES_S + 1 / _CHECK_BYTES_S + copies / 2 / _MAP_BYTES_S
        verification_bytes = 2 * most_held_bytes(int(size.bytes), self.input.distinct)
        return hadoop_cost(1, byte_s, copies, 128 * MIB + verification_bytes).estimate(size)

    def verify(self, store: Store, report: LaunchReport) -> tuple[CheckResult, ...]:
        """Count what ASCII's white space separates as it stands, and find the words in the different ones alone."""
        separated: TextCounter[bytes] = TextCounter()
        try:
            for pieces in pieces_of_text(store, self.input_path):
                separated.add(pieces)
        except TooManyTextsError as error:
            return (error.verdict,)
        expected: Counter[str] = Counter()
        for piece, count in separated.counts.items():
            for word in words_in(piece.decode(errors="replace")):
                expected[word] += count
        return judge_counts(expected, counted_lines(store.lines(self.output_path)), report, "words")


def words_in(text: str) -> list[str]:
    """Find the words of a text, in order: letters, marks and decimal digits, each in its simple lower case."""
    found_words = []
    # Here too white space is Unicode's, and U+001C to U+001F.
    for piece in text.split():
        letters = [letter for letter in piece if (kind := unicodedata.category(letter))[0] in "LM" or kind == "Nd"]
        # Python knows the full mapping only; where that has two characters (U+0130) the simple one is its first.
        found_words.append("".join(letter.lower()[0] for letter in letters))
    return list(filter(None, found_words))


WORKLOADS.add("word-frequency", WordFrequency, place=11)
