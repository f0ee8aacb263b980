"""Grep: Hadoop's own search for a pattern, and how often each text that matches occurs.

Unchanged, from hadoop-mapreduce-examples (org.apache.hadoop.examples.Grep): a job that searches and counts, and one
that sorts by the counts. On the text of RandomTextWriter, or on the user's own files.
"""

from collections.abc import Collection, Iterator, Mapping
from itertools import pairwise
from typing import ClassVar

from assay.model.dataset import Dataset
from assay.model.doubt import Verdict, verdict
from assay.model.engine import Engine, LaunchReport
from assay.model.errors import AssayError, BadInputError
from assay.model.graph import Graph, GraphFacts
from assay.model.progress import Progress
from assay.model.record import TASK_COUNTERS
from assay.model.registry import WORKLOADS
from assay.model.store import Store
from assay.model.trial import Estimate, WorkloadSpec
from assay.model.workload import Variant
from assay.workload.examples import example
from assay.workload.made import BYTES_S, JOB_S, MadeWorkload
from assay.workload.pattern import PatternError, compile_pattern
from assay.workload.tally import Tally, TooManyError, most_held_bytes
from assay.workload.text import compare, lines_of_text
from assay.workload.text_source import OwnText, RandomText

MIB = 1 << 20
_HOME = "dfs.user.home.dir.prefix"
_COPIES = 1.2
# Python's search, per byte of text.
_CHECK_BYTES_S = 60e6


class Grep(MadeWorkload):
    """What matches is counted, then listed with the most frequent first."""

    summary: ClassVar[str] = "counts the texts that match a pattern, and sorts them by their counts"
    stresses: ClassVar[str] = (
        "reading HDFS, and the maps' processors; little is shipped unless nearly all matches differ"
    )
    source: ClassVar[str] = "hadoop-mapreduce-examples, RandomTextWriter and Grep, unchanged"
    variants: ClassVar[Mapping[str, Variant]] = {"stock": Variant(about="as Hadoop has it", jobs=("search", "sort"))}
    defaults: ClassVar[Mapping[str, str]] = {
        "pattern": "un[a-z]+", "group": "0", "size": "1GB", "files": "4", "directory": "",
    }  # fmt: skip
    option_help: ClassVar[Mapping[str, str]] = {
        "pattern": "a regular expression of what Java's and Python's have in common",
        "group": "which group of a match is counted; 0 is the whole",
        "size": "bytes of words that RandomTextWriter writes",
        "files": "its files, and the map tasks that write them",
        "directory": "a directory of your own text files instead",
    }
    path_options: ClassVar[Collection[str]] = ("directory",)

    def __init__(self, spec: WorkloadSpec, base: str) -> None:
        """Raises BadInputError when an option is unknown or impossible."""
        super().__init__(spec, base)
        self._group = self.options.count("group", least=0)
        try:
            self._pattern = compile_pattern(self.options.text("pattern"), self._group)
        except PatternError as error:
            raise BadInputError(f"workload {spec.name}: pattern {self.options.text('pattern')!r} {error}") from None
        self._text = text_of(self, strict=True)

    def estimate(self, facts: GraphFacts, staged_bytes: int) -> Estimate:
        """The text, written and read, and searched again in Python; what matches is held in memory."""
        size = self._text.bytes
        seconds = 3 * JOB_S + 2 * size / BYTES_S + size / _CHECK_BYTES_S
        memory_bytes = 128 * MIB + most_held_bytes(size)
        return Estimate(disk_bytes=int(_COPIES * size), memory_bytes=memory_bytes, seconds=seconds)

    def stage(self, dataset: Dataset, store: Store, engine: Engine, progress: Progress) -> LaunchReport:
        """RandomTextWriter as text, or the user's files."""
        return self._text.stage(self.input, store, engine, progress)

    def run(self, engine: Engine, progress: Progress) -> LaunchReport:
        """Both jobs. What lies between them would be in the user's home, out of the experiment's reach."""
        arguments = (self.input, self.output, self.options.text("pattern"), str(self._group))
        properties = {_HOME: f"{self.base}/home", **self.spec.hadoop}
        report = engine.run_program(example("Grep", arguments, properties, "search", "sort"), progress)
        jobs = [engine.history(job).job for job in report.jobs]
        # Grep ends with 0 whatever becomes of its jobs.
        failed = next((job for job in jobs if job.state != "SUCCEEDED"), None)
        if failed is not None or len(jobs) != 2:
            state = f"its job {failed.id} is {failed.state}" if failed else f"it ran {len(jobs)} jobs, not 2"
            raise AssayError(f"Grep failed: {state}")
        found = jobs[0].counters.get(TASK_COUNTERS, {})
        result = {
            "matches": found.get("MAP_OUTPUT_RECORDS", -1),
            "distinct_matches": found.get("REDUCE_OUTPUT_RECORDS", -1),
        }
        return report.model_copy(update={"result": result, "settings": {**self._text.properties, **report.settings}})

    def verify(self, graph: Graph, store: Store, report: LaunchReport) -> tuple[Verdict, ...]:
        """Python's own search of the staged text, line by line."""
        matches: Tally[str] = Tally()
        try:
            for line in lines_of_text(store, self.input):
                matches.add(match[self._group] for match in self._pattern.finditer(line))
        except TooManyError as error:
            return (error.verdict,)
        expected = matches.counts
        wanted = (expected.total(), len(expected))
        counts = list(_counts(store.lines(self.output)))
        rises = sum(before < after for (_, before), (_, after) in pairwise(counts))
        found = compare(expected, counts)
        told = (report.result.get("matches"), report.result.get("distinct_matches"))
        return (
            found.verdict,
            verdict("counts never rise", passed=rises == 0, detail=f"{rises} counts are above the one before"),
            verdict("counters equal the matches", passed=told == wanted, detail=f"{told} and {wanted}"),
        )


def text_of(workload: MadeWorkload, *, strict: bool) -> RandomText | OwnText:
    """The source that the options name. Raises BadInputError when they name both."""
    if not workload.options.text("directory"):
        return RandomText(workload.options)
    return OwnText(workload.options, workload.spec, strict=strict)


def _counts(lines: Iterator[bytes]) -> Iterator[tuple[str, int]]:
    """Of lines `count<TAB>match`. Raises AssayError for any other."""
    for line in lines:
        count, tab, match = line.partition(b"\t")
        if not (tab and count.isdigit()):
            raise AssayError(f"the output of grep has a line that is not `count<TAB>match`: {line[:80]!r}")
        yield match.decode(errors="replace"), int(count)


WORKLOADS.add("grep", Grep, place=16)
