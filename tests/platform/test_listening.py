"""Proves that the ports that Hadoop's daemons chose are found in their own logs, by purpose."""

from pathlib import Path

from assay.model.platform import ClusterNode, DaemonFacts, RunningCluster
from assay.model.registry import ENGINES, STORES
from assay.node.local import LocalNode
from assay.platform.scene import listening_ports

LOGS = Path(__file__).parents[1] / "fixtures" / "cluster" / "listening"
SITE = """<configuration>
<property><name>dfs.namenode.rpc-address</name><value>127.0.0.1:27191</value></property>
<property><name>yarn.resourcemanager.address</name><value>127.0.0.1:31148</value></property>
<property><name>yarn.resourcemanager.admin.address</name><value>127.0.0.1:0</value></property>
<property><name>mapreduce.jobhistory.webapp.address</name><value>127.0.0.1:25283</value></property>
</configuration>
"""


def running(tmp_path, *roles):
    (tmp_path / "core-site.xml").write_text(SITE)
    daemons = tuple(DaemonFacts(role=role, pid=1, log=LOGS / f"{role}.log") for role in roles)
    cluster = RunningCluster(
        hadoop=tmp_path, conf_dir=tmp_path, addresses={}, version="3.4.2",
        nodes=(ClusterNode(LocalNode(), daemons),),
    )  # fmt: skip
    return cluster, (*STORES["hdfs"].daemons, *ENGINES["mapreduce"].daemons)


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
