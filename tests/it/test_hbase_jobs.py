"""Proves that workloads run on tables of HBase, whole or in part, and that a task's second attempt removes the first's rows."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import ClassVar

import pytest

from assay.model.doubt import Outcome
from assay.model.registry import STORES
from assay.store.hbase import KIND
from assay.store.hbase_tables import HbaseTables
from tests.it.driving import HADOOP, ROOT

pytestmark = [pytest.mark.it, pytest.mark.long]


EXPERIMENT = """
experiment: tables
workloads: [{workload}]
{datasets}
media: {media}
store: {store}
settings: small
hadoop: {{{hadoop}}}
hbase: {{{hbase}}}
"""


def run(place, workload, store, datasets="", hadoop="", hbase=""):
    """The one record of a workload on a store; its output is right, and its input lies where it should."""
    (record,) = place.verified(
        EXPERIMENT.format(
            workload=workload, datasets=datasets, media=place.media, store=store, hadoop=hadoop, hbase=hbase
        )
    )
    landed = {(one.role, one.when): one for one in record.landed}
    assert landed["input", "staged"].bytes > 0
    assert landed["output", "run"].bytes > 0
    return record


def maps(record):
    return record.jobs[0].stages[0].tasks


@pytest.mark.parametrize("read", ["scan", "snapshot"])
def test_a_map_reads_about_a_block_however_many_regions_there_are(place, read):
    tables = f"hbase.assay.regions: 3, hbase.assay.load: bulk, hbase.assay.read: {read}"
    workload = "{name: sort-lines, options: {size: 5MB, files: 2}}"
    record = run(place, workload, "hbase", hadoop="dfs.blocksize: 1m", hbase=tables)
    assert maps(record) == 5
    assert sum(landed.bytes for landed in record.landed if landed.role == "log") > 0


WORKLOADS = [
    "{name: word-count, options: {size: 1MB, files: 2}}",
    "{name: page-rank, options: {scale: 8, iterations: 2}}",
    "components",
    "mutual-friends",
]


@pytest.mark.parametrize("workload", WORKLOADS)
def test_workloads_run_on_tables(place, workload):
    run(
        place, workload, "hbase", datasets="" if "options" in workload else "datasets: {make: brightkite, scale: 0.005}"
    )


def test_input_in_tables_and_output_in_files(place):
    run(place, "{name: sort-lines, options: {size: 1MB, files: 2}}", "hbase-to-hdfs")


def test_input_in_files_and_output_in_tables(place):
    (place.home / "graph.txt").write_text("# a graph\n2 1\n1 3\n3 2\n")
    record = run(place, "triangles", "hdfs-to-hbase", datasets="datasets: {file: graph.txt}")
    assert record.outputs[0].summary["triangles"] == 1
    (staging,) = record.staging_jobs
    counters = {name: value for group in staging.counters.values() for name, value in group.items()}
    assert counters["HDFS_BYTES_READ"] > 0
    assert counters["HDFS_BYTES_WRITTEN"] > 0


@pytest.mark.parametrize(
    ("asked", "rows"),
    [
        ("share: 1", 200),
        ("share: 10, order: random", 2000),
        ("share: 10, by: ranges, range: 500", 2000),
        ("share: 100, by: ranges, range: 1500, order: random", 20_000),
    ],
)
@pytest.mark.parametrize("load", ["puts", "bulk"])
def test_a_lookup_reads_the_asked_rows_of_a_table_alone(place, asked, rows, load):
    workload = f"{{name: lookup, options: {{rows: 20000, {asked}}}}}"
    record = run(place, workload, "hbase-to-hdfs", hbase=f"hbase.assay.regions: 3, hbase.assay.load: {load}")
    assert record.outputs[0].summary["lines_read"] == record.outputs[0].summary["rows_found"] == rows


@pytest.mark.parametrize(("store", "hbase"), [("hdfs", ""), ("hbase-to-hdfs", "hbase.assay.read: snapshot")])
def test_a_lookup_in_files_or_a_snapshot_reads_all_rows(place, store, hbase):
    record = run(place, "{name: lookup, options: {rows: 20000, share: 1}}", store, hbase=hbase)
    assert record.outputs[0].summary["lines_read"] == 20_000
    assert record.outputs[0].summary["rows_found"] == 200


CACHED = """
experiment: cached
workloads: {{name: lookup, options: {{rows: 20000, row_bytes: 1000, share: 5, order: random, at_once: 1}}}}
media: {{disk: {{kind: directory, path: {disk}}}, other: {{kind: directory, path: {other}}}}}
placement: {{input: disk, intermediate: disk, output: disk, cache: other}}
store: hbase-to-hdfs
settings: small
hbase:
  hbase.assay.load: bulk
  hbase.assay.regions: 2
  hbase.bucketcache.size: 64
  hbase.rs.prefetchblocksonopen: true
"""


def test_single_gets_are_timed_and_their_blocks_are_cached_on_a_medium_of_their_own(place):
    other = place.home / "other"
    other.mkdir()
    (record,) = place.verified(CACHED.format(disk=place.disk, other=other))
    assert record.jobs[0].stages[0].tasks == 2
    times = record.totals.gets
    assert times.gets == 1000
    assert 0 < times.p50_s[0] <= times.p99_s[0]
    (landed,) = (one for one in record.landed if (one.role, one.when) == ("cache", "run"))
    assert landed.shares == {"other": 1.0}
    assert 10 << 20 < landed.bytes <= 65 << 20


class LoadedTwice(HbaseTables):
    """Each file is put by a client of its own; `sizes` are the bytes of each region's files afterwards.

    `told` is the table's size, as the store says it.
    """

    sizes: ClassVar[dict[str, list[int]]] = {}
    told: ClassVar[list[int]] = []

    def put_all(self, files):
        for source, path in files:
            self.put(source, path)
            table = path.rpartition("/")[0]
        self.told.append(self.size_bytes(table))
        listed = [str(self._hadoop), "fs", "-ls", "-R", "/hbase/data/default"]
        lines = subprocess.run(listed, env=self._environment, check=True, capture_output=True, text=True).stdout
        for size, region in re.findall(r"^-\S+ +\S+ +\S+ +\S+ +(\d+) .*/([0-9a-f]+)/d/\S+$", lines, re.MULTILINE):
            self.sizes.setdefault(region, []).append(int(size))


def loading_twice(cluster):
    whole = KIND.open(cluster)
    return LoadedTwice(whole._hadoop, whole._environment)


@pytest.mark.parametrize(("compaction", "files"), [("wait", {1, 3}), ("run-on", {2})])
def test_a_table_is_compacted_where_that_is_waited_for(place, monkeypatch, compaction, files):
    monkeypatch.setitem(STORES._read(), "hbase", KIND._replace(open=loading_twice))
    monkeypatch.setattr(LoadedTwice, "sizes", {})
    monkeypatch.setattr(LoadedTwice, "told", [])
    experiment = place.experiment(EXPERIMENT.format(
        workload="{name: word-frequency, options: {size: 2MB, files: 2}}", datasets="", media=place.media,
        store="hbase", hadoop="",
        hbase=f"hbase.assay.load: bulk, hbase.assay.regions: 2, hbase.assay.compaction: {compaction}",
    ))  # fmt: skip
    assert place.run_in_this_process(experiment, "run").outcome is Outcome.PASS
    assert len(LoadedTwice.sizes) == 2
    for sizes in LoadedTwice.sizes.values():
        # HBase removes what it has compacted every two minutes.
        assert len(sizes) in files
        *loaded, largest = sorted(sizes)
        assert compaction == "run-on" or largest > 0.9 * sum(loaded)
    own = max if compaction == "wait" else sum  # what was compacted is still there, and no longer the region's
    assert LoadedTwice.told == [sum(own(sizes) for sizes in LoadedTwice.sizes.values())]


SPOILT = """
import java.io.IOException;
import org.apache.hadoop.mapreduce.*;

/** Lines of a table; a task's first attempt writes others too, and fails when it has written all. */
public class Spoilt extends OutputFormat<Object, Object> {
  private final OutputFormat<Object, Object> lines = new org.assay.hbase.LinesOutputFormat<>();

  public RecordWriter<Object, Object> getRecordWriter(TaskAttemptContext task)
      throws IOException, InterruptedException {
    boolean first = task.getTaskAttemptID().getId() == 0;
    RecordWriter<Object, Object> writer = lines.getRecordWriter(task);
    return new RecordWriter<>() {
      public void write(Object key, Object value) throws IOException, InterruptedException {
        writer.write(first ? "wrong " + key : key, value);
        if (first) {
          writer.write("more", value);
        }
      }

      public void close(TaskAttemptContext task) throws IOException, InterruptedException {
        writer.close(task);
        if (first) {
          throw new IOException("spoilt");
        }
      }
    };
  }

  public void checkOutputSpecs(JobContext job) throws IOException, InterruptedException {
    lines.checkOutputSpecs(job);
  }

  public OutputCommitter getOutputCommitter(TaskAttemptContext task)
      throws IOException, InterruptedException {
    return lines.getOutputCommitter(task);
  }
}
"""


def with_spoilt_output(place):
    """Its class is among the jars that jobs on tables have."""
    home = os.environ.get("JAVA_HOME")
    tools = Path(home, "bin") if home else Path(shutil.which("javac") or "/nowhere").parent
    if not (tools / "javac").exists():
        pytest.skip("no javac here: JAVA_HOME names none, and none is on the PATH")
    programs, own = ROOT / ".assay" / "hbase", place.installation.parts / "hbase"
    own.unlink()
    shutil.copytree(programs, own, copy_function=os.link)
    (place.home / "Spoilt.java").write_text(SPOILT)
    classpath = f"{HADOOP}/lib/*:{own}/lib/jobs/*"
    compile_it = ["javac", "--release", "11", "-cp", classpath, "-d", "classes", "Spoilt.java"]
    pack_it = ["jar", "--create", "--file", str(own / "lib" / "jobs" / "spoilt.jar"), "-C", "classes", "."]
    for tool, *arguments in (compile_it, pack_it):
        subprocess.run([str(tools / tool), *arguments], cwd=place.home, check=True)


@pytest.mark.parametrize("load", ["puts", "bulk"])
def test_a_second_attempt_leaves_no_row_of_the_first(place, load):
    with_spoilt_output(place)
    workload = "{name: sort-lines, options: {size: 1MB, files: 1}}"
    properties = {"hadoop": "mapreduce.job.outputformat.class: Spoilt", "hbase": f"hbase.assay.load: {load}"}
    record = run(place, workload, "hbase", **properties)
    assert record.jobs[0].stages[-1].failed_attempts > 0
