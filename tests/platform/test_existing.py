"""An existing cluster is found through its configuration directory; what is missing is said in one sentence."""

import sys
from contextlib import contextmanager
from functools import partial
from types import SimpleNamespace

import pytest

from assay.engine.existing import historyservers, resourcemanagers
from assay.host.http import BoundedWeb
from assay.host.kerberos import NoTicketError, Ticket
from assay.model.cluster import ExistingSpec, NodeSourceSpec
from assay.model.engine import EngineKind
from assay.model.errors import AssayError, BadInputError
from assay.model.existing import Site
from assay.model.installed import kinds_of, stack_of
from assay.model.kerberos import KerberosSpec
from assay.model.layout import Layout
from assay.model.platform import PlatformContext
from assay.model.probe import ForeignCluster, ForeignHost
from assay.model.progress import Silent
from assay.model.registry import ENGINES, NODE_SOURCES, SERVICES, STORES
from assay.model.running_cluster import RunningCluster
from assay.model.service import DaemonKind, Discovery, Service
from assay.node.local import LocalNode
from assay.node.ssh import SshNodes
from assay.platform import existing
from assay.platform.configuration import derive_site, read_site, to_xml
from assay.platform.distribution import Distribution, Java
from assay.platform.existing import ExistingCluster, ExistingPlatform, daemons_of, ticket_doubts
from assay.store.hdfs_existing import namenodes
from tests.builders import a_trial
from tests.serving import serving
from tests.toys import plugged_in


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
    site = Site(read_site(conf_dir), conf_dir)
    masters = (namenodes, resourcemanagers, historyservers)
    return SimpleNamespace(**{master.__name__: partial(master, site) for master in masters})


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
    assert found.historyservers() == ("http://history:19888",)


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
                "yarn.resourcemanager.ha.enabled": "true",
                "yarn.resourcemanager.ha.rm-ids": "r1,r2",
                "yarn.resourcemanager.hostname.r1": "m1",
                "yarn.resourcemanager.webapp.address.r2": "m2:1234",
                "yarn.resourcemanager.hostname.r2": "m2",
            },
        )
    )
    assert found.namenodes() == ("http://m1:50070", "http://m2:50070")
    assert found.resourcemanagers() == ("http://m1:8088", "http://m2:1234")


HA = {"yarn.resourcemanager.ha.enabled": "true"}
FEDERATED = {
    "dfs.nameservices": "ns1, NS2",
    "dfs.namenode.rpc-address.ns1": "m1:8020", "dfs.namenode.http-address.ns1": "m1:50070",
    "dfs.namenode.rpc-address.NS2": "m2:8020", "dfs.namenode.http-address.NS2": "0.0.0.0:50071",
}  # fmt: skip
OLD_HA = {
    "yarn.resourcemanager.ha.rm-ids": "r1,r2", "yarn.resourcemanager.hostname.r1": "gone",
    "yarn.resourcemanager.hostname.r2": "gone-too", "yarn.resourcemanager.hostname": "rm",
}  # fmt: skip


@pytest.mark.parametrize(
    ("default", "hdfs", "expected"),
    [
        (
            "hdfs://ProdNS",
            {
                "dfs.nameservices": "ProdNS", "dfs.ha.namenodes.ProdNS": "nn1,NN2",
                "dfs.namenode.http-address.ProdNS.nn1": "m1:9870", "dfs.namenode.rpc-address.ProdNS.NN2": "m2:8020",
            },
            ("http://m1:9870", "http://m2:9870"),
        ),
        ("hdfs://m1:8020", FEDERATED, ("http://m1:50070",)),
        ("hdfs://M2", FEDERATED, ("http://m2:50071",)),
        ("hdfs://NS2", FEDERATED, ("http://m2:50071",)),
        ("hdfs://other:8020", FEDERATED, ("http://other:9870",)),
        ("hdfs://[::1]:8020", {"dfs.namenode.http-address": "[::]:50070"}, ("http://[::1]:50070",)),
        ("hdfs://m:1", {"dfs.namenode.http-address": "[fd00::7]:50070"}, ("http://[fd00::7]:50070",)),
        ("hdfs://[fd00::7]:1", {}, ("http://[fd00::7]:9870",)),
    ],
)  # fmt: skip
def test_namenodes_are_those_that_hadoops_clients_would_find(site, default, hdfs, expected):
    assert addresses(site(core={"fs.defaultFS": default}, hdfs=hdfs)).namenodes() == expected


@pytest.mark.parametrize(
    ("yarn", "expected"),
    [
        (OLD_HA, ("http://rm:8088",)),
        ({**OLD_HA, "yarn.resourcemanager.ha.enabled": "false"}, ("http://rm:8088",)),
        ({**OLD_HA, **HA}, ("http://gone:8088", "http://gone-too:8088")),
        ({"yarn.resourcemanager.webapp.address": "[fd00::1]:88"}, ("http://[fd00::1]:88",)),
        ({"yarn.resourcemanager.address": "[fd00::2]:8032"}, ("http://[fd00::2]:8088",)),
    ],
)
def test_resourcemanagers_are_several_with_high_availability_alone(site, yarn, expected):
    assert addresses(site(core={"fs.defaultFS": "hdfs://m"}, yarn=yarn)).resourcemanagers() == expected


def test_an_address_that_is_none_is_refused(site):
    found = addresses(site(core={"fs.defaultFS": "hdfs://m"}, hdfs={"dfs.namenode.http-address": "fd00::7:50070"}))
    with pytest.raises(BadInputError, match="dfs.namenode.http-address is 'fd00::7:50070', and must be HOST:PORT"):
        found.namenodes()


def test_variables_are_replaced(site):
    conf_dir = site(core={"host": "m", "fs.defaultFS": "hdfs://${host}:1", "user": "${nobody.known}"})
    assert read_site(conf_dir)["fs.defaultFS"] == "hdfs://m:1"
    assert read_site(conf_dir)["user"] == "${nobody.known}"


def test_a_directory_without_configuration_is_refused(tmp_path):
    with pytest.raises(BadInputError, match="not a Hadoop configuration directory"):
        read_site(tmp_path)


def test_broken_xml_is_refused_with_its_file(site):
    conf_dir = site(core={})
    (conf_dir / "core-site.xml").write_text("<configuration>")
    with pytest.raises(BadInputError, match=r"core-site\.xml"):
        read_site(conf_dir)


def test_a_local_file_system_is_refused(site):
    with pytest.raises(BadInputError, match=r"names no HDFS: fs\.defaultFS is file:///"):
        addresses(site(core={"fs.defaultFS": "file:///"})).namenodes()


def test_a_missing_host_is_refused(site):
    found = addresses(site(core={"fs.defaultFS": "hdfs://m:1"}))
    with pytest.raises(
        BadInputError,
        match=r"neither mapreduce\.jobhistory\.webapp\.address nor mapreduce\.jobhistory\.address names a host",
    ):
        found.historyservers()


def test_changed_properties_win_and_the_original_stays(site, tmp_path):
    conf_dir = site(core={"fs.defaultFS": "hdfs://m:1"}, mapred={"mapreduce.task.io.sort.mb": "100"})
    derive_site(conf_dir, tmp_path / "derived", {"mapreduce.task.io.sort.mb": "7", "dfs.replication": "2"})
    derived = read_site(tmp_path / "derived")
    assert (derived["mapreduce.task.io.sort.mb"], derived["dfs.replication"]) == ("7", "2")
    assert read_site(conf_dir)["mapreduce.task.io.sort.mb"] == "100"


def test_a_final_property_is_replaced_and_other_files_are_included(site, tmp_path):
    conf_dir = site(core={"fs.defaultFS": "hdfs://m:1"})
    (conf_dir / "mapred-site.xml").write_text(
        '<configuration xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="more.xml"/>'
        "<property><name>mapreduce.job.reduces</name><value>3</value><final>true</final></property></configuration>"
    )
    (conf_dir / "more.xml").write_text(to_xml({"mapreduce.job.maps": "5"}))
    assert read_site(conf_dir)["mapreduce.job.maps"] == "5"
    derive_site(conf_dir, tmp_path / "derived", {"mapreduce.job.reduces": "7"})
    assert read_site(tmp_path / "derived")["mapreduce.job.reduces"] == "7"
    assert "final" not in (tmp_path / "derived" / "mapred-site.xml").read_text()
    (conf_dir / "more.xml").unlink()
    with pytest.raises(BadInputError, match=r"mapred-site\.xml"):
        read_site(conf_dir)


def the_cluster(site, tmp_path, port):
    conf_dir = site(
        core={"fs.defaultFS": "hdfs://127.0.0.1:1"}, hdfs={"dfs.namenode.http-address": f"127.0.0.1:{port}"},
        yarn={"yarn.resourcemanager.hostname": "127.0.0.1"}, mapred={"mapreduce.jobhistory.address": "127.0.0.1:1"},
    )  # fmt: skip
    return a_cluster(conf_dir, tmp_path)


def said(cluster, tmp_path):
    with (
        pytest.raises(AssayError) as caught,
        cluster.running(Layout(neutral=tmp_path), {}, Silent()),
    ):
        pass
    return str(caught.value)


def test_a_cluster_that_does_not_answer_is_named(site, tmp_path):
    (port,) = LocalNode().free_ports(1)
    cluster = the_cluster(site, tmp_path, port)
    text = said(cluster, tmp_path)
    assert text.startswith(
        f"the NameNode of {tmp_path / 'site'} does not answer as it should: http://127.0.0.1:{port}: "
    )
    assert "refused" in text
    assert cluster.failure() is None


@pytest.mark.parametrize(
    ("status", "why"),
    [(401, "it asks for a login, and neither"), (500, "HTTP status 500"), (200, "no NameNode answers there")],
)
def test_what_answers_instead_is_said(site, tmp_path, status, why):
    with serving(lambda _path, _query: (status, {})) as server:
        assert why in said(the_cluster(site, tmp_path, server.server_port), tmp_path)


@pytest.mark.slow
def test_a_cluster_that_answers_is_given_out_with_a_client_that_tells_its_jobs(site, tmp_path):
    """A NameNode, a ResourceManager with so many NodeManagers, and a JobHistoryServer are at one address."""
    metrics = {"activeNodes": 0, "totalMB": 1024}
    answers = {
        "/jmx": {"beans": [{"SoftwareVersion": "3.3.6"}]}, "/ws/v1/cluster": {"clusterMetrics": metrics},
        "/ws/v1/history": {"historyInfo": {}},
    }  # fmt: skip
    with serving(
        lambda path, _query: next(answer for begin, answer in answers.items() if path.startswith(begin))
    ) as server:
        here = f"127.0.0.1:{server.server_port}"
        conf_dir = site(
            core={"fs.defaultFS": "hdfs://127.0.0.1:1"}, hdfs={"dfs.namenode.http-address": here},
            yarn={"yarn.resourcemanager.webapp.address": here}, mapred={"mapreduce.jobhistory.webapp.address": here},
        )  # fmt: skip
        cluster = a_cluster(conf_dir, tmp_path)
        assert "no ResourceManager with an active NodeManager answers there" in said(cluster, tmp_path)
        metrics["activeNodes"] = 1
        with cluster.running(Layout(neutral=tmp_path), {}, Silent()) as running:
            assert running.version == "3.3.6"
            assert "log4j.rootLogger" in (running.conf_dir / "log4j.properties").read_text()
        assert not (conf_dir / "log4j.properties").exists()


NAMENODE, STATUS = ("Hadoop:service=NameNode,name=" + name for name in ("NameNodeInfo", "NameNodeStatus"))


class Master:
    """A NameNode and a ResourceManager at one address, in a state of high availability; its answers by path."""

    def __init__(self, state):
        self.state, self.silent = state, False
        self.answers = {
            "/jmx": self.jmx,
            "/ws/v1/cluster/metrics": {"clusterMetrics": {"activeNodes": 1, "totalMB": 1024}},
            "/ws/v1/cluster/info": lambda _: {"clusterInfo": {"haState": self.state.upper()}},
            "/ws/v1/history/info": {"historyInfo": {}},
        }

    def jmx(self, query):
        if self.silent:
            return 503, {}
        return {"beans": [{NAMENODE: {"SoftwareVersion": "3.3.6"}, STATUS: {"State": self.state}}[query["qry"]]]}


@contextmanager
def two_masters(site, tmp_path, *states):
    """The cluster's client, its running cluster, the masters and their addresses."""
    first, second = masters = [Master(state) for state in states]
    with serving(first.answers) as one, serving(second.answers) as other:
        urls = [one.url, other.url]
        http, web = "dfs.namenode.http-address.ns", "yarn.resourcemanager.webapp.address"
        a, b = (url.removeprefix("http://") for url in urls)
        conf_dir = site(
            core={"fs.defaultFS": "hdfs://ns"},
            hdfs={"dfs.ha.namenodes.ns": "a,b", f"{http}.a": a, f"{http}.b": b},
            yarn={
                "yarn.resourcemanager.ha.enabled": "true",
                "yarn.resourcemanager.ha.rm-ids": "a,b",
                f"{web}.a": a,
                f"{web}.b": b,
            },
            mapred={"mapreduce.jobhistory.webapp.address": a},
        )
        cluster = a_cluster(conf_dir, tmp_path)
        with cluster.running(Layout(neutral=tmp_path), {}, Silent()) as running:
            yield cluster, running, masters, urls


@pytest.mark.parametrize(
    ("states", "chosen"), [(("standby", "active"), 1), (("active", "standby"), 0), (("standby", "observer"), 0)]
)
def test_of_several_masters_the_active_one_is_asked_and_without_one_the_first(site, tmp_path, states, chosen):
    with two_masters(site, tmp_path, *states) as (_, running, _, urls):
        assert running.addresses["namenode"] == running.addresses["resourcemanager"] == urls[chosen]
        assert running.version == "3.3.6"


@pytest.mark.slow
def test_a_namenode_is_gone_when_none_has_answered_several_times_in_a_minute(site, tmp_path, monkeypatch):
    clock = SimpleNamespace(now=1000.0)
    monkeypatch.setattr(existing, "time", SimpleNamespace(monotonic=lambda: clock.now))

    def after(seconds):
        clock.now += seconds
        return cluster.failure()

    with two_masters(site, tmp_path, "active", "standby") as (cluster, _, (first, second), urls):
        first.silent = True
        assert [after(11) for _ in range(12)] == [None] * 12  # the other one answers
        second.silent = True
        assert [after(11) for _ in range(6)] == [None] * 6
        second.silent = False
        assert after(11) is None
        second.silent = True
        assert after(5) is None  # too early to ask
        assert [after(11) for _ in range(6)] == [None] * 6
        assert after(11) == f"the NameNode at {urls[0]} or {urls[1]} no longer answers: asked 7 times in 66 s"
        second.silent = False
        assert after(11) is None
        second.silent = True
        assert [after(100), after(100), after(100)] == [None] * 3  # long, but not often enough
        assert "asked 4 times in 300 s" in after(100)
        first.silent = False
        first.answers["/jmx"] = (401, {})  # the login has ended: it may well be up
        assert after(11) is None


def test_an_unnamed_service_is_refused_before_anything_is_asked(site, tmp_path):
    conf_dir = site(core={"fs.defaultFS": "hdfs://127.0.0.1:1"})
    with pytest.raises(BadInputError, match="names a host"):
        a_cluster(conf_dir, tmp_path)


def a_cluster(conf_dir, tmp_path, store="hdfs", engine="mapreduce", **keys):
    java = Java(home=tmp_path, feature=17, version="17", fingerprint="x")
    distribution = Distribution(version="3.4.2", java=java, classpath=())
    return ExistingCluster(distribution, ExistingSpec(conf_dir=conf_dir, **keys), stack_of(store, engine))


def test_only_the_daemons_of_the_trials_own_store_and_engine_are_looked_for(site, tmp_path):
    with plugged_in():
        ENGINES.add("thinker", EngineKind(open=None))
        STORES.add("head", STORES["hdfs"]._replace(services=()))
        hdfs = site(core={"fs.defaultFS": "hdfs://127.0.0.1:1"})
        (port,) = LocalNode().free_ports(1)
        site(hdfs={"dfs.namenode.http-address": f"127.0.0.1:{port}"})
        assert "the NameNode" in said(a_cluster(hdfs, tmp_path, engine="thinker"), tmp_path)
        cluster = a_cluster(hdfs, tmp_path, store="head", engine="thinker")
        with cluster.running(Layout(neutral=tmp_path), {}, Silent()) as running:
            assert (running.addresses, running.version) == ({}, "unknown")
            assert cluster.failure() is None


def test_a_service_without_web_pages_is_found_by_its_own_means(site, tmp_path):
    conf_dir = site(core={"fs.defaultFS": "hdfs://127.0.0.1:1", "io.file.buffer.size": "1"})
    with plugged_in("engine"):
        found = Discovery(
            lambda options, of: {"hive.queen": options.get("queen") or of.get("fs.defaultFS")},
            defaults={"swarm.size": "1", "io.file.buffer.size": "8192"},
        )
        SERVICES.add("hive", Service("hive", daemons=(DaemonKind("queen", "org.example.Queen"),), discovery=found))
        STORES.add("comb", STORES["hdfs"]._replace(services=("hive",)))
        ENGINES.add("swarm", EngineKind(open=None))
        java = Java(home=tmp_path, feature=17, version="17", fingerprint="x")
        distribution = Distribution(version="3.4.2", java=java, classpath=())
        for options, queen in (({"queen": "bee:1"}, "bee:1"), ({}, "hdfs://127.0.0.1:1")):
            spec, stack = ExistingSpec(conf_dir=conf_dir), stack_of("comb", "swarm")
            cluster = ExistingCluster(distribution, spec, stack, store=options)
            home = tmp_path / queen.replace("/", "")
            chosen = {"hive.queen": "none", "swarm.size": "7"}
            with cluster.running(Layout(neutral=home), chosen, Silent()) as running:
                assert running.properties == {"hive.queen": queen, "swarm.size": "7", "io.file.buffer.size": "8192"}
                assert running.properties.items() <= read_site(running.conf_dir).items()


def test_input_and_output_in_two_stores_need_a_cluster_of_assays_own(site, tmp_path):
    conf_dir = site(core={"fs.defaultFS": "hdfs://127.0.0.1:1"}, hbase={"hbase.zookeeper.quorum": "zk"})
    with pytest.raises(BadInputError, match="hbase-to-hdfs runs on clusters that Assay starts, not yet on that of"):
        a_cluster(conf_dir, tmp_path, store="hbase-to-hdfs")
    with pytest.raises(BadInputError, match="names a host"):  # of HDFS; where HBase is, is known
        a_cluster(conf_dir, tmp_path, store="hbase")


def test_a_daemon_that_no_configuration_names_is_refused_before_anything_is_asked(site, tmp_path):
    conf_dir = site(core={"fs.defaultFS": "hdfs://127.0.0.1:1"})
    with plugged_in("engine"):
        SERVICES.add("hive", Service("hive", daemons=(DaemonKind("queen", "org.example.Queen", page="/health"),)))
        ENGINES.add("swarm", EngineKind(open=None, services=("hive",)))
        with pytest.raises(BadInputError, match=r"site can't say where the queen is: .* leave conf_dir out"):
            a_cluster(conf_dir, tmp_path, engine="swarm")


def a_site(site):
    return site(
        core={"fs.defaultFS": "hdfs://127.0.0.1:1"}, yarn={"yarn.resourcemanager.hostname": "127.0.0.1"},
        mapred={"mapreduce.jobhistory.address": "127.0.0.1:1"},
    )  # fmt: skip


def a_served_site(site, server):
    """Of a cluster whose daemons are all this server, by three names of its host."""
    port = server.url.rpartition(":")[2]
    return site(
        core={"fs.defaultFS": "hdfs://127.0.0.1:1"}, hdfs={"dfs.namenode.http-address": f"127.0.0.1:{port}"},
        yarn={"yarn.resourcemanager.webapp.address": f"localhost:{port}"},
        mapred={"mapreduce.jobhistory.webapp.address": f"127.1:{port}"},
    )  # fmt: skip


def test_two_daemons_can_not_have_one_port(site, tmp_path):
    """Of one service with another's, and before anything is asked."""
    conf_dir = a_site(site)
    site(
        hdfs={"dfs.namenode.http-address": "127.0.0.1:7777"},
        yarn={"yarn.resourcemanager.webapp.address": "127.0.0.1:7777"},
    )
    words = r"site has the NameNode and the ResourceManager both at http://127\.0\.0\.1:7777, and a port has one daemon"
    with pytest.raises(BadInputError, match=words):
        a_cluster(conf_dir, tmp_path).check({})


@pytest.mark.parametrize(
    ("silent", "service"),
    [("/jmx", "NameNode"), ("/ws/v1/cluster/metrics", "ResourceManager"), ("/ws/v1/history/info", "JobHistoryServer")],
)
def test_each_daemon_is_asked_before_anything_starts(site, tmp_path, silent, service):
    with serving({**Master("active").answers, silent: (503, {})}) as server:
        cluster = a_cluster(a_served_site(site, server), tmp_path)
        with pytest.raises(BadInputError, match=rf"the {service} of .*site does not answer as it should: http://"):
            cluster.check({})


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"status": "success", "data": {"resultType": "vector", "result": []}}, None),
        ({"hello": "world"}, "no Prometheus answers there"),
        ((401, {}), "it asks for a login"),
        ((404, {}), "HTTP status 404"),
    ],
)
def test_a_prometheus_that_does_not_answer_is_refused_before_anything_starts(answer, why):
    with serving({"/prom/api/v1/query": answer}) as server:
        kind = NODE_SOURCES["prometheus"]
        asked = f"{server.url}/prom", {}, BoundedWeb().ask
        if why is None:
            kind.check(*asked)
            return
        with pytest.raises(
            BadInputError, match=rf"cluster: prometheus {server.url}/prom can't be asked: .*{why}.*leave"
        ):
            kind.check(*asked)


def test_certificates_are_looked_at_before_anything_starts(site, tmp_path):
    (tmp_path / "ca.pem").write_text("-----BEGIN CERTIFICATE-----\nnone\n-----END CERTIFICATE-----\n")
    with pytest.raises(BadInputError, match=r"ca\.pem can't be used: it holds no certificate"):
        a_cluster(a_site(site), tmp_path, ca_file=tmp_path / "ca.pem")


SECURE = {"fs.defaultFS": "hdfs://127.0.0.1:1", "hadoop.security.authentication": "Kerberos"}


def test_a_login_is_what_the_configuration_wants_or_the_experiment_says(site, tmp_path, monkeypatch):
    monkeypatch.setenv("KRB5CCNAME", str(tmp_path / "tickets"))
    simple = a_site(site)
    assert a_cluster(simple, tmp_path).login is None
    (tmp_path / "keytab").touch()
    monkeypatch.setitem(sys.modules, "gssapi", SimpleNamespace())
    assert a_cluster(simple, tmp_path, kerberos=KerberosSpec(keytab=tmp_path / "keytab")).login.renews
    site(core=SECURE)
    with pytest.raises(BadInputError, match=r"tickets is not there; run `kinit`"):
        a_cluster(simple, tmp_path)
    (tmp_path / "tickets").touch()
    assert not a_cluster(simple, tmp_path).login.renews
    monkeypatch.setitem(sys.modules, "gssapi", None)
    with pytest.raises(BadInputError, match="setup/prepare kerberos"):
        a_cluster(simple, tmp_path)


class Fading:
    """A login with a ticket for so many seconds."""

    renews, left_s = False, 100.0

    def ticket(self):
        if self.left_s <= 0:
            raise NoTicketError("the Kerberos ticket has expired")
        return Ticket("me/host@EXAMPLE.COM", self.left_s)

    def environment(self, base):
        return {**base, "KRB5CCNAME": "mine"}


def test_a_ticket_is_looked_at_before_the_run_and_between_trials(site, tmp_path, monkeypatch):
    login = Fading()
    monkeypatch.setattr(existing, "login_of", lambda *_: login)
    spec = ExistingSpec(conf_dir=a_site(site))
    assert ticket_doubts(spec, 90) == ()
    (doubt,) = ticket_doubts(spec, 7200)
    assert (doubt.kind, doubt.what) == (
        "ticket-ends", "the ticket of me/host@EXAMPLE.COM ends in 2 min, and the run takes about 120 min"
    )  # fmt: skip
    trial = SimpleNamespace(cluster=spec)
    platform = ExistingPlatform(PlatformContext(trial, None, None, None, {"PATH": str(tmp_path)}))
    monkeypatch.setattr(ExistingPlatform, "_cluster", SimpleNamespace(login=login))
    assert (platform.user(), platform.blocking_problem()) == ("me", None)
    assert platform._environment() == {"PATH": str(tmp_path), "KRB5CCNAME": "mine"}
    login.left_s = 0
    assert platform.blocking_problem() == "the Kerberos ticket has expired"
    with pytest.raises(BadInputError, match="has expired; run `kinit`"):
        ticket_doubts(spec, 90)
    login.renews = True
    assert ticket_doubts(spec, 90) == ()


def test_its_nodes_are_read_as_the_experiment_says_and_otherwise_not(site, tmp_path, monkeypatch):
    conf_dir = site(core={"fs.defaultFS": "hdfs://m:1"})
    cluster = RunningCluster(hadoop=tmp_path / "hadoop", conf_dir=conf_dir, version="3", addresses={})
    lease = SimpleNamespace(id="trial-1", environment=dict)

    def platform(**spec):
        trial = a_trial().model_copy(update={"cluster": ExistingSpec(conf_dir=conf_dir, **spec)})
        installation = SimpleNamespace(root=tmp_path)
        return ExistingPlatform(PlatformContext(trial, kinds_of(trial), installation, lease, {"PATH": str(tmp_path)}))

    hosts = (ForeignHost("a", web={"nodemanager": ("http://a:8042",)}), ForeignHost("b"))
    foreign = ForeignCluster(hosts, None, daemons=stack_of().existing)
    monkeypatch.setattr(
        ExistingPlatform, "_cluster", SimpleNamespace(foreign=lambda _: foreign, login=None, web=BoundedWeb())
    )

    def sources(**spec):
        named = tuple(NodeSourceSpec(name=name, options=options) for name, options in spec.items())
        return platform(node_sources=named)._scene(cluster, Layout.below(tmp_path)).sources

    assert list(sources()) == ["daemons"]
    all_sources = sources(ssh={"hosts": ["a"]}, prometheus="http://prom:9090")
    assert set(all_sources) == {"nodes", "prometheus", "daemons"}
    assert isinstance(all_sources["nodes"], SshNodes)
    with pytest.raises(BadInputError, match="ssh needs OpenSSH's client, and there is no `ssh` on the PATH"):
        platform(node_sources=(NodeSourceSpec(name="ssh", options={}),)).check({})
    with pytest.raises(BadInputError, match="there is no way to read nodes 'telnet'; possible are "):
        platform(node_sources=(NodeSourceSpec(name="telnet"),)).check({})
    with pytest.raises(AssayError, match="names no running node; list `hosts`"):
        foreign._replace(hosts=()).workers()
    assert foreign.workers() == ["a"]


def test_a_service_with_programs_of_its_own_is_refused_there(tmp_path):
    with pytest.raises(BadInputError, match="tez runs on clusters that Assay starts, not yet on an existing one"):
        daemons_of(stack_of("hdfs", "tez"), tmp_path)
