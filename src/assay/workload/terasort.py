"""TeraSort: Hadoop's own sort of 100-byte records by their 10-byte keys into one total order.

Unchanged, from hadoop-mapreduce-examples (org.apache.hadoop.examples.terasort). The records are TeraGen's, byte for
byte: put from here into a store that takes a stream, made by TeraGen on the nodes of any other. The order and the
checksum of what TeraSort leaves are computed here, not by TeraValidate's code. `validate` runs TeraValidate on records
that were sorted in staging, and its answer is judged the same way.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from assay.input.records import RECORD_BYTES, TERASORT, RecordDigest, Rows, TeraRecords
from assay.input.staging import ahead, example
from assay.model.dataset import InputKind
from assay.model.doubt import CheckResult, verdict
from assay.model.engine import Engine, Launch, LaunchReport, Program
from assay.model.errors import AssayError
from assay.model.progress import Progress
from assay.model.registry import WORKLOADS
from assay.model.store import Store, files_of
from assay.model.workload import Option
from assay.workload.base import BaseWorkload, counters_agree

_REPLICATION = "mapreduce.terasort.output.replication"


class TeraSort(BaseWorkload):
    """A total order by a partition into key ranges that is sampled from the input."""

    takes = InputKind.RECORDS
    summary = "sorts records of 100 bytes by their first 10 bytes into a total order"
    stresses = "everything: each byte is read, spilled, shuffled, merged and written once"
    source = (
        "TeraSort and TeraValidate of hadoop-mapreduce-examples, unchanged; the records are TeraGen's, byte for byte"
    )
    result = "the sorted records; for `validate` TeraValidate's report"
    verified = (
        "one pass over the sorted records: as many records and the same sum of CRC-32 checksums as were generated, "
        "and no key below the previous key; `validate` reports the same checksum and no disorder"
    )
    output_replication = _REPLICATION
    known_options = {"size": Option("1GB", "all records together; a multiple of 100 bytes")}

    input: TeraRecords

    def read_options(self) -> None:
        size = self.options.size_bytes("size")
        if size % RECORD_BYTES:
            raise self.error(f"size is {size} bytes, and must be a multiple of {RECORD_BYTES}, the bytes of a record")
        self.input = TeraRecords(size // RECORD_BYTES)

    def stage(self, store: Store, engine: Engine, progress: Progress) -> LaunchReport:
        jobs = self.input.stage(self._rows, store, engine, progress).jobs
        if self._validates:
            jobs += engine.run_program(self._sort({}), progress).jobs
            # The sorted records alone are the input.
            store.delete(self._rows)
        return LaunchReport(jobs=jobs, result={})

    def run(self, engine: Engine, progress: Progress) -> LaunchReport:
        """Run the sort, whose output has one replica by default; the result says what the output must hold."""
        generated = {"rows": self.input.count, "checksum": self.input.checksum}
        if self._validates:
            arguments = (self._sorted, self.output_path)
            program = example(f"{TERASORT}.TeraValidate", arguments, self.spec.hadoop, "validate")
            report = engine.run_program(program, progress)
            return report.model_copy(update={"result": generated})
        if self.variant.command:
            report = engine.run(
                Launch(
                    command=self.variant.command, input=self._rows, output=self.output_path,
                    properties=self.spec.hadoop,
                ),
                progress,
            )  # fmt: skip
        else:
            report = engine.run_program(self._sort(self.spec.hadoop), progress)
        settings = {_REPLICATION: "1", **report.settings}
        return report.model_copy(update={"result": {**report.result, **generated}, "settings": settings})

    def verify(self, store: Store, report: LaunchReport) -> tuple[CheckResult, ...]:
        digest = RecordDigest()
        for rows in ahead(_records(store, self._sorted)):
            digest.add(rows)
        generated = report.result
        verdicts = [
            verdict(
                "every record is there once",
                passed=(digest.rows, digest.checksum) == (generated["rows"], generated["checksum"]),
                detail=f"{digest.rows} records with checksum {digest.checksum:x}, "
                f"{generated['rows']} with {generated['checksum']:x} made",
            ),
            verdict(
                "keys never fall", passed=digest.falls == 0, detail=f"{digest.falls} keys are below the one before"
            ),
        ]
        if self.variant.counters:
            verdicts.extend(counters_agree(report, dict.fromkeys(self.variant.counters, self.input.count)))
        if self._validates:
            # TeraValidate writes a line `checksum`, and one `error` for each disorder that it finds.
            lines = [line.split(b"\t", 1) for line in store.lines(self.output_path) if line]
            passed = lines == [[b"checksum", f"{generated['checksum']:x}".encode()]]
            detail = b" ".join(map(b" ".join, lines[:3])).decode(errors="replace")
            check = "TeraValidate finds the checksum and no disorder"
            verdicts.insert(0, verdict(check, passed=passed, detail=detail))
        return tuple(verdicts)

    @property
    def _rows(self) -> str:
        """Return the records' path below the input's directory, as TeraGen makes it."""
        return f"{self.input_path}/rows"

    @property
    def _validates(self) -> bool:
        return bool(self.variant.after)

    @property
    def _sorted(self) -> str:
        return f"{self.input_path}/sorted" if self._validates else self.output_path

    def _sort(self, properties: Mapping[str, str]) -> Program:
        return example(f"{TERASORT}.TeraSort", (self._rows, self._sorted), properties, "sort")


def _records(store: Store, path: str) -> Iterator[Rows]:
    """Yield whole records of all files in the order of names. Raises AssayError where a file ends within a record."""
    files = files_of(store)
    for file in files.list_files(path):
        rest = b""
        for piece in files.pieces(file.path) if file.bytes else ():
            whole = rest + piece
            end = len(whole) - len(whole) % RECORD_BYTES
            yield np.frombuffer(whole[:end], np.uint8).reshape(-1, RECORD_BYTES)
            rest = whole[end:]
        if rest:
            raise AssayError(f"{file.path} ends within a record: {file.bytes} bytes are no multiple of {RECORD_BYTES}")


WORKLOADS.add("terasort", TeraSort, place=15)
