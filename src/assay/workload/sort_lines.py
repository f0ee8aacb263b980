"""Sort of lines: text in a total order, in files or in tables of lines (1 job).

Hadoop's own sort and TeraSort have records of bytes, which only files can hold; this one has lines, which any store
takes. Bounds of the reducers' ranges are drawn from the input before the job.
"""

from collections.abc import Iterable
from hashlib import blake2b
from typing import NamedTuple

from assay.input.text import GeneratedText
from assay.model.dataset import InputKind
from assay.model.doubt import CheckResult, verdict
from assay.model.engine import LaunchReport
from assay.model.registry import WORKLOADS
from assay.model.store import Store
from assay.model.workload import Option
from assay.workload.base import BaseWorkload, counters_agree

_SUM = (1 << 64) - 1


class LinesDigest(NamedTuple):
    """How many lines there are, a checksum whatever their order, and how often one is below its predecessor."""

    lines: int
    checksum: int
    falls: int


def digest(lines: Iterable[bytes]) -> LinesDigest:
    """Digest lines in the order in which they come."""
    count = checksum = falls = 0
    last = b""
    for line in lines:
        count += 1
        checksum += int.from_bytes(blake2b(line, digest_size=8).digest(), "big")
        falls += line < last
        last = line
    return LinesDigest(count, checksum & _SUM, falls)


class SortLines(BaseWorkload):
    """Lines of natural text in the order of their bytes."""

    takes = InputKind.TEXT
    needs_files = False
    summary = "sorts lines of natural text by their bytes, over all output files or a whole table"
    stresses = (
        "everything: each line is read, spilled, shuffled, merged and written once; on tables rows are written too"
    )
    source = "Assay's own, for stores that hold lines but no files; `sort` and `terasort` are Hadoop's"
    result = "the sorted lines"
    verified = (
        "one pass over input and output: as many lines, the same sum of 64-bit BLAKE2 hashes, no line below the "
        "previous one; the counters of maps and reducers equal the lines"
    )
    known_options = {
        "size": Option("1GB", "bytes of generated text, as for `word-frequency`"),
        "files": Option("4", "number of its files"),
        "seed": Option("1", "seed of the text"),
    }

    input: GeneratedText

    def read_options(self) -> None:
        self.input = GeneratedText(*self.options.file_size(), self.options.count("seed", least=0))

    def command_options(self) -> tuple[str, ...]:
        """Pass no options: they are about the text."""
        return ()

    def verify(self, store: Store, report: LaunchReport) -> tuple[CheckResult, ...]:
        staged, sorted_ = digest(store.lines(self.input_path)), digest(store.lines(self.output_path))
        return (
            verdict(
                "every line is there once",
                passed=(staged.lines, staged.checksum) == (sorted_.lines, sorted_.checksum) and staged.lines > 0,
                detail=f"{sorted_.lines} lines with checksum {sorted_.checksum:x}, "
                f"{staged.lines} with {staged.checksum:x} staged",
            ),
            verdict(
                "lines never fall",
                passed=sorted_.falls == 0,
                detail=f"{sorted_.falls} lines are below the one before",
            ),
            *counters_agree(
                report, dict.fromkeys(("lines_read", "lines_written"), staged.lines), "counters equal the lines"
            ),
        )


WORKLOADS.add("sort-lines", SortLines, place=12)
