"""Proves that points whose lines have unused columns apart in a table give the right clusters, tuned and in any order."""

import pytest

pytestmark = pytest.mark.it


@pytest.mark.long
@pytest.mark.parametrize("read", ["scan", "snapshot"])
def test_unused_columns_are_kept_apart_and_left_out(place, read):
    """More centres than go into a region at once; lines are whole where they are assigned."""
    options = "{points: 6000, attributes: 3, unused: 9, k: 1500, iterations: 1, assign: true}"
    place.verified(f"""
experiment: columns
workloads: [{{name: k-means, options: {options}}}]
media: {place.media}
store: hbase
settings: small-tuned
profiles:
  small-tuned: {{inherits: [hbase-tuned, small]}}
hbase:
  hbase.assay.columns: used-apart
  hbase.assay.load: bulk
  hbase.assay.read: {read}
""")
