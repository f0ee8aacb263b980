"""Proves how the clock is divided among computing, blocked, waiting and idle, and what stands in for task states."""

import os
import threading
import time

import pytest

from assay.host.control_groups import ControlGroup
from assay.node.local import LocalNode
from assay.probe import blocked_time
from assay.probe.blocked_time import BlockedTime, Shares, StateSampler, StatesOfGroup, TaskStates, processors_of
from tests.probe.faking import PlacedNode, a_scene, amounts_of, at, measuring, named

# What Linux 6.18 answered: the family TASKSTATS, and none of the name; a group with a thread that runs and one in a
# direct write; EINVAL for a directory that is no group.
FAMILY = bytes.fromhex(
    "700000001000000001000000c9490000010200000e0002005441534b5354415453000000060001001f0000000800030001000000080004000000"
    "000008000500000000002c000600140001000800010001000000080002000b000000140002000800010004000000080002000a000000"
)
NO_FAMILY = bytes.fromhex(
    "380000000200000001000000c9490000feffffff24000000100001000100000000000000030100000e0002005441534b5354415454000000"
)
STATES = bytes.fromhex(
    "400000001f00000001000000c9490000050100002c00010000000000000000000100000000000000000000000000000001000000000000000000"
    "000000000000"
)
NO_GROUP = bytes.fromhex(
    "300000000200000001000000c9490000eaffffff1c0000001f0001000100000000000000040100000800010005000000"
)


def kernel(*answers):
    """Gives the answers in turn, the last one again and again; what it was asked is in `asked`."""
    left = list(answers)

    def ask(message):
        ask.asked.append(message)
        return left.pop(0) if len(left) > 1 else left[0]

    ask.asked = []
    return ask


def test_states_come_from_the_kernels_answer(tmp_path):
    ask = kernel(FAMILY, STATES)
    states = StatesOfGroup(tmp_path, ask)
    assert states.read() == TaskStates(sleeping=0, runnable=1, stopped=0, uninterruptible=1, io_wait=0)
    states.close()
    # What was captured of a request that was refused ends with the request's own header, attribute and descriptor.
    assert ask.asked[1][4:6] == b"\x1f\x00", "the family in the kernel's answer"
    assert ask.asked[1][16:24] == NO_GROUP[36:44]


@pytest.mark.parametrize(
    ("answers", "reason"), [((NO_FAMILY,), "No such file"), ((FAMILY, NO_GROUP), "Invalid argument")]
)
def test_a_kernel_that_refuses_raises(tmp_path, answers, reason):
    with pytest.raises(OSError, match=reason):
        StatesOfGroup(tmp_path, kernel(*answers)).read()


@pytest.mark.parametrize("answers", [(FAMILY, FAMILY), (FAMILY, STATES[:40]), (FAMILY[:12],), (FAMILY, b"")])
def test_an_answer_without_what_was_asked_for_is_an_error_of_the_system(tmp_path, answers):
    with pytest.raises(OSError, match="lacks"):
        StatesOfGroup(tmp_path, kernel(*answers)).read()


def test_a_group_that_can_not_be_opened_leaves_no_descriptor(tmp_path):
    before = os.listdir("/proc/self/fd")
    with pytest.raises(OSError, match="No such file"):
        StatesOfGroup(tmp_path, kernel(NO_FAMILY))
    assert os.listdir("/proc/self/fd") == before


@pytest.mark.parametrize(
    ("runnable", "blocked", "shares"),
    [
        (0, 0, (0, 0, 0, 1)),  # nobody wants anything
        (1, 0, (1, 0, 0, 0)),
        (2, 5, (1, 0, 0, 0)),  # no processor is idle, so that nobody's blocking costs time
        (0, 3, (0, 1, 0, 0)),
        (1, 3, (0.5, 0.5, 0, 0)),  # one idle processor could have run one of the three
        (4, 3, (0.5, 0, 0.5, 0)),  # as many wait for a processor as have one
    ],
)
def test_the_clock_is_divided_among_what_threads_do(runnable, blocked, shares):
    states = TaskStates(7, runnable, 0, blocked, 0)
    after = Shares().after(states, processors=2, elapsed_s=1.0)
    assert after[:4] == pytest.approx(shares)
    assert after.running_s == min(2, runnable)
    twice = after.after(states._replace(uninterruptible=0, io_wait=blocked), processors=2, elapsed_s=2.0)
    assert twice == pytest.approx([3 * one for one in after])


def test_a_bound_on_the_cpus_is_all_that_a_group_has(tmp_path):
    one, two = ControlGroup(1, tmp_path / "one"), ControlGroup(2, tmp_path / "two")
    for group in (one, two):
        group.directory.mkdir()
    node, pid = LocalNode(), os.getpid()
    here = len(os.sched_getaffinity(pid))
    (one.directory / "cpu.cfs_quota_us").write_text("-1\n")
    (one.directory / "cpu.cfs_period_us").write_text("100000\n")
    (two.directory / "cpu.max").write_text("max 100000\n")
    assert processors_of(node, pid, [one, two]) == here
    (two.directory / "cpu.max").write_text("75000 100000\n")
    assert processors_of(node, pid, [one, two]) == 0.75
    (one.directory / "cpu.cfs_quota_us").write_text("50000\n")
    assert processors_of(node, pid, [one, two]) == 0.5
    assert processors_of(node, 1 << 30, []) == os.cpu_count(), "a process that is gone"


class FakeStates:
    """A group's states: how many are runnable and blocked; raises what is not a pair."""

    def __init__(self, *states):
        self.states = list(states)
        self.closed = False
        self.raised = threading.Event()

    def read(self):
        now = self.states.pop(0) if len(self.states) > 1 else self.states[0]
        if isinstance(now, Exception):
            self.raised.set()
            raise now
        return TaskStates(9, now[0], 0, now[1], 0)

    def close(self):
        self.closed = True


class FakeClock:
    """A clock that goes on only while somebody sleeps by it."""

    def __init__(self):
        self.now_s = 0.0
        self.slept_often = threading.Event()

    def monotonic(self):
        return self.now_s

    def sleep(self, seconds):
        self.now_s += seconds
        if self.now_s > 20 * seconds:
            self.slept_often.set()


def test_states_are_sampled_until_that_is_stopped(monkeypatch):
    clock = FakeClock()
    monkeypatch.setattr(blocked_time, "time", clock)
    sampler = StateSampler(FakeStates((1, 0)), processors=2, every_s=0.005)
    sampler.start()
    assert clock.slept_often.wait(60)
    sampler.stop()
    assert sampler.shares.computing_s == pytest.approx(clock.now_s)
    assert sum(sampler.shares[1:4]) == 0


class GroupOfCluster:
    """A machine where the cluster has a group in both versions of the interface."""

    def __init__(self, home):
        self.one, self.two = home / "one" / "cluster", home / "two" / "cluster"
        for group in (self.one, self.two):
            group.mkdir(parents=True)
        (self.one / "cpuacct.usage").write_text("1000000000")
        self.pressure(some=1.5, full=0.5)
        proc = home / "proc"
        for process, path in (("self", "/"), ("7", "/cluster")):
            (proc / process).mkdir(parents=True)
            (proc / process / "cgroup").write_text(f"4:cpuacct:{path}\n0::{path}\n")
        (proc / "self" / "mountinfo").write_text(
            f"1 0 0:1 / {home / 'one'} rw - cgroup cgroup rw,cpuacct\n2 0 0:2 / {home / 'two'} rw - cgroup2 cgroup2 rw\n"
        )
        (proc / "pressure").mkdir()
        self.node = PlacedNode({"/proc": proc})

    def pressure(self, some, full):
        line = "{} avg10=0.00 avg60=0.00 avg300=0.00 total={:.0f}\n"
        (self.two / "io.pressure").write_text(line.format("some", some * 1e6) + line.format("full", full * 1e6))


SCENE = a_scene(7, nodemanager=7)


def test_amounts_are_of_the_cluster_with_what_checks_them(tmp_path):
    machine = GroupOfCluster(tmp_path)
    states = FakeStates((1, 1))
    probe = BlockedTime(machine.node, lambda group: states if group == machine.one else pytest.fail("another group"))
    probe.attach(SCENE)
    assert probe.sample(at(10)) == {}
    time.sleep(0.1)
    assert probe.sample(at(10.5)) == {
        ("", "computing_percent"): 50.0, ("", "blocked_percent"): 50.0, ("", "waiting_percent"): 0.0, ("", "idle_percent"): 0.0
    }  # fmt: skip
    totals = named(probe.totals())
    assert totals["cluster", "blocked_s"] == totals["cluster", "computing_s"] > 0
    assert totals["cluster", "processor_s"] == 1.0
    assert totals["cluster", "io_full_s"] == 0.5
    assert probe.doubts() == ()
    probe.close()
    assert states.closed


def test_groups_whose_states_can_not_be_read_are_closed_at_once(tmp_path):
    machine = GroupOfCluster(tmp_path)
    opened = {machine.one: FakeStates(OSError(22, "Invalid argument")), machine.two: FakeStates((1, 0))}
    probe = BlockedTime(machine.node, opened.get)
    probe.attach(SCENE)
    assert [states.closed for states in opened.values()] == [True, False]
    probe.close()
    assert opened[machine.two].closed


def test_the_machines_pressure_is_not_taken_for_the_clusters(tmp_path):
    machine = GroupOfCluster(tmp_path)
    (machine.two / "io.pressure").rename(tmp_path / "proc" / "pressure" / "io")
    probe = BlockedTime(machine.node, lambda _group: FakeStates((1, 1)))
    probe.attach(SCENE)
    totals = named(probe.totals())
    probe.close()
    assert totals["machine", "io_some_s"] == 1.5
    assert ("cluster", "io_some_s") not in totals


def refused(_group):
    raise OSError(22, "Invalid argument")


def test_without_task_states_the_groups_pressure_stands_in(tmp_path):
    machine = GroupOfCluster(tmp_path)
    with measuring(BlockedTime(machine.node, refused), scene=SCENE) as reading:
        machine.pressure(some=4.0, full=2.0)
        reading.mark("run")
    (doubt,) = reading.doubts
    assert doubt.kind == "blocked-by-pressure"
    assert "the cluster's I/O pressure" in doubt.what
    blocked = next(one for one in amounts_of(reading) if (one.series, one.part) == ("blocked_s", "run"))
    assert (blocked.value, blocked.basis) == (1.5, "estimated")


def test_without_either_a_doubt_tells_what_is_lost(tmp_path):
    node = PlacedNode({"/proc": tmp_path})
    with measuring(BlockedTime(node, refused), scene=SCENE) as reading:
        reading.mark("run")
    (doubt,) = reading.doubts
    assert (doubt.kind, doubt.instrument) == ("probe-missing", "blocked-time")
    assert "zero-delay baseline" in doubt.why


@pytest.mark.parametrize("failure", [OSError(19, "No such device"), KeyError(1)])
def test_states_that_end_early_leave_a_doubt_and_the_trial_goes_on(tmp_path, failure):
    machine = GroupOfCluster(tmp_path)
    states = FakeStates((1, 0), (1, 0), failure)
    with measuring(BlockedTime(machine.node, lambda _group: states), scene=SCENE) as reading:
        assert states.raised.wait(10)
        time.sleep(0.05)
        reading.mark("run")
    assert [doubt.kind for doubt in reading.doubts] == ["blocked-time-incomplete"]


def test_nothing_to_watch_without_a_cluster_of_ones_own():
    with measuring(BlockedTime(LocalNode(), refused)) as reading:
        reading.mark("run")
    assert [doubt.kind for doubt in reading.doubts] in (["blocked-by-pressure"], ["probe-missing"])
