"""Proves on real directories which extents belonged to whom when, with files that grow, move, vanish and come again.

`Disk` gives files their places; the last tests ask the real kernel, on a loop device where there is root.
"""

import errno
import os
import struct
import subprocess
import time

import pytest

from assay.probe.trace.attribution import (
    FS_IOC_FIEMAP,
    LONGEST_PAUSE,
    STILL_THERE,
    Extent,
    FileMap,
    Placed,
    Root,
    placed,
)

S = 1_000_000_000


class Disk:
    """Places by file name; polls at whole seconds, with directories that were always changed long ago."""

    def __init__(self, *roots):
        self.places, self.looks = {}, []
        self.map = FileMap(roots, self.ask)
        self.time = 0

    def ask(self, path):
        self.looks.append(path.name)
        found = self.places.get(path.name, Placed((), True))
        if isinstance(found, OSError):
            raise found
        return found

    def poll(self, count=1):
        for _ in range(count):
            self.time += 1
            self.map.poll(self.time * S, time.time_ns() + S)

    def extents(self):
        return sorted(self.map.extents())


@pytest.fixture
def home(tmp_path):
    (tmp_path / "data" / "rbw").mkdir(parents=True)
    (tmp_path / "data" / "finalized").mkdir()
    (tmp_path / "local").mkdir()
    return tmp_path


@pytest.fixture
def disk(home):
    return Disk(Root(home / "data", "input", later="output"), Root(home / "local", "intermediate"))


def test_data_before_staging_is_input_and_after_it_output(disk, home):
    (home / "data" / "rbw" / "one").touch()
    (home / "local" / "spill").touch()
    disk.places = {"one": Placed(((0, 100),), False), "spill": Placed(((200, 300),), False)}
    disk.poll()
    disk.map.staged()
    (home / "data" / "rbw" / "two").touch()
    disk.places["two"] = Placed(((400, 500),), False)
    disk.poll()
    assert disk.extents() == [
        Extent(0, 100, 0, STILL_THERE, "input"),
        Extent(200, 300, 0, STILL_THERE, "intermediate"),
        Extent(400, 500, 1 * S, STILL_THERE, "output"),
    ]


def test_a_block_that_is_finished_elsewhere_stays_what_it_was(disk, home):
    block = home / "data" / "rbw" / "one"
    block.touch()
    disk.places["one"] = Placed(((0, 100),), False)
    disk.poll()
    disk.map.staged()
    block.rename(home / "data" / "finalized" / "one")
    disk.poll(2)
    assert disk.extents() == [Extent(0, 100, 0, STILL_THERE, "input")]


def test_a_placed_input_is_never_opened_again(disk, home):
    (home / "data" / "rbw" / "one").touch()
    disk.places["one"] = Placed((), True)
    disk.poll()
    disk.map.staged()
    disk.poll()
    disk.places["one"] = Placed(((0, 100),), False)
    disk.poll()
    looks = len(disk.looks)
    disk.poll(100)
    assert len(disk.looks) == looks
    assert disk.extents() == [Extent(0, 100, 2 * S, STILL_THERE, "input")]


def test_a_file_that_goes_ends_its_extents(disk, home):
    spill = home / "local" / "spill"
    spill.touch()
    disk.places["spill"] = Placed(((0, 100), (500, 600)), False)
    disk.poll()
    spill.unlink()
    disk.poll()
    assert disk.extents() == [Extent(0, 100, 0, 2 * S, "intermediate"), Extent(500, 600, 0, 2 * S, "intermediate")]


def test_a_file_that_never_got_a_place_has_no_extent(disk, home):
    spill = home / "local" / "spill"
    spill.touch()
    disk.poll()
    spill.unlink()
    disk.poll()
    assert disk.extents() == []


def test_a_growing_file_is_one_extent_since_its_beginning(disk, home):
    (home / "local" / "spill").touch()
    for end in (100, 200, 300):
        disk.places["spill"] = Placed(((0, end),), False)
        disk.poll()
    assert disk.extents() == [Extent(0, 300, 0, STILL_THERE, "intermediate")]


def test_a_file_that_is_written_anew_elsewhere_frees_its_old_place(disk, home):
    (home / "local" / "spill").touch()
    disk.places["spill"] = Placed(((0, 100),), False)
    disk.poll()
    disk.places["spill"] = Placed(((800, 900),), False)
    disk.poll()
    assert disk.extents() == [
        Extent(0, 100, 0, 2 * S, "intermediate"), Extent(800, 900, 1 * S, STILL_THERE, "intermediate"),
    ]  # fmt: skip


def test_folders_that_come_and_go_are_followed(disk, home):
    disk.poll()
    application = home / "local" / "usercache" / "app"
    application.mkdir(parents=True)
    (application / "spill").touch()
    disk.places["spill"] = Placed(((0, 100),), False)
    disk.poll()
    application.rename(home / "local" / "done")
    disk.poll()
    assert disk.extents()[0].until_ns == STILL_THERE
    (home / "local" / "done" / "spill").unlink()
    (home / "local" / "done").rmdir()
    disk.poll()
    assert disk.extents() == [Extent(0, 100, 1 * S, 4 * S, "intermediate")]
    assert not [name for name in disk.map._directories if name.endswith(("done", "app"))]


def test_a_file_that_rests_is_looked_at_ever_more_rarely(disk, home):
    (home / "local" / "spill").touch()
    disk.places["spill"] = Placed(((0, 100),), False)
    disk.poll(10 * LONGEST_PAUSE)
    assert len(disk.looks) < 10 + 10
    disk.places["spill"] = Placed(((0, 100),), True)
    disk.poll(LONGEST_PAUSE)
    looks = len(disk.looks)
    disk.poll(5)
    assert len(disk.looks) == looks + 5, "while some of it has no place yet, always"


def test_what_a_rested_file_gains_it_may_have_since_the_last_look_at_it(disk, home):
    (home / "data" / "rbw" / "one").touch()
    disk.places = {"one": Placed(((0, 100),), False)}
    disk.poll(2 * LONGEST_PAUSE)
    looked_at_s = disk.time
    seen = len(disk.looks)
    disk.places = {"one": Placed(((0, 100), (500, 600)), False)}
    while len(disk.looks) == seen:
        disk.poll()
    assert disk.time - looked_at_s > 1
    (gained,) = [one for one in disk.extents() if one.begin == 500]
    assert gained.since_ns <= looked_at_s * S


def test_a_file_system_that_does_not_tell_is_told_once(disk, home):
    (home / "local" / "spill").touch()
    disk.places["spill"] = OSError(errno.EOPNOTSUPP, "Operation not supported")
    disk.poll(3)
    assert "Operation not supported" in disk.map.unsupported
    assert len(disk.looks) == 1


def test_a_directory_that_comes_later_and_goes_is_no_error(tmp_path):
    disk = Disk(Root(tmp_path / "later", "output"))
    disk.poll()
    (tmp_path / "later").mkdir()
    (tmp_path / "later" / "one").touch()
    disk.places["one"] = Placed(((0, 100),), False)
    disk.poll()
    (tmp_path / "later" / "one").unlink()
    (tmp_path / "later").rmdir()
    disk.poll()
    assert disk.extents() == [Extent(0, 100, 1 * S, 3 * S, "output")]


def test_extents_are_read_in_the_kernels_form(tmp_path):
    """130 extents in three answers: neighbours are joined, and those without a place are left out."""
    last, delayed, inline = 1, 4, 0x200
    every = [(4096 * n, 10_000_000 + 8192 * n, 4096, 0) for n in range(128)]
    every[1] = (4096, 10_000_000 + 4096, 4096, 0)
    every += [(4096 * 128, 0, 4096, delayed), (4096 * 129, 55, 10, inline | last)]

    def ask(descriptor, request, buffer):
        assert request == FS_IOC_FIEMAP
        start, _, flags, _, room, _ = struct.unpack_from("=QQIIII", buffer)
        assert flags == 0, "nothing is written out"
        chosen = [one for one in every if one[0] >= start][:room]
        struct.pack_into("=I", buffer, 20, len(chosen))
        for number, (logical, physical, length, marks) in enumerate(chosen):
            struct.pack_into("=QQQQQIIII", buffer, 32 + 56 * number, logical, physical, length, 0, 0, marks, 0, 0, 0)
        return 0

    file = tmp_path / "file"
    file.touch()
    told = placed(file, ask)
    assert told.delayed
    assert told.ranges[0] == (10_000_000, 10_000_000 + 8192)
    assert len(told.ranges) == 127


@pytest.fixture
def mounted(tmp_path):
    """A small ext4 on a loop device of its own."""
    if os.geteuid() != 0:
        pytest.skip("a loop device needs root")
    image, point = tmp_path / "image", tmp_path / "mounted"
    with image.open("wb") as file:
        file.truncate(20 << 20)
    point.mkdir()
    for command in (["mkfs.ext4", "-q", image], ["mount", "-o", "loop", image, point]):
        if subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip(f"{command[0]} does not work here")
    yield point
    subprocess.run(["umount", point], check=True)


def test_the_kernel_places_a_file_when_it_is_written_out(mounted):
    file = mounted / "file"
    descriptor = os.open(file, os.O_CREAT | os.O_WRONLY)
    os.write(descriptor, os.urandom(1 << 20))
    assert placed(file) == Placed((), True)
    os.fdatasync(descriptor)
    os.close(descriptor)
    told = placed(file)
    assert (told.delayed, sum(end - begin for begin, end in told.ranges)) == (False, 1 << 20)
    with (mounted.parent / "image").open("rb") as disk, file.open("rb") as content:
        disk.seek(told.ranges[0][0])
        assert disk.read(4096) == content.read(4096), "its first bytes lie there on the device"
