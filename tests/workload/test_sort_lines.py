"""Proves that the sort of lines passes the same lines in order, and fails any lost, changed, doubled or out of order."""

import pytest

from assay.model.doubt import Outcome, overall
from assay.model.trial import WorkloadSpec
from assay.workload.sort_lines import SortLines
from tests.workload.stored import an_engine, judge

LINES = [b"b", b"", b"a c", b"a", "\u00e9".encode(), b"a", b"z\tz"]


def outcome(parts, **wrong):
    _, store = an_engine()
    store.contents = {
        "/base/input/text-00000": b"".join(line + b"\n" for line in LINES[:3]),
        "/base/input/text-00001": b"".join(line + b"\n" for line in LINES[3:]),
    }
    store.contents |= {
        f"/base/output/part-r-{at:05d}": b"".join(line + b"\n" for line in part) for at, part in enumerate(parts)
    }
    result = {"lines_read": len(LINES), "lines_written": len(LINES), **wrong}
    workload = SortLines(WorkloadSpec(name="sort-lines", variant="total-order"), "/base")
    return overall(judge(workload, store, result))


def test_lines_in_order_from_file_to_file_pass():
    ordered = sorted(LINES)
    assert outcome([ordered]) is Outcome.PASS
    assert outcome([ordered[:3], [], ordered[3:]]) is Outcome.PASS


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: [lines[3:], lines[:3]],
        lambda lines: [lines[1:]],
        lambda lines: [[*lines, lines[-1]]],
        lambda lines: [[*lines[:-1], b"\xff"]],
        lambda lines: [[b"", *lines[2:], b"\xff"]],
        lambda lines: [[]],
    ],
)
def test_other_lines_or_another_order_fail(change):
    assert outcome(change(sorted(LINES))) is Outcome.FAIL


def test_counters_of_other_lines_fail():
    assert outcome([sorted(LINES)], lines_read=6) is Outcome.FAIL
