"""Sort: Hadoop's own sort of random pairs, whose outputs are sorted file by file.

Unchanged, from hadoop-mapreduce-examples (org.apache.hadoop.examples.RandomWriter and Sort); the hybrid storage study's
only workload (sections II.B and III: 40 files per data set, 11 or 21 reducers, replication 2).
"""

from hashlib import blake2b
from typing import NamedTuple

from assay.input.pairs import RandomPairs, read_pairs
from assay.input.staging import example
from assay.model.dataset import InputKind
from assay.model.doubt import CheckResult, verdict
from assay.model.engine import Engine, Launch, LaunchReport
from assay.model.errors import AssayError
from assay.model.progress import Progress
from assay.model.registry import WORKLOADS
from assay.model.store import Store, files_of
from assay.model.workload import Option
from assay.workload.base import BaseWorkload, counters_agree

_REDUCES, _REDUCES_PER_HOST = "mapreduce.job.reduces", "mapreduce.sort.reducesperhost"
_RANGES = "mapreduce.totalorderpartitioner.path"
_CLASS = "org.apache.hadoop.io.BytesWritable"
_LENGTH_BYTES = 4
# Keys drawn for the ranges of a total order: so often, so many, from so many splits, as Sort's documentation has it.
_SAMPLE = ("0.1", "10000", "10")
# A tenth of the pairs is drawn, and each range needs a few of them.
_PAIRS_PER_REDUCER = 100
_SUM = (1 << 64) - 1

_COUNTERS = ("pairs_made", "pairs_read", "pairs_written")


class Digest(NamedTuple):
    """A digest of files' pairs, whatever their order, and how often a key is below its predecessor.

    `across` counts the files whose first key is below the last of the files before.
    """

    files: int = 0
    pairs: int = 0
    checksum: int = 0
    falls: int = 0
    across: int = 0


class Sort(BaseWorkload):
    """Pairs of random bytes, of random lengths, sorted by key within each reducer."""

    takes = InputKind.RECORDS
    summary = "sorts pairs of random bytes by key"
    stresses = "everything: each byte is read, spilled, shuffled, merged and written once"
    source = "RandomWriter and Sort of hadoop-mapreduce-examples, unchanged; hybrid study, sections II.B and III"
    result = "the sorted pairs as SequenceFiles"
    verified = (
        "one pass over input and output: as many pairs, the same sum of 64-bit BLAKE2 hashes, no key below the "
        "previous key of its file (`total-order` and `rdd`: of all files in order), as many files as reducers; the "
        "counters of RandomWriter, maps and reducers equal the pairs"
    )
    known_options = {
        "size": Option("1GB", "keys and values together, without what a SequenceFile adds"),
        "files": Option("4", "number of input files and of the map tasks that write them"),
        "reducers": Option("", "number of output files; by default the cluster's `mapreduce.job.reduces`"),
        "min_key": Option("10", "least bytes of a key"),
        "max_key": Option("1000", "keys are shorter than this, or equal to `min_key` if both are the same"),
        "min_value": Option("0", "least bytes of a value"),
        "max_value": Option("20000", "values are shorter than this, or equal to `min_value` if both are the same"),
    }

    input: RandomPairs

    def read_options(self) -> None:
        files, file_bytes = self.options.file_size()
        # The option, or that of the workload's Hadoop properties; empty to take the cluster's.
        given, configured = self.options.text("reducers"), self.spec.hadoop.get(_REDUCES, "")
        if given:
            self.options.count("reducers")
        elif configured and not configured.isdecimal():
            raise self.error(f"{_REDUCES} is {configured!r}, and must be a whole number")
        if given and configured and given != configured:
            raise self.error(f"reducers is {given} and {_REDUCES} is {configured}; leave one of them out")
        self._reducers = given or configured
        lengths: dict[str, int] = {}
        for field in ("key", "value"):
            low, high = self.options.count(f"min_{field}", least=0), self.options.count(f"max_{field}", least=0)
            if low > high:
                raise self.options.refusal(f"min_{field}", f"at most max_{field}, which is {high}")
            lengths |= {f"min{field}": low, f"max{field}": high}
        # RandomWriter draws a length from `min` up to, but not with, `max`, unless they are the same.
        if not any(max(lengths[f"min{field}"], lengths[f"max{field}"] - 1) for field in ("key", "value")):
            raise self.error("keys and values would all be empty; give a larger max_value")
        mean = max(1, sum(length / 2 for length in lengths.values()))
        pairs, needed = files * file_bytes / mean, _PAIRS_PER_REDUCER * int(self._reducers or 1)
        if self._samples and pairs < needed:
            raise self.error(
                f"a total order needs about {needed} pairs to sample, and size gives {pairs:.0f}; give a larger size "
                "or a smaller max_value"
            )
        self.input = RandomPairs(files, file_bytes, lengths)

    def run(self, engine: Engine, progress: Progress) -> LaunchReport:
        """Run the sort with the requested number of reducers, where Hadoop would take the cluster's slots."""
        if self.variant.command:
            return self._run_command(engine, progress)
        order = ("-totalOrder", *_SAMPLE) if self._samples else ()
        reducers = ("-r", self._reducers) if self._reducers else ()
        # Sort passes over mapreduce.job.reduces; this property, which it does read, can refer to it.
        chosen = {} if self._reducers else {_REDUCES_PER_HOST: f"${{{_REDUCES}}}"}
        if self._samples:
            # Sort looks for the ranges here, but tells the sampler so only after the job has copied its settings.
            chosen[_RANGES] = f"{self.input_path}/_sortPartitioning"
        arguments = (*reducers, *order, self.input_path, self.output_path)
        report = engine.run_program(example("Sort", arguments, {**chosen, **self.spec.hadoop}, "sort"), progress)
        history = engine.history(report.jobs[0])
        reduce_tasks = history.job.stages[-1].tasks
        result = {
            "pairs_made": self.input.count,
            "pairs_read": history.counted.get("input_records", -1),
            "pairs_written": history.counted.get("output_records", -1),
            "reducers": reduce_tasks,
        }
        settings = {**self.input.properties, **report.settings, _REDUCES: str(reduce_tasks)}
        return report.model_copy(update={"result": result, "settings": settings})

    @property
    def _samples(self) -> bool:
        """Whether Hadoop's sort samples its input for the ranges of a total order."""
        return self.variant.ordered and not self.variant.command

    def _run_command(self, engine: Engine, progress: Progress) -> LaunchReport:
        launch = Launch(
            command=self.variant.command, input=self.input_path, output=self.output_path,
            properties={**({_REDUCES: self._reducers} if self._reducers else {}), **self.spec.hadoop},
        )  # fmt: skip
        report = engine.run(launch, progress)
        partitions = report.result.get("partitions", -1)
        result = {**report.result, "pairs_made": self.input.count, "reducers": partitions}
        return report.model_copy(update={"result": result, "settings": {**self.input.properties, **report.settings}})

    def verify(self, store: Store, report: LaunchReport) -> tuple[CheckResult, ...]:
        staged, sorted_ = digest(store, self.input_path), digest(store, self.output_path)
        falls = sorted_.falls + (sorted_.across if self.variant.ordered else 0)
        counters = self.variant.counters or _COUNTERS
        return (
            verdict(
                "every pair is there once",
                passed=(staged.pairs, staged.checksum) == (sorted_.pairs, sorted_.checksum),
                detail=f"{sorted_.pairs} pairs with checksum {sorted_.checksum:x}, "
                f"{staged.pairs} with {staged.checksum:x} staged",
            ),
            verdict("keys never fall", passed=falls == 0, detail=f"{falls} keys are below the one before"),
            verdict(
                "every reducer left a file",
                passed=sorted_.files == report.result.get("reducers"),
                detail=f"{sorted_.files} files of {report.result.get('reducers')} reducers",
            ),
            *counters_agree(report, dict.fromkeys(counters, staged.pairs), "counters equal the pairs"),
        )


def digest(store: Store, path: str) -> Digest:
    """Digest all files of a directory, in the order of their names. Raises AssayError for other files than pairs."""
    files = pairs = checksum = falls = across = 0
    last: bytes | None = None
    stored = files_of(store)
    for file in stored.list_files(path):
        files += 1
        first = True
        for key, value in read_pairs(stored.pieces(file.path), file.path, _CLASS, _CLASS):
            if int.from_bytes(key[:_LENGTH_BYTES], "big") != len(key) - _LENGTH_BYTES:
                raise AssayError(f"{file.path} is damaged: a key's length is not that of its bytes")
            # With the key's length before it, no other pair has the same bytes.
            checksum += int.from_bytes(blake2b(key + value, digest_size=8).digest(), "big")
            pairs += 1
            content = key[_LENGTH_BYTES:]
            if last is not None and content < last:
                across, falls = across + first, falls + (not first)
            last, first = content, False
    return Digest(files, pairs, checksum & _SUM, falls, across)


WORKLOADS.add("sort", Sort, place=16)
