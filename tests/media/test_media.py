"""Proves that media tell what they are, give fresh directories, and say what they could not do."""

from pathlib import Path

import pytest

from assay.host.lease import Lease
from assay.host.mounts import mount_of
from assay.media import directory
from assay.media.directory import DirectoryMedium
from assay.media.existing import ExistingMedium
from assay.media.memory import SHARED_MEMORY, MemoryMedium
from assay.model.errors import BadInputError
from assay.model.medium import Doubtful
from assay.model.trial import MediumSpec
from tests.media.faking import FakeSystem

DISK = MediumSpec(name="disk", kind="directory")


@pytest.fixture
def lease(tmp_path):
    with Lease(tmp_path / "state", "test") as held:
        yield held


def test_a_directory_knows_its_device_and_space(tmp_path, lease):
    medium = DirectoryMedium(DISK, lease, tmp_path)
    facts = medium.facts()
    assert facts["place"] == str(tmp_path)
    assert facts["file_system"] not in {"", "proc"}
    assert facts["rotational"] in {True, False, "unknown"}
    assert 0 < medium.space().free_bytes <= medium.space().total_bytes


def test_the_directory_is_fresh_and_goes_with_the_lease(tmp_path):
    with Lease(tmp_path / "state", "test") as lease, DirectoryMedium(DISK, lease, tmp_path).attached() as place:
        assert list(place.iterdir()) == []
        (place / "x").write_text("x")
    assert not place.exists()


def test_a_place_that_is_no_directory_is_bad_input(tmp_path, lease):
    spec = MediumSpec(name="disk", kind="directory", path=tmp_path / "absent")
    with pytest.raises(BadInputError, match=r"medium 'disk': .*absent is not a directory"):
        DirectoryMedium(spec, lease, tmp_path).space()


def test_memory_must_be_a_tmpfs(tmp_path, lease):
    if mount_of(tmp_path).file_system == "tmpfs":
        pytest.skip("the tests' own directory is a tmpfs here")
    with pytest.raises(BadInputError, match="is not a tmpfs"):
        MemoryMedium(MediumSpec(name="memory", kind="memory", path=tmp_path), lease).space()


def test_memory_is_on_a_tmpfs_and_limited_by_what_is_available(lease):
    if not SHARED_MEMORY.is_dir():
        pytest.skip("this machine has no /dev/shm")
    medium = MemoryMedium(MediumSpec(name="memory", kind="memory"), lease)
    assert medium.facts()["file_system"] == "tmpfs"
    assert medium.space().free_bytes > 0


def test_without_root_the_cold_cache_is_doubted(tmp_path, lease, monkeypatch):
    def refused(self, text, **_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "write_text", refused)
    dropped = []
    monkeypatch.setattr(directory.os, "posix_fadvise", lambda *call: dropped.append(call))
    (tmp_path / "file").touch()
    (doubt,) = DirectoryMedium(DISK, lease, tmp_path).make_cold()
    assert doubt.kind == "cache-not-quite-cold"
    assert dropped


def test_an_existing_clusters_cache_is_doubted(tmp_path, lease):
    (doubt,) = ExistingMedium(MediumSpec(name="existing", kind="existing"), lease, tmp_path).make_cold()
    assert doubt.kind == "cache-unknown"


def disk(folder, **files):
    for name, text in files.items():
        file = folder / name.replace("__", "/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n")
    return folder


@pytest.fixture
def sysfs(tmp_path):
    """A disk with a partition, and a volume on that partition, as the kernel lays them out."""
    whole = disk(
        tmp_path / "devices/pci/sda", device__model="WDC WD10EZEX-08W", queue__rotational="1",
        queue__scheduler="none [mq-deadline] bfq", queue__read_ahead_kb="128",
    )  # fmt: skip
    disk(whole / "sda1", partition="1")
    volume = disk(tmp_path / "devices/virtual/dm-0", queue__rotational="1", queue__scheduler="none")
    (volume / "slaves").mkdir()
    (volume / "slaves/sda1").symlink_to(whole / "sda1")
    numbers = tmp_path / "dev/block"
    numbers.mkdir(parents=True)
    for number, folder in (("8:0", whole), ("8:1", whole / "sda1"), ("253:0", volume)):
        (numbers / number).symlink_to(folder)
    return tmp_path


def test_a_partition_has_its_disks_facts(sysfs):
    wanted = {"rotational": True, "drive": "WDC WD10EZEX-08W", "scheduler": "mq-deadline", "read_ahead_kb": 128}
    assert directory.disk_facts("8:0", sysfs) == wanted
    assert directory.disk_facts("8:1", sysfs) == wanted


def test_a_volume_has_the_model_of_its_first_drive(sysfs):
    facts = directory.disk_facts("253:0", sysfs)
    assert (facts["drive"], facts["rotational"]) == ("WDC WD10EZEX-08W", True)
    assert facts["read_ahead_kb"] == "unknown"


def test_what_has_no_device_is_unknown(sysfs):
    assert set(directory.disk_facts("0:42", sysfs).values()) == {"unknown"}


def memory_of(size, lease, monkeypatch, *, root):
    if not SHARED_MEMORY.is_dir():
        pytest.skip("this machine has no /dev/shm")
    monkeypatch.setattr("assay.media.memory.may_mount", lambda: root)
    system = FakeSystem()
    return MemoryMedium(MediumSpec(name="memory", kind="memory", size_bytes=size), lease, system), system


def test_memory_of_a_size_is_a_tmpfs_of_its_own(lease, monkeypatch):
    medium, system = memory_of(64 << 20, lease, monkeypatch, root=True)
    assert medium.space().free_bytes == medium.space().total_bytes == 64 << 20
    assert medium.facts()["size_bytes"] == 64 << 20
    with medium.attached() as place:
        assert system.log == ["mount"]
    assert system.log == ["mount", f"unmount {place.name}"]
    assert medium.doubts() == ()


def test_without_root_memory_of_a_size_is_doubted(lease, monkeypatch):
    medium, system = memory_of(64 << 20, lease, monkeypatch, root=False)
    assert isinstance(medium, Doubtful)
    assert medium.space().free_bytes <= 64 << 20
    with medium.attached():
        pass
    assert system.log == []
    (doubt,) = medium.doubts()
    assert doubt.kind == "memory-not-bounded"


def test_more_memory_than_there_is_is_refused(lease, monkeypatch):
    medium, _ = memory_of(1 << 60, lease, monkeypatch, root=True)
    with pytest.raises(BadInputError, match="MiB of memory are available"):
        medium.space()


def test_two_media_of_one_trial_can_share_a_place(tmp_path, lease):
    one = DirectoryMedium(MediumSpec(name="one", kind="directory"), lease, tmp_path)
    two = DirectoryMedium(MediumSpec(name="two", kind="directory"), lease, tmp_path)
    with one.attached() as first, two.attached() as second:
        assert first != second
