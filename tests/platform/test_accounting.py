"""Proves that a cluster's processes enter groups that bound nothing, and that such groups go with the lease."""

import os
import subprocess
from pathlib import Path

import pytest

from assay.host.control_groups import entered_groups
from assay.host.lease import Lease
from assay.node.local import LocalNode
from assay.platform import accounting
from assay.platform.accounting import accounting_groups
from assay.platform.limits import make_limits
from assay.probe.blocked_time import StatesOfGroup

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


def a_process(groups, lease):
    limits = make_limits(None, None, lease)
    limits.accounting = groups
    command = limits.entering(["/bin/sh", "-c", "echo entered; exec sleep 60"])
    process = subprocess.Popen(command, env=lease.environment({"PATH": os.environ["PATH"]}), stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"entered\n"
    return process


@AS_ROOT
def test_the_kernel_tells_the_states_of_what_entered(tmp_path):
    with Lease(tmp_path, "test") as lease:
        groups = accounting_groups(lease)
        if not groups:
            pytest.skip("no control groups can be made here")
        process = a_process(groups, lease)
        try:
            entered = entered_groups(LocalNode(), process.pid)
            assert [group.directory for group in entered] == list(groups)
            states = StatesOfGroup(entered[0].directory)
            assert states.read().runnable in {0, 1}
            states.close()
        finally:
            process.kill()
            process.wait()
    assert not any(group.exists() for group in groups)


@AS_ROOT
def test_a_machine_without_version_1_mounts_a_hierarchy_for_the_lease(tmp_path, monkeypatch):
    monkeypatch.setattr(accounting, "find_hierarchy", lambda *_: None)
    with Lease(tmp_path, "test") as lease:
        groups = accounting_groups(lease)
        own = [group for group in groups if group.is_relative_to(tmp_path)]
        if not own:
            pytest.skip("no hierarchy can be mounted here")
        process = a_process(groups, lease)
        process.kill()
        process.wait()
    assert not own[0].exists()
    assert str(tmp_path) not in Path("/proc/self/mountinfo").read_text()


def test_without_the_right_to_make_groups_there_are_none(tmp_path, monkeypatch):
    monkeypatch.setattr(accounting, "SELF", tmp_path)
    for name in ("cgroup", "mountinfo"):
        (tmp_path / name).write_text("")
    (tmp_path / "cgroup").write_text("0::/user\n")
    (tmp_path / "mountinfo").write_text(f"1 0 0:1 / {tmp_path / 'nowhere'} rw - cgroup2 cgroup2 rw\n")
    lease = Lease(tmp_path, "test")
    found = accounting._version_2(lease)
    assert found is None
    assert lease.groups == []
    lease.release()


def test_a_group_with_bounds_is_joined(tmp_path, monkeypatch):
    monkeypatch.setattr(accounting, "SELF", tmp_path)
    lease = Lease(tmp_path, "test")
    lease.groups.append(tmp_path / "assay-bounded")
    (tmp_path / "cgroup").write_text("0::/user\n")
    (tmp_path / "mountinfo").write_text(f"1 0 0:1 / {tmp_path} rw - cgroup2 cgroup2 rw\n")
    assert accounting._version_2(lease) == tmp_path / "assay-bounded"
    lease.groups.clear()
    lease.release()
