"""Proves what control groups leave of a machine: the least of the own group's limits and of those around it."""

import os
import subprocess
import sys

import pytest

from assay.cli import doctor
from assay.host import machine
from assay.host.control_groups import find_hierarchy, memory_left_bytes, memory_limit_bytes, processor_quota
from assay.host.lease import Lease
from assay.host.machine import available_memory_bytes, machine_bytes
from assay.platform.limits import make_limits

MIB = 1 << 20
NONE_V1 = "9223372036854771712"


def a_process(folder, version, path="/outer/box", root="/"):
    """Its directory in /proc; the hierarchy is mounted at `folder`/groups."""
    process = folder / "process"
    process.mkdir()
    names = {1: "4:memory:{0}\n5:cpu:{0}\n", 2: "0::{0}\n"}
    (process / "cgroup").write_text(names[version].format(path))
    kinds = {1: "cgroup cgroup rw,memory,cpu", 2: "cgroup2 cgroup2 rw"}
    (process / "mountinfo").write_text(f"30 20 0:1 {root} {folder}/groups rw - {kinds[version]}\n")
    group(folder, "", **{"cgroup.controllers": "cpu memory"} if version == 2 else {})
    return process


def group(folder, name, **files):
    (folder / "groups" / name).mkdir(parents=True, exist_ok=True)
    for file, text in files.items():
        (folder / "groups" / name / file).write_text(f"{text}\n")


def version_1(folder, name, limit, used=0, quota="-1", **stat):
    lines = "\n".join(f"{key} {value}" for key, value in stat.items())
    group(folder, name, **{
        "memory.limit_in_bytes": limit, "memory.usage_in_bytes": used, "memory.stat": lines,
        "cpu.cfs_quota_us": quota, "cpu.cfs_period_us": 100000,
    })  # fmt: skip


def version_2(folder, name, limit, used=0, quota="max 100000", high="max", **stat):
    lines = "\n".join(f"{key} {value}" for key, value in stat.items())
    files = {"memory.max": limit, "memory.high": high, "memory.current": used, "memory.stat": lines, "cpu.max": quota}
    group(folder, name, **files)


def test_version_2_the_least_limit_of_the_own_group_and_those_around_it(tmp_path):
    process = a_process(tmp_path, 2)
    version_2(
        tmp_path, "outer", 1500 * MIB, 1000 * MIB, "150000 100000", inactive_file=300 * MIB, active_file=100 * MIB
    )
    version_2(tmp_path, "outer/box", "max", 10 * MIB)
    assert memory_limit_bytes(process) == 1500 * MIB
    assert memory_left_bytes(process) == 900 * MIB
    assert processor_quota(process) == 1.5
    version_2(tmp_path, "outer/box", 1200 * MIB, 500 * MIB, "50000 100000")
    assert (memory_limit_bytes(process), memory_left_bytes(process)) == (1200 * MIB, 700 * MIB)
    assert processor_quota(process) == 0.5
    version_2(tmp_path, "outer/box", 1200 * MIB, 500 * MIB, high=400 * MIB)
    assert (memory_limit_bytes(process), memory_left_bytes(process)) == (400 * MIB, 0)


def test_version_1_the_least_limit_of_the_own_group_and_those_around_it(tmp_path):
    process = a_process(tmp_path, 1)
    version_1(tmp_path, "", NONE_V1)
    version_1(tmp_path, "outer", 1500 * MIB, 1000 * MIB, 200000, total_inactive_file=300 * MIB, inactive_file=1)
    version_1(tmp_path, "outer/box", NONE_V1, 10 * MIB)
    assert (memory_limit_bytes(process), memory_left_bytes(process)) == (1500 * MIB, 800 * MIB)
    assert processor_quota(process) == 2


def test_version_1_a_limit_around_a_container_is_told_by_its_own_group(tmp_path):
    process = a_process(tmp_path, 1, "/docker/abc", "/docker/abc")
    version_1(tmp_path, "", NONE_V1, 100 * MIB, hierarchical_memory_limit=700 * MIB)
    assert (memory_limit_bytes(process), memory_left_bytes(process)) == (700 * MIB, 600 * MIB)


@pytest.mark.parametrize("version", [1, 2])
def test_where_nothing_bounds_it_nothing_is_said(tmp_path, version):
    process = a_process(tmp_path, version)
    none = {1: lambda name: version_1(tmp_path, name, NONE_V1), 2: lambda name: version_2(tmp_path, name, "max")}
    none[version]("outer/box")
    assert memory_limit_bytes(process) is memory_left_bytes(process) is processor_quota(process) is None


def test_a_machine_without_control_groups_bounds_nothing(tmp_path):
    (tmp_path / "cgroup").touch()
    (tmp_path / "mountinfo").touch()
    assert memory_limit_bytes(tmp_path) is memory_left_bytes(tmp_path) is processor_quota(tmp_path) is None


def test_what_a_group_leaves_is_what_is_available(monkeypatch):
    monkeypatch.setattr(machine, "memory_left_bytes", lambda: 5 * MIB)
    monkeypatch.setattr(machine, "memory_limit_bytes", lambda: 1500 * MIB)
    monkeypatch.setattr(machine, "processor_quota", lambda: 0.25)
    monkeypatch.setattr(doctor, "memory_limit_bytes", lambda: 1500 * MIB)
    assert (available_memory_bytes(), machine_bytes()) == (5 * MIB, 1500 * MIB)
    facts = machine.machine_facts()
    assert (facts["memory_bytes"], facts["cpu_quota"]) == (1500 * MIB, 0.25)
    monkeypatch.setattr(machine, "memory_left_bytes", lambda: 1 << 60)
    assert available_memory_bytes() < 1 << 60


@pytest.mark.skipif(os.geteuid() != 0 or find_hierarchy("memory") is None, reason="needs root and control groups")
def test_a_process_in_a_real_group_sees_its_limit(tmp_path):
    code = "from assay.host.machine import *; print(machine_bytes(), available_memory_bytes())"
    with Lease(tmp_path, "test") as lease:
        limits = make_limits(1500 * MIB, None, lease)
        done = subprocess.run(limits.entering([sys.executable, "-c", code]), check=True, capture_output=True, text=True)
    limit, available = map(int, done.stdout.split())
    assert limit == 1500 * MIB
    assert 1300 * MIB < available <= limit


@pytest.mark.parametrize("missing", ["cgroup", "mountinfo"])
def test_where_none_are_shown_nothing_bounds_it(tmp_path, missing):
    """As in a kernel without control groups, and in some sandboxes."""
    process = a_process(tmp_path, 2)
    version_2(tmp_path, "outer/box", 5 * MIB, quota="50000 100000")
    (process / missing).unlink()
    assert find_hierarchy("memory", process) is None
    assert memory_limit_bytes(process) is memory_left_bytes(process) is processor_quota(process) is None


@pytest.mark.parametrize("version", [1, 2])
def test_names_in_other_encodings_are_read_as_they_are(tmp_path, version):
    process = a_process(tmp_path, version)
    text = (process / "cgroup").read_bytes().replace(b"/outer/box", b"/caf\xe9")
    (process / "cgroup").write_bytes(b"9:name=caf\xe9:/caf\xe9\n" + text)
    {1: version_1, 2: version_2}[version](tmp_path, os.fsdecode(b"caf\xe9"), 5 * MIB)
    assert memory_limit_bytes(process) == 5 * MIB


def test_a_quota_of_more_than_there_is_gives_no_more(monkeypatch):
    here = len(os.sched_getaffinity(0))
    for quota, usable in ((None, here), (here + 4.0, here), (0.5, 0.5)):
        monkeypatch.setattr(machine, "processor_quota", lambda quota=quota: quota)
        assert machine.usable_processors() == usable
