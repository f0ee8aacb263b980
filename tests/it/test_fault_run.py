"""Proves on real TeraSorts over three workers what a killed NodeManager, DataNode and node and a slow drive do, and racks."""

import re

import pytest

from assay.model.doubt import Outcome
from assay.stats.trial_summary import summarise
from tests.it.driving import AS_ROOT, a_place

pytestmark = [pytest.mark.it, pytest.mark.alone, pytest.mark.long, AS_ROOT]

EXPERIMENT = """
experiment: faults
workloads: {name: terasort, options: {size: 60MB}, hadoop: {mapreduce.terasort.output.replication: 2}}
media: {hdd: {profile: wd10ezex, path: /dev/shm, size: 2GiB}}
repetitions: 1
cluster: {nodes: 3, network: gigabit, memory_mb: 3072, vcores: 4, racks: [[1], [2, 3]]}
replication: 2
settings: small
# By default a reduce tries for three minutes to connect to a NodeManager that is dead.
hadoop: {dfs.blocksize: 8m, mapreduce.job.reduces: 2, mapreduce.reduce.shuffle.connect.timeout: 5000}
fault:
  - none
  - {kill: nodemanager, on: 2, at: map 50%}
  - {kill: datanode, on: 2, at: map 30%}
  - {slow: drive, on: 2, factor: 4}
"""


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    with a_place(tmp_path_factory.mktemp("faults")) as place:
        file = place.experiment(EXPERIMENT)
        killed = "fault=kill nodemanager on 2 at map 50%"
        # In two parts, neither of which keeps a slow machine beyond a command's patience.
        place.assay("run", file, "--out", "run", "--only", "fault=none", "--only", killed)
        said = place.assay("run", file, "--out", "run", "--resume")
        yield {record.trial.factors["fault"]: record for record in place.records("run")}, said


def test_every_output_is_right_whatever_went_wrong(records):
    for record in records[0].values():
        assert record.outcome is Outcome.PASS, (record.error, record.verdicts)


def test_each_fault_struck_where_and_when_it_should(records):
    killed = records[0]["kill nodemanager on 2 at map 50%"].fault
    assert killed.struck_ms
    assert killed.progress["map"] >= 50
    assert list(killed.processes) == ["nodemanager"]
    assert killed.lost_attempts is not None
    assert all(line.startswith("nodemanager: ") for line in killed.log)
    assert killed.log
    without = records[0]["none"]
    assert without.fault is None
    assert not summarise(without).missed_fault


def test_a_dead_datanode_takes_copies_with_it_and_outputs_are_read_elsewhere(records):
    killed = records[0]["kill datanode on 2 at map 30%"].fault
    assert list(killed.processes) == ["datanode"]
    assert killed.redundancy.copies_lost > 0
    assert killed.redundancy.missing_blocks == 0


def test_a_slow_drive_is_four_times_slower_on_its_worker_alone(records):
    record = records[0]["slow drive on 2 by 4"]
    assert str(record.facts_of("hdd.worker-2")["drive"]).endswith("4 times slower")
    assert "slower" not in str(record.facts_of("hdd")["drive"])
    assert records[0]["none"].facts_of("hdd")["drive"] == record.facts_of("hdd")["drive"]


def test_the_report_says_what_each_cost(records):
    said = " ".join(records[1].split())
    for level in set(records[0]) - {"none"}:
        assert f"{level}: it costs " in said, said


def test_hadoop_knows_the_racks(place):
    said = place.assay("cluster", "up", "--settings", "small", "--nodes", "3", "--racks", "2")
    hadoop = re.search(r"its own `hadoop` command: (\S+)", said)[1]
    report = place.command(hadoop, "dfsadmin", "-report").stdout
    racks = dict(zip(re.findall(r"Hostname: (\S+)", report), re.findall(r"Rack: (\S+)", report), strict=True))
    assert racks == {"worker-1": "/rack-1", "worker-2": "/rack-1", "worker-3": "/rack-2"}
    place.assay("cluster", "down")
    assert place.left_over() == []
