"""Proves that one wrong value in a real run's output is found: the trial fails, and so does the command."""

from functools import partial

import pytest

from assay.cli.context import vocabulary
from assay.cli.run import open_trial
from assay.model.doubt import Outcome
from assay.model.progress import Silent
from assay.model.record import Status
from assay.model.registry import STORES
from assay.record.folder import RunFolder
from assay.report.analysis import read_run
from assay.run import execute
from assay.store.hdfs import Hdfs, WebHdfs
from tests.builders import make_plan
from tests.it.driving import IN_ONE_CONTAINER

pytestmark = pytest.mark.it


class FlippedStore(WebHdfs):
    """Gives the output as it is, but for the first degree's number of vertices."""

    def lines(self, path):
        first, *others = super().lines(path)
        degree, vertices = first.split(b"\t")
        yield b"%s\t%d" % (degree, int(vertices) + 1)
        yield from others


class Flipping(Hdfs):
    """HDFS, but for what is read from it."""

    def open(self, cluster):
        return FlippedStore(cluster.addresses["namenode"])


class Unwatched(Silent):
    """Nobody watches the plan."""

    def trial_begins(self, trial, number, total):
        pass

    def trial_ends(self, record):
        pass


def test_one_flipped_value_fails_the_trial_and_the_command(place, monkeypatch):
    experiment = place.experiment(f"""
experiment: flipped
workloads: degree-distribution
datasets:
  - {{make: brightkite, scale: 0.005}}
media:
  disk: {{kind: directory, path: {place.disk}}}
hadoop: {IN_ONE_CONTAINER}
cache: warm
""")
    plan = make_plan(place.home / experiment, vocabulary(place.installation))
    folder = RunFolder(place.home / "run")
    folder.create(plan)

    monkeypatch.setitem(STORES._read(), "hdfs", Flipping())
    execute(plan, folder, partial(open_trial, installation=place.installation), Unwatched())
    (record,) = place.records("run")
    assert record.status is Status.FINISHED, record.error
    assert [verdict.check for verdict in record.verdicts if verdict.outcome is Outcome.FAIL] == [
        "the histogram equals numpy's"
    ]
    assert record.outcome is Outcome.FAIL
    assert not read_run(folder).passed
    place.assay("report", "run", code=1)
    assert place.left_over() == []
