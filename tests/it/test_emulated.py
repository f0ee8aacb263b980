"""Proves on real emulated drives that attaching and detaching leave nothing, whoever is killed, and that data survives.

Needs root, FUSE, loop devices and a built emulator; skipped with the reason where one is missing.
"""

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from mmap import mmap
from pathlib import Path
from threading import Thread, Timer

import pytest

from assay.host.files import opened
from assay.host.lease import Lease, leases, release_stale
from assay.host.mounts import below, mounts
from assay.host.write_back import VM, age_dirty_pages
from assay.media.emulated.attachment import (
    MAKE,
    PURPOSE,
    attach_loop,
    attach_raw,
    missing,
    options,
    queue_of,
    raw_drive,
)
from assay.media.emulated.ceiling import WORDS, known_ceiling, measure_ceiling
from assay.media.emulated.emulator import Drive, Emulator, System, serve
from assay.media.emulated.medium import EmulatedMedium
from assay.media.memory import MemoryMedium
from assay.media.page_cache import resident_bytes
from assay.model.errors import AssayError, BadInputError
from assay.model.trial import MediumSpec
from tests.it.driving import ROOT, Place, wait_for

pytestmark = [pytest.mark.it, pytest.mark.alone]

MIB = 1 << 20
SIZE = 2 << 30
AGES = ("dirty_expire_centisecs", "dirty_writeback_centisecs")
CHECKS = {"ext4": ("e2fsck", "-fn"), "xfs": ("xfs_repair", "-n")}


@pytest.fixture
def place(tmp_path):
    own = Place(tmp_path)
    lacking = [*missing(own.installation, "ext4"), *missing(own.installation, "xfs")]
    if lacking:
        pytest.skip("; ".join(dict.fromkeys(lacking)))
    try:
        yield own
    finally:
        own.clean_up()
        assert below([tmp_path]) == ([], [])


def medium(place, **changes):
    spec = {"name": "drive", "kind": "emulated", "profile": "null", "size_bytes": SIZE, **changes}
    return EmulatedMedium(MediumSpec(**spec), place.installation)


def emulator_of(place):
    (lease,) = [lease for lease in leases(place.installation.state) if lease.purpose == PURPOSE]
    (pid,) = lease.processes()
    return pid


def run(*command, good=(0,)):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    assert done.returncode in good, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def listed(place):
    return json.loads(place.assay("media", "list", "--json"))["attached"]


@pytest.mark.parametrize("file_system", ["ext4", "xfs"])
def test_a_scope_mounts_a_drive_and_leaves_nothing(place, file_system):
    drive = medium(place, profile="wd10ezex", size_bytes=None, file_system=file_system)
    assert drive.space().free_bytes > 0
    with drive.attached() as directory:
        (directory / "file").write_bytes(bytes(8 * MIB))
        facts = drive.facts()
        assert facts["mount_options"].startswith("rw")
        assert facts["rotational"] is True
        queue = Path("/sys/block") / Path(facts["device"]).name / "queue"
        assert (queue / "rotational").read_text() == "1\n"
        assert "[mq-deadline]" in (queue / "scheduler").read_text()
        assert os.statvfs(directory).f_blocks * os.statvfs(directory).f_frsize > 0.9e12
        assert drive.failure() is None
        assert drive.make_cold() == ()
        drive.reset_report()
        assert (directory / "file").read_bytes() == bytes(8 * MIB)
        assert drive.device_report()["reads"]["bytes"] >= 8 * MIB
    assert drive.device_report()["begun"]
    assert place.left_over() == []


def test_only_this_drives_pages_are_dropped(place, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "file").write_bytes(bytes(8 * MIB))
    drive = medium(place)
    with drive.attached() as directory:
        for number in range(20):
            (directory / f"{number}").write_bytes(os.urandom(MIB))
        assert resident_bytes(directory) >= 20 * MIB
        assert drive.make_cold() == ()
        assert resident_bytes(directory) == 0
        assert resident_bytes(elsewhere) == 8 * MIB


MAPPER = """
import mmap, sys, time
with open(sys.argv[1], "r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
    mapped[:]
    print("mapped", flush=True)
    time.sleep(60)
"""


def test_what_stays_cached_is_doubted(place):
    drive = medium(place)
    with drive.attached() as directory:
        file = directory / "mapped"
        file.write_bytes(bytes(MIB))
        with subprocess.Popen([sys.executable, "-c", MAPPER, file], stdout=subprocess.PIPE) as holder:
            assert holder.stdout.readline() == b"mapped\n"
            (doubt,) = drive.make_cold()
            holder.kill()
        assert doubt.kind == "cache-not-quite-cold"
        assert drive.make_cold() == ()


def test_a_released_drive_answers_what_waits_and_keeps_its_report(place, tmp_path):
    profile = medium(place, profile="wd10ezex", slowdown=100).profile
    with (
        Lease(place.installation.state, PURPOSE) as lease,
        raw_drive(profile, SIZE, tmp_path, lease, Emulator(place.installation), System()) as (device, drive),
        opened(device, os.O_RDONLY | os.O_DIRECT) as disk,
    ):
        apart = [number * (SIZE // 64) for number in range(64)]
        # Each takes this drive more than a second.
        reading = Thread(target=lambda: [os.preadv(disk, [mmap(-1, 4096)], offset) for offset in apart])
        reading.start()
        wait_for(lambda: drive.ask("report")["busy_seconds"] > 0, 30)
        drive.ask("release")
        reading.join(30)
        assert not reading.is_alive()
        last = drive.ask("report")
        os.preadv(disk, [mmap(-1, 4096)], 4096)
        drive.ask("reset")
        assert drive.ask("report") == last
        assert last["begun"]
        assert last["reads"]["requests"] < len(apart)
    assert place.left_over() == []


def test_discarded_space_comes_back(place):
    drive = medium(place)
    with drive.attached() as directory:
        backing = next(lease for lease in leases(place.installation.state)).directories[0] / "disk.img"
        empty = backing.stat().st_blocks
        (directory / "file").write_bytes(os.urandom(256 * MIB))
        os.sync()
        assert backing.stat().st_blocks - empty >= 256 * MIB / 512
        (directory / "file").unlink()
        os.sync()
        wait_for(lambda: backing.stat().st_blocks - empty < 32 * MIB / 512, 30)


def test_a_commit_that_waits_for_the_drives_flush_is_not_late(place, tmp_path):
    drive = medium(place, profile="wd10ezex", slowdown=4, path=tmp_path)
    with drive.attached() as directory:
        for number in range(15):
            with (directory / f"{number}").open("wb") as file:
                file.write(bytes(4096))
                file.flush()
                os.fsync(file.fileno())
        report = drive.device_report()
    assert report["flushes"] >= 15
    assert report["busy_seconds"] > 0.5
    assert report["late_seconds"] < 0.1 * report["busy_seconds"]


@pytest.mark.parametrize(("profile", "slowdown", "alone"), [("wd10ezex", 20, True), ("samsung-980-250gb", 100, False)])
def test_requests_behind_a_flush_are_late_where_the_drive_takes_them_meanwhile(
    place, tmp_path, profile, slowdown, alone
):
    drive = medium(place, profile=profile, slowdown=slowdown, path=tmp_path)
    with drive.attached() as directory:
        other = directory / "other"
        other.write_bytes(bytes(MIB))
        os.sync()
        drive.reset_report()
        reading = opened(other, os.O_RDONLY | os.O_DIRECT)
        with reading as disk, (directory / "flushed").open("wb") as file:
            reads = [Timer(0.01 * number, os.preadv, (disk, [mmap(-1, 4096)], 4096 * number)) for number in range(200)]
            for timer in reads:
                timer.start()
            for number in range(4 if alone else 40):
                file.seek(number * MIB)
                file.write(bytes(4096))
                file.flush()
                os.fsync(file.fileno())
            for timer in reads:
                timer.join()
        report = drive.device_report()
    assert report["flushes"] >= 4
    assert report["flush_alone"] is alone
    assert report["late_behind_flush_seconds"] > 0.1
    late_s = report["late_otherwise_seconds"] + (0 if alone else report["late_behind_flush_seconds"])
    assert report["late_seconds"] == pytest.approx(late_s)
    if alone:
        assert report["late_seconds"] < 0.1 * report["busy_seconds"]


def is_stopped(pid):
    """All its threads are."""
    states = [file.read_text().rpartition(")")[2].split()[0] for file in Path(f"/proc/{pid}/task").glob("*/stat")]
    return set(states) == {"T"}


def test_what_requests_wait_outside_the_emulator_is_late(place, tmp_path):
    with ExitStack() as scope:
        lease = scope.enter_context(Lease(place.installation.state, PURPOSE))
        profile = medium(place, profile="wd10ezex").profile
        device, drive = scope.enter_context(
            raw_drive(profile, SIZE, tmp_path, lease, Emulator(place.installation), System())
        )
        drive.ask("reset")
        disk = scope.enter_context(opened(device, os.O_RDONLY | os.O_DIRECT))
        buffer = mmap(-1, 4096)
        os.preadv(disk, [buffer], 0)
        assert drive.ask("report")["late_seconds"] < 0.1
        stopped_s = time.monotonic()
        os.kill(drive.process.pid, signal.SIGSTOP)
        wait_for(lambda: is_stopped(drive.process.pid), 5)  # until then it may answer
        wakes = Timer(0.5, os.kill, (drive.process.pid, signal.SIGCONT))
        wakes.start()
        os.preadv(disk, [buffer], 4096)
        most_s = time.monotonic() - stopped_s
        wakes.join()
        time.sleep(0.1)  # it looks at the kernel's counts every 3 ms, and asked at once it may not have done so yet
        report = drive.ask("report")
        assert report["kernel_view"]
        assert 0.4 < report["late_seconds"] < most_s + 0.1
        assert report["late"]["seconds"] < most_s - 0.4, (
            "the emulator took the request when it went on, and answered in time"
        )
    assert place.left_over() == []


@pytest.mark.long
def test_the_path_s_ceiling_is_measured_and_leaves_nothing(place):
    found = measure_ceiling(place.installation)
    assert known_ceiling(place.installation) == found
    assert set(found.rates) == set(WORDS)
    assert found.rates["random_read_4k_iops_depth32"] > 1000
    assert place.left_over() == []


@pytest.mark.parametrize(
    ("number", "words"), [(signal.SIGKILL, "was killed by SIGKILL"), (signal.SIGTERM, "ended with exit code 0")]
)
def test_a_killed_emulator_is_the_reason_and_the_machine_stays_usable(place, number, words):
    drive = medium(place)

    def work(directory):
        with (directory / "file").open("wb", buffering=0) as file:
            file.write(bytes(64 * MIB))
            os.kill(emulator_of(place), number)
            wait_for(drive.failure, 5)
            os.fsync(file.fileno())

    with pytest.raises(AssayError, match=words) as raised, drive.attached() as directory:
        work(directory)
    assert isinstance(raised.value.__cause__, OSError)
    assert place.left_over() == []
    with medium(place).attached() as directory:
        (directory / "file").write_bytes(b"again")


def test_an_emulator_that_hangs_does_not_keep_from_leaving(place, monkeypatch):
    monkeypatch.setattr("assay.media.emulated.emulator.ANSWER_S", 1.0)
    with medium(place).attached() as directory:
        (directory / "file").write_bytes(bytes(8 * MIB))
        os.kill(emulator_of(place), signal.SIGSTOP)
    assert place.left_over() == []


def test_a_backing_disk_that_is_full_is_the_reason(place, tmp_path):
    with Lease(place.installation.state, "test") as lease:
        small = MemoryMedium(MediumSpec(name="small", kind="memory", size_bytes=320 * MIB), lease)
        with small.attached() as backing:
            drive = medium(place, path=backing)
            assert drive.space().free_bytes <= 320 * MIB
            with pytest.raises(AssayError, match=r"failed .* times \(.*No space left"), drive.attached() as directory:
                run("dd", "if=/dev/urandom", f"of={directory}/file", "bs=1M", "count=400", "conv=fsync", good=(0, 1))
        tiny = MemoryMedium(MediumSpec(name="tiny", kind="memory", size_bytes=64 * MIB), lease)
        with tiny.attached() as backing, pytest.raises(BadInputError, match="too small"):
            _attach_and_detach(medium(place, path=backing))


def _attach_and_detach(drive):
    with drive.attached():
        pass


def test_a_drive_stays_attached_until_it_is_detached(place, tmp_path):
    point = tmp_path / "hdd"
    said = place.assay("media", "attach", "wd10ezex", "--size", "20GiB", "--at", str(point))
    assert f"mounted at {point}" in said
    (point / "file").write_bytes(bytes(64 * MIB))
    (kept,) = listed(place)
    assert (kept["state"], kept["profile"], kept["mount_point"]) == ("attached", "wd10ezex", str(point))
    assert "no drive 'wd10ezx' is attached" in place.command(*assay("media", "detach", "wd10ezx"), code=2).stderr
    assert "nothing to stop" in place.assay("cluster", "down")
    assert "detached wd10ezex" in place.assay("media", "detach", "wd10ezex")
    assert listed(place) == []
    assert list(point.iterdir()) == []
    assert place.left_over() == []


def test_a_broken_drive_is_told_and_detached(place):
    kept = json.loads(place.assay("media", "attach", "null", "--size", "1GiB", "--file-system", "xfs", "--json"))
    (Path(kept["mount_point"]) / "file").write_bytes(bytes(64 * MIB))
    os.kill(emulator_of(place), signal.SIGKILL)
    wait_for(lambda: listed(place)[0]["state"] == "broken", 5)
    place.assay("media", "detach", kept["id"])
    assert place.left_over() == []


def test_a_bind_mount_of_the_users_on_a_drive_survives(place, tmp_path):
    kept = json.loads(place.assay("media", "attach", "null", "--size", "1GiB", "--json"))
    theirs, point = tmp_path / "theirs", Path(kept["mount_point"]) / "theirs"
    theirs.mkdir()
    point.mkdir()
    run("mount", "--bind", theirs, point)
    try:
        said = place.command(*assay("media", "detach", kept["id"]), code=1)
        assert f"is mounted at {point} and is not Assay's" in said.stdout + said.stderr
        (point / "file").write_text("kept")
        assert listed(place)[0]["state"] == "attached"
    finally:
        run("umount", point)
    place.assay("media", "detach", kept["id"])
    assert (theirs / "file").read_text() == "kept"
    assert place.left_over() == []


HOLDER = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background shell has its children ignore it
from pathlib import Path
from assay.cli.context import find_installation
from assay.media.emulated.medium import EmulatedMedium
from assay.model.trial import MediumSpec
spec = MediumSpec(name="drive", kind="emulated", profile="wd10ezex")
with EmulatedMedium(spec, find_installation()).attached() as directory:
    (directory / "file").write_bytes(bytes(300 << 20))
    print(directory, flush=True)
    time.sleep(300)
"""


@contextmanager
def a_holder(place):
    """A process that has a drive attached; the test ends it."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER], env=place.environment, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        directory = Path(process.stdout.readline().strip())
        assert directory.is_dir()
        yield process
    finally:
        process.kill()
        process.wait()


def test_left_overs_of_a_killed_assay_are_found_and_removed(place):
    with a_holder(place) as holder:
        assert [kept["state"] for kept in listed(place)] == ["in use"]
        assert "nothing to detach" in place.assay("media", "detach", "--all")
        holder.kill()
        holder.wait()
        (left,) = listed(place)
        assert left["state"] == "left over"
        place.assay("media", "detach", "--all")
    assert place.left_over() == []


def test_left_overs_whose_lease_is_lost_are_found_too(place):
    with a_holder(place) as holder:
        holder.kill()
        holder.wait()
        (left,) = listed(place)
        for lease in leases(place.installation.state):
            lease.file.unlink()
        assert [kept["state"] for kept in listed(place) if kept["id"] == left["id"]] == ["foreign"]
        place.assay("media", "detach", left["id"])
    assert place.left_over() == []


def test_an_interrupt_detaches(place):
    with a_holder(place) as holder:
        holder.send_signal(signal.SIGINT)
        assert holder.wait(20) != 0
    assert place.left_over() == []


def a_writer(directory, journal, seed):
    """Writes files and forces them out, and only then writes down what they hold."""
    code = """
import hashlib, os, random, sys
directory, journal, seed = sys.argv[1], open(sys.argv[2], "a"), int(sys.argv[3])
chance = random.Random(seed)
for number in range(1 << 30):
    content = chance.randbytes(chance.choice([100, 4096, 70_000, 900_000]))
    path = f"{directory}/{seed}-{number}"
    with open(path, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    folder = os.open(directory, os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)
    journal.write(f"{path.rpartition('/')[2]} {hashlib.sha256(content).hexdigest()}\\n")
    journal.flush()
    os.fsync(journal.fileno())
"""
    return subprocess.Popen(
        [sys.executable, "-c", code, directory, journal, str(seed)], stderr=subprocess.DEVNULL, start_new_session=True
    )


@pytest.mark.parametrize("file_system", ["ext4", "xfs"])
def test_what_was_forced_out_survives_a_killed_emulator(place, tmp_path, file_system):
    system, emulator = System(), Emulator(place.installation)
    profile = medium(place).profile
    point, journal = tmp_path / "point", tmp_path / "journal"
    point.mkdir()
    with Lease(place.installation.state, PURPOSE) as lease:
        with ExitStack() as scope:
            device, drive = attach_raw(profile, SIZE, tmp_path, lease, emulator, system, scope)
            system.run(*MAKE[file_system], str(device))
            drive.begin()
            scope.callback(system.unmount, point)
            system.run("mount", "-o", options(file_system, os.uname().release), str(device), str(point))
            writers = [a_writer(point, journal, seed) for seed in range(3)]
            wait_for(lambda: journal.exists() and len(journal.read_text().splitlines()) > 200, 60)
            os.kill(drive.process.pid, signal.SIGKILL)
            for writer in writers:
                assert writer.wait(30) != 0
        # The same backing file under another emulator: what the kill left must be whole.
        again = Drive(drive.home)
        again.log.unlink()
        with ExitStack() as scope:
            serve(emulator.binary, again, lease.environment(os.environ), system, scope)
            device = attach_loop(again.disk, queue_of(profile), system, scope)
            again.begin()
            # Mounting replays the journal; what the check then finds is what the replay could not mend.
            run("mount", "-o", options(file_system, os.uname().release), device, point)
            forced = dict(line.split() for line in journal.read_text().splitlines())
            assert len(forced) > 200
            for name, digest in forced.items():
                assert hashlib.sha256((point / name).read_bytes()).hexdigest() == digest, name
            system.unmount(point)
            run(*CHECKS[file_system], device)
    assert place.left_over() == []


@pytest.mark.parametrize("file_system", ["ext4", "xfs"])
def test_heavy_use_leaves_a_clean_file_system(place, tmp_path, file_system):
    system, emulator = System(), Emulator(place.installation)
    point = tmp_path / "point"
    point.mkdir()
    with Lease(place.installation.state, PURPOSE) as lease, ExitStack() as scope:
        device, drive = attach_raw(medium(place).profile, SIZE, tmp_path, lease, emulator, system, scope)
        system.run(*MAKE[file_system], str(device))
        drive.begin()
        scope.callback(system.unmount, point)
        run("mount", "-o", options(file_system, os.uname().release), device, point)
        digests = _use_heavily(point)
        system.unmount(point)
        run(*CHECKS[file_system], device)
        run("mount", "-o", options(file_system, os.uname().release), device, point)
        assert {file.name: _digest(file) for file in point.iterdir() if file.is_file()} == digests
        assert drive.ask("report")["backing_errors"]["count"] == 0


def _use_heavily(point):
    """Make, grow, overwrite, cut, rename and remove files of many sizes; what is left of them."""
    chance, deadline, files = random.Random(7), time.monotonic() + 3, {}
    while time.monotonic() < deadline:
        file = point / str(chance.randrange(300))
        content = chance.randbytes(chance.choice([0, 10, 5000, 200_000, 3_000_000]))
        action = chance.choice(["make", "append", "cut", "rename", "remove"])
        if action == "make" or not file.exists():
            file.write_bytes(content)
        elif action == "append":
            with file.open("ab") as opened:
                opened.write(content)
        elif action == "cut":
            os.truncate(file, file.stat().st_size // 2)
        elif action == "rename":
            file.replace(point / str(chance.randrange(300)))
        else:
            file.unlink()
        if chance.random() < 0.02:
            os.sync()
    files = {file.name: _digest(file) for file in point.iterdir() if file.is_file()}
    assert len(files) > 50
    return files


def _digest(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()


def test_memory_of_a_size_is_full_at_that_size(place):
    with Lease(place.installation.state, "test") as lease:
        memory = MemoryMedium(MediumSpec(name="memory", kind="memory", size_bytes=16 * MIB), lease)
        with memory.attached() as directory:
            assert str(directory) in {mount.point for mount in mounts()}
            with pytest.raises(OSError, match="No space left"):
                (directory / "file").write_bytes(bytes(17 * MIB))
        assert str(directory) not in {mount.point for mount in mounts()}


def assay(*arguments):
    return (sys.executable, "-m", "assay", *arguments)


def test_where_nothing_is_built_the_error_says_so(place):
    (place.installation.parts / "emulator").unlink()
    with pytest.raises(BadInputError, match=r"medium 'drive': the drive emulator is not built: run setup/prepare"):
        medium(place).check()
    assert ROOT.is_dir()


@pytest.mark.parametrize("profile", ["wd10ezex", "intel-p4500-1tb"])
def test_the_queue_of_an_attached_drive_is_as_its_facts_say(place, profile):
    """Also on kernels that raise the read-ahead when another limit is set."""
    drive = medium(place, profile=profile)
    with drive.attached():
        queue = Path("/sys/block") / drive.watched_disk().device.name / "queue"
        facts = drive.facts()
        assert int((queue / "read_ahead_kb").read_text()) == facts["read_ahead_kb"] == 128
        assert (queue / "rotational").read_text().strip() == str(int(facts["rotational"]))
        assert f"[{facts['scheduler']}]" in (queue / "scheduler").read_text()


def written_bytes(device):
    """What the kernel has written to a block device."""
    return 512 * int(Path(f"/sys/block/{device.name}/stat").read_text(encoding="ascii").split()[6])


def sysctl(name):
    return int((VM / name).read_text())


def test_data_reach_the_drive_at_the_node_s_age_and_within_its_limit_and_the_machine_s_own_come_back(place):
    before = [sysctl(name) for name in AGES]
    drive = medium(place)
    drive.hold_back(64 * MIB)
    with drive.attached() as directory, Lease(place.installation.state, "test") as lease:
        assert age_dirty_pages(lease, 1.0) == ""
        device = drive.watched_disk().device
        assert drive.doubts() == ()
        start = written_bytes(device)
        (directory / "file").write_bytes(bytes(256 * MIB))
        assert written_bytes(device) - start >= (256 - 64 - 8) * MIB, "no more than the limit waits"
        wait_for(lambda: written_bytes(device) - start >= 256 * MIB, 5)
    assert [sysctl(name) for name in AGES] == before


AGING = """
import sys, time
from pathlib import Path
from assay.host.lease import Lease
from assay.host.write_back import age_dirty_pages
print(age_dirty_pages(Lease(Path(sys.argv[1]), "test"), 1.0), flush=True)
time.sleep(300)
"""


def test_the_machine_s_own_age_comes_back_after_a_kill(place):
    before = [sysctl(name) for name in AGES]
    command = [sys.executable, "-c", AGING, str(place.installation.state)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == b"\n"
        assert [sysctl(name) for name in AGES] == [100, 16]
        owner.kill()
    release_stale(place.installation.state)
    assert [sysctl(name) for name in AGES] == before
