"""Proves that media tell what they are, give fresh directories, and say what they could not do."""

from pathlib import Path

import pytest

from assay.lease import Lease
from assay.media import directory
from assay.media.directory import DirectoryMedium
from assay.media.existing import ExistingMedium
from assay.media.memory import SHARED_MEMORY, MemoryMedium
from assay.model.errors import BadInputError
from assay.model.trial import MediumSpec
from assay.mounts import mount_of

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
    assert facts["rotational"] in {"yes", "no", "unknown"}
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
    def refused(self, text):
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
