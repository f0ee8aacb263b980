"""Proves that bytes by process are read rightly, and that those of ended children are in their parent's on the real kernel."""

import subprocess
import sys
from pathlib import Path

import pytest

from assay.model.probe import CONTAINERS, CannotMeasureError, Moment, Quantity, WatchedProcess
from assay.node.local import LocalNode
from assay.probe.disk_processes import DiskProcessesInstrument, descendants, parse_io
from tests.probe.faking import PlacedNode, a_scene

NOW = Moment(0, 0.0)
FIXTURE = Path(__file__).parents[1] / "fixtures" / "probe" / "disk" / "self.io"


def scene(*node_managers, **pids):
    return a_scene(*node_managers, **pids)


def at_place(proc):
    return PlacedNode({"/proc": proc})


def process(proc, pid, parent, read=0, written=0, cancelled=0):
    (proc / str(pid)).mkdir(parents=True, exist_ok=True)
    (proc / str(pid) / "stat").write_text(f"{pid} (a ) name) S {parent} {'1 ' * 22}")
    (proc / str(pid) / "io").write_text(
        f"rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: {read}\nwrite_bytes: {written}\n"
        f"cancelled_write_bytes: {cancelled}\n"
    )


def test_a_real_file_is_read():
    told = parse_io(FIXTURE.read_text())
    assert f"read_bytes: {told['read_bytes']}\n" in FIXTURE.read_text()
    with pytest.raises(ValueError, match="no read_bytes"):
        parse_io("rchar: 1\n")


def test_groups_add_up_and_containers_go_with_the_node_manager(tmp_path):
    process(tmp_path, 10, 1, written=100)
    process(tmp_path, 20, 1, read=5)
    process(tmp_path, 21, 20, written=7, cancelled=2)
    process(tmp_path, 22, 21, written=3)
    process(tmp_path, 30, 1, written=1000)
    assert sorted(descendants(at_place(tmp_path), [20])) == [21, 22]
    instrument = DiskProcessesInstrument(at_place(tmp_path))
    instrument.attach(scene(20, datanode=10, nodemanager=20))
    totals = instrument.totals()
    assert totals[Quantity("datanode", "written_bytes")] == 100
    assert totals[Quantity("nodemanager and containers", "read_bytes")] == 5
    assert totals[Quantity("nodemanager and containers", "written_bytes")] == 10
    assert totals[Quantity("nodemanager and containers", "cancelled_write_bytes")] == 2
    instrument.close()


def test_what_each_of_two_starts_goes_with_it(tmp_path):
    process(tmp_path, 20, 1, written=1)
    process(tmp_path, 21, 20, written=2)
    process(tmp_path, 30, 1, written=4)
    process(tmp_path, 31, 30, written=8)
    instrument = DiskProcessesInstrument(at_place(tmp_path))
    parents = {"nodemanager": 20, "launcher": 30}
    processes = tuple(WatchedProcess(group=role, pid=pid, children=CONTAINERS) for role, pid in parents.items())
    instrument.attach(scene(20)._replace(processes=processes))
    totals = instrument.totals()
    assert totals[Quantity("nodemanager and containers", "written_bytes")] == 3
    assert totals[Quantity("launcher and containers", "written_bytes")] == 12
    instrument.close()


def test_a_total_never_goes_back_and_an_ended_process_keeps_its_last(tmp_path):
    process(tmp_path, 20, 1)
    process(tmp_path, 21, 20, written=50)
    process(tmp_path, 10, 1, written=9)
    instrument = DiskProcessesInstrument(at_place(tmp_path), lambda _seconds: None)
    instrument.attach(scene(20, nodemanager=20, datanode=10))
    assert instrument.totals()[Quantity("nodemanager and containers", "written_bytes")] == 50
    process(tmp_path, 21, 1, written=50)
    (tmp_path / "10" / "io").write_text("")
    instrument.sample(NOW)
    totals = instrument.totals()
    assert totals[Quantity("nodemanager and containers", "written_bytes")] == 50
    assert totals[Quantity("datanode", "written_bytes")] == 9
    instrument.close()


def test_what_a_parent_takes_a_moment_to_inherit_is_waited_for(tmp_path):
    process(tmp_path, 20, 1)
    process(tmp_path, 21, 20, written=50)
    instrument = DiskProcessesInstrument(at_place(tmp_path), lambda _seconds: process(tmp_path, 20, 1, written=58))
    instrument.attach(scene(20, nodemanager=20))
    instrument.totals()
    process(tmp_path, 21, 1)
    assert instrument.totals()[Quantity("nodemanager and containers", "written_bytes")] == 58
    assert instrument.doubts() == ()
    instrument.close()


def test_a_killed_container_that_nobody_inherits_hides_no_later_bytes(tmp_path):
    process(tmp_path, 20, 1, read=7)
    process(tmp_path, 21, 20, written=50)
    instrument = DiskProcessesInstrument(at_place(tmp_path), lambda _seconds: None)
    instrument.attach(scene(20, nodemanager=20))
    instrument.totals()
    process(tmp_path, 21, 1)
    process(tmp_path, 22, 20, written=30)
    assert instrument.totals()[Quantity("nodemanager and containers", "written_bytes")] == 50
    process(tmp_path, 22, 20, written=45)
    totals = instrument.totals()
    assert totals[Quantity("nodemanager and containers", "written_bytes")] == 65
    assert totals[Quantity("nodemanager and containers", "read_bytes")] == 7
    (doubt,) = instrument.doubts()
    assert (doubt.kind, doubt.what.startswith("20 bytes")) == ("disk-processes-orphaned", True)
    instrument.close()


def test_where_nothing_can_be_read_the_reason_is_told(tmp_path):
    instrument = DiskProcessesInstrument(at_place(tmp_path))
    with pytest.raises(CannotMeasureError, match="No such file"):
        instrument.attach(scene(datanode=10))
    process(tmp_path, 10, 1)
    instrument = DiskProcessesInstrument(at_place(tmp_path))
    instrument.attach(scene(datanode=10, emulator=11))
    (doubt,) = instrument.doubts()
    assert "emulator" in doubt.what
    instrument.close()


WRITER = "import os,sys; f=open(sys.argv[1],'wb'); f.write(bytes(1<<20)); f.flush(); os.fsync(f.fileno())"


def test_the_kernel_adds_a_waited_for_childs_bytes_to_its_parents(tmp_path):
    """The parent writes nothing itself: its child and its grandchild write 1 MiB each and end."""
    if not Path("/proc/self/io").exists():
        pytest.skip("this kernel keeps no bytes by process")
    child = f"import subprocess,sys; {WRITER}; subprocess.run([sys.executable,'-c',{WRITER!r},sys.argv[2]],check=True)"
    code = (
        "import subprocess,sys\n"
        f"subprocess.run([sys.executable,'-c',{child!r},*sys.argv[1:]],check=True)\n"
        "print('waited',flush=True)\nsys.stdin.read()\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "a"), str(tmp_path / "b")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdout.readline() == b"waited\n"
        assert descendants(LocalNode(), [parent.pid]) == []
        told = parse_io(Path(f"/proc/{parent.pid}/io").read_text())
    if not any(told.values()):
        pytest.skip(f"{tmp_path} is memory, which is no storage")
    assert told["written_bytes"] >= 2 << 20
