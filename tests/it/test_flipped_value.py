"""Proves that one wrong value in a real run's output is found: the trial fails, and so does the command."""

import pytest

from assay.model.doubt import Outcome
from assay.model.record import Status
from assay.model.registry import STORES
from assay.record.folder import RunFolder
from assay.report.analysis import read_run
from assay.store.hdfs import HDFS, WebHdfs
from tests.it.driving import IN_ONE_CONTAINER

pytestmark = pytest.mark.it


class FlippedStore(WebHdfs):
    """Gives the output as it is, but for the first degree's number of vertices."""

    def lines(self, path):
        first, *others = super().lines(path)
        degree, vertices = first.split(b"\t")
        yield b"%s\t%d" % (degree, int(vertices) + 1)
        yield from others


FLIPPING = HDFS._replace(open=lambda cluster: FlippedStore(cluster.addresses["namenode"]))
"""HDFS, but for what is read from it."""


def test_one_flipped_value_fails_the_trial_and_the_command(place, monkeypatch):
    experiment = place.experiment(f"""
experiment: flipped
workloads: degree-distribution
datasets:
  - {{make: brightkite, scale: 0.005}}
media: {place.media}
hadoop: {IN_ONE_CONTAINER}
cache: warm
""")
    monkeypatch.setitem(STORES._read(), "hdfs", FLIPPING)
    record = place.run_in_this_process(experiment, "run")
    assert record.status is Status.FINISHED, record.error
    assert [verdict.check for verdict in record.verdicts if verdict.outcome is Outcome.FAIL] == [
        "the histogram equals numpy's"
    ]
    assert record.outcome is Outcome.FAIL
    assert not read_run(RunFolder(place.home / "run")).passed
    place.assay("report", "run", code=1)
    assert place.left_over() == []
