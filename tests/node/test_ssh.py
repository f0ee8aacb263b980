"""Proves that nodes are read over connections of their own, that what fails is said, and that nothing stays behind.

A shell on this machine stands in for ssh and the shell of a node; tests with a real sshd are in tests/it/test_ssh.py.
"""

import os
import signal
import time
from pathlib import Path

import pytest

from assay.model.errors import AssayError
from assay.node import ssh
from assay.node.readings import SCRIPT
from assay.node.ssh import SshNodes, SshOptions, ssh_command

AHEAD_S = 3600


@pytest.fixture
def reads(tmp_path, monkeypatch):
    """Reads hosts, each by a shell command of its own; closes all at the end."""
    monkeypatch.setattr(ssh, "INTERVAL_S", 0.05)
    made = []

    def begin(hosts, commands=None, spec=None):
        readings = []
        commands = commands or {}
        source = SshNodes(
            spec or SshOptions(hosts=tuple(hosts)),
            os.environ,
            lambda: hosts,
            lambda _, host: ["sh", "-c", commands.get(host, SCRIPT)],
        )
        made.append(source)
        source.begin(readings.append)
        return source, readings

    yield begin
    for source in made:
        source.close()


def test_each_node_is_read_again_and_again_and_each_part_ends_with_a_reading_of_its_own(reads):
    source, readings = reads(["one", "two"])
    source.mark(None)
    time.sleep(0.3)
    source.mark("staging")
    source.mark("run")
    source.end()
    assert source.doubts() == ()
    for host in ("one", "two"):
        own = [reading for reading in readings if reading.node == host]
        assert len(own) >= 6
        assert [part for reading in own for part in reading.files.ended] == [None, "staging", "run"]
        assert all(len(reading.files.ended) <= 1 for reading in own)
        assert [one.at_s for one in own] == sorted(one.at_s for one in own)
        assert own[0].files.content[Path("/proc/stat")].startswith("cpu ")


def test_a_host_that_is_named_twice_is_read_once(reads):
    source, readings = reads(["worker-1.example.com", "WORKER-1", "worker-2", "worker-2."])
    source.mark(None)
    source.end()
    assert {reading.node for reading in readings} == {"worker-1.example.com", "worker-2"}


def test_a_clock_that_is_ahead_is_measured_and_taken_off(reads):
    ahead = SCRIPT.replace("$(date +%s.%N)", f"$(date -d '+{AHEAD_S} seconds' +%s.%N)")
    began_s = time.time()
    source, readings = reads(["one"], {"one": ahead})
    source.mark(None)
    source.end()
    ended_s = time.time()
    offset_s, uncertainty_s = readings[-1].files.clock
    assert abs(offset_s - AHEAD_S) <= uncertainty_s + 0.001
    assert uncertainty_s <= (ended_s - began_s) / 2, "the node answers while it is asked"
    assert began_s - uncertainty_s <= readings[-1].at_s <= ended_s + uncertainty_s


def test_what_ssh_says_last_is_the_reason_and_the_others_go_on(reads):
    refused = "echo 'Warning: added' >&2; echo 'me@b: Permission denied (publickey,password).' >&2; exit 255"
    silent = "exit 3"
    source, readings = reads(["a", "b", "c", "d"], {"b": refused, "c": refused, "d": silent})
    source.mark(None)
    source.mark("run")
    source.end()
    assert {reading.node for reading in readings} == {"a"}
    first, second = source.doubts()
    assert (first.kind, second.kind) == ("nodes-unread", "nodes-unread")
    assert first.what == "b, c: not read over SSH: me@b: Permission denied (publickey,password)."
    assert second.what == "d: not read over SSH: ssh ended with exit code 3 without a word"


@pytest.mark.slow
def test_a_node_that_is_slow_at_first_is_given_up(reads, monkeypatch):
    monkeypatch.setattr(ssh, "CONNECT_S", 0.5)
    source, readings = reads(["slow"], {"slow": "exec sleep 60"})
    (connection,) = source._connections
    assert connection.process.poll() is None, "it was waited for to its end"
    source.mark(None)
    source.end()
    assert not readings
    assert [doubt.what for doubt in source.doubts()] == ["slow: not read over SSH: it did not answer within 0 s"]


@pytest.mark.slow
def test_a_node_that_hangs_later_is_given_up_and_its_end_is_told(reads, monkeypatch):
    monkeypatch.setattr(ssh, "PATIENCE_S", 0.5)
    hangs = SCRIPT.replace("echo @end;", "echo @end; n=$((n+1)); [ $n -lt 8 ] || sleep 60;")
    source, readings = reads(["one"], {"one": hangs})
    source.mark(None)
    time.sleep(2)
    source.mark("run")
    source.end()
    assert [part for reading in readings for part in reading.files.ended] == [None]
    (doubt,) = source.doubts()
    assert doubt.kind == "nodes-lost"
    assert doubt.what.startswith("one: no longer read over SSH at ")
    assert doubt.what.endswith(": it did not answer within 0 s")


def test_the_shell_on_the_node_ends_when_the_connection_does(reads):
    source, _ = reads(["one"], {"one": f"echo $$ >&2; {SCRIPT}"})
    (connection,) = source._connections
    assert connection.process.poll() is None
    source.close()
    assert connection.process.returncode not in (None, -signal.SIGKILL)


def test_hosts_that_yarn_can_not_name_and_a_missing_client_are_said(tmp_path):
    def unknown():
        raise AssayError("the ResourceManager names no running node")

    nobody = SshNodes(SshOptions(), os.environ, unknown)
    nobody.begin(lambda _: None)
    nobody.mark(None)
    nobody.end()
    (doubt,) = nobody.doubts()
    assert doubt.what == "no node was read over SSH: the ResourceManager names no running node"
    nobody.close()
    absent = SshNodes(SshOptions(hosts=("a",)), os.environ, list, lambda *_: [str(tmp_path / "ssh")])
    absent.begin(lambda _: None)
    (doubt,) = absent.doubts()
    assert "ssh can't be started" in doubt.what
    absent.close()


def test_the_users_options_come_first_and_a_question_is_an_error():
    spec = SshOptions(user="me", port=2222, key=Path("/keys/id"), options=("ConnectTimeout=3",))
    command = ssh_command(spec, "worker-1")
    assert command.index("ConnectTimeout=3") < command.index("ConnectTimeout=10")
    assert "BatchMode=yes" in command
    assert command[command.index("-l") :][:8] == [
        "-l", "me", "-p", "2222", "-i", "/keys/id", "-o", "IdentitiesOnly=yes",
    ]  # fmt: skip
    assert command[-3:-1] == ["--", "worker-1"]
    assert command[-1].startswith("exec env LC_ALL=C sh -c 'set -- ")
    assert "\n" not in command[-1]
    assert command[-1].count("'") == 2
