"""Proves that TeraSort's verifier passes sorted records and fails any that is lost, changed, doubled or out of order."""

import random
from zlib import crc32

import pytest

from assay.model.doubt import Outcome, overall
from assay.model.errors import AssayError, BadInputError
from assay.model.progress import Silent
from assay.model.trial import WorkloadSpec
from assay.workload.terasort import TeraSort
from assay_extras.testing.fake_hadoop import FakeEngine, FakeStore, Script
from tests.builders import a_trial

ROWS = 50


class StreamingStore(FakeStore):
    """A store that takes bytes from here."""

    streams = True

    def write(self, path, pieces):
        self.contents[path] = b"".join(pieces)


@pytest.fixture
def records():
    source = random.Random(3)
    return sorted(source.randbytes(100) for _ in range(ROWS))


def a_workload(variant="stock"):
    return TeraSort(WorkloadSpec(name="terasort", variant=variant, options={"size": "5kB"}), "/base")


def judged(made, parts):
    """The verdicts' outcome where TeraGen made `made` and `parts` are the output's files."""
    generated = "org.apache.hadoop.examples.terasort.TeraGen$Counters"
    script = Script(counters={generated: {"CHECKSUM": sum(map(crc32, made))}})
    store = FakeStore(script)
    engine = FakeEngine(script, a_trial(), store)
    workload = a_workload()
    staged = workload.stage(store, engine, Silent())
    assert [job.name for job in staged.jobs] == ["generate"]
    report = workload.run(engine, Silent())
    assert [job.name for job in report.jobs] == ["sort"]
    assert report.settings["mapreduce.terasort.output.replication"] == "1"
    store.contents |= {f"/base/output/part-r-{at:05d}": b"".join(part) for at, part in enumerate(parts)}
    return overall(workload.verify(store, report))


def staged_here(variant="stock"):
    """A workload whose records were put from here, its store and engine, and the staging's jobs."""
    script = Script()
    store = StreamingStore(script)
    engine, workload = FakeEngine(script, a_trial(), store), a_workload(variant)
    report = workload.stage(store, engine, Silent())
    return workload, store, engine, [job.name for job in report.jobs]


def test_a_store_that_takes_a_stream_needs_no_job_for_the_records():
    workload, store, engine, jobs = staged_here()
    assert jobs == []
    parts = [store.contents[f"/base/input/rows/part-m-{at:05d}"] for at in range(2)]
    assert [len(part) for part in parts] == [2500, 2500]
    made = [whole[at : at + 100] for whole in [b"".join(parts)] for at in range(0, 5000, 100)]
    assert len(set(made)) == ROWS
    report = workload.run(engine, Silent())
    for output, outcome in ((sorted(made), Outcome.PASS), (sorted(made)[1:], Outcome.FAIL), (made, Outcome.FAIL)):
        store.contents["/base/output/part-r-00000"] = b"".join(output)
        assert overall(workload.verify(store, report)) is outcome


def test_records_to_be_validated_are_sorted_by_a_job_all_the_same():
    _, store, _, jobs = staged_here("validate")
    assert jobs == ["sort"]
    assert "delete" in store._script.log


def test_sorted_records_pass_however_they_lie_in_files(records):
    assert judged(records, [records]) is Outcome.PASS
    assert judged(records, [records[:20], [], records[20:]]) is Outcome.PASS


def test_equal_keys_pass(records):
    made = [*records[:-1], records[0][:10] + bytes(90)]
    assert judged(made, [sorted(made, key=lambda record: record[:10])]) is Outcome.PASS


def test_whatever_is_wrong_fails(records):
    changed = [*records[:-1], records[-1][:50] + b"!" + records[-1][51:]]
    swapped = [*records[:7], records[8], records[7], *records[9:]]
    for parts in (
        [records[1:]], [[records[0], *records]], [changed], [swapped], [records[20:], records[:20]], [],
        [[*records[:-1], records[0]]],
    ):  # fmt: skip
        assert judged(records, parts) is Outcome.FAIL


def test_half_a_record_cant_be_read(records):
    with pytest.raises(AssayError, match="ends within a record"):
        judged(records, [[*records, b"half"]])


def test_a_size_of_half_a_record_is_refused():
    with pytest.raises(BadInputError, match="must be a multiple of 100"):
        TeraSort(WorkloadSpec(name="terasort", variant="stock", options={"size": "1KiB"}), "/base")


def test_a_generator_without_a_checksum_is_not_believed():
    script = Script()
    engine = FakeEngine(script, a_trial(), FakeStore(script))
    workload = TeraSort(WorkloadSpec(name="terasort", variant="stock"), "/base")
    with pytest.raises(AssayError, match="counted no checksum"):
        workload.stage(FakeStore(script), engine, Silent())


def validated(made, records, told):
    """The verdicts' outcome of the variant that runs TeraValidate, which has `told` this."""
    script = Script(
        counters={"org.apache.hadoop.examples.terasort.TeraGen$Counters": {"CHECKSUM": sum(map(crc32, made))}}
    )
    store = FakeStore(script)
    engine = FakeEngine(script, a_trial(), store)
    workload = TeraSort(WorkloadSpec(name="terasort", variant="validate", options={"size": "5kB"}), "/base")
    staged = workload.stage(store, engine, Silent())
    assert [job.name for job in staged.jobs] == ["generate", "sort"]
    report = workload.run(engine, Silent())
    assert [job.name for job in report.jobs] == ["validate"]
    store.contents["/base/input/sorted/part-r-00000"] = b"".join(records)
    store.files["/base/output/part-r-00000"] = told
    return overall(workload.verify(store, report))


def test_what_tera_validate_says_is_judged(records):
    checksum = f"checksum\t{sum(map(crc32, records)):x}".encode()
    assert validated(records, records, [checksum]) is Outcome.PASS
    for told in ([], [checksum + b"0"], [b"error\tmisorder in part-r-00000", checksum], [b"checksum"]):
        assert validated(records, records, told) is Outcome.FAIL
    assert validated(records, records[1:], [checksum]) is Outcome.FAIL
    assert validated(records, records[::-1], [checksum]) is Outcome.FAIL
