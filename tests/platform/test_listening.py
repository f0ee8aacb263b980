"""Proves that the ports that Hadoop's daemons chose are found in their own logs, by purpose."""

from dataclasses import replace
from pathlib import Path

from assay.model.installed import stack_of
from assay.model.running_cluster import ClusterNode, DaemonFacts, RunningCluster
from assay.node.local import LocalNode
from assay.platform.scene import listening_ports

LOGS = Path(__file__).parents[1] / "fixtures" / "cluster" / "listening"
PROPERTIES = {
    "dfs.namenode.rpc-address": "127.0.0.1:27191",
    "yarn.resourcemanager.address": "127.0.0.1:31148",
    "yarn.resourcemanager.admin.address": "127.0.0.1:0",
    "mapreduce.jobhistory.webapp.address": "127.0.0.1:25283",
}


def running(tmp_path, *roles):
    daemons = tuple(DaemonFacts(role=role, pid=1, log=LOGS / f"{role}.log") for role in roles)
    cluster = RunningCluster(
        hadoop=tmp_path, conf_dir=tmp_path, addresses={}, version="3.4.2",
        nodes=(ClusterNode(LocalNode(), daemons),), properties=PROPERTIES,
    )  # fmt: skip
    return cluster, stack_of().daemons


def test_ports_of_a_real_cluster_are_told_by_purpose(tmp_path):
    ports = listening_ports(
        *running(tmp_path, "datanode", "nodemanager", "resourcemanager", "namenode", "historyserver")
    )
    assert ports["hdfs data"] == (44447,)
    assert set(ports["hdfs rpc"]) == {27191, 39301}
    assert ports["shuffle"] == (43855,)
    assert set(ports["yarn rpc"]) == {31148, 39667, 40815}
    assert set(ports["web"]) >= {25283, 39497, 40983, 36029, 14773, 22231}


def test_a_log_that_is_not_there_leaves_its_ports_out(tmp_path):
    assert listening_ports(*running(tmp_path, "absent")) == {
        "hdfs rpc": (27191,), "yarn rpc": (31148,), "web": (25283,)
    }  # fmt: skip


def test_processes_of_jobs_listen_from_a_property_s_port_on(tmp_path):
    cluster, _ = running(tmp_path)
    chosen = replace(cluster, properties={"spark.blockManager.port": "20000"})
    assert listening_ports(chosen, (), stack_of("hdfs", "spark").job_ports) == {"shuffle": (20000, 20001, 20002, 20003)}
    left_to_the_kernel = replace(cluster, properties={"spark.blockManager.port": "0"})
    assert listening_ports(left_to_the_kernel, (), {"spark.blockManager.port": "shuffle"}) == {}
    assert stack_of().job_ports == {}
