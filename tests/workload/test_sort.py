"""Proves that Sort's verifier passes the same pairs in order, and fails any lost, changed, doubled or out of order."""

import random

import pytest

from assay.model.doubt import Outcome, overall
from assay.model.errors import AssayError, BadInputError
from assay.model.progress import Silent
from assay.model.trial import WorkloadSpec
from assay.workload.sort import Sort
from tests.workload.stored import an_engine, judge, staged

CLASS = b"org.apache.hadoop.io.BytesWritable"
SYNC = b"0123456789abcdef"
HEADER = b"SEQ\x06" + 2 * (bytes([len(CLASS)]) + CLASS) + b"\0\0" + bytes(4) + SYNC
MADE = "org.apache.hadoop.examples.RandomWriter$Counters"
TASKS = "org.apache.hadoop.mapreduce.TaskCounter"


def a_sort(variant="stock", hadoop=None, **options):
    return Sort(WorkloadSpec(name="sort", variant=variant, options=options, hadoop=hadoop or {}), "/base")


def sequence(pairs):
    """A file of pairs, with a sync mark after each tenth."""
    parts = [HEADER]
    for at, (key, value) in enumerate(pairs):
        lengths = (len(key) + len(value) + 8, len(key) + 4, len(key))
        parts += [*(one.to_bytes(4, "big") for one in lengths), key, len(value).to_bytes(4, "big"), value]
        parts += [b"\xff\xff\xff\xff", SYNC] if at % 10 == 9 else []
    return b"".join(parts)


@pytest.fixture
def made():
    source = random.Random(4)
    pairs = [(source.randbytes(source.randrange(4)), source.randbytes(source.randrange(9))) for _ in range(60)]
    return [*pairs, pairs[0]]


def outcome(made, parts, variant="stock", **wrong):
    _, store = an_engine()
    store.contents = {"/base/input/part-m-00000": sequence(made[:20]), "/base/input/part-m-00001": sequence(made[20:])}
    store.contents |= {f"/base/output/part-r-{at:05d}": sequence(part) for at, part in enumerate(parts)}
    number = len(made)
    result = {"pairs_made": number, "pairs_read": number, "pairs_written": number, "reducers": len(parts), **wrong}
    return overall(judge(a_sort(variant), store, result))


def spread(made):
    """Sorted within each of two files, as a partition by hash leaves them."""
    ordered = sorted(made, key=lambda pair: pair[0])
    return [ordered[::2], ordered[1::2]]


def test_pairs_sorted_file_by_file_pass(made):
    assert outcome(made, spread(made)) is Outcome.PASS
    assert outcome(made, [sorted(made), []]) is Outcome.PASS


def test_a_total_order_goes_from_file_to_file(made):
    ordered = sorted(made)
    assert outcome(made, spread(made), "total-order") is Outcome.FAIL
    assert outcome(made, [ordered[:30], [], ordered[30:]], "total-order") is Outcome.PASS
    assert outcome(made, [ordered[30:], ordered[:30]], "total-order") is Outcome.FAIL
    assert outcome(made, [ordered[30:], ordered[:30]]) is Outcome.PASS


def test_whatever_is_wrong_fails(made):
    first, second = spread(made)
    key, value = first[-1]
    swapped = [*first[:5], first[20], *first[5:20], *first[21:]]
    for parts in (
        [first[1:], second], [[first[0], *first], second], [[*first[:-1], (key, value + b"!")], second],
        [[*first[:-1], (key + b"\xff", value)], second], [swapped, second], [first, first], [[], []],
    ):  # fmt: skip
        assert outcome(made, parts) is Outcome.FAIL


def test_values_that_changed_places_fail(made):
    ordered = sorted(made)
    keys, values = [key for key, _ in ordered], [value for _, value in ordered]
    assert outcome(made, [list(zip(keys, values[::-1], strict=True))]) is Outcome.FAIL


@pytest.mark.parametrize("counter", ["pairs_made", "pairs_read", "pairs_written", "reducers"])
def test_a_counter_that_disagrees_fails(made, counter):
    assert outcome(made, spread(made), **{counter: 7}) is Outcome.FAIL


def test_a_file_that_is_none_cant_be_judged(made):
    _, store = an_engine()
    store.contents = {"/base/input/part-m-00000": b"text"}
    with pytest.raises(AssayError, match="part-m-00000 is not a SequenceFile"):
        judge(a_sort(), store, {})


def calls(workload):
    """The programs that staging and the run start, and the run's report."""
    programs = []
    counters = {MADE: {"RECORDS_WRITTEN": 5}, TASKS: {"MAP_INPUT_RECORDS": 5, "REDUCE_OUTPUT_RECORDS": 5}}
    engine, store = an_engine(counters, lambda program: (programs.append(program), ({}, {}))[1])
    staged(workload, engine, store)
    return programs, workload.run(engine, Silent())


def test_the_bytes_of_the_random_writer_are_always_bound():
    (writer, _), report = calls(a_sort(size="20GB", files="40", max_key="11", max_value="90", min_value="90"))
    assert writer.properties["mapreduce.randomwriter.totalbytes"] == "20000000000"
    assert writer.properties["mapreduce.randomwriter.bytespermap"] == "500000000"
    lengths = ("minkey", "maxkey", "minvalue", "maxvalue")
    assert [writer.properties[f"mapreduce.randomwriter.{one}"] for one in lengths] == ["10", "11", "90", "90"]
    assert report.settings["mapreduce.randomwriter.totalbytes"] == "20000000000"
    assert report.settings["mapreduce.job.reduces"] == "1"
    assert report.result == {"pairs_made": 5, "pairs_read": 5, "pairs_written": 5, "reducers": 1}


def test_the_reducers_are_those_asked_for():
    (_, sort), _ = calls(a_sort(reducers="21"))
    assert sort.arguments == ("-r", "21", "/base/input", "/base/output")
    (_, sort), _ = calls(a_sort(hadoop={"mapreduce.job.reduces": "11"}))
    assert sort.arguments[:2] == ("-r", "11")
    (_, sort), _ = calls(a_sort("total-order"))
    assert sort.arguments == ("-totalOrder", "0.1", "10000", "10", "/base/input", "/base/output")
    assert sort.properties == {
        "mapreduce.sort.reducesperhost": "${mapreduce.job.reduces}",
        "mapreduce.totalorderpartitioner.path": "/base/input/_sortPartitioning",
    }


def test_a_generator_without_counters_is_not_believed():
    engine, store = an_engine()
    with pytest.raises(AssayError, match="RandomWriter counted no records"):
        staged(a_sort(), engine, store)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": "-1"}, "size is '-1', and must be a size"),
        ({"files": "0"}, "files is '0', and must be a whole number from 1 on"),
        ({"size": "3", "files": "4"}, "files is '4', and must be at most the bytes of size"),
        ({"reducers": "-2"}, "reducers is '-2', and must be a whole number from 1 on"),
        ({"min_key": "20", "max_key": "10"}, "min_key is '20', and must be at most max_key, which is 10"),
        ({"min_key": "0", "max_key": "1", "max_value": "1"}, "keys and values would all be empty"),
        ({"maps": "4"}, "has no option 'maps'"),
    ],
)
def test_options_that_cant_be_are_refused(options, message):
    with pytest.raises(BadInputError, match=message):
        a_sort(**options)


def test_a_sample_needs_pairs():
    with pytest.raises(BadInputError, match="needs about 300 pairs to sample, and size gives 190; give a larger size"):
        a_sort("total-order", size="2MB", reducers="3")


def test_two_numbers_of_reducers_are_refused():
    with pytest.raises(BadInputError, match="reducers is 3 and mapreduce.job.reduces is 2; leave one of them out"):
        a_sort(reducers="3", hadoop={"mapreduce.job.reduces": "2"})
