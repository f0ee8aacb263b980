"""Proves that a group's processor time is neither lost nor counted twice, whoever ends when, and adds up to all."""

import json
import os
import subprocess
import sys
import time

import pytest

from assay.host.control_groups import ControlGroup, busy_s, group_of
from assay.node.local import LocalNode
from assay.probe.process_stat import (
    PAGE_BYTES,
    OpenProcess,
    Ticks,
    kernel_ticks,
    parse_stat,
)
from assay.probe.processes import ClusterProcesses, ProcessGroups, ProcessProbe
from tests.probe.faking import FIXTURES, FakeProc, a_scene, at, named

JAVA = "/usr/bin/java -Dyarn.app.container.log.dir=/logs/application_1_0001/container_1_0001_01_000002 YarnChild"
CONTAINER = "container_1_0001_01_000002"
ASSAY, MANAGER, NAMENODE, SHELL, TASK = 100, 200, 300, 210, 211


@pytest.fixture
def proc(tmp_path):
    """A cluster of two daemons under Assay, with one container: a shell and its JVM."""
    proc = FakeProc(tmp_path / "proc")
    proc.process(1, 0, user=500, name="init")
    proc.process(ASSAY, 1, user=50, system=10)
    proc.process(MANAGER, ASSAY, user=400, system=40, reaped=(1000, 100))
    proc.process(NAMENODE, ASSAY, user=300, system=30)
    proc.process(SHELL, MANAGER, name="bash", command="bash default_container_executor.sh")
    proc.process(TASK, SHELL, user=70, system=7, command=JAVA, resident_pages=3000, share_kib=900)
    return proc


def scene():
    return a_scene(MANAGER, assay=ASSAY, nodemanager=MANAGER, namenode=NAMENODE)


def process_groups(proc):
    found = ProcessGroups(proc.node, scene())
    found.look()
    return found


def told(found):
    return {group: tuple(account.total) for group, account in found.accounts.items()}


def test_a_line_of_hadoops_nodemanager_is_read_as_the_kernel_means_it():
    stat = parse_stat((FIXTURES / "processes" / "nodemanager.stat").read_text())
    assert stat == (23007, Ticks(1255, 122), Ticks(7209, 576), 102020 * PAGE_BYTES)


def test_a_name_with_blanks_and_brackets_does_not_shift_the_fields():
    stat = parse_stat("7 (a) b (c)) S 3 0 0 0 -1 0 0 0 0 0 11 12 13 14 20 0 1 0 0 0 5 0 0\n")
    assert (stat.parent, stat.own_ticks, stat.reaped) == (3, Ticks(11, 12), Ticks(13, 14))


@pytest.mark.parametrize("text", ["", "7 (java) S 3", "7 (java) S x " + "0 " * 30])
def test_what_is_no_stat_is_refused(text):
    with pytest.raises(ValueError, match="."):
        parse_stat(text)


def test_groups_are_told_apart(proc):
    assert told(process_groups(proc)) == {
        "assay": (50, 10), "clients": (0, 0), "nodemanager": (400, 40), "namenode": (300, 30), "containers": (1070, 107),
    }  # fmt: skip


def test_a_container_that_ends_leaves_its_last_ticks_with_whoever_waited_for_it(proc):
    found = process_groups(proc)
    proc.end(TASK)
    proc.process(SHELL, MANAGER, user=1, reaped=(90, 9), name="bash")
    found.look()
    assert told(found)["containers"] == (1091, 109)
    proc.end(SHELL)
    proc.process(MANAGER, ASSAY, user=400, system=40, reaped=(1091, 109))
    found.look()
    assert told(found)["containers"] == (1091, 109)
    assert told(found)["nodemanager"] == (400, 40)


def test_a_process_seen_as_gone_before_its_parent_was_seen_to_wait_does_not_make_time_go_back(proc):
    found = process_groups(proc)
    proc.end(TASK)
    found.look()
    assert told(found)["containers"] == (1070, 107)
    proc.process(SHELL, MANAGER, reaped=(75, 7), name="bash")
    found.look()
    assert told(found)["containers"] == (1075, 107)


def test_the_time_of_a_process_that_nobody_waited_for_is_kept(proc):
    found = process_groups(proc)
    proc.end(SHELL)
    proc.process(TASK, 1, user=80, system=8, command=JAVA)  # an orphan, which init waits for
    found.look()
    proc.end(TASK)
    for _ in range(4):
        found.look()
    assert told(found)["containers"] == (1080, 108)
    proc.process(MANAGER, ASSAY, user=400, system=40, reaped=(1005, 100))
    found.look()
    assert told(found)["containers"] == (1085, 108)


def test_another_nodes_daemons_and_their_containers_are_no_clients_of_assay(proc):
    """Assay has started all of them; on nodes that share a machine each counts its own."""
    client = 400
    proc.process(client, ASSAY, user=20, command="java RunJar")
    whole = scene()
    nodes = {NAMENODE: "master", MANAGER: "worker-1"}
    placed = tuple(one.model_copy(update={"node": nodes.get(one.pid, "")}) for one in whole.processes)
    master, worker = proc.node, proc.node
    master.name, worker.name = "master", "worker-1"
    whole = whole._replace(processes=placed, nodes=(master, worker))
    groups = ProcessGroups(master, whole.on(master))
    groups.look()
    proc.process(TASK, SHELL, user=90, system=7, command=JAVA)
    proc.process(401, MANAGER, user=30, command="bash another container")
    groups.look()
    assert {member.process.pid for member in groups.members.values()} == {ASSAY, NAMENODE, client}
    assert sum(told(groups)["clients"]) == 20
    own = ProcessGroups(worker, whole.on(worker))
    own.look()
    assert {member.process.pid for member in own.members.values()} == {MANAGER, SHELL, TASK, 401}


def test_a_daemon_that_dies_does_not_become_a_client_of_assay(proc):
    found = process_groups(proc)
    proc.end(NAMENODE)
    proc.process(ASSAY, 1, user=50, system=10, reaped=(300, 30))
    for _ in range(4):
        found.look()
    assert told(found)["namenode"] == (300, 30)
    assert told(found)["clients"] == (0, 0)
    assert found.gone == ["namenode"]


def test_what_assay_starts_besides_is_a_client_also_after_its_end(proc):
    found = process_groups(proc)
    proc.process(400, ASSAY, user=200, system=20, name="hadoop")
    proc.process(401, 400, user=5)
    found.look()
    assert told(found)["clients"] == (205, 20)
    proc.end(401)
    proc.end(400)
    proc.process(ASSAY, 1, user=50, system=10, reaped=(210, 20))
    found.look()
    assert told(found)["clients"] == (210, 20)


def replay(proc, frame, containers):
    """One captured moment of a real cluster's processes."""
    there = {path.name for path in proc.home.iterdir() if path.name.isdigit()}
    for pid in there - frame.keys():
        proc.end(pid)
    for pid, stat in frame.items():
        proc.process(int(pid), 1, command=containers.get(pid, ""))
        (proc.home / pid / "stat").write_text(stat + "\n")


def test_a_real_clusters_containers_are_counted_whole_when_all_are_killed(tmp_path):
    capture = json.loads((FIXTURES / "processes" / "killed-cluster.json").read_text())
    proc, manager = FakeProc(tmp_path / "proc"), capture["node_manager"]
    sums, alive = [], []
    replay(proc, capture["frames"][0], capture["containers"])
    found = ProcessGroups(proc.node, a_scene(manager, nodemanager=manager))
    for frame in capture["frames"]:
        replay(proc, frame, capture["containers"])
        found.look()
        sums.append(sum(told(found)["containers"]))
        alive.append(len({member.container for member in found.members.values() if member.container}))
    assert sums == sorted(sums)
    # What the NodeManager had waited for when it was killed, and what init then found of the others.
    assert sums[-1] == (213 + 19) + (212 + 19) + (186 + 15) + (198 + 12) + 1 + 1
    assert told(found)["nodemanager"] == (467, 20)
    assert max(alive) == 4


def test_between_fork_and_exec_a_process_has_no_memory_of_its_own(proc):
    found = process_groups(proc)
    proc.process(220, MANAGER, resident_pages=65324, command="java NodeManager")
    found.look()
    assert found.members[220].resident_bytes == 0
    proc.process(220, MANAGER, resident_pages=700, command=JAVA)
    found.look()
    assert found.members[220].resident_bytes == 700 * PAGE_BYTES


def test_samples_are_shares_of_all_cores_and_the_rest_is_other(proc):
    probe = ProcessProbe(proc.node, cores=2)
    probe.attach(scene())
    first = probe.sample(at(10.0))
    assert first["containers", "resident_mib"] == round(3000 * PAGE_BYTES / (1 << 20))
    assert ("containers", "user_percent") not in first
    proc.process(TASK, SHELL, user=110, system=17, command=JAVA, resident_pages=3000)
    proc.machine(user=60, system=20)
    second = probe.sample(at(10.5))
    assert second["containers", "user_percent"] == 40.0
    assert second["containers", "system_percent"] == 10.0
    assert second[CONTAINER, "busy_percent"] == 50.0
    assert second["other", "busy_percent"] == 30.0
    assert second["namenode", "user_percent"] == 0.0
    assert second["containers", "live_count"] == 1
    probe.close()


def test_a_short_interval_is_told_with_the_next_one(proc):
    probe = ProcessProbe(proc.node, cores=2)
    probe.attach(scene())
    probe.sample(at(10.0))
    proc.process(TASK, SHELL, user=110, system=17, command=JAVA, resident_pages=3000)
    proc.machine(user=60, system=20)
    assert not [series for _, series in probe.sample(at(10.005)) if series.endswith("_percent")]
    told = probe.sample(at(10.5))
    assert told["containers", "user_percent"] == 40.0
    assert told[CONTAINER, "busy_percent"] == 50.0
    assert told["other", "busy_percent"] == 30.0
    probe.close()


def test_totals_of_groups_and_the_rest_add_up_to_the_machines(proc):
    probe = ProcessProbe(proc.node, cores=2)
    proc.process(2, 0, name="kthreadd")
    proc.process(30, 2, system=100, name="kworker/0:1-events")
    probe.attach(scene())
    before = named(probe.totals())
    proc.process(TASK, SHELL, user=370, system=57, command=JAVA, resident_pages=5000, share_kib=800)
    proc.process(30, 2, system=130, name="kworker/0:1-events")
    proc.process(1, 0, user=520, system=10, reaped=(40, 5), name="init")
    proc.machine(user=350, system=110)
    probe.sample(at(1.0))
    proc.process(TASK, SHELL, user=370, system=57, command=JAVA, resident_pages=10, share_kib=800)
    probe.sample(at(1.5))
    after = named(probe.totals())
    assert after["containers", "user_s"] - before["containers", "user_s"] == pytest.approx(3.0)
    assert after["containers", "system_s"] - before["containers", "system_s"] == pytest.approx(0.5)
    assert after["kernel", "system_s"] - before["kernel", "system_s"] == pytest.approx(0.3)
    assert after["other", "busy_s"] == pytest.approx(4.6 - 3.5 - 0.3)
    assert after["containers", "resident_peak_bytes"] == 5000 * PAGE_BYTES
    assert after["containers", "proportional_bytes"] == 800 * 1024
    assert probe.doubts() == ()
    probe.close()


def test_a_watched_process_that_is_not_there_is_a_doubt_and_the_others_are_measured(proc):
    proc.end(NAMENODE)
    probe = ProcessProbe(proc.node, cores=2)
    probe.attach(scene())
    assert named(probe.totals())["nodemanager", "user_s"] == 4.0
    assert [doubt.kind for doubt in probe.doubts()] == ["watched-process-ended"]
    probe.close()


def test_a_control_group_of_the_clusters_own_is_the_exact_total_and_less_seen_is_doubted(proc, tmp_path):
    group = tmp_path / "cgroup" / "assay-1"
    group.mkdir(parents=True)
    (proc.home / "self" / "mountinfo").write_text(f"30 20 0:28 / {tmp_path}/cgroup rw shared:4 - cgroup2 cgroup2 rw\n")
    (proc.home / "self" / "cgroup").write_text("0::/user\n")
    for pid in (MANAGER, NAMENODE):
        (proc.home / str(pid) / "cgroup").write_text("0::/assay-1\n")
    (proc.home / str(ASSAY) / "cgroup").write_text("0::/user\n")
    (group / "cpu.stat").write_text("usage_usec 1000000\nuser_usec 900000\nsystem_usec 100000\n")
    cluster, doubts = ClusterProcesses(proc.node, scene()), []
    groups = {"assay": Ticks(9, 9), "containers": Ticks(50, 0), "namenode": Ticks(50, 0), "nodemanager": Ticks()}
    assert named(cluster.totals(groups, doubts)) == {("cluster", "control_group_s"): 1.0}
    (group / "cpu.stat").write_text("usage_usec 5000000\n")
    cluster.totals({**groups, "containers": Ticks(440, 0)}, doubts)
    assert doubts == []
    (group / "cpu.stat").write_text("usage_usec 9000000\n")
    cluster.totals({**groups, "containers": Ticks(640, 0)}, doubts)
    assert [doubt.kind for doubt in doubts] == ["cpu-groups-incomplete"]


def test_version_one_counts_in_nanoseconds_where_the_hierarchy_has_them(proc, tmp_path):
    group = tmp_path / "cpu,cpuacct" / "assay-1"
    group.mkdir(parents=True)
    (proc.home / "self" / "mountinfo").write_text(
        f"31 30 0:29 / {tmp_path}/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    )
    (proc.home / "self" / "cgroup").write_text("3:cpu,cpuacct:/\n")
    (proc.home / str(MANAGER) / "cgroup").write_text("3:cpu,cpuacct:/assay-1\n")
    found = group_of(proc.node, MANAGER, "cpuacct")
    assert found == ControlGroup(1, group)
    assert busy_s(LocalNode(), found) is None
    (group / "cpuacct.usage").write_text("2500000000\n")
    assert busy_s(LocalNode(), found) == 2.5


def test_a_group_that_assay_is_in_too_is_not_the_clusters_own():
    assert group_of(LocalNode(), os.getpid(), "cpuacct") is None


def test_kernel_threads_are_the_children_of_kthreadd(proc):
    proc.process(2, 0, system=3, name="kthreadd")
    proc.process(8, 2, system=5, name="loop7")
    assert kernel_ticks(proc.node) == {2: 3, 8: 5}


def test_on_this_kernel_the_time_of_short_lived_grandchildren_is_found_whole():
    burn = "import time\nwhile time.process_time() < 0.06: pass"
    wait = f"import subprocess, sys; [subprocess.run([sys.executable, '-c', {burn!r}]) for _ in range(3)]; sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", wait], stdin=subprocess.PIPE) as manager:
        found = ProcessGroups(LocalNode(), a_scene(manager.pid, nodemanager=manager.pid))
        deadline = time.monotonic() + 60
        seen = 0.0
        while seen < 0.17 and time.monotonic() < deadline:
            found.look()
            seen = sum(found.accounts["containers"].total) / os.sysconf("SC_CLK_TCK")
            time.sleep(0.01)
        assert 0.17 <= seen < 1.0
        found.close()
        manager.communicate()


def test_an_ended_process_tells_nothing_even_when_its_file_is_open():
    with subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE) as child:
        process = OpenProcess(LocalNode(), child.pid)
        assert process.read() is not None
        child.communicate()
    assert process.read() is None
    process.close()
    with pytest.raises(OSError, match="No such file"):
        OpenProcess(LocalNode(), child.pid)
