"""Runs of any size, made up with known times: placements, a factor beside them, repetitions, some noise."""

import random
from pathlib import Path

from assay.model.trial import ZERO_DELAY, SettingsSpec
from assay.report.analysis import RunData, analyse, ids_shown
from assay.report.page import run_page
from tests.builders import a_folder, a_job, a_measured_run, a_plan, a_record, a_trial, summaries, with_facts

TIMES = {"hdd": 60.0, "ssd": 40.0, "memory": 39.0, ZERO_DELAY: 37.0}
DRIVES = {
    "medium.hdd.rotational": True, "medium.hdd.model": "WD10EZEX",
    "medium.ssd.rotational": False, "medium.ssd.model": "840 EVO",
}  # fmt: skip


def made_trials(workloads=("triangles",), media=("hdd", "ssd"), settings=("defaults",), repetitions=5):
    number = 0
    for repetition in range(1, repetitions + 1):
        for workload in workloads:
            for name in settings:
                for medium in media:
                    number += 1
                    trial = a_trial(number, medium, repetition, workload=workload)
                    yield trial.model_copy(
                        update={"settings": SettingsSpec(name=name), "id": f"{number:05d}-{workload}-{medium}"}
                    )


def made_run(trials, noise=0.03, seed=1, times=TIMES, facts=None):
    """Plan and records; the workload's and the settings' names make times longer, always the same."""
    chance = random.Random(seed)
    trials = list(trials)
    records = []
    for trial in trials:
        work = 1 + sum(map(ord, trial.workload.name + trial.settings.name)) % 7 / 3
        record = a_record(trial, elapsed_s=times[trial.placement.name] * work * chance.lognormvariate(0, noise))
        records.append(record if facts is None else with_facts(record, facts))
    return a_plan(*trials), records


START_UP_S = 2.0


def decided_run(repetitions=3, times=TIMES, noise=0.03):
    """Hard disk, SSD and zero delay, of two jobs with a wait between them, as a run with a baseline records them."""
    trials = made_trials(("terasort",), ("hdd", "ssd", ZERO_DELAY), repetitions=repetitions)
    plan, records = made_run(trials, noise, times=times)
    decided = []
    for record in records:
        trial = record.trial.model_copy(update={"zero_delay": record.trial.placement.name == ZERO_DELAY})
        decided.append(with_facts(record.model_copy(update={"trial": trial, **two_jobs(record)}), DRIVES))
    placements = ("hdd", "ssd")
    trials = tuple(record.trial for record in decided)
    return plan.model_copy(update={"trials": trials, "placements": placements}), decided


def two_jobs(record):
    first_s = record.totals.elapsed_s * 2 / 3
    second_s = record.totals.elapsed_s - first_s
    first = a_job("sort", first_s).model_copy(update={"active_s": first_s - START_UP_S})
    later_ms = first.finished_ms + 1500
    second = a_job("check", second_s)
    second = second.model_copy(
        update={
            "active_s": second_s - START_UP_S, "submitted_ms": later_ms, "started_ms": later_ms + second.started_ms,
            "finished_ms": later_ms + second.finished_ms,
        }
    )  # fmt: skip
    return {"jobs": (first, second)}


def write_run(folder, plan, records):
    """Only what a report reads of a trial without probes, without the care that a real run takes."""
    run = a_folder(Path(folder), plan)
    for record in records:
        place = run.path / "trials" / record.trial.id
        place.mkdir()
        (place / "record.json").write_text(record.model_dump_json())
    return run


def page(plan, records, damaged=(), detailed=()):
    """The page of records that lie nowhere."""
    shown = set(ids_shown(summaries(records)))
    whole = [record for record in records if record.trial.id in shown]
    return run_page(
        RunData(a_measured_run(plan, records), damaged, whole, detailed),
        analyse(a_measured_run(plan, records), detailed=detailed),
    )
