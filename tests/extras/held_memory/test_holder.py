"""Proves that memory is mapped until little is free, that what is in vain is told, and that a hole's pages stay."""

import os
from pathlib import Path

import pytest

from assay.host.mounts import mount_of
from assay_extras.held_memory import holder
from assay_extras.held_memory.holder import CHUNK_BYTES, fill, hole
from assay_extras.held_memory.holding import FILE_SYSTEMS, resident_bytes


class Machine:
    """So much memory is free, of which each chunk takes some."""

    def __init__(self, free, each=CHUNK_BYTES):
        self.left, self.each, self.mapped = free, each, []

    def free(self):
        return self.left

    def populate(self, chunk):
        self.mapped.append(chunk)
        self.left -= self.each


@pytest.mark.parametrize(
    ("free", "each", "chunks", "useful"),
    [
        (10 * CHUNK_BYTES, CHUNK_BYTES, 8, True),  # down to the two that are to stay
        (2 * CHUNK_BYTES + 1, 1, 1, True),  # little was missing
        (2 * CHUNK_BYTES, CHUNK_BYTES, 0, True),  # nothing was
        (99 * CHUNK_BYTES, CHUNK_BYTES, 20, True),  # the hole was too small, but that helped
        (99 * CHUNK_BYTES, 0, 20, False),  # whatever it maps others lose
    ],
)
def test_chunks_are_mapped_until_little_is_free(free, each, chunks, useful):
    machine = Machine(free, each)
    assert fill(machine.populate, range(20), machine.free, 2 * CHUNK_BYTES) is useful
    assert machine.mapped == list(range(chunks))


def test_a_process_that_may_not_use_the_memory_says_so(tmp_path, monkeypatch):
    (tmp_path / "hole").write_bytes(b"")
    os.truncate(tmp_path / "hole", 4096)
    monkeypatch.setattr(holder, "free_bytes", lambda: 1 << 40)
    monkeypatch.setattr(Path, "write_text", lambda *_, **__: None)
    with pytest.raises(SystemExit, match="bounds what this may use"):
        holder.main(tmp_path / "hole", 4096, 0)


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may drop the page cache")
def test_pages_of_a_hole_stay_when_the_page_cache_is_dropped_and_take_no_space(tmp_path):
    if mount_of(tmp_path).file_system not in FILE_SYSTEMS:
        pytest.skip("the directory for tests lies on no such file system")
    (tmp_path / "link").symlink_to(tmp_path)
    file = tmp_path / "link" / "hole"
    size = CHUNK_BYTES + 8192
    file.touch()
    os.truncate(file, size)
    with hole(file, size) as populate:
        for number in range(2):
            populate(number)
        Path("/proc/sys/vm/drop_caches").write_text("1")
        assert resident_bytes(os.getpid(), file) >= 0.9 * size
        assert file.stat().st_blocks == 0
    assert resident_bytes(os.getpid(), file) == 0
