"""Proves that a break-even share lies between what gets and scans win, and that its estimate is where ratios pass 1."""

from itertools import product

import pytest
from benchmarks.lookups import crossing, report

from assay.model.record import totals
from assay.model.trial import StoreSpec, WorkloadSpec
from tests.builders import a_job, a_plan, a_record, a_trial, device_reports, summaries

RATIOS = {"0.01": 0.3, "0.1": 0.5, "1": 0.97, "10": 2.0}
COUNTERS = {"org.apache.hadoop.mapreduce.TaskCounter": {"CPU_MILLISECONDS": 10_000}}
MOVED = {"bytes": 10**8, "sequential_share": 1.0}
DRIVE = {"reads": MOVED, "writes": MOVED, "busy_seconds": 1.0, "late": {"share": 0.0}, "joules": {"total": 1.0}}


def said(ratios, noise=0.01):
    """What the benchmark says of ten repetitions of a lookup of each share on files and on a table."""
    records = []
    for repetition, (share, ratio), store in product(range(1, 11), ratios.items(), ("hdfs", "tables")):
        options = {"rows": "1000000", "share": share}
        trial = a_trial(len(records) + 1, "ssd", repetition=repetition).model_copy(
            update={"store": StoreSpec(kind=store), "workload": WorkloadSpec(name="lookup", options=options)}
        )
        off = 1 + noise * ((repetition + (store == "hdfs")) % 3 - 1)
        job = a_job(elapsed_s=30.0 * (ratio if store == "tables" else 1) * off)
        job = job.model_copy(update={"counters": COUNTERS})
        devices = device_reports({"ssd": {"run": DRIVE}})
        records.append(a_record(trial, jobs=(job,), totals=totals((job,), ()), devices=devices))
    return report(a_plan(*(record.trial for record in records)), summaries(records))


def test_the_break_even_share_lies_between_the_last_win_of_gets_and_the_first_of_the_scan():
    first, *_ = text = said(RATIOS).splitlines()
    assert first.startswith(
        "- *tables*, ssd: gets win at 0.1 % of the rows and the scan wins at 10 %, so the break-even"
    )
    assert (
        "share lies between 0.1 and 10 %; times are equal at 1.1 % by the estimate (95 % interval from 0.97 % to 1.3 %)"
        in first
    )
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text if line.startswith("| tables")]
    assert [row[2] for row in rows] == list(RATIOS)
    assert [row[5] for row in rows] == ["tables", "tables", "either", "hdfs"]


@pytest.mark.parametrize(
    ("ratios", "answer"),
    [
        ({"1": 0.5, "10": 0.6}, "the scan wins at no share, so the break-even share lies above 10 %; the ratios of times"),
        ({"1": 1.5, "10": 2.0}, "gets win at no share and the scan wins at 1 %, so the break-even share lies below 1 %"),
        ({"1": 1.5, "10": 0.5}, "no answer, since the scan wins at 1 % and gets win at 10 % of the rows."),
        ({"1": 1.0, "10": 1.0}, "gets win at no share and the scan wins at no share, so where the break-even share lies"),
    ],
)  # fmt: skip
def test_ends_that_no_verdict_gives_are_open(ratios, answer):
    assert answer in said(ratios).splitlines()[0]


def test_a_ratio_passes_one_on_a_line_by_logarithms():
    assert crossing([1, 100], [0.5, 2]) == pytest.approx(10)
    assert crossing([1, 100], [2, 4]) is None
    assert crossing([1, 10, 100], [0.5, 1, 4]) == pytest.approx(10)


def test_an_interval_is_open_where_its_end_passes_one_at_no_share():
    assert "1.1 % by the estimate (95 % interval to 1.4 %)" in said({"1": 0.98, "10": 1.5})
    assert "(95 % interval: open at both ends)" in said({"1": 0.98, "10": 1.02})
