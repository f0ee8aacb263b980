"""TeraSort: Hadoop's own sort of 100-byte records by their 10-byte keys into one total order.

Unchanged, from hadoop-mapreduce-examples (org.apache.hadoop.examples.terasort). The records are TeraGen's, byte for
byte: put from here into a store that takes a stream, made by TeraGen on the nodes of any other. The order and the
checksum of what TeraSort leaves are computed here, not by TeraValidate's code. `validate` runs TeraValidate on records
that were sorted in staging, and its answer is judged the same way.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import ClassVar

import numpy as np

from assay.input.records import RECORD_BYTES, Rows, Tally, checksum, tera_rows
from assay.model.doubt import Verdict, verdict
from assay.model.engine import Engine, JobReference, LaunchReport, Program
from assay.model.errors import AssayError, BadInputError
from assay.model.input import Dataset, Graph, GraphFacts
from assay.model.progress import Progress
from assay.model.registry import WORKLOADS
from assay.model.store import Store, Streaming
from assay.model.trial import Estimate, WorkloadSpec
from assay.model.workload import Variant
from assay.workload.base import BYTES_S, JOB_S, PACKAGE, MadeWorkload, ahead, example

MIB = 1 << 20
_PACKAGE = "terasort"
_GENERATED = f"{PACKAGE}.{_PACKAGE}.TeraGen$Counters"
_REPLICATION = "mapreduce.terasort.output.replication"
# As TeraGen's two maps leave them.
_FILES = 2
# Input, output, and spills of both sides that may be merged once more.
_COPIES = 5


class TeraSort(MadeWorkload):
    """A total order by a partition into key ranges that is sampled from the input."""

    summary: ClassVar[str] = "sorts records of 100 bytes by their first 10 bytes into a total order"
    stresses: ClassVar[str] = "everything: each byte is read, spilled, shuffled, merged and written once"
    source: ClassVar[str] = (
        "TeraSort and TeraValidate of hadoop-mapreduce-examples, unchanged; the records are TeraGen's, byte for byte"
    )
    result: ClassVar[str] = "the sorted records; for `validate` TeraValidate's report"
    verified: ClassVar[str] = (
        "one pass over the sorted records: as many records and the same sum of CRC-32 checksums as were generated, "
        "and no key below the previous key; `validate` reports the same checksum and no disorder"
    )
    variants: ClassVar[Mapping[str, Variant]] = {
        "stock": Variant(about="as Hadoop ships it", jobs=("sort",)),
        "validate": Variant(
            about="TeraValidate reads records that staging has sorted, and checks their order", jobs=("validate",)
        ),
    }
    defaults: ClassVar[Mapping[str, str]] = {"size": "1GB"}
    option_help: ClassVar[Mapping[str, str]] = {"size": "all records together; a multiple of 100 bytes"}

    def __init__(self, spec: WorkloadSpec, base: str) -> None:
        """Raises BadInputError when an option is unknown or impossible."""
        super().__init__(spec, base)
        self._size_bytes = self.options.size_bytes("size")
        if self._size_bytes % RECORD_BYTES:
            raise BadInputError(
                f"workload {spec.name}: size is {self._size_bytes} bytes, and must be a multiple of {RECORD_BYTES}, "
                "the bytes of a record"
            )
        self._generated: dict[str, int] = {}

    def estimate(self, facts: GraphFacts, staged_bytes: int) -> Estimate:
        """All copies at once; the verification holds a few pieces of the output."""
        jobs = 2 if self._validates else 1
        seconds = jobs * JOB_S + (_COPIES + self._validates) * self._size_bytes / BYTES_S
        return Estimate(disk_bytes=_COPIES * self._size_bytes, memory_bytes=64 * MIB, seconds=seconds)

    def stage(self, dataset: Dataset, store: Store, engine: Engine, progress: Progress) -> LaunchReport:
        """The records, with the sum of their checksums; for `validate` sorted already."""
        jobs: tuple[JobReference, ...] = ()
        if isinstance(store, Streaming):
            self._put_rows(store)
        else:
            jobs = self._generate(engine, progress)
        if self._validates:
            jobs += engine.run_program(self._sort({}), progress).jobs
            # The sorted records alone are the input.
            store.delete(self._rows)
        return LaunchReport(jobs=jobs, result={})

    def _put_rows(self, store: Streaming) -> None:
        """All records from this machine: quicker than a job where the store is on it too."""
        rows = self._size_bytes // RECORD_BYTES
        total = 0

        def pieces(first: int, count: int) -> Iterator[bytes]:
            nonlocal total
            for block in tera_rows(first, count):
                total += checksum(block)
                yield block.tobytes()

        bounds = [rows * at // _FILES for at in range(_FILES + 1)]
        for at, (first, end) in enumerate(pairwise(bounds)):
            store.write(f"{self._rows}/part-m-{at:05d}", ahead(pieces(first, end - first)))
        self._generated = {"rows": rows, "checksum": total}

    def _generate(self, engine: Engine, progress: Progress) -> tuple[JobReference, ...]:
        """All records by TeraGen, so that every node writes its share of them."""
        rows = self._size_bytes // RECORD_BYTES
        report = engine.run_program(example(f"{_PACKAGE}.TeraGen", (str(rows), self._rows), {}, "generate"), progress)
        counted = engine.history(report.jobs[0]).job.counters.get(_GENERATED, {})
        if "CHECKSUM" not in counted:
            raise AssayError(f"TeraGen counted no checksum (counter group {_GENERATED})")
        self._generated = {"rows": rows, "checksum": counted["CHECKSUM"]}
        return report.jobs

    def run(self, engine: Engine, progress: Progress) -> LaunchReport:
        """The sort; its result says what the output must hold. Its output has one replica unless told otherwise."""
        if self._validates:
            arguments = (self._sorted, self.output)
            program = example(f"{_PACKAGE}.TeraValidate", arguments, self.spec.hadoop, "validate")
            report = engine.run_program(program, progress)
            return report.model_copy(update={"result": self._generated})
        report = engine.run_program(self._sort(self.spec.hadoop), progress)
        settings = {_REPLICATION: "1", **report.settings}
        return report.model_copy(update={"result": self._generated, "settings": settings})

    def verify(self, graph: Graph, store: Store, report: LaunchReport) -> tuple[Verdict, ...]:
        """One pass over the output in the order of its files: number, checksum and order of the records."""
        tally = Tally()
        for rows in ahead(_records(store, self._sorted)):
            tally.add(rows)
        wanted = report.result
        told = (self._told(store, wanted["checksum"]),) if self._validates else ()
        return (
            *told,
            verdict(
                "every record is there once",
                passed=(tally.rows, tally.checksum) == (wanted["rows"], wanted["checksum"]),
                detail=f"{tally.rows} records with checksum {tally.checksum:x}, "
                f"{wanted['rows']} with {wanted['checksum']:x} made",
            ),
            verdict("keys never fall", passed=tally.falls == 0, detail=f"{tally.falls} keys are below the one before"),
        )

    @property
    def _rows(self) -> str:
        """Below the input's directory, as TeraGen makes its own."""
        return f"{self.input}/rows"

    @property
    def _validates(self) -> bool:
        return self.spec.variant == "validate"

    @property
    def _sorted(self) -> str:
        """Where TeraSort's output lies."""
        return f"{self.input}/sorted" if self._validates else self.output

    def _sort(self, properties: Mapping[str, str]) -> Program:
        return example(f"{_PACKAGE}.TeraSort", (self._rows, self._sorted), properties, "sort")

    def _told(self, store: Store, checksum: int | float) -> Verdict:
        """TeraValidate writes a line `checksum`, and one `error` for each disorder that it finds."""
        lines = [line.split(b"\t", 1) for line in store.lines(self.output) if line]
        found = [line[1].strip() for line in lines if line[0] == b"checksum" and len(line) == 2]
        return verdict(
            "TeraValidate finds the checksum and no disorder",
            passed=len(lines) == 1 and found == [f"{checksum:x}".encode()],
            detail=b" ".join(map(b" ".join, lines[:3])).decode(errors="replace"),
        )


def _records(store: Store, path: str) -> Iterator[Rows]:
    """Whole records of all files in the order of their names. Raises AssayError when a file ends within a record."""
    for file in store.list_files(path):
        rest = b""
        for piece in store.pieces(file.path) if file.bytes else ():
            whole = rest + piece
            end = len(whole) - len(whole) % RECORD_BYTES
            yield np.frombuffer(whole[:end], np.uint8).reshape(-1, RECORD_BYTES)
            rest = whole[end:]
        if rest:
            raise AssayError(f"{file.path} ends within a record: {file.bytes} bytes are no multiple of {RECORD_BYTES}")


WORKLOADS.add("terasort", TeraSort, place=13)
