"""Proves that two shuffles are compared on each drive alone, with a verdict that their interval bears."""

from itertools import product

from benchmarks.levitated import LEVITATED, STOCK, report

from assay.model.record import totals
from tests.builders import a_job, a_plan, a_record, a_trial, device_reports, summaries

RATIOS = {"hdd": 1.4, "ssd": 0.7, "mem": 1.0}


def requests(megabytes):
    return {"bytes": megabytes * 10**6, "sequential_share": 1.0}


def made(ratios=RATIOS):
    """Six repetitions of each shuffle on each drive."""
    records = []
    for repetition, (drive, ratio), engine in product(range(1, 7), ratios.items(), (STOCK, LEVITATED)):
        trial = a_trial(len(records) + 1, drive, repetition=repetition).model_copy(update={"engine": engine})
        off = 1 + 0.01 * ((repetition + (engine == STOCK)) % 3 - 1)
        job = a_job(elapsed_s=30 * (ratio if engine == LEVITATED else 1) * off)
        drive_report = {
            "reads": requests(20), "writes": requests(5 if engine == LEVITATED else 9), "busy_seconds": 1.0,
            "late": {"share": 0.0}, "joules": {"total": 1.0},
        }  # fmt: skip
        devices = device_reports({drive: {"run": drive_report}})
        records.append(a_record(trial, jobs=(job,), totals=totals((job,), ()), devices=devices))
    return a_plan(*(record.trial for record in records)), summaries(records)


def test_each_drive_has_its_ratio_its_verdict_and_its_bytes():
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in report(*made()).splitlines()[2:]]
    said = {row[1]: row[3:6:2] for row in rows}
    assert said == {
        "hdd": ["1.40", "more time"], "ssd": ["0.70", "less time"], "mem": ["1.00", "no difference is shown"]
    }  # fmt: skip
    assert {row[8]: row[9] for row in rows} == {"5": "9"}
    assert {row[-1] for row in rows} == {"6 and 6"}


def test_a_run_of_one_shuffle_compares_nothing():
    plan, trials = made()
    assert report(plan, [trial for trial in trials if trial.trial.engine == STOCK]).startswith("No trials of both")
