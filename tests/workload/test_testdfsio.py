"""Proves that TestDFSIO's figures are read, and that its verifier passes what it writes and fails what is changed."""

import pytest

from assay.model.doubt import Outcome, overall
from assay.model.errors import AssayError, BadInputError
from assay.model.progress import Silent
from assay.model.trial import WorkloadSpec
from assay.workload.testdfsio import MIB, TestDfsIo, read_result
from assay_extras.testing.fake_hadoop import FakeEngine, FakeStore, Script
from tests.builders import a_trial

# As TestDFSIO of Hadoop 3.4.2 left it.
RESULT = """\
----- TestDFSIO ----- : write
            Date & time: Sat Nov 21 03:43:30 UTC 2026
        Number of files: 3
 Total MBytes processed: 3
      Throughput mb/sec: 262.3
 Average IO rate mb/sec: 265.12
  IO rate std deviation: 28.43
     Test exec time sec: 14.03

"""
FILES, FILE_BYTES = 3, 20_000
TOTAL = FILES * FILE_BYTES
# So many milliseconds make the throughput that is reported.
TIME_MS = TOTAL * 1000 / MIB / 262.3
OPTIONS = {"files": str(FILES), "file_size": "20kB", "buffer_size": "7000"}


class Hadoop:
    """What the job leaves; each part can be changed."""

    def __init__(self, body):
        self.body = body
        self.size = TOTAL
        self.moved = TOTAL + 2000
        self.result = RESULT
        self.calls = []

    def script(self):
        files = "org.apache.hadoop.mapreduce.FileSystemCounter"
        counters = {files: {"HDFS_BYTES_WRITTEN": self.moved, "HDFS_BYTES_READ": self.moved}}
        return Script(program=self.leave, counters=counters)

    def leave(self, program):
        self.calls.append(program)
        home, kind = program.properties["test.build.data"], program.arguments[0].removeprefix("-")
        written = {f"{home}/io_data/test_io_{at}": self.body for at in range(FILES)} if kind == "write" else {}
        return written, {"result.txt": self.result}

    def lived(self, variant, **more):
        """The verdicts' outcome and the report of a whole life on a fake engine."""
        script, store = self.script(), None
        store = FakeStore(script)
        engine = FakeEngine(script, a_trial(), store)
        workload = TestDfsIo(WorkloadSpec(name="testdfsio", variant=variant, options=OPTIONS, **more), "/base")
        self.staged = workload.stage(store, engine, Silent())
        report = workload.run(engine, Silent())
        home = self.calls[-1].properties["test.build.data"]
        told = f"f:rate\t1\nl:size\t{self.size}\nl:tasks\t3\nl:time\t{TIME_MS}"
        store.files[f"{home}/io_{variant}/part-00000"] = told.encode().splitlines()
        return overall(workload.verify(store, report)), report


def digits(length, buffer_bytes):
    return bytes(ord("0") + at % buffer_bytes % 50 for at in range(length))


@pytest.mark.parametrize("variant", ["write", "read"])
@pytest.mark.parametrize("body", [bytes(FILE_BYTES), digits(FILE_BYTES, 7000)])
def test_what_hadoop_writes_passes(variant, body):
    outcome, report = Hadoop(body).lived(variant)
    assert outcome is Outcome.PASS
    assert report.result == {
        "files": 3, "throughput_mib_s": 262.3, "average_rate_mib_s": 265.12, "rate_deviation_mib_s": 28.43,
        "exec_s": 14.03, "moved_bytes": TOTAL + 2000,
    }  # fmt: skip


def test_a_write_is_one_job_whose_files_are_output():
    hadoop = Hadoop(bytes(FILE_BYTES))
    _, report = hadoop.lived("write", hadoop={"dfs.blocksize": "1048576"})
    (program,) = hadoop.calls
    assert hadoop.staged.jobs == ()
    assert program.properties == {"dfs.blocksize": "1048576", "test.build.data": "/base/output"}
    assert program.arguments == (
        "-write", "-nrFiles", "3", "-size", "20000B", "-bufferSize", "7000", "-resFile", "{scratch}/result.txt",
    )  # fmt: skip
    assert [job.name for job in report.jobs] == ["write"]


def test_a_read_reads_files_that_a_staging_job_wrote_as_input():
    hadoop = Hadoop(bytes(FILE_BYTES))
    _, report = hadoop.lived("read", hadoop={"io.file.buffer.size": "4096"})
    staging, measured = hadoop.calls
    assert staging.arguments[0] == "-write"
    assert staging.properties == {"test.build.data": "/base/input"}
    assert measured.arguments[0] == "-read"
    assert measured.properties == {"io.file.buffer.size": "4096", "test.build.data": "/base/input"}
    assert [job.name for job in hadoop.staged.jobs] == ["write"]
    assert [job.name for job in report.jobs] == ["read"]


def flipped(body, at):
    return body[:at] + b"!" + body[at + 1 :]


@pytest.mark.parametrize(
    "change",
    [
        {"body": bytes(FILE_BYTES - 1)},
        {"body": flipped(bytes(FILE_BYTES), 0)},
        {"body": flipped(bytes(FILE_BYTES), FILE_BYTES // 2)},
        {"body": flipped(digits(FILE_BYTES, 7000), FILE_BYTES - 1)},
        {"body": digits(FILE_BYTES, 6999)},
        {"size": TOTAL - 1},
        {"moved": TOTAL - 1},
        {"moved": 2 * TOTAL + 1_000_000},
        {"result": RESULT.replace("262.3", "262.4")},
    ],
)
@pytest.mark.parametrize("variant", ["write", "read"])
def test_whatever_is_changed_fails(variant, change):
    hadoop = Hadoop(bytes(FILE_BYTES))
    for name, value in change.items():
        setattr(hadoop, name, value)
    assert hadoop.lived(variant)[0] is Outcome.FAIL


def test_a_missing_file_fails():
    hadoop = Hadoop(bytes(FILE_BYTES))
    leave = hadoop.leave
    hadoop.leave = lambda program: (dict(list(leave(program)[0].items())[1:]), {"result.txt": RESULT})
    assert hadoop.lived("write")[0] is Outcome.FAIL


def test_a_result_of_a_client_with_a_decimal_comma_is_read():
    assert read_result(RESULT.replace("262.3", "262,3"))["throughput_mib_s"] == 262.3


def test_a_result_without_its_lines_is_no_result():
    with pytest.raises(AssayError, match="no usable line of 'Throughput mb/sec'"):
        read_result(RESULT.replace("Throughput", "Truput"))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"files": "0"}, "files is '0', and must be a whole number from 1 on"),
        ({"files": "-3"}, "files is '-3'"),
        ({"file_size": "12 bananas"}, "file_size is '12 bananas', and must be a size such as 128MiB"),
        ({"file_size": "-1MB"}, "file_size is '-1MB'"),
        ({"filesize": "1MB"}, "no option 'filesize'; did you mean 'file_size'"),
    ],
)
def test_impossible_options_are_refused(options, reason):
    with pytest.raises(BadInputError, match=reason):
        TestDfsIo(WorkloadSpec(name="testdfsio", variant="write", options=options), "/base")


def test_the_estimate_grows_with_the_files():
    def needs(variant):
        spec = WorkloadSpec(name="testdfsio", variant=variant, options={"files": "10", "file_size": "1GB"})
        return TestDfsIo(spec, "/base").estimate()

    assert needs("write").disk_bytes == 10**10
    assert needs("read").seconds == 2 * needs("write").seconds
