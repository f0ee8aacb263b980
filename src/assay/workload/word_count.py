"""WordCount: Hadoop's own count of words on the text of RandomTextWriter.

Unchanged, from hadoop-mapreduce-examples (org.apache.hadoop.examples.WordCount); the HPC study's section 3.1. Words are
what white space separates; the maps' counts are combined.
"""

from collections import Counter

from assay.input.staging import example
from assay.input.text import RandomText
from assay.model.dataset import InputKind
from assay.model.doubt import CheckResult
from assay.model.engine import Engine, LaunchReport, stored
from assay.model.progress import Progress
from assay.model.registry import WORKLOADS
from assay.model.store import Store
from assay.model.workload import Option
from assay.workload.base import BaseWorkload
from assay.workload.text import counted_lines, judge_counts, pieces_of_text, with_counts, with_settings


class WordCount(BaseWorkload):
    """A count of each of the thousand words that RandomTextWriter draws from."""

    takes = InputKind.TEXT
    needs_files = False
    summary = "counts the words of text drawn from a list of a thousand words"
    stresses = "reading HDFS, and the maps' processors; almost nothing is shuffled or written"
    source = "RandomTextWriter and WordCount of hadoop-mapreduce-examples, unchanged; HPC study, section 3.1"
    result = "`word<TAB>count`"
    verified = "every count equals Python's over the same files; the counts and the counters add up to the words"
    known_options = {
        "size": Option("1GB", "bytes of the words that RandomTextWriter writes"),
        "files": Option("4", "number of its files and of the map tasks that write them"),
    }

    input: RandomText

    def read_options(self) -> None:
        self.input = RandomText(*self.options.file_size())

    def command_options(self) -> tuple[str, ...]:
        """Pass no options: they are about the text."""
        return ()

    def run(self, engine: Engine, progress: Progress) -> LaunchReport:
        if self.variant.command:
            return with_settings(super().run(engine, progress), self.input)
        program = example("WordCount", (stored(self.input_path), stored(self.output_path)), self.spec.hadoop, "count")
        report = engine.run_program(program, progress)
        return with_counts(report, engine.history(report.jobs[0]), "words", self.input)

    def verify(self, store: Store, report: LaunchReport) -> tuple[CheckResult, ...]:
        counted: Counter[bytes] = Counter()
        for pieces in pieces_of_text(store, self.input_path):
            counted.update(pieces)
        expected = Counter({word.decode(): count for word, count in counted.items()})
        return judge_counts(expected, counted_lines(store.lines(self.output_path)), report, "words", least=1)


WORKLOADS.add("word-count", WordCount, place=17)
