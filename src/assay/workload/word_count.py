"""WordCount: Hadoop's own count of words on the text of RandomTextWriter.

Unchanged, from hadoop-mapreduce-examples (org.apache.hadoop.examples.WordCount); the HPC study's section 3.1. Words are
what white space separates; the maps' counts are combined.
"""

from collections import Counter
from collections.abc import Mapping
from typing import ClassVar

from assay.model.doubt import Verdict, verdict
from assay.model.engine import Engine, LaunchReport
from assay.model.input import Dataset, Graph, GraphFacts
from assay.model.progress import Progress
from assay.model.record import TASK_COUNTERS
from assay.model.registry import WORKLOADS
from assay.model.store import Store
from assay.model.trial import Estimate, WorkloadSpec
from assay.model.workload import Variant
from assay.workload.base import BYTES_S, JOB_S, MadeWorkload, example
from assay.workload.text import RandomText, compare, counted_lines, pieces_of_text

MIB = 1 << 20
# Spills hold a thousand words per map task; the text is all there is.
_COPIES = 1.1


class WordCount(MadeWorkload):
    """A count of each of the thousand words that RandomTextWriter draws from."""

    summary: ClassVar[str] = "counts the words of text drawn from a list of a thousand words"
    stresses: ClassVar[str] = "reading HDFS, and the maps' processors; almost nothing is shuffled or written"
    source: ClassVar[str] = (
        "RandomTextWriter and WordCount of hadoop-mapreduce-examples, unchanged; HPC study, section 3.1"
    )
    result: ClassVar[str] = "`word<TAB>count`"
    verified: ClassVar[str] = (
        "every count equals Python's over the same files; the counts and the counters add up to the words"
    )
    variants: ClassVar[Mapping[str, Variant]] = {"stock": Variant(about="as Hadoop ships it", jobs=("count",))}
    defaults: ClassVar[Mapping[str, str]] = {"size": "1GB", "files": "4"}
    option_help: ClassVar[Mapping[str, str]] = {
        "size": "bytes of the words that RandomTextWriter writes",
        "files": "number of its files and of the map tasks that write them",
    }

    def __init__(self, spec: WorkloadSpec, base: str) -> None:
        """Raises BadInputError when an option is unknown or impossible."""
        super().__init__(spec, base)
        self._text = RandomText(self.options)

    def estimate(self, facts: GraphFacts, staged_bytes: int) -> Estimate:
        """The text, written and read; the verification holds a few pieces of it."""
        seconds = 2 * JOB_S + 2 * self._text.bytes / BYTES_S
        return Estimate(disk_bytes=int(_COPIES * self._text.bytes), memory_bytes=128 * MIB, seconds=seconds)

    def stage(self, dataset: Dataset, store: Store, engine: Engine, progress: Progress) -> LaunchReport:
        """RandomTextWriter, as text."""
        return self._text.stage(self.input, store, engine, progress)

    def run(self, engine: Engine, progress: Progress) -> LaunchReport:
        """The count; the framework's counters tell words and different words."""
        program = example("WordCount", (self.input, self.output), self.spec.hadoop, "count")
        report = engine.run_program(program, progress)
        counted = engine.history(report.jobs[0]).job.counters.get(TASK_COUNTERS, {})
        result = {
            "words": counted.get("MAP_OUTPUT_RECORDS", -1),
            "distinct_words": counted.get("REDUCE_OUTPUT_RECORDS", -1),
        }
        return report.model_copy(update={"result": result, "settings": {**self._text.properties, **report.settings}})

    def verify(self, graph: Graph, store: Store, report: LaunchReport) -> tuple[Verdict, ...]:
        """Python's own split and count of the staged text."""
        counted: Counter[bytes] = Counter()
        for pieces in pieces_of_text(store, self.input):
            counted.update(pieces)
        expected = Counter({word.decode(): count for word, count in counted.items()})
        words, distinct = expected.total(), len(expected)
        found = compare(expected, counted_lines(store.lines(self.output)))
        told = (report.result.get("words"), report.result.get("distinct_words"))
        return (
            found.verdict,
            verdict(
                "counts add up to the words",
                passed=found.total == words > 0,
                detail=f"{found.total} counted, {words} words staged",
            ),
            verdict(
                "counters equal the words", passed=told == (words, distinct), detail=f"{told} and {(words, distinct)}"
            ),
        )


WORKLOADS.add("word-count", WordCount, place=15)
