"""An embedded cluster's configuration says what it must, where Hadoop reads it, and nothing about what is measured."""

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from assay.host.lease import Lease
from assay.host.processes import MARK
from assay.model.cluster import EmbeddedSpec
from assay.model.installed import stack_of
from assay.model.layout import Directory, Layout
from assay.model.progress import Silent
from assay.model.registry import STORES
from assay.model.running_cluster import RunningCluster
from assay.model.service import NodeContext
from assay.platform import embedded
from assay.platform.configuration import read_site, to_xml, with_fixed_ports, write_configuration
from assay.platform.distribution import Distribution, Java
from assay.platform.embedded import EmbeddedCluster
from assay.platform.limits import Limits

LAYOUT = Layout(
    neutral=Path("/n"),
    directories=(
        Directory(path=Path("/d1"), medium="hdd"),
        Directory(path=Path("/d2"), medium="ssd", roles=("output",)),
        Directory(path=Path("/l1"), medium="hdd", roles=("intermediate",)),
        Directory(path=Path("/l2"), medium="ssd", roles=("intermediate",)),
    ),
)
STACK = stack_of()
ADDRESSES = {
    name: f"127.0.0.1:{20000 + at}" for at, name in enumerate(name for kind in STACK.daemons for name in kind.ports)
}

USUAL = EmbeddedSpec()


def a_node(spec=USUAL, layout=LAYOUT, host="127.0.0.1", master="127.0.0.1", addresses=ADDRESSES):
    return NodeContext(spec, layout, host, master, addresses, classpath=("/jars/*",))


@pytest.fixture
def properties():
    return {**ADDRESSES, **STACK.properties(a_node(EmbeddedSpec(memory_mb=3000, vcores=3)))}


def test_every_address_is_on_the_loopback_interface(properties):
    addresses = {name: value for name, value in properties.items() if name.endswith(("address", "hostname"))}
    assert len(addresses) > 15
    assert all(value.partition(":")[0] == "127.0.0.1" for value in addresses.values())


def test_no_default_port_is_left(properties):
    """Every address of Hadoop's daemons that run here is set, to a chosen port or to one of the kernel's choice."""
    chosen = {address.rpartition(":")[2] for address in ADDRESSES.values()} | {"0"}
    ports = [value.rpartition(":")[2] for name, value in properties.items() if name.endswith("address")]
    assert {"0", *ports, properties["fs.defaultFS"].rpartition(":")[2]} == chosen
    assert properties["mapreduce.shuffle.port"] == "0"


def test_nodes_have_the_same_port_for_the_same_purpose():
    """So a port alone tells what passes between any two of them."""
    spec, hosts = EmbeddedSpec(nodes=2), ("worker-1", "worker-2")
    addresses = {name: address.replace("127.0.0.1", "master") for name, address in ADDRESSES.items()}
    one, other = (
        with_fixed_ports(
            {**addresses, **STACK.properties(a_node(spec, host=host, master="master", addresses=addresses))},
            range(30000, 30040),
        )
        for host in hosts
    )
    assert {name: value.replace("worker-1", "worker-2") for name, value in one.items()} == other
    ports = [value.rpartition(":")[2] for name, value in one.items() if name.endswith("address") or "shuffle" in name]
    assert len(set(ports)) == len(ports)
    assert "0" not in ports
    assert one["dfs.datanode.address"].startswith("worker-1:")
    assert one["yarn.resourcemanager.hostname"] == "master"
    assert all(one[name] == address for name, address in addresses.items())


def test_jobs_have_the_jars_that_services_bring_on_their_class_path():
    of_node = STACK.properties(a_node()._replace(job_jars=(Path("/programs/formats.jar"),)))
    assert of_node["mapreduce.application.classpath"] == "/jars/*,/programs/formats.jar"


def test_roles_go_to_their_directories(properties):
    assert properties["dfs.datanode.data.dir"] == "[DISK]/d1,[SSD]/d2"
    assert properties["yarn.nodemanager.local-dirs"] == "/l1,/l2"
    assert properties["mapreduce.cluster.local.dir"] == "/l1,/l2"
    assert properties["dfs.namenode.name.dir"].startswith("/n/")


def test_containers_get_what_the_spec_offers_and_carry_the_mark(properties):
    assert properties["yarn.nodemanager.resource.memory-mb"] == "3000"
    assert properties["yarn.nodemanager.resource.cpu-vcores"] == "3"
    assert MARK in properties["yarn.nodemanager.env-whitelist"].split(",")


@pytest.mark.parametrize("touchy", ["sort", "merge", "slowstart", "speculative", "blocksize", "compress", "parallel"])
def test_what_is_measured_stays_as_hadoop_has_it(properties, touchy):
    assert not [name for name in properties if touchy in name]


def test_properties_go_to_the_file_that_is_read_last(tmp_path):
    """Hadoop loads core-site before hdfs-default: a property in the wrong file would be overridden by its default."""
    conf_dir = written(
        tmp_path,
        {
            "dfs.replication": "1",
            "yarn.nodemanager.address": "a",
            "yarn.app.mapreduce.am.command-opts": "b",
            "mapreduce.job.maps": "7",
            "fs.defaultFS": "hdfs://x",
            "io.sort.mb": "9",
            "yarn.scheduler.capacity.node-locality-delay": "1",
        },
    )
    files = {file.name: names(file) for file in conf_dir.glob("*.xml")}
    assert files["hdfs-site.xml"] == {"dfs.replication"}
    assert files["mapred-site.xml"] == {"yarn.app.mapreduce.am.command-opts", "mapreduce.job.maps", "io.sort.mb"}
    assert files["core-site.xml"] == {"fs.defaultFS", "io.sort.mb"}
    assert "yarn.nodemanager.address" in files["yarn-site.xml"]
    scheduler = (conf_dir / "capacity-scheduler.xml").read_text()
    assert "<name>yarn.scheduler.capacity.node-locality-delay</name>\n    <value>1</value>" in scheduler


def test_values_survive_the_way_through_xml(tmp_path):
    value = "-Dx=\"<&>\" 'ä'"
    conf_dir = written(tmp_path, {"mapreduce.map.java.opts": value})
    assert read_site(conf_dir)["mapreduce.map.java.opts"] == value


def test_xml_is_sorted():
    assert to_xml({"b": "2", "a": "1"}).index("<name>a") < to_xml({"b": "2", "a": "1"}).index("<name>b")


def written(home, properties):
    """The directory of a node's configuration with these properties."""
    node = a_node(layout=Layout(neutral=home))
    node.conf_dir.mkdir()
    write_configuration(STACK, node, properties)
    return node.conf_dir


def names(file):
    return {entry.findtext("name") for entry in ET.parse(file).getroot().iter("property")}


def test_a_cluster_s_written_data_age_as_slowly_as_all_of_a_scale_model(tmp_path, monkeypatch):
    """The settings are changed under the cluster's lease; a kernel that refuses is doubted."""
    java = Java(home=tmp_path, feature=17, version="17", fingerprint="x")
    distribution = Distribution(version="3", java=java, classpath=("/lib/*",))
    spec = EmbeddedSpec(nodes=2, dilation=4, write_back="node", write_back_age_s=1.0)
    asked, reasons = [], iter(["", "vm.dirty_expire_centisecs can't be 400: Read-only file system"])
    running = RunningCluster(hadoop=tmp_path, conf_dir=tmp_path, version="3", addresses={}, facts={"a": 1})
    monkeypatch.setattr(embedded, "age_dirty_pages", lambda lease, age_s: asked.append((lease, age_s)) or next(reasons))
    monkeypatch.setattr(embedded, "limits_of", lambda *_: Limits(None, None, {}))
    monkeypatch.setattr(embedded, "write_back", lambda: "dirty_expire_centisecs=400")
    monkeypatch.setattr(EmbeddedCluster, "_start_once", lambda *_: running)
    for kinds in ([], ["write-back-age-missing"]):
        cluster = EmbeddedCluster(distribution, spec, stack_of(), tmp_path, {})
        with Lease(tmp_path / "state", "test") as lease:
            started = cluster.start(LAYOUT, {}, Silent(), lease)
        assert asked[-1] == (lease, 4.0)
        assert started.facts == {"a": 1, "write_back": "dirty_expire_centisecs=400"}
        assert [doubt.kind for doubt in started.doubts] == kinds


@pytest.mark.parametrize("store", list(STORES))
def test_jobs_of_trials_alone_need_classes_that_a_store_brings(store, tmp_path, monkeypatch):
    stack = stack_of(store)
    names = [name for kind in stack.daemons for name in kind.ports]
    on_node = stack.properties(a_node(addresses={name: f"127.0.0.1:{20000 + at}" for at, name in enumerate(names)}))
    of_stores = {
        name for name, value in {**on_node, **stack.trial_properties}.items()
        if name.endswith("format.class") or value.startswith("org.assay.")
    }  # fmt: skip
    assert not of_stores & on_node.keys(), "a job by hand would not start"
    assert of_stores == stack.trial_properties.keys()
    java = Java(home=tmp_path, feature=17, version="17", fingerprint="x")
    distribution = Distribution(version="3", java=java, classpath=("/lib/*",))
    cluster, started = EmbeddedCluster(distribution, EmbeddedSpec(), stack, tmp_path, {}), []
    monkeypatch.setattr(cluster, "start", lambda _layout, properties, *_: started.append(properties))
    with cluster.running(LAYOUT, {"a.b": "c"}, Silent()):
        assert started == [{**stack.trial_properties, "a.b": "c"}]
