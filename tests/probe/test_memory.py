"""Proves what memory is used for, on the machine and in a cluster's own group, and how long tasks waited."""

import pytest

from assay.model.probe import CannotMeasureError
from assay.probe.cpu import PressureProbe, stalls_us
from assay.probe.memory import MemoryProbe, group_bytes, machine_bytes
from tests.probe.faking import FIXTURES, FakeProc, PlacedNode, a_scene, at, named

KIB, MIB = 1 << 10, 1 << 20
MEMINFO = (FIXTURES / "memory" / "meminfo").read_text()
VMSTAT = (FIXTURES / "memory" / "vmstat").read_text()
# Names of the kernel's admin-guide/cgroup-v2.rst; this project's machines have no memory controller of version 2.
STAT_V2 = "anon 5242880\nfile 9437184\nkernel 100\nshmem 1048576\nfile_mapped 7\nfile_dirty 2097152\nfile_writeback 0\n"


@pytest.fixture
def proc(tmp_path):
    proc = FakeProc(tmp_path / "proc")
    (proc.home / "meminfo").write_text(MEMINFO)
    (proc.home / "vmstat").write_text(VMSTAT)
    return proc


def in_a_group(proc, tmp_path, stat):
    group = tmp_path / "cgroup" / "assay-1"
    group.mkdir(parents=True)
    (group / "memory.stat").write_text(stat)
    proc.process(7, 1)
    (proc.home / "self" / "mountinfo").write_text(f"30 20 0:28 / {tmp_path}/cgroup rw - cgroup2 cgroup2 rw\n")
    (proc.home / "self" / "cgroup").write_text("0::/\n")
    (proc.home / "7" / "cgroup").write_text("0::/assay-1\n")
    return group


def test_the_page_cache_is_without_shared_memory():
    assert machine_bytes(MEMINFO) == {
        "available": 17416660 * KIB, "page_cache": (8762064 + 351932 - 6531668) * KIB, "shared": 6531668 * KIB,
        "anonymous": 74356 * KIB, "dirty": 856 * KIB, "writeback": 0,
    }  # fmt: skip


def test_a_kernel_that_lacks_a_line_is_refused():
    with pytest.raises(ValueError, match="no line 'MemAvailable:'"):
        machine_bytes(MEMINFO.replace("MemAvailable", "MemAbsent"))


def test_both_versions_of_memory_stat_are_read():
    one = group_bytes((FIXTURES / "memory" / "memory.stat-v1").read_text(), 1)
    assert one["page_cache"] == 9340489728 - 6696140800
    assert one["dirty"] == 954368
    assert group_bytes(STAT_V2, 2) == {
        "page_cache": 8 * MIB, "shared": MIB, "anonymous": 5 * MIB, "dirty": 2 * MIB, "writeback": 0
    }  # fmt: skip


def test_samples_are_what_is_there_and_totals_the_peaks_of_each_part(proc):
    probe = MemoryProbe(proc.node)
    probe.attach(a_scene())
    probe.totals()
    (proc.home / "meminfo").write_text(MEMINFO.replace("Dirty:               856 kB", "Dirty:           2048000 kB"))
    assert probe.sample(at(1))["", "dirty_mib"] == 2000.0
    (proc.home / "meminfo").write_text(MEMINFO)
    (proc.home / "vmstat").write_text(VMSTAT.replace("pgmajfault 28403", "pgmajfault 28503"))
    probe.sample(at(2))
    totals = named(probe.totals())
    assert totals["machine", "dirty_peak_bytes"] == 2000 * MIB
    assert totals["machine", "available_least_bytes"] == 17416660 * KIB
    assert totals["machine", "major_faults_count"] == 28503
    probe.sample(at(3))
    assert named(probe.totals())["machine", "dirty_peak_bytes"] == 856 * KIB
    probe.close()


def test_a_bounded_clusters_own_page_cache_is_told_and_its_loss_doubted(proc, tmp_path):
    group = in_a_group(proc, tmp_path, STAT_V2)
    probe = MemoryProbe(proc.node)
    probe.attach(a_scene(7, nodemanager=7))
    values = probe.sample(at(1))
    assert values["cluster", "page_cache_mib"] == 8.0
    assert values["cluster", "dirty_mib"] == 2.0
    (group / "memory.stat").write_text("anon five\n")
    assert ("cluster", "dirty_mib") not in probe.sample(at(2))
    assert ("", "dirty_mib") in probe.sample(at(3))
    assert [doubt.kind for doubt in probe.doubts()] == ["cluster-memory-lost"]
    probe.close()


def test_a_group_without_the_memory_controller_is_a_doubt(proc, tmp_path):
    (in_a_group(proc, tmp_path, STAT_V2) / "memory.stat").unlink()
    probe = MemoryProbe(proc.node)
    probe.attach(a_scene(7, nodemanager=7))
    assert ("", "dirty_mib") in probe.sample(at(1))
    assert [doubt.kind for doubt in probe.doubts()] == ["cluster-memory-untold"]
    probe.close()


def pressure(home, **totals_us):
    for kind in ("cpu", "memory", "io"):
        lines = (FIXTURES / "memory" / f"pressure-{kind}").read_text()
        stalls = stalls_us(lines)
        for which, before in stalls.items():
            now = before + totals_us.get(f"{kind}_{which}", 0)
            lines = lines.replace(f"total={before}\n", f"total={now}\n")
        (home / kind).write_text(lines)


def test_pressure_is_the_share_of_its_own_interval(tmp_path):
    pressure(tmp_path)
    probe = PressureProbe(PlacedNode({"/proc/pressure": tmp_path}))
    probe.attach(a_scene())
    before = named(probe.totals())
    assert probe.sample(at(1.0)) == {}
    pressure(tmp_path, io_some=250_000, io_full=100_000, cpu_some=600_000)
    assert probe.sample(at(1.005)) == {}, "the tick before a mark is told with the next one"
    assert probe.sample(at(1.5)) == {
        ("", "cpu_some_percent"): 100.0, ("", "memory_some_percent"): 0.0, ("", "memory_full_percent"): 0.0, ("", "io_some_percent"): 50.0,
        ("", "io_full_percent"): 20.0,
    }  # fmt: skip
    after = named(probe.totals())
    assert after["machine", "io_some_s"] - before["machine", "io_some_s"] == pytest.approx(0.25)
    probe.close()


def test_a_kernel_without_pressure_says_what_to_do(tmp_path):
    probe = PressureProbe(PlacedNode({"/proc/pressure": tmp_path}))
    with pytest.raises(CannotMeasureError, match="the kernel tells no pressure") as caught:
        probe.attach(a_scene())
    assert "psi=1" in caught.value.cure
    probe.close()
