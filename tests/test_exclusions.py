"""Proves that the jobs of the experiment on exclusions are each in one part, long enough, and expected to be excluded."""

import re
import shlex
from pathlib import Path

import pytest
from benchmarks import forty_jobs
from benchmarks.exclusions import EXPERIMENT, expectations

from assay.cli.context import vocabulary
from assay.plan.grid import only
from assay.triage.ranking import TriageVerdict
from tests.builders import an_installation, make_plan

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def expected():
    return list(expectations())


def test_the_parts_of_the_experiment_have_each_job_once(expected):
    plan = make_plan(EXPERIMENT, vocabulary(an_installation(ROOT, ROOT / ".assay")))
    assert {doubt.kind for doubt in plan.doubts} == {"engines-unequal"}  # which no answer compares
    commands = re.findall(r"assay run experiments/exclusions\.yaml (.+)", EXPERIMENT.read_text())
    parts = [only(plan, [word for word in shlex.split(command) if word != "--only"]).trials for command in commands]
    assert sorted(trial.id for part in parts for trial in part) == sorted(trial.id for trial in plan.trials)
    assert len(parts) == 4
    assert len(plan.trials) == len(expected) * 2 * 3  # two drives, three repetitions


def test_enough_jobs_are_long_enough_and_expected_to_be_excluded(expected):
    assert len(expected) == 24
    assert all(60 <= of_job.seconds <= 300 for of_job in expected)
    by_histories = [of_job for of_job in expected if of_job.verdict == TriageVerdict.CANNOT_MATTER]
    with_busy = [of_job for of_job in expected if of_job.busy_verdict == TriageVerdict.CANNOT_MATTER]
    assert len(by_histories) >= 18
    assert len(with_busy) >= 20
    assert {of_job.engine for of_job in by_histories} == {"mapreduce", "spark"}


def test_what_is_known_of_a_made_site_excludes_more_of_its_jobs(monkeypatch):
    monkeypatch.setattr(forty_jobs, "NIGHTS", 1)
    rows = [[int(cell) for cell in cells] for _, *cells in forty_jobs.rows()]
    assert all(may + cannot + unknown == forty_jobs.JOBS for may, _, _, cannot, unknown, _ in rows)
    assert rows[0][-1] > forty_jobs.FIRST / 2  # by chance: a quarter of them
    remaining = [may for may, *_ in rows]
    assert remaining == sorted(remaining, reverse=True)
    assert remaining[-1] < remaining[0] / 2
    assert all(likely <= may and deciding <= may for may, likely, deciding, *_ in rows)
