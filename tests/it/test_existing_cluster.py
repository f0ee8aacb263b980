"""Proves that a cluster left running serves Hadoop's own command and Assay alike, and goes when it is told to.

The tests share one cluster and come in this order; the last one stops it.
"""

import gzip
import re

import pytest

from assay.model.doubt import Outcome
from tests.it.driving import IN_ONE_CONTAINER, JAR, a_place
from tests.it.handwritten import TEXT, counted

pytestmark = pytest.mark.it


class Kept:
    """A place with a cluster in it, as `assay cluster up` told of it."""

    def __init__(self, place, said):
        self.place = place
        self.conf_dir = re.search(r"^export HADOOP_CONF_DIR=(.+)$", said, re.MULTILINE)[1]
        self._hadoop = re.search(r"`hadoop` command: (.+)$", said, re.MULTILINE)[1]

    def hadoop(self, *arguments, code=0):
        return self.place.command(self._hadoop, *arguments, code=code)

    def is_up(self):
        (held,) = self.place.status()
        return held["state"] == "kept" and len(held["processes"]) == 5


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    with a_place(tmp_path_factory.mktemp("existing")) as place:
        yield Kept(place, place.assay("cluster", "up"))


@pytest.mark.long  # three jobs by hand; the next test shows that the jar runs, and names a bad line
def test_the_jar_runs_without_assay(kept):
    (kept.place.home / "graph.txt.gz").write_bytes(gzip.compress(TEXT))
    kept.hadoop("fs", "-mkdir", "-p", "raw")
    kept.hadoop("fs", "-put", "graph.txt.gz", "raw/graph.txt.gz")
    kept.hadoop("jar", str(JAR), "normalise", "raw", "graph")
    kept.hadoop("jar", str(JAR), "triangles", "graph", "count")
    assert count_of(kept) == counted(TEXT).triangles
    refused = kept.hadoop("jar", str(JAR), "triangles", "graph", "count", code=2)
    assert "already exists" in refused.stderr
    assert count_of(kept) == counted(TEXT).triangles


def test_the_jar_names_the_line_that_is_no_edge(kept):
    (kept.place.home / "edges.txt").write_text("1\t2\n2\t3\n3\tx\n")
    kept.hadoop("fs", "-mkdir", "-p", "broken")
    kept.hadoop("fs", "-put", "edges.txt", "broken/edges.txt")
    refused = kept.hadoop("jar", str(JAR), "degree-distribution", "broken", "degrees", code=2)
    assert "edges.txt line 3: " in refused.stderr, refused.stderr


def count_of(kept):
    return int(kept.hadoop("fs", "-cat", "count/part-r-00000").stdout)


def test_an_experiment_on_it_tells_what_is_not_known(kept):
    experiment = kept.place.experiment(f"""
experiment: existing
workloads:
  - triangles
  - {{name: terasort, options: {{size: 1MB}}}}
datasets:
  - {{make: brightkite, scale: 0.005}}
cluster: {{conf_dir: {kept.conf_dir}}}
hadoop: {IN_ONE_CONTAINER}
""")
    kept.place.assay("run", experiment, "--out", "run")
    record, sorted_there = sorted(kept.place.records("run"), key=lambda one: one.trial.workload.name == "terasort")
    assert [one.outcome for one in (record, sorted_there)] == 2 * [Outcome.PASS], (record, sorted_there)
    assert [job.name for job in sorted_there.staging_jobs] == ["generate"]  # its nodes write what is made
    assert record.outputs[0].summary["triangles"] == record.dataset.triangles > 0
    assert "cache-unknown" in {doubt.kind for doubt in record.doubts}
    assert [medium.kind for medium in record.trial.media] == ["existing"]
    assert kept.hadoop("fs", "-ls", "-C", "assay").stdout.split() == []
    assert kept.is_up()


def test_it_goes_when_it_is_told_to(kept):
    assert kept.is_up()
    assert "stopped cluster-" in kept.place.assay("cluster", "down")
    assert kept.place.left_over() == []
