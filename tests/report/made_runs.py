"""Runs of any size, made up with known times: placements, a factor beside them, repetitions, some noise."""

import random
from pathlib import Path

from assay.model.trial import SettingsSpec
from assay.record.folder import RunFolder
from tests.builders import a_plan, a_record, a_trial

TIMES = {"hdd": 60.0, "ssd": 40.0, "memory": 39.0}


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
        records.append(record if facts is None else record.model_copy(update={"facts": {**record.facts, **facts}}))
    return a_plan(*trials), records


def write_run(folder, plan, records):
    """Only what a report reads of a trial without probes, without the care that a real run takes."""
    run = RunFolder(Path(folder))
    run.create(plan)
    for record in records:
        place = run.path / "trials" / record.trial.id
        place.mkdir()
        (place / "record.json").write_text(record.model_dump_json())
    return run
