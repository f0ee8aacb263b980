"""Proves how much slower a scale model is made, that all of it is slower by the same factor, and what is refused."""

import pytest

from assay.host.lease import Lease
from assay.model.cluster import EmbeddedSpec
from assay.model.errors import BadInputError
from assay.model.installed import stack_of
from assay.platform.dilation import Processors, auto_text, chosen, longer, node_cpus, resolved, slowed
from assay.platform.limits import limits_of, make_limits, short_period_us
from tests.platform.test_limits import GIB, Machine

TIMERS = stack_of().timers
TWO, MANY = Processors(2, shared=True), Processors(24, shared=False)


@pytest.mark.parametrize(
    ("nodes", "cpus", "here", "dilation"),
    [(3, None, TWO, 3), (12, None, TWO, 9), (3, 2.0, TWO, 6), (3, None, MANY, 1), (12, 2.0, MANY, 2)],
)
def test_auto_is_the_least_with_which_all_nodes_can_be_busy(nodes, cpus, here, dilation):
    """The master's node too; two shared processors have 1.5 for them, 24 of the nodes' own 21.6."""
    spec = EmbeddedSpec(nodes=nodes, limit_cpus=cpus, dilation="auto")
    assert chosen(spec, here) == dilation


def test_auto_is_that_of_the_plans_largest_cluster():
    spec = EmbeddedSpec(nodes=3, dilation="auto", auto_for=(13, 1.0))
    assert chosen(spec, TWO) == chosen(EmbeddedSpec(nodes=13, dilation="auto"), TWO) == 10
    assert auto_text(spec, TWO) == "dilation auto: 10 here, for 13 nodes and their master of 1 core each"
    assert EmbeddedSpec.model_validate_json(spec.model_dump_json()) == spec


def test_a_number_is_taken_as_it_is_and_none_is_no_scale_model():
    assert chosen(EmbeddedSpec(nodes=12, dilation=2), TWO) == 2
    assert chosen(EmbeddedSpec(nodes=3), TWO) is None
    assert resolved(EmbeddedSpec(nodes=3)) == EmbeddedSpec(nodes=3)
    made = resolved(EmbeddedSpec(nodes=3, dilation=4))
    assert (made.dilation, made.limit_cpus, slowed(made), node_cpus(made)) == (4, 1.0, 4, 1.0)
    assert slowed(EmbeddedSpec(nodes=3)) == 1


def test_one_node_that_is_this_machine_can_be_no_scale_model():
    with pytest.raises(BadInputError, match="needs nodes of their own"):
        chosen(EmbeddedSpec(nodes=1, dilation=2), TWO)
    assert chosen(EmbeddedSpec(nodes=1, network="gigabit", dilation=2), TWO) == 2


def test_a_node_of_more_cores_than_this_machine_can_stand_for_is_refused():
    with pytest.raises(BadInputError, match="give a dilation of 4 or more, or fewer cpus"):
        chosen(EmbeddedSpec(nodes=3, limit_cpus=8, dilation=2), TWO)


@pytest.mark.parametrize("version", [1, 2])
def test_a_nodes_processors_are_bounded_once_it_has_started(tmp_path, version):
    machine = Machine(tmp_path, version, "/user")
    lease = machine.lease(tmp_path)
    limits = make_limits(GIB, 0.25, lease, machine.process, node="worker-1", later=True)
    top = machine.home / "cpu,cpuacct" if version == 1 else machine.home
    group = top / f"assay-{lease.id}-worker-1"
    file = group / ("cpu.cfs_quota_us" if version == 1 else "cpu.max")
    assert file.read_text().split()[0] in {"-1", "max"}
    limits.hold_processors()
    assert file.read_text() == ("10000" if version == 1 else "10000 40000")
    if version == 1:
        assert (group / "cpu.cfs_period_us").read_text() == "40000"
    entered = limits.entering_processors(["hadoop", "fs"])
    assert str(group / "cgroup.procs") in entered
    assert entered[-2:] == ["hadoop", "fs"]
    assert limits.use().cpus == 0.25


def test_without_a_dilation_bounds_hold_from_the_start_and_clients_stay_outside(tmp_path):
    machine = Machine(tmp_path, 1, "/user")
    lease = machine.lease(tmp_path)
    limits = make_limits(None, 1.5, lease, machine.process)
    quota = machine.home / "cpu,cpuacct" / f"assay-{lease.id}" / "cpu.cfs_quota_us"
    assert quota.read_text() == "150000"
    limits.hold_processors()
    assert quota.read_text() == "150000"
    assert limits.entering_processors(["hadoop"]) == ["hadoop"]


def test_a_node_has_its_processor_for_equally_long_at_every_dilation():
    assert short_period_us(0.25) == 40_000
    assert short_period_us(0.1) == 100_000
    assert short_period_us(2) == 10_000
    assert short_period_us(0.001) == 1_000_000


def test_a_share_too_small_for_the_kernel_is_refused(tmp_path):
    spec = resolved(EmbeddedSpec(nodes=3, dilation=64, limit_cpus=0.5))
    with Lease(tmp_path, "limits") as lease, pytest.raises(BadInputError, match="cpus is not possible"):
        limits_of(spec, lease)


def test_every_timer_is_so_many_times_longer_also_one_that_was_chosen():
    found = longer({"dfs.heartbeat.interval": "2", "mapreduce.task.timeout": "0", "dfs.blocksize": "64m"}, 4, TIMERS)
    assert found["dfs.heartbeat.interval"] == "8"
    assert found["mapreduce.task.timeout"] == "0"  # never
    assert found["dfs.blocksize"] == "64m"
    assert found["yarn.resourcemanager.nodemanagers.heartbeat-interval-ms"] == "4000"
    assert found["dfs.webhdfs.socket.read-timeout"] == "240s"
    assert TIMERS.keys() <= found.keys()
    assert longer({"dfs.heartbeat.interval": "2"}, 1, TIMERS) == {"dfs.heartbeat.interval": "2"}


def test_what_is_no_time_is_refused():
    with pytest.raises(BadInputError, match=r"dfs.heartbeat.interval is 'often', and a dilation makes it 4 times"):
        longer({"dfs.heartbeat.interval": "often"}, 4, TIMERS)
