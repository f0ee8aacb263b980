"""A TeraSort of 400 MB within 1400 MiB on two cores: seconds on an emulated hard disk, an SSD and without delays."""

from assay.engine.tasks import FILE_SYSTEM_COUNTERS
from assay.model.trial import ZERO_DELAY, MediumSpec
from tests.builders import a_job, a_plan, a_record, a_trial, device_reports

HDD = (47.2, 46.9, 43.6, 42.6)
SSD = (35.3, 29.0, 26.3, 27.9)
ZERO = (34.3, 26.9, 29.5, 27.2)


def terasort_run(repetitions=4, times=None, **plan):
    """Its plan and records, a block of all three placements for each repetition."""
    times = times or {"hdd": HDD, "ssd": SSD, ZERO_DELAY: ZERO}
    records = []
    for repetition in range(repetitions):
        for placement, own in times.items():
            if repetition < len(own):
                trial = a_trial(len(records) + 1, placement, repetition + 1, workload="terasort")
                records.append(timed(trial, own[repetition]))
    known = {"placements": tuple(name for name in times if name != ZERO_DELAY), **plan}
    return a_plan(*(one.trial for one in records)).model_copy(update=known), records


def mirrored_run(times, **plan):
    """One repetition there and back: `times` are placements with seconds, in the order in which they ran."""
    records = [timed(a_trial(at, name, 1, workload="terasort"), seconds) for at, (name, seconds) in enumerate(times, 1)]
    names = dict.fromkeys(name for name, _ in times if name != ZERO_DELAY)
    return a_plan(*(one.trial for one in records)).model_copy(update={"placements": tuple(names), **plan}), records


def timed(trial, seconds, active=0.9):
    trial = trial.model_copy(update={"zero_delay": trial.placement.name == ZERO_DELAY})
    job = a_job("sort", seconds).model_copy(update={"active_s": active * seconds})
    record = a_record(trial, elapsed_s=seconds)
    return record.model_copy(update={"jobs": (job,)})


def written(run, shares, busy_s=1.0):
    """A run on emulated drives whose jobs wrote 1000 bytes, of which so much was on a placement's drives at the end."""
    plan, records = run
    told = []
    for record in records:
        name = record.trial.placement.name
        media = (MediumSpec(name=name, kind="emulated"),)
        counters = {FILE_SYSTEM_COUNTERS: {"FILE_BYTES_WRITTEN": 1000}}
        drive = {"reads": {"bytes": 50}, "writes": {"bytes": int(1000 * shares[name])}, "busy_seconds": busy_s}
        told.append(
            record.model_copy(
                update={
                    "trial": record.trial.model_copy(update={"media": media}),
                    "totals": record.totals.model_copy(update={"counters": counters}),
                    "devices": device_reports({name: {"run": drive}}),
                }
            )
        )
    return plan, told
