"""Proves that a night's ways are told apart by pairs whose jobs all came to their ends, and that failures are counted."""

from itertools import product

import pytest
from benchmarks.directed_night import WAYS, batches, report

from assay.model.doubt import Outcome, verdict
from assay.model.record import DeviceReport, DriveReports, Status
from assay.model.trial import Landed, MediumSpec, WorkloadSpec
from tests.builders import a_job, a_record, a_trial

ENGINES = ("mapreduce", "tez", "spark")
SECONDS = {"disks": 100, "ssd-among-three": 95, "ssd-alone": 80, "directed": 70}
MIX = WorkloadSpec(name="mix", together=(WorkloadSpec(name="terasort", intermediate="ssd"), WorkloadSpec(name="sort")))
SHARES = {"disks": {"hdd1": 1.0}, "directed": {"hdd1": 0.75, "ssd": 0.25}}
MB = 10**6


def a_night(seconds=SECONDS, spread=2, busy=0.5):
    """Records in a mirrored order; a batch's time differs a little by engine and half."""
    records = []
    for engine, (half, ways) in product(ENGINES, enumerate((WAYS, WAYS[::-1]))):
        for way in ways:
            trial = a_trial(len(records) + 1, way)
            media = [MediumSpec(name="hdd1", kind="emulated", size_bytes=4000 * MB)]
            if way != "disks":
                media.append(MediumSpec(name="ssd", kind="emulated", size_bytes=64 * MB))
            trial = trial.model_copy(update={"engine": engine, "workload": MIX, "media": tuple(media)})
            took_s = seconds[way] + spread * half + ENGINES.index(engine)
            jobs = tuple(a_job(f"{name}: {name}", took_s - at) for at, name in enumerate(("terasort", "sort")))
            if way == "directed":
                counters = {"AssayDirect": {"DIRECTED": 3, "OVERFLOW_FULL": 1}}
                jobs = tuple(job.model_copy(update={"counters": counters}) for job in jobs)
            landed = Landed(role="intermediate", when="run", bytes=100 * MB, shares=SHARES.get(way, {"ssd": 1.0}))
            verdicts = tuple(verdict(f"{name}: sorted", passed=True, detail="") for name in ("terasort", "sort"))
            records.append(
                a_record(trial, took_s / 1.25).model_copy(
                    update={"jobs": jobs, "landed": (landed,), "verdicts": verdicts, "devices": devices(busy)}
                )
            )
    return records


def devices(busy):
    reports = {"run": DeviceReport(elapsed_seconds=100.0, busy_seconds=100 * busy)}
    idle = {"run": DeviceReport(elapsed_seconds=100.0, busy_seconds=0.0)}
    return DriveReports(medium="hdd1", reports=reports), DriveReports(medium="ssd", reports=idle)


def failing(record, job="sort", reason="No space left on device"):
    verdicts = (verdict(f"{job}: it came to its end", passed=False, detail=reason), *record.verdicts[1:])
    return record.model_copy(update={"verdicts": verdicts, "jobs": record.jobs[:1]})


def test_a_way_that_takes_less_time_is_said_to():
    said = report(a_night())
    assert said.startswith("On disks alone a disk was busy for 50 % of a batch.")
    assert "- *directed* takes less time than *disks* (0.7" in said
    assert "- *directed* takes less time than *ssd-among-three* (0.7" in said
    assert "All SSDs together have 64 MB, 21 % of what a night writes to local directories." in said
    assert "Why jobs failed" not in said
    same = report(a_night({**SECONDS, "directed": 100}, spread=0))
    assert "*directed* against *disks*: no difference is shown (1.00 times as long, 1.00 to 1.00)." in same


def test_nothing_is_judged_where_disks_were_hardly_busy():
    said = report(a_night(busy=0.19))
    assert "busy for 19 % of a batch.\n\nThat is less than 20 %, so nothing is judged.\n\n" in said
    assert "takes less time" not in said
    assert "takes less time" in report(a_night(busy=0.2))


def test_the_rows_of_ways_have_bytes_outcomes_and_failed_jobs():
    rows = [line.split("|")[1:-1] for line in report(a_night()).splitlines() if line.startswith("| directed ")]
    assert [cell.strip() for cell in rows[-1]] == ["directed", "75", "225", "18", "6", "0 of 12"]


def test_batches_of_which_a_job_failed_make_no_pair_and_are_counted_with_their_reason():
    records = [
        failing(record) if record.trial.placement.name == "directed" and record.trial.engine == "spark" else record
        for record in a_night()
    ]
    said = report(records)
    assert "*directed* against *disks*: fewer than 5 pairs count, so nothing is judged." in said
    assert "- directed, spark: sort: it came to its end: No space left on device (2 times)" in said
    assert [batch.failed for batch in batches(records) if (batch.way, batch.engine) == ("directed", "spark")] == [1, 1]


def test_a_trial_of_which_all_jobs_failed_counts_them_all_and_one_that_never_began_none():
    records = a_night()
    records[0] = records[0].model_copy(
        update={"status": Status.FAILED, "error": "no room", "jobs": (), "verdicts": (), "landed": ()}
    )
    records[1] = records[1].model_copy(update={"status": Status.FAILED, "error": "no port", "steps": (), "jobs": ()})
    measured = batches(records)
    assert len(measured) == len(records) - 1
    assert (measured[0].failed, measured[0].jobs, list(measured[0].reasons)) == (2, 2, ["no room"])


@pytest.mark.parametrize("outcome", [Outcome.FAIL, Outcome.UNKNOWN])
def test_an_output_that_was_not_found_right_is_a_failed_job(outcome):
    records = a_night()
    wrong = records[0].verdicts[0].model_copy(update={"outcome": outcome})
    records[0] = records[0].model_copy(update={"verdicts": (wrong, records[0].verdicts[1])})
    assert batches(records)[0].failed == 1
