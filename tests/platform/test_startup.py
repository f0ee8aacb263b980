"""Proves that daemons are waited for by what their logs show, and are asked over HTTP where these stay silent."""

import pytest

from assay.model.cluster import EmbeddedSpec
from assay.model.errors import AssayError
from assay.model.installed import stack_of
from assay.model.layout import Layout
from assay.model.service import NodeContext
from assay.node.local import LocalNode
from assay.platform import startup
from assay.platform.distribution import Distribution, Java, Starts
from assay.platform.startup import Host, Startup
from tests.watching import Watcher

# In place of Java: each role says its line and stays, until it is ended.
JAVA = """\
#!/bin/bash
for word in "$@"; do
  case "$word" in
    -format) mkdir -p "{home}/name"; exit 0 ;;
    -Dproc_namenode) {says} "INFO hdfs.StateChange: STATE* Leaving safe mode after 0 secs" ;;
    -Dproc_nodemanager) {says} "INFO nodemanager.NodeStatusUpdaterImpl: Registered with ResourceManager as x:1" ;;
    -Dproc_datanode) {says} "INFO datanode.DataNode: Successfully sent block report 0x1 to namenode" ;;
    -Dproc_resourcemanager) {says} "INFO capacity.CapacityScheduler: Added node clusterResource: <memory:1, vCores:8>" ;;
    -Dproc_historyserver) {says} "INFO server.AbstractConnector: Started ServerConnector@1" ;;
  esac
done
exec sleep 60
"""


def a_context(home):
    return NodeContext(EmbeddedSpec(), Layout(neutral=home), "127.0.0.1", "127.0.0.1")


@pytest.fixture
def attempt(tmp_path, monkeypatch):
    """Starts daemons that say their lines or (`:`) nothing; what was told, and which questions were asked."""
    started = []

    def start(says, answer, hosts=None, kind=Startup):
        asked = []
        monkeypatch.setattr(startup, "fetch_json", lambda url, connect: asked.append(url))
        daemons = [daemon._replace(ready=lambda _: answer) for daemon in stack_of().daemons]
        java = tmp_path / "jdk" / "bin" / "java"
        java.parent.mkdir(parents=True)
        java.write_text(JAVA.format(home=tmp_path, says=says))
        java.chmod(0o755)
        hosts = hosts or [Host(LocalNode(), a_context(tmp_path))]
        for host in hosts:
            (host.layout.neutral / "logs").mkdir(parents=True)
        distribution = Distribution(
            version="3.4.2", java=Java(home=tmp_path / "jdk", feature=17, version="17", fingerprint="x"),
            classpath=("/lib/*",),
        )  # fmt: skip
        addresses = {name: daemon.role for daemon in daemons for name in daemon.ports}
        progress = Watcher()
        kind(
            hosts, distribution, Starts(name="stock"), addresses, {"PATH": "/usr/bin:/bin"}, started,
            progress,
        ).run(daemons)  # fmt: skip
        return progress.details, asked

    yield start
    for daemon in started:
        daemon.process.kill()
        daemon.reap()


def test_what_their_logs_show_is_enough(attempt):
    told, asked = attempt("echo", answer=False)
    assert asked in ([], ["http://historyserver/ws/v1/history/info"])  # to make it ready for more, when all are up
    assert told[1] == "namenode is up"
    assert sorted(told[2:]) == ["datanode is up", "historyserver is up", "nodemanager is up", "resourcemanager is up"]


@pytest.mark.slow
def test_of_many_workers_only_some_daemons_come_up_at_once(attempt, tmp_path, monkeypatch):
    monkeypatch.setattr(startup, "_AT_ONCE", 3)
    silent = []

    class Counting(Startup):
        def _start_on(self, host, kind):
            if kind.on_workers:  # a master's daemon waits for nobody's turn
                logs = [daemon.log for daemon in self.daemons if daemon.kind.on_workers]
                silent.append(sum("INFO" not in log.read_text() for log in logs))
            super()._start_on(host, kind)

    contexts = [a_context(tmp_path / str(number)) for number in range(5)]
    hosts = [Host(LocalNode(), context, is_master=not at, is_worker=at > 0) for at, context in enumerate(contexts)]
    told, _ = attempt("sleep 0.3; echo", answer=False, hosts=hosts, kind=Counting)
    assert sorted(told[2:]) == sorted([
        *["datanode is up", "nodemanager is up"] * 4, "historyserver is up", "resourcemanager is up",
    ])  # fmt: skip
    assert max(silent) == 2


def test_daemons_with_other_words_are_asked(attempt, monkeypatch):
    monkeypatch.setattr(startup, "_ASK_S", 0.1)
    _, asked = attempt(":", answer=True)
    services = [url.removeprefix("http://").partition("/")[0] for url in asked[:5]]
    assert services == ["namenode", "namenode", "resourcemanager", "resourcemanager", "historyserver"]


@pytest.mark.slow
def test_daemons_that_are_never_healthy_are_named(attempt, monkeypatch):
    monkeypatch.setattr(startup, "_ASK_S", 0.1)
    monkeypatch.setattr(startup, "_PATIENCE_S", 0.5)
    with pytest.raises(AssayError, match="the cluster was not healthy within 0 s: .*the NameNode is not healthy"):
        attempt(":", answer=False)
