"""TestDFSIO: Hadoop's own test of how fast HDFS files are written and read, one map task per file.

Unchanged, from the test jar of hadoop-mapreduce-client-jobclient (org.apache.hadoop.fs.TestDFSIO); the thesis shows its
media with it (section 6.1). `write` writes the files; `read` reads files that a write job has staged.
"""

import re
from collections.abc import Mapping, Sequence

from assay.input.files import LocalFiles
from assay.model.dataset import InputKind
from assay.model.doubt import CheckResult, verdict
from assay.model.engine import Engine, LaunchReport, Program
from assay.model.errors import AssayError
from assay.model.progress import Progress
from assay.model.quantity import Kind
from assay.model.registry import WORKLOADS
from assay.model.store import Files, Store, StoredFile, files_of
from assay.model.workload import MIB, Option
from assay.workload.base import BaseWorkload

SAMPLE_BYTES = 4096
# Per file: its control file, and the task's share of the job's own small files.
_BESIDE_BYTES = 64 * 1024

# The lines of the result file, by the names that a record gives their figures. TestDFSIO's MB is 2^20 bytes.
_RESULTS = {
    "Number of files": "files",
    "Throughput mb/sec": "throughput_mib_s",
    "Average IO rate mb/sec": "average_rate_mib_s",
    "IO rate std deviation": "rate_deviation_mib_s",
    "Test exec time sec": "exec_s",
}
_LINE = re.compile(r"^\s*([A-Z][^:]*):\s*(\S+)\s*$", re.MULTILINE)


class TestDfsIo(BaseWorkload):
    """Files of one size, written or read by as many map tasks at once as containers fit."""

    __test__ = False  # its name is Hadoop's, not a test's
    takes = InputKind.FILES
    summary = "writes or reads files of equal size, with a map task per file"
    stresses = "a stream per map task to or from HDFS, and nothing else"
    source = "TestDFSIO of hadoop-mapreduce-client-jobclient's tests, unchanged; thesis, section 6.1"
    result = "the files (`write`), and figures in the record's `summary`"
    verified = (
        "number and lengths of the files; samples of their content at start, middle and end; the bytes that tasks and"
        " file system counted; throughput equals bytes over times"
    )
    result_kinds = {
        **dict.fromkeys(("throughput_mib_s", "average_rate_mib_s", "rate_deviation_mib_s"), Kind.RATE),
        "exec_s": Kind.CLOCK_TIME,
    }
    known_options = {
        "files": Option("4", "number of files and of map tasks"),
        "file_size": Option("128MiB", "length of each file; `128MiB` is what TestDFSIO calls 128MB"),
        "buffer_size": Option("1000000", "bytes per call of write or read; Hadoop's default"),
    }

    def read_options(self) -> None:
        self._files, self._file_bytes = self.options.count("files"), self.options.size_bytes("file_size")
        self._total_bytes = self._files * self._file_bytes
        self.input = LocalFiles((), self._total_bytes)
        self._buffer_bytes = self.options.size_bytes("buffer_size")

    @property
    def _home(self) -> str:
        """Return TestDFSIO's base directory: its files are the input of a read and the output of a write."""
        return self.input_path if self.variant.after else self.output_path

    def stage(self, store: Store, engine: Engine, progress: Progress) -> LaunchReport:
        if not self.variant.after:
            return LaunchReport(jobs=(), result={})
        return engine.run_program(self._program(self.variant.after, {}), progress)

    def run(self, engine: Engine, progress: Progress) -> LaunchReport:
        report = engine.run_program(self._program(self.spec.variant, self.spec.hadoop), progress)
        figures = read_result("".join(report.texts.values()))
        counted = engine.history(report.jobs[0]).counted
        moved = counted.get("store_read_bytes" if self.variant.after else "store_written_bytes", 0)
        return report.model_copy(update={"result": {**figures, "moved_bytes": moved}})

    def verify(self, store: Store, report: LaunchReport) -> tuple[CheckResult, ...]:
        stored = files_of(store)
        files = stored.list_files(f"{self._home}/io_data")
        # What the job's reducer wrote: `type:name<TAB>sum`, times in milliseconds.
        lines = (line.decode().partition("\t") for line in store.lines(f"{self._home}/io_{self.spec.variant}"))
        summed = {name.partition(":")[2]: float(value) for name, _, value in lines}
        wrong, kinds = self._samples(stored, files)
        content = f"wrong: {', '.join(wrong[:3])}" if wrong else f"samples of all files are {', '.join(kinds)}"
        # The throughput is all bytes over the tasks' times added up; two digits are reported.
        shown, moved = report.result["throughput_mib_s"], report.result["moved_bytes"]
        rate = summed["size"] * 1000 / (summed["time"] * MIB) if summed.get("time") else 0.0
        return (
            verdict(
                "all files are there in their full length",
                passed=[file.bytes for file in files] == [self._file_bytes] * self._files,
                detail=f"{len(files)} files of {sum(file.bytes for file in files)} bytes, {self._files} of "
                f"{self._total_bytes} expected",
            ),
            verdict("the files' content is TestDFSIO's", passed=not wrong and len(kinds) == 1, detail=content),
            verdict(
                "the job's tasks counted every byte once",
                passed=summed.get("size") == self._total_bytes,
                detail=f"{summed.get('size', 0):.0f} bytes counted, {self._total_bytes} expected",
            ),
            verdict(
                "throughput is bytes over the tasks' times",
                passed=abs(shown - rate) <= 0.006 + 1e-5 * rate,
                detail=f"{shown} MiB/s reported, {rate:.3f} computed",
            ),
            verdict(
                "HDFS moved every byte once",
                passed=0 <= moved - self._total_bytes <= self._files * _BESIDE_BYTES,
                detail=f"{moved} by the file system's counter, {self._total_bytes} in the files",
            ),
        )

    def _program(self, kind: str, properties: Mapping[str, str]) -> Program:
        sizes = ("-nrFiles", str(self._files), "-size", f"{self._file_bytes}B", "-bufferSize", str(self._buffer_bytes))
        return Program(
            name=f"TestDFSIO {kind}",
            jar="hadoop-mapreduce-client-jobclient-*-tests.jar",
            main_class="org.apache.hadoop.fs.TestDFSIO",
            arguments=(f"-{kind}", *sizes, "-resFile", "{scratch}/result.txt"),
            properties={**properties, "test.build.data": self._home},
            jobs=(kind,),
        )

    def _samples(self, stored: Files, files: Sequence[StoredFile]) -> tuple[list[str], set[str]]:
        """Check start, middle and end of each file: return those that TestDFSIO does not write, and the others' kinds.

        Those are zeros as Hadoop 3 writes them, or the digits that its buffer was meant to hold: the writer fills it
        with `'0' + i % 50`, but before it has got its size. With Hadoop 3 it stays empty.
        """
        wrong: list[str] = []
        kinds: set[str] = set()
        for file in files:
            for offset in sorted({0, file.bytes // 2, max(0, file.bytes - SAMPLE_BYTES)}):
                piece = b"".join(stored.pieces(file.path, offset, SAMPLE_BYTES))
                size = min(SAMPLE_BYTES, file.bytes - offset)
                digits = bytes(ord("0") + (offset + at) % self._buffer_bytes % 50 for at in range(size))
                if piece in (bytes(size), digits):
                    kinds.add("digits" if any(piece) else "zeros")
                else:
                    wrong.append(f"{file.path.rpartition('/')[2]} at {offset}")
        return wrong, kinds


def read_result(text: str) -> dict[str, int | float]:
    """Read the figures of a result file, whose decimal sign is that of the client's locale.

    Raises AssayError when one is missing.
    """
    lines = {name.strip(): value.replace(",", ".") for name, value in _LINE.findall(text)}
    try:
        figures = {key: float(lines[name]) for name, key in _RESULTS.items()}
    except (KeyError, ValueError) as error:
        raise AssayError(f"TestDFSIO's result file has no usable line of {error}: {text.strip()[:200]!r}") from None
    return {**figures, "files": int(figures["files"])}


WORKLOADS.add("testdfsio", TestDfsIo, place=14)
