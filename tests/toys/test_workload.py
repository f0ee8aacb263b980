"""Proves that a workload is one file: a toy from outside the package is listed, planned, run, verified and reported."""

import json

import pytest

from tests.toys import lifecycle

pytestmark = pytest.mark.slow
EXPERIMENT = """\
experiment: toys
workloads:
  - {name: line-count, options: {lines: 7}}
  - {name: line-count, options: {lines: 8}}
media: {disk: directory}
repetitions: 2
"""
# Runs an experiment on fakes that count 7 lines, but with the real workloads.
RUN = """
import sys
from contextlib import contextmanager
from pathlib import Path
from assay.model.installation import Installation
from assay.model.progress import Silent
from assay.model.registry import WORKLOADS
from assay.plan.make import plan_and_more
from assay.plan.source import ExperimentSource
from assay.record.folder import RunFolder
from assay.run.loop import execute
from assay_extras.testing.fakes import Script, fake_setup
from assay.cli.context import vocabulary

class Quiet(Silent):
    trial_begins = trial_ends = lambda *_: None

@contextmanager
def set_up(trial):
    workload = lambda: WORKLOADS[trial.workload.name](trial.workload, "/base")
    yield fake_setup(Script(answer=7), trial)._replace(workload=workload)

here = Path.cwd()
installation = Installation(root=Path(sys.argv[1]), parts=here, jobs_jar=here, cache=here, state=here)
plan = plan_and_more(ExperimentSource(here / "toys.yaml"), vocabulary(installation))[0]
folder = RunFolder(here / "run")
folder.create(plan)
execute(plan, folder, set_up, Quiet())
"""


@pytest.fixture(scope="module")
def outside(tmp_path_factory):
    python = lifecycle.outside(tmp_path_factory.mktemp("outside"), "workload", EXPERIMENT)
    assert python("-c", RUN, str(lifecycle.ROOT)) == ""
    return python


def test_it_is_listed_with_its_options_and_an_experiment(outside):
    shown = json.loads(outside("-m", "assay", "workloads", "show", "line-count", "--json"))
    assert shown["options"] == [{"name": "lines", "default": "7", "about": "how many there are"}]
    assert (
        shown["experiment"] == "experiment: line-count\nworkloads:\n  - name: line-count\nmedia:\n  disk: directory\n"
    )


def test_its_trials_are_recorded_with_its_own_verdict(outside):
    records = [json.loads(file.read_text()) for file in outside.home.glob("run/trials/*/record.json")]
    assert [record["error"] for record in records] == [None] * 4
    outcomes = {
        (record["trial"]["workload"]["options"]["lines"], verdict["check"], verdict["outcome"])
        for record in records
        for verdict in record["verdicts"]
    }
    assert outcomes == {("7", "all lines are counted", "pass"), ("8", "all lines are counted", "fail")}


def test_the_report_names_it(outside):
    said = outside("-m", "assay", "report", "run")
    assert "line-count" in said
    assert "all lines are counted" in said
