"""Proves on a real Hadoop over emulated drives that roles and fractions land where they should, and how a drive dies."""

import os
import signal

import pytest

from assay.media.emulated.attachment import missing
from assay.model.doubt import Outcome
from assay.model.record import Status
from assay.model.trial import TOLERANCE_SHARE

pytestmark = pytest.mark.it

EXPERIMENT = """
experiment: placed
workloads: {{name: terasort, options: {{size: 64MB}}}}
media:
  hdd: {{profile: "null", size: 2GiB}}
  ssd: {{profile: "null", size: 2GiB}}
placement:
{placements}
placement_check: error
order: interleaved
zero_delay_baseline: false
repetitions: 1
memory: 1600MiB
settings: small
hadoop:
  dfs.blocksize: 4m
  dfs.namenode.fs-limits.min-block-size: 1024
  mapreduce.job.reduces: 2
  mapreduce.input.fileinputformat.split.minsize: 33554432
"""
PURE = "  - hdd"
ROLES = "  - {name: roles, input: hdd, intermediate: ssd, output: {ssd: 0.25, hdd: 0.75}}"
HALVES = "  - {ssd: 0.5, hdd: 0.5}"
# Bytes that each drive must get of the input and the output, at the tolerated fractions. Not of the intermediate data:
# Hadoop deletes it when the job ends, most often before the kernel has written it back.
LEAST_OF_ROLES = {"hdd": 64e6 * (1 + 0.75 - TOLERANCE_SHARE), "ssd": 64e6 * (0.25 - TOLERANCE_SHARE)}
LEAST_OF_HALVES = dict.fromkeys(("hdd", "ssd"), 64e6 * 2 * (0.5 - TOLERANCE_SHARE))


@pytest.fixture(autouse=True)
def _emulation(place):
    lacking = missing(place.installation)
    if lacking:
        pytest.skip("; ".join(lacking))


@pytest.mark.parametrize(
    ("placement", "least"),
    [
        pytest.param(ROLES, LEAST_OF_ROLES, id="roles"),
        pytest.param(HALVES, LEAST_OF_HALVES, id="halves", marks=pytest.mark.long),
    ],
)
def test_roles_and_fractions_land_where_they_should(place, placement, least):
    experiment = place.experiment(EXPERIMENT.format(placements=placement))
    place.assay("run", experiment, "--out", "run")
    (record,) = place.records("run")
    assert record.outcome is Outcome.PASS, record.error
    landed = {(one.role, one.when): one for one in record.landed}
    assert set(landed) == {("input", "staged"), ("input", "run"), ("intermediate", "run"), ("output", "run")}
    for one in landed.values():
        assert one.bytes > 60_000_000
        assert not one.unseen, one
        assert one.error(record.trial.placement) <= TOLERANCE_SHARE, one
    assert {"staging", "run", "write out", "collect"} == set(record.reports_of("hdd")[0])
    assert record.limits.memory_peak_bytes <= 1600 << 20
    written = {drive.medium: sum(report.writes.bytes for report in drive.reports.values()) for drive in record.devices}
    assert all(written[name] > least[name] for name in least), written
    assert place.left_over() == []


@pytest.mark.long
def test_a_drive_that_dies_fails_its_trial_with_the_reason(place):
    experiment = place.experiment(EXPERIMENT.format(placements=PURE))
    started = place.start("run", experiment, "--out", "run")
    started.until_jobs_run(place, "1/1")
    (emulator,) = place.processes("assay-emulator")
    os.kill(emulator, signal.SIGKILL)
    assert started.exit_code() == 1, started.text
    (record,) = place.records("run")
    assert record.status is Status.FAILED
    assert "emulator" in record.error
    assert place.left_over() == []
