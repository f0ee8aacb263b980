"""Proves that the page cache of a control group is held at its budget, whatever the group's processes take themselves."""

import errno
import os
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from assay.host.lease import Lease
from assay.host.processors import Division, bound_to
from assay.media.page_cache import forget_files, resident_bytes, write_out
from assay.model.errors import BadInputError
from assay.model.limits import CacheUse
from assay.platform import page_cache_budget
from assay.platform.limits import find_hierarchy, make_limits
from assay.platform.page_cache_budget import PageCacheBudget

MIB = 1 << 20
NAMES = {
    1: ("memory.usage_in_bytes", "memory.limit_in_bytes", "total_cache", "total_mapped_file", "total_shmem"),
    2: ("memory.current", "memory.high", "file", "file_mapped", "shmem"),
}


@dataclass
class Group:
    """A control group's files, in MiB."""

    home: Path
    version: int

    def __post_init__(self):
        (self.home / NAMES[self.version][1]).write_text("max" if self.version == 2 else "9223372036854771712")

    def holds(self, anonymous, cached, mapped=0, shared=0):
        usage, _, *fields = NAMES[self.version]
        (self.home / usage).write_text(f"{(anonymous + cached + shared) * MIB}\n")
        sizes = zip(fields, (cached + shared, mapped, shared), strict=True)
        (self.home / "memory.stat").write_text("".join(f"{name} {size * MIB}\n" for name, size in sizes))

    @property
    def bound_mib(self):
        return int((self.home / NAMES[self.version][1]).read_text()) / MIB


@pytest.mark.parametrize("version", [1, 2])
def test_the_bound_follows_what_processes_need(tmp_path, version):
    group = Group(tmp_path, version)
    group.holds(anonymous=0, cached=0)
    budget = PageCacheBudget(version, tmp_path, 64 * MIB, None)
    budget.step(1)
    assert group.bound_mib == 64
    group.holds(anonymous=300, cached=40)
    budget.step(1)
    assert group.bound_mib == 364
    # Mapped files and shared memory are the processes' own.
    group.holds(anonymous=300, cached=90, mapped=50, shared=10)
    budget.step(1)
    assert group.bound_mib == 300 + 50 + 10 + 64


@pytest.mark.parametrize("version", [1, 2])
def test_times_above_and_below_the_budget_are_counted_where_it_is_in_full_use(tmp_path, version):
    group = Group(tmp_path, version)
    group.holds(anonymous=0, cached=0)
    budget = PageCacheBudget(version, tmp_path, 100 * MIB, None)
    budget.step(0)
    group.holds(anonymous=100, cached=20)  # over the last bound of 100 MiB: processes took what was the cache's
    budget.step(2)
    group.holds(anonymous=100, cached=100)
    budget.step(3)
    group.holds(anonymous=90, cached=111)
    budget.step(5)
    group.holds(anonymous=10, cached=10)  # nobody fills it
    budget.step(7)
    use = budget.use
    assert (use.held_s, use.full_s, use.above_s, use.below_s, use.squeezed_s) == (17, 10, 5, 2, 0)
    assert use.peak_bytes == 111 * MIB


def test_at_the_bound_of_all_memory_the_kernel_may_end_processes_again(tmp_path):
    group = Group(tmp_path, 1)
    group.holds(anonymous=100, cached=0)
    budget = PageCacheBudget(1, tmp_path, 64 * MIB, 200 * MIB)
    budget.step(1)
    assert (tmp_path / "memory.oom_control").read_text() == "1"
    group.holds(anonymous=180, cached=20)
    budget.step(1)
    assert group.bound_mib == 200
    assert (tmp_path / "memory.oom_control").read_text() == "0"
    assert budget.use.squeezed_s == 1


def test_nothing_is_bounded_or_counted_until_the_cluster_is_healthy(tmp_path):
    group = Group(tmp_path, 1)
    group.holds(anonymous=100, cached=300)
    budget = PageCacheBudget(1, tmp_path, 64 * MIB, None)
    assert group.bound_mib > 1 << 40
    assert budget.use == CacheUse(budget_bytes=64 * MIB)


def test_a_bound_that_the_kernel_did_not_take_is_tried_again(tmp_path, monkeypatch):
    group = Group(tmp_path, 1)
    group.holds(anonymous=0, cached=0)
    budget = PageCacheBudget(1, tmp_path, 64 * MIB, None)
    group.holds(anonymous=100, cached=64)
    budget.step(0)
    write = Path.write_text

    def busy(file, text, **how):
        if file.name == "memory.limit_in_bytes":
            raise OSError(errno.EBUSY, "could not be reclaimed")
        return write(file, text, **how)

    group.holds(anonymous=50, cached=64)
    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", busy)
        budget.step(1)
    assert group.bound_mib == 164
    assert budget.use.full_s == 0  # the kernel's bound leaves 50 MiB
    budget.step(1)
    assert group.bound_mib == 114


def wait_for(happened):
    ends = time.monotonic() + 60
    while not happened() and time.monotonic() < ends:
        time.sleep(0.01)
    assert happened()


def followers():
    return [thread for thread in threading.enumerate() if thread.name == "probe-page-cache-budget"]


@pytest.mark.parametrize(
    ("version", "most", "bound"), [(1, None, "-1"), (2, None, "max"), (1, 900 * MIB, str(900 * MIB))]
)
def test_when_it_can_no_longer_be_held_nothing_stays_paused_and_the_reason_is_kept(tmp_path, version, most, bound):
    group = Group(tmp_path, version)
    group.holds(anonymous=100, cached=20)
    budget = PageCacheBudget(version, tmp_path, 64 * MIB, most)
    budget.hold()
    assert budget.use.trouble is None
    (tmp_path / "memory.stat").write_text("unreadable\n")
    wait_for(lambda: budget.use.trouble)
    assert "ValueError" in budget.use.trouble
    assert (tmp_path / NAMES[version][1]).read_text() == bound
    if version == 1:
        assert (tmp_path / "memory.oom_control").read_text() == "0"
    wait_for(lambda: not followers())


def test_it_ends_quietly_with_the_group(tmp_path):
    group = Group(tmp_path, 1)
    group.holds(anonymous=100, cached=20)
    budget = PageCacheBudget(1, tmp_path, 64 * MIB, None)
    budget.hold()
    (tmp_path / "memory.stat").unlink()
    wait_for(lambda: not followers())
    assert budget.use.trouble is None
    assert group.bound_mib == 164


def test_its_thread_counts_as_a_probe_and_has_the_instruments_processors(tmp_path, monkeypatch):
    here = sorted(os.sched_getaffinity(0))
    parts = Division(cluster=frozenset(here[:1]), instruments=frozenset(here[-1:]))
    monkeypatch.setattr(page_cache_budget, "division", lambda: parts)
    Group(tmp_path, 1).holds(anonymous=100, cached=20)
    with bound_to(parts.cluster):
        PageCacheBudget(1, tmp_path, 64 * MIB, None).hold()
    (thread,) = followers()
    wait_for(lambda: os.sched_getaffinity(thread.native_id) == parts.instruments)
    if os.geteuid() == 0:
        assert os.getpriority(os.PRIO_PROCESS, thread.native_id) == -10
        assert os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) > -10
    (tmp_path / "memory.stat").unlink()
    thread.join(5)


def test_files_kept_outside_are_no_part_of_the_budget(tmp_path):
    """They are in the page cache of this process' group, and stay there when their pages are given up by others."""
    group = Group(tmp_path, 1)
    group.holds(anonymous=0, cached=0)
    program, empty = tmp_path / "program", tmp_path / "empty"
    program.write_bytes(os.urandom(4 * MIB))
    empty.touch()
    budget = PageCacheBudget(1, tmp_path, 64 * MIB, None)
    budget.keep_outside([program, empty])
    write_out(tmp_path)
    forget_files(tmp_path)
    assert resident_bytes(tmp_path) >= 4 * MIB
    del budget
    forget_files(tmp_path)
    assert resident_bytes(tmp_path) < MIB


def test_a_kernel_without_these_files_is_named(tmp_path):
    with pytest.raises(BadInputError, match="page cache can't be held at a budget here: .*leave page_cache out"):
        PageCacheBudget(1, tmp_path, 64 * MIB, None)


WORK = """
import os, random, sys, time
descriptor = os.open(sys.argv[1], os.O_RDONLY)
end, held = time.monotonic() + 3, []
while time.monotonic() < end:
    for _ in range(20):
        os.pread(descriptor, 1 << 20, random.randrange(200) << 20)
    held = [*held, bytearray(b"x") * (8 << 20)][-12:]
"""


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0 or find_hierarchy("memory") is None, reason="needs root and control groups")
def test_a_process_that_reads_more_than_the_budget_keeps_no_more_in_the_cache(tmp_path):
    data = tmp_path / "data"
    data.write_bytes(os.urandom(MIB) * 200)
    with data.open("rb") as file:
        os.fdatasync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    with Lease(tmp_path / "state", "test") as lease:
        limits = make_limits(None, None, lease, page_cache_bytes=32 * MIB)
        limits.page_cache.hold()
        subprocess.run(limits.entering([sys.executable, "-c", WORK, str(data)]), check=True)
        use = limits.use().page_cache
    # Between two steps the cache may take what the process gave back: 8 MiB at once.
    assert 28 * MIB < use.peak_bytes < 44 * MIB
    assert use.full_s > 1
    assert use.above_s < 0.1 * use.full_s
