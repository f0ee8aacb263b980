"""Proves that what a node's shell prints is read whole, as probes want it, and that clocks are compared to half a trip."""

import subprocess
from pathlib import Path

import pytest

from assay.model.probe import ClockOffset
from assay.node import devices
from assay.node.local import LocalNode
from assay.node.readings import (
    FILES,
    SCRIPT,
    ClockComparison,
    Parser,
    ReadingNode,
    drives_in_use,
)

SAID = """\
Welcome to worker-1
@devices /sys/block/cciss!c0d0/device /sys/block/sr0/device /sys/class/net/eth0 /sys/class/net/*/lower_*
@ 0 1700000000.250000000
/proc/stat:cpu  10 0 5 100 1 0 0 0 0 0
/proc/diskstats: 104       0 cciss/c0d0 7 0 80 3 9 0 160 4 0 5 7
/proc/diskstats: 104       1 cciss/c0d0p1 7 0 80 3 9 0 160 4 0 5 7
/proc/diskstats:  11       0 sr0 0 0 0 0 0 0 0 0 0 0 0
/proc/net/dev:  eth0: 1000 10 0 0 0 0 0 0 2000 20 0 0 0 0 0 0
@end
@ 1 1700000001
/proc/stat:cpu  20 0 5 100 1 0 0 0 0 0
@end
@ 0 1700000002.5
/proc/stat:cpu  30 0
"""


def read(text):
    parser = Parser()
    return parser, [raw for line in text.splitlines() if (raw := parser.take(line)) is not None]


def a_node(parser, raw):
    node = ReadingNode("worker-1", parser.listing)
    node.files = raw.files
    return node


def test_whole_readings_are_given_and_what_is_cut_short_is_none():
    parser, (first, second) = read(SAID)
    assert list(map(str, parser.listing)) == [
        "/sys/block/cciss!c0d0/device", "/sys/block/sr0/device", "/sys/class/net/eth0"
    ]  # fmt: skip
    assert (first.tag, first.time_s, first.step_s) == ("0", 1700000000.25, 0.0)
    assert first.files[Path("/proc/stat")] == "cpu  10 0 5 100 1 0 0 0 0 0\n"
    assert (second.tag, second.time_s, second.step_s) == ("1", 1700000001.5, 0.5)
    assert list(second.files) == [Path("/proc/stat")]


def test_the_folders_of_a_machine_without_drives_name_none():
    assert read("@devices /sys/block/*/device\n")[0].listing == ()


def test_a_drive_that_never_answered_is_not_in_use():
    parser, (first, _) = read(SAID)
    assert drives_in_use(a_node(parser, first)) == ({"cciss!c0d0"}, ())


def test_a_node_shows_its_last_reading_to_whoever_has_a_file_open():
    _, readings = read(SAID)
    node = a_node(Parser(), readings[0])
    stat, drive = node.open(Path("/proc/stat")), node.open(Path("/sys/class/block/cciss!c0d0/stat"))
    assert drive.read().split() == ["7", "0", "80", "3", "9", "0", "160", "4", "0", "5", "7"]
    node.files = readings[1].files
    assert stat.read(6) == "cpu  2"
    with pytest.raises(FileNotFoundError, match=r"diskstats|c0d0"):
        drive.read()
    with pytest.raises(FileNotFoundError, match="vmstat was not read"):
        node.open(Path("/proc/vmstat"))
    stat.close()
    with pytest.raises(OSError, match="closed"):
        stat.read()


def test_a_real_shell_answers_each_line_and_ends_with_its_input():
    done = subprocess.run(
        ["sh", "-c", SCRIPT], input="0\n1\n", capture_output=True, text=True, timeout=20, check=False
    )  # fmt: skip
    parser, readings = read(done.stdout)
    assert [one.tag for one in readings] == ["0", "1"]
    for name in FILES:
        if Path(name).exists():
            assert readings[0].files[Path(name)]
    assert readings[0].files[Path("/proc/stat")].startswith("cpu ")
    assert "\ncpu0" not in readings[0].files[Path("/proc/stat")]
    interfaces = Path("/proc/net/dev").read_text().count(":")
    assert readings[0].files[Path("/proc/net/dev")].count(":") == interfaces
    node = a_node(parser, readings[0])
    local = LocalNode()
    assert devices.interfaces(node) == devices.interfaces(local)
    if devices.drives(local):
        assert devices.drives(node) == devices.drives(local)


def test_the_shortest_round_trip_tells_the_clock_to_half_of_itself():
    clock = ClockComparison()
    clock.add(100.0, 101.0, 105.9)  # the answer took its time on the way back
    assert clock.best == pytest.approx(ClockOffset(5.4, 0.5))
    clock.add(200.0, 200.02, 205.012)
    assert clock.best == pytest.approx(ClockOffset(5.002, 0.01))
    clock.add(300.0, 301.0, 305.5)
    assert clock.best == pytest.approx(ClockOffset(5.002, 0.01))
    assert clock.set_by_s == 0


def test_a_clock_that_was_set_counts_anew():
    clock = ClockComparison()
    clock.add(100.0, 100.02, 100.01)
    clock.add(200.0, 200.2, 230.1)
    assert clock.set_by_s == pytest.approx(30.0)
    assert clock.best == pytest.approx(ClockOffset(30.0, 0.1))
