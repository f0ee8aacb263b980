"""Runs that kept their requests, for tests: the log is written by hand."""

import numpy as np

from assay.model.result import TrialResult
from assay.model.signature import Requests
from tests.builders import a_folder, a_plan, a_record, a_trial

MS = 1_000_000


def a_log(busy_s, medium="disk", roles=("input",), dropped=0):
    """One request each second, which together take so many seconds, from the first job's start on."""
    arrived = np.arange(1000, 11_000, 1000) * MS
    latency = np.full(10, int(busy_s * 100) * MS)
    role = np.arange(10) % len(roles)
    return Requests(
        medium=medium, source="test", arrived_ns=arrived, offset=arrived % 4096, bytes=np.full(10, 1 << 18),
        latency_ns=latency, kind=np.zeros(10, "u1"), role=role.astype("u1"), roles=roles, dropped=dropped,
    )  # fmt: skip


def write_run(path, *logs, seconds=(10.0, 10.2), attempts=(), **changes):
    """A run folder with a trial for each time, all of which have these logs and attempts."""
    trials = [a_trial(number, repetition=number) for number in range(1, len(seconds) + 1)]
    folder = a_folder(path, a_plan(*trials))
    for trial, elapsed_s in zip(trials, seconds, strict=True):
        folder.write(TrialResult(a_record(trial, elapsed_s, **changes), attempts=attempts, requests=logs))
    return folder
