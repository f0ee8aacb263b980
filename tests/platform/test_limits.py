"""Proves that a cluster's bounds are set in both versions of the kernel's interface, and that they hold here."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from assay.host.lease import Lease, leases, release_stale
from assay.model.cluster import EmbeddedSpec
from assay.model.errors import BadInputError
from assay.model.limits import LimitUse
from assay.platform.limits import (
    check_limits,
    find_hierarchy,
    limits_of,
    make_limits,
    possible_parents,
    used_together,
)

MIB = 1 << 20
GIB = 1 << 30

# As on a machine with both versions, on one with version 2 alone, and on one with neither.
MOUNTS_V1 = """\
30 20 0:28 / {home} rw,relatime - tmpfs tmpfs rw,mode=755
31 30 0:29 / {home}/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
32 30 0:32 / {home}/memory rw,relatime shared:9 - cgroup cgroup rw,memory
33 30 0:38 / {home}/unified rw,relatime - cgroup2 cgroup2 rw
"""
MOUNTS_V2 = "30 20 0:28 / {home} rw,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
FILES_V1 = {
    "memory.limit_in_bytes": "9223372036854771712", "memory.swappiness": "60", "memory.max_usage_in_bytes": "0", "memory.failcnt": "0",
    "memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n",
    "cpu.cfs_quota_us": "-1", "cpu.cfs_period_us": "50000",
    "cpu.stat": "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n",
}  # fmt: skip
FILES_V2 = {
    "memory.max": "max", "memory.swap.max": "max", "memory.peak": "0", "cpu.max": "max 100000",
    "memory.events": "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\noom_group_kill 0\n",
    "cpu.stat": "usage_usec 0\nnr_throttled 0\nthrottled_usec 0\n", "cgroup.subtree_control": "",
}  # fmt: skip


class KernelsLease(Lease):
    """A lease whose groups come with files in them, as the kernel's do."""

    files = FILES_V1

    def make_group(self, path):
        super().make_group(path)
        for name, content in self.files.items():
            (path / name).write_text(content)
        return path


class Machine:
    """The directories of a machine's control groups, and what /proc says of a process there."""

    def __init__(self, home, version, own):
        self.home, self.process, self.version = home / "groups", home / "proc", version
        self.process.mkdir()
        tops = [self.home / "memory", self.home / "cpu,cpuacct"] if version == 1 else [self.home]
        self.files = FILES_V1 if version == 1 else FILES_V2
        for top in tops:
            group = top
            for part in ("", *own.strip("/").split("/")):
                group = group / part
                group.mkdir(parents=True, exist_ok=True)
                for name, content in self.files.items():
                    (group / name).write_text(content)
                (group / "cgroup.controllers").write_text("cpuset cpu memory pids\n" if version == 2 else "")
        mounts = MOUNTS_V1 if version == 1 else MOUNTS_V2
        (self.process / "mountinfo").write_text(mounts.format(home=self.home))
        lines = f"3:cpu,cpuacct:{own}\n4:memory:{own}\n0::/\n" if version == 1 else f"0::{own}\n"
        (self.process / "cgroup").write_text(lines)

    def lease(self, home):
        lease = KernelsLease(home, "cluster")
        lease.files = self.files
        return lease


def test_version_1_bounds_memory_with_its_page_cache_and_without_swap(tmp_path):
    machine = Machine(tmp_path, 1, "/user")
    lease = machine.lease(tmp_path)
    limits = make_limits(3 * GIB, 1.5, lease, machine.process)
    memory = machine.home / "memory" / f"assay-{lease.id}"
    cpu = machine.home / "cpu,cpuacct" / f"assay-{lease.id}"
    assert (memory / "memory.limit_in_bytes").read_text() == str(3 * GIB)
    assert (memory / "memory.swappiness").read_text() == "0"
    assert (cpu / "cpu.cfs_quota_us").read_text() == "150000"
    assert (cpu / "cpu.cfs_period_us").read_text() == "100000"
    assert lease.groups == [memory, cpu]
    (memory / "memory.max_usage_in_bytes").write_text("1000\n")
    (memory / "memory.failcnt").write_text("7\n")
    (cpu / "cpu.stat").write_text("nr_periods 9\nnr_throttled 2\nthrottled_time 2500000000\n")
    use = limits.use()
    assert (use.memory_peak_bytes, use.memory_limit_hits, use.throttled_s) == (1000, 7, 2.5)
    assert limits.failure() is None
    (memory / "memory.oom_control").write_text("oom_kill_disable 0\nunder_oom 0\noom_kill 2\n")
    assert "more than its memory limit of 3.0 GiB, and the kernel ended 2 of its processes" in limits.failure()


def test_version_2_hands_its_controllers_down_beside_our_own_group(tmp_path):
    machine = Machine(tmp_path, 2, "/user.slice/session-1.scope")
    lease = machine.lease(tmp_path)
    limits = make_limits(2 * GIB, 2.0, lease, machine.process)
    group = machine.home / f"assay-{lease.id}"
    assert (machine.home / "cgroup.subtree_control").read_text() == "+cpu"
    assert (group / "memory.max").read_text() == str(2 * GIB)
    assert (group / "memory.swap.max").read_text() == "0"
    assert (group / "cpu.max").read_text() == "200000 100000"
    assert lease.groups == [group]
    assert limits.entering(["java"]).count(str(group / "cgroup.procs")) == 1
    (group / "memory.events").write_text("low 0\nhigh 0\nmax 12\noom 1\noom_kill 1\n")
    (group / "memory.peak").unlink()  # before Linux 5.19
    (group / "cpu.stat").write_text("usage_usec 9\nthrottled_usec 1500000\n")
    use = limits.use()
    assert (use.memory_peak_bytes, use.memory_limit_hits, use.out_of_memory_kills) == (None, 12, 1)
    assert use.throttled_s == 1.5


@pytest.mark.parametrize("version", [1, 2])
def test_a_limit_that_holds_already_is_not_left(tmp_path, version):
    machine = Machine(tmp_path, version, "/box/inner/own")
    top = machine.home / "memory" if version == 1 else machine.home
    (top / "box" / ("memory.limit_in_bytes" if version == 1 else "memory.max")).write_text("1000000")
    hierarchy = find_hierarchy("memory", machine.process)
    assert possible_parents("memory", hierarchy) == [top / "box", top]


def test_without_control_groups_the_user_is_told_what_to_do(tmp_path):
    machine = Machine(tmp_path, 2, "/")
    (machine.process / "mountinfo").write_text("30 20 0:28 / / rw - ext4 /dev/sda rw\n")
    with pytest.raises(BadInputError, match=r"no control groups for memory .* or leave the memory limit out"):
        make_limits(GIB, None, machine.lease(tmp_path), machine.process)


def test_without_rights_the_user_is_told_what_to_do(tmp_path):
    machine = Machine(tmp_path, 2, "/")
    machine.home.joinpath("cgroup.subtree_control").unlink()
    machine.home.joinpath("cgroup.subtree_control").mkdir()  # nobody can write there, not even root
    with pytest.raises(BadInputError, match=r"can't be bounded here.*run as root.*or leave the cpus limit out"):
        make_limits(None, 1.0, machine.lease(tmp_path), machine.process)


def test_what_nodes_used_together_is_the_highest_peak_and_all_else_added_up():
    node = LimitUse(memory_limit_bytes=4, memory_peak_bytes=3, memory_limit_hits=1, cpus=1.0, throttled_s=0.5)
    other = node.model_copy(update={"memory_peak_bytes": 2, "out_of_memory_kills": 2, "throttled_s": None})
    assert used_together([node, other]) == LimitUse(
        memory_limit_bytes=4, memory_peak_bytes=3, memory_limit_hits=2, cpus=1.0, throttled_s=0.5,
        out_of_memory_kills=2,
    )  # fmt: skip
    assert used_together([]) is None


@pytest.mark.parametrize("version", [1, 2])
def test_each_node_has_groups_of_its_own(tmp_path, version):
    machine = Machine(tmp_path, version, "/user.slice/session-1.scope")
    lease = machine.lease(tmp_path)
    for node in ("master", "worker-1"):
        make_limits(GIB, 1.0, lease, machine.process, node=node)
    names = [f"assay-{lease.id}-{node}" for node in ("master", "worker-1")]
    assert list(dict.fromkeys(group.name for group in lease.groups)) == names
    assert len(lease.groups) == (4 if version == 1 else 2)


def test_without_bounds_there_is_nothing(tmp_path):
    with Lease(tmp_path, "cluster") as lease:
        limits = limits_of(EmbeddedSpec(), lease)
        assert not limits.any
        assert limits.entering(["java", "-version"]) == ["java", "-version"]
        assert lease.groups == []


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ({"limit_memory_bytes": 1 << 50}, "has no effect: this machine has"),
        ({"limit_cpus": 4096.0}, "is not possible"),
        (
            {"page_cache_bytes": 16 * MIB},
            "page cache of 16MiB is too small for a cluster's jobs: give at least 32.0 MiB",
        ),
        ({"page_cache_bytes": 1 << 50}, "does not fit into .*, this machine's memory"),
        (
            {"page_cache_bytes": 2 * GIB, "limit_memory_bytes": 1200 * MIB},
            "page cache of 2GiB does not fit into 1.2 GiB, `memory`, which bounds the page cache too",
        ),
    ],
)
def test_a_bound_beyond_the_machine_is_refused(tmp_path, spec, reason):
    with pytest.raises(BadInputError, match=reason):
        check_limits(EmbeddedSpec(**spec), tmp_path)
    assert leases(tmp_path) == []


# From here on with this machine's own kernel.


@pytest.fixture
def lease(tmp_path):
    with Lease(tmp_path, "test") as lease:
        try:
            make_limits(64 * MIB, 0.5, Lease(tmp_path, "probe")).use()
        except BadInputError as error:
            pytest.skip(str(error))
        finally:
            for other in leases(tmp_path):
                if other.purpose == "probe":
                    other.release()
        yield lease


def inside(limits, program, *arguments):
    command = limits.entering([sys.executable, "-c", program, *arguments])
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_page_cache_stays_below_the_bound(lease, tmp_path):
    file = tmp_path / "large"
    limits = make_limits(64 * MIB, None, lease)
    program = (
        "import os, sys\n"
        "with open(sys.argv[1], 'wb') as f:\n"
        "    [f.write(os.urandom(1 << 20)) for _ in range(200)]; f.flush(); os.fsync(f.fileno())\n"
        "print(sum(len(piece) for piece in iter(lambda f=open(sys.argv[1], 'rb'): f.read(1 << 20), b'')))"
    )
    done = inside(limits, program, str(file))
    assert (done.returncode, done.stdout.strip()) == (0, str(200 * MIB)), done.stderr
    use = limits.use()
    assert 60 * MIB < use.memory_peak_bytes <= 64 * MIB
    assert use.memory_limit_hits > 0
    assert use.out_of_memory_kills == 0


def test_a_process_that_needs_more_memory_is_ended_and_said_why(lease):
    limits = make_limits(64 * MIB, None, lease)
    assert inside(limits, "kept = b'x' * (300 << 20)").returncode == -9
    assert limits.use().out_of_memory_kills == 1
    assert "memory limit of 64.0 MiB" in limits.failure()


@pytest.mark.slow
def test_children_are_held_back_too(lease):
    limits = make_limits(None, 0.5, lease)
    # The child alone computes, so that it alone can be held back.
    busy = "import os\nif os.fork(): os.wait()\nelse:\n    while True: pass"
    process = subprocess.Popen(limits.entering([sys.executable, "-c", busy]), start_new_session=True)
    started = time.monotonic()
    try:
        # Other programs may leave the child less than half a core for a while: then nothing is held back.
        while not (throttled_s := limits.use().throttled_s) and time.monotonic() - started < 60:
            time.sleep(0.2)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert throttled_s > 0


def test_groups_go_with_the_lease_and_with_what_still_runs_in_them(lease):
    limits = make_limits(64 * MIB, 0.5, lease)
    # Without the lease's mark: only the group knows of it.
    process = subprocess.Popen(limits.entering(["sleep", "300"]), env={"PATH": os.environ["PATH"]})
    for _ in range(100):
        if all(str(process.pid) in (group / "cgroup.procs").read_text().split() for group in lease.groups):
            break
        time.sleep(0.02)
    groups = list(lease.groups)
    lease.release()
    assert process.wait(timeout=10) == -9
    assert not [group for group in groups if group.exists()]


@pytest.mark.slow
def test_a_killed_owners_groups_are_removed(lease, tmp_path):
    program = (
        "import os, sys; from pathlib import Path; from assay.host.lease import Lease;"
        "from assay.platform.limits import make_limits;"
        f"lease = Lease(Path({str(tmp_path / 'other')!r}), 'test'); make_limits(1 << 26, None, lease);"
        "print(lease.groups[0], flush=True); os.kill(os.getpid(), 9)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, env=environment)
    group = Path(done.stdout.strip())
    assert group.is_dir()
    assert len(release_stale(tmp_path / "other")) == 1
    assert not group.exists()
