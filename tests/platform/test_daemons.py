"""Daemons' logs are quoted for their reason, ports are free, and starts say what they change."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest
from hadoop.train import merge

from assay.model.cluster import EmbeddedSpec
from assay.model.errors import AssayError
from assay.model.installed import stack_of
from assay.model.layout import Layout
from assay.model.service import DaemonKind, NodeContext
from assay.node.local import LocalNode
from assay.platform.daemon import (
    Daemon,
    PortTakenError,
    clean_environment,
    daemon_command,
    last_words,
    write_hadoop_command,
)
from assay.platform.distribution import Distribution, Java, starts_of
from assay.store.hdfs import DATANODE, NAMENODE

LOGS = Path(__file__).parents[1] / "fixtures" / "cluster"
STACK = stack_of()
NODE = NodeContext(EmbeddedSpec(), Layout(neutral=Path("/n")), "127.0.0.1", "127.0.0.1")


def properties_of(starts, chosen=None):
    return STACK.start_properties(starts.containers, chosen or {})


def settings_of(starts, distribution):
    return starts.settings(distribution, properties_of(starts), STACK.daemons)


@pytest.fixture
def distribution(tmp_path):
    java = Java(home=tmp_path / "jdk", feature=17, version="17.0.15", fingerprint="x")
    return Distribution(
        version="3.4.2",
        java=java,
        classpath=("/hadoop/lib/*",),
        pathing_jar=Path("/hadoop/hadoop.jar"),
        archive=Path("/hadoop/classes.jsa"),
    )


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        ("namenode-port-taken", "Caused by: java.net.BindException: Address already in use"),
        ("namenode-unformatted", "storage directory does not exist or is not accessible"),
    ],
)
def test_the_root_cause_is_found_in_a_captured_log(log, reason):
    assert reason in last_words(LOGS / f"{log}.log")


def test_the_jvms_own_complaint_is_quoted():
    assert last_words(LOGS / "jvm.log") == "Too small maximum heap"


def test_a_missing_log_is_no_error(tmp_path):
    assert last_words(tmp_path / "none.log") == "it logged nothing"


def test_a_dead_daemon_says_why(tmp_path):
    daemon = started(tmp_path, "import sys; print('java.io.IOException: no space'); sys.exit(3)")
    assert "the DataNode ended with exit code 3: java.io.IOException: no space" in str(daemon.failure())
    with pytest.raises(AssayError, match="no space"):
        daemon.check()


@pytest.mark.parametrize(
    "line",
    [
        "Caused by: java.net.BindException: Address already in use",
        "ConfigurationException: localhost/127.0.0.1:7000 is in use by another process.  Change listen_address",
    ],
)
def test_a_taken_port_is_told_from_other_deaths(tmp_path, line):
    with pytest.raises(PortTakenError):
        started(tmp_path, f"print({line!r}); exit(1)").check()


def test_a_living_daemon_has_not_failed(tmp_path):
    alive = tmp_path / "alive"
    alive.touch()
    daemon = started(
        tmp_path, f"import pathlib, time\nwhile pathlib.Path({str(alive)!r}).exists(): time.sleep(0.01)", wait=False
    )
    assert daemon.failure() is None
    daemon.check()
    alive.unlink()
    daemon.reap()
    assert daemon.failure() is not None


def started(tmp_path, program, *, wait=True):
    node, log = LocalNode(), tmp_path / "datanode.log"
    daemon = Daemon(DATANODE, node, node.start([sys.executable, "-c", program], {}, log), log)
    if wait:
        daemon.reap()
    return daemon


def test_free_ports_are_distinct_and_can_be_bound():
    ports = LocalNode().free_ports(10)
    assert len(set(ports)) == 10
    for port in ports:
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", port))


def test_stock_changes_nothing(distribution):
    starts = starts_of("stock", distribution)
    assert not properties_of(starts)
    assert not starts.control_options
    assert not starts.data_options
    assert settings_of(starts, distribution)["starts"] == "stock"


def test_brisk_leaves_the_compiler_and_collector_of_the_data_path_alone(distribution):
    starts = starts_of("brisk", distribution)
    tasks = [value for name, value in properties_of(starts).items() if "child.java.opts" in name]
    assert len(tasks) == 2
    for options in (*tasks, " ".join(starts.data_options)):
        assert "-XX:Tiered" not in options
        assert "GC" not in options


def test_brisk_lists_all_that_it_changes(distribution):
    starts = starts_of("brisk", distribution)
    settings = settings_of(starts, distribution)
    assert set(properties_of(starts)) <= set(settings)
    assert "classes.jsa" in " ".join(settings.values())


def test_brisk_gives_way_to_what_a_setting_asks_for(distribution):
    starts = starts_of("brisk", distribution)
    sharing = "mapreduce.admin.map.child.java.opts"
    assert sharing in properties_of(starts, {"mapreduce.task.io.sort.mb": "9"})
    assert sharing not in properties_of(starts, {"mapreduce.job.user.classpath.first": "true"})


def test_without_an_archive_brisk_says_so(distribution):
    plain = distribution.model_copy(update={"archive": None, "archive_note": "another Java"})
    assert settings_of(starts_of("brisk", plain), plain)["class sharing"] == "off (another Java)"


def test_the_class_path_begins_with_what_the_archive_was_made_for(distribution):
    command = daemon_command(DATANODE, distribution, starts_of("brisk", distribution), NODE)
    assert command[command.index("-cp") + 1] == "/hadoop/hadoop.jar:/n/conf"


def test_a_main_class_that_hadoop_does_not_have_is_on_its_own_class_path(distribution):
    kind = DaemonKind("brain", "org.example.Brain", classpath=lambda node: (f"{node.programs}/brain/lib/*",))
    node = NODE._replace(programs=Path("/programs"))
    command = daemon_command(kind, distribution, starts_of("brisk", distribution), node)
    assert command[command.index("-cp") + 1 :] == ["/n/conf:/programs/brain/lib/*", "org.example.Brain"]


def test_a_main_class_has_its_own_options_and_arguments_and_a_least_heap(distribution):
    kind = DaemonKind(
        "brain", "org.example.Brain", on_workers=True, heap_mb=512, least_heap_mb=400, options=("-Dthinks=true",),
        arguments=lambda node: (str(node.conf_dir), "start"),
    )  # fmt: skip
    small = starts_of("brisk", distribution).among_many()
    command = daemon_command(kind, distribution, small, NODE)
    assert "-Xmx400m" in command
    assert "-Dthinks=true" in command[: command.index("-cp")]
    assert command[-3:] == ["org.example.Brain", "/n/conf", "start"]


def test_workers_among_many_have_a_smaller_heap_and_the_record_says_so(distribution):
    starts = starts_of("brisk", distribution)
    small = starts.among_many()

    def heaps(kind, starts):
        return [word for word in daemon_command(kind, distribution, starts, NODE) if word.startswith("-Xmx")]

    assert (heaps(DATANODE, starts), heaps(DATANODE, small), heaps(NAMENODE, small)) == (
        ["-Xmx256m"], ["-Xmx128m"], ["-Xmx256m"],
    )  # fmt: skip
    assert settings_of(small, distribution)["java options: datanode, nodemanager"].startswith("-Xmx128m ")
    assert "-Xmx" not in settings_of(starts, distribution)["java options: datanode, nodemanager"]


def test_foreign_settings_do_not_leak_into_daemons(distribution):
    environment = clean_environment(
        {"PATH": "/bin", "HADOOP_OPTS": "-x", "JAVA_TOOL_OPTIONS": "-y", "YARN_OPTS": "-z"}, distribution
    )
    assert environment == {"PATH": "/bin", "JAVA_HOME": str(distribution.java.home)}


def test_the_hadoop_command_without_arguments_explains_itself(distribution, tmp_path):
    command = write_hadoop_command(
        tmp_path / "hadoop", distribution, starts_of("stock", distribution), tmp_path, STACK.commands
    )
    done = subprocess.run([command], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "usage: hadoop jar|fs|" in done.stderr
    classpath = subprocess.run([command, "classpath"], capture_output=True, text=True, check=True)
    assert classpath.stdout.strip() == f"{tmp_path}:/hadoop/lib/*"


def test_class_lists_are_merged_without_ids_and_without_jobs_own_classes():
    lists = [
        "java/lang/Object id: 0\norg/A id: 7\n",
        "org/A id: 3\norg/Job id: 9 super: 0 source: job.jar\n@lambda-proxy x\n",
    ]
    assert merge(lists) == "java/lang/Object\norg/A\n@lambda-proxy x\n"
