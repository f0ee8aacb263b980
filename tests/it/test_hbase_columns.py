"""Proves that points whose lines have unused columns apart in a table give the right clusters, tuned and in any order."""

import pytest

from assay.model.doubt import Outcome
from assay.model.record import Status

pytestmark = pytest.mark.it


@pytest.mark.long
@pytest.mark.parametrize("read", ["scan", "snapshot"])
def test_unused_columns_are_kept_apart_and_left_out(place, read):
    """More centres than go into a region at once; lines are whole where they are assigned."""
    options = "{points: 6000, attributes: 3, unused: 9, k: 1500, iterations: 1, assign: true}"
    experiment = place.experiment(f"""
experiment: columns
workloads: [{{name: k-means, options: {options}}}]
media:
  disk: {{kind: directory, path: {place.disk}}}
store: hbase
settings: small-tuned
profiles:
  small-tuned: {{inherits: [hbase-tuned, small]}}
hbase:
  hbase.assay.columns: used-apart
  hbase.assay.load: bulk
  hbase.assay.read: {read}
""")
    place.assay("run", experiment, "--out", "run")
    (record,) = place.records("run")
    assert record.status is Status.FINISHED, record.error
    assert record.outcome is Outcome.PASS, record.verdicts
    assert place.left_over() == []
