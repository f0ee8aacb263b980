"""An existing cluster is found through its configuration directory; what is missing is said in one sentence."""

import pytest

from assay.cluster.addresses import Addresses
from assay.cluster.configuration import to_xml
from assay.cluster.distribution import Distribution, Java
from assay.cluster.existing import ExistingCluster
from assay.cluster.ports import free_ports
from assay.cluster.site import derive_site, read_site
from assay.model.cluster import ClusterSpec, Layout
from assay.model.errors import AssayError, BadInputError
from assay.model.progress import Silent


@pytest.fixture
def site(tmp_path):
    def write(**files):
        conf_dir = tmp_path / "site"
        conf_dir.mkdir(exist_ok=True)
        for name, properties in files.items():
            (conf_dir / f"{name}-site.xml").write_text(to_xml(properties))
        return conf_dir

    return write


def addresses(conf_dir):
    return Addresses(read_site(conf_dir), conf_dir)


def test_hosts_follow_from_hadoops_defaults(site):
    found = addresses(
        site(
            core={"fs.defaultFS": "hdfs://master:8020"},
            yarn={"yarn.resourcemanager.hostname": "rm"},
            mapred={"mapreduce.jobhistory.address": "history:10020"},
        )
    )
    assert found.namenodes() == ("http://master:9870",)
    assert found.resourcemanagers() == ("http://rm:8088",)
    assert found.historyserver() == "http://history:19888"


def test_high_availability_names_all_candidates(site):
    found = addresses(
        site(
            core={"fs.defaultFS": "hdfs://ns"},
            hdfs={
                "dfs.ha.namenodes.ns": "a, b",
                "dfs.namenode.http-address.ns.a": "m1:50070",
                "dfs.namenode.http-address.ns.b": "m2:50070",
            },
            yarn={
                "yarn.resourcemanager.ha.rm-ids": "r1,r2",
                "yarn.resourcemanager.hostname.r1": "m1",
                "yarn.resourcemanager.webapp.address.r2": "m2:1234",
                "yarn.resourcemanager.hostname.r2": "m2",
            },
        )
    )
    assert found.namenodes() == ("http://m1:50070", "http://m2:50070")
    assert found.resourcemanagers() == ("http://m1:8088", "http://m2:1234")


def test_variables_are_replaced(site):
    conf_dir = site(core={"host": "m", "fs.defaultFS": "hdfs://${host}:1", "user": "${user.name}"})
    assert read_site(conf_dir)["fs.defaultFS"] == "hdfs://m:1"
    assert read_site(conf_dir)["user"] == "${user.name}"


def test_a_directory_without_configuration_is_refused(tmp_path):
    with pytest.raises(BadInputError, match="no Hadoop configuration directory"):
        read_site(tmp_path)


def test_broken_xml_is_refused_with_its_file(site):
    conf_dir = site(core={})
    (conf_dir / "core-site.xml").write_text("<configuration>")
    with pytest.raises(BadInputError, match=r"core-site\.xml"):
        read_site(conf_dir)


def test_a_local_file_system_is_refused(site):
    with pytest.raises(BadInputError, match=r"names no HDFS: fs\.defaultFS is file:///"):
        addresses(site(core={"fs.defaultFS": "file:///"}))


def test_a_missing_host_is_refused(site):
    found = addresses(site(core={"fs.defaultFS": "hdfs://m:1"}))
    with pytest.raises(BadInputError, match=r"mapreduce\.jobhistory\.webapp\.address names no host"):
        found.historyserver()


def test_changed_properties_win_and_the_original_stays(site, tmp_path):
    conf_dir = site(core={"fs.defaultFS": "hdfs://m:1"}, mapred={"mapreduce.task.io.sort.mb": "100"})
    derive_site(conf_dir, tmp_path / "derived", {"mapreduce.task.io.sort.mb": "7", "dfs.replication": "2"})
    derived = read_site(tmp_path / "derived")
    assert (derived["mapreduce.task.io.sort.mb"], derived["dfs.replication"]) == ("7", "2")
    assert read_site(conf_dir)["mapreduce.task.io.sort.mb"] == "100"


def test_a_cluster_that_does_not_answer_is_named(site, tmp_path):
    (port,) = free_ports(1)
    conf_dir = site(
        core={"fs.defaultFS": "hdfs://127.0.0.1:1"}, hdfs={"dfs.namenode.http-address": f"127.0.0.1:{port}"}
    )
    java = Java(home=tmp_path, feature=17, version="17", fingerprint="x")
    cluster = ExistingCluster(
        Distribution(version="3.4.2", java=java, classpath=()), ClusterSpec(kind="existing", conf_dir=conf_dir), {}
    )
    layout = Layout(neutral=tmp_path, data=(), local=())
    with (
        pytest.raises(AssayError, match=f"the NameNode does not answer at http://127.0.0.1:{port}"),
        cluster.running(layout, {}, Silent()),
    ):
        pass
    assert cluster.failure() is None
