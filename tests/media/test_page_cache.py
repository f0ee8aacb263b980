"""Proves that counting cached pages bears with folders that their owners remove meanwhile, and with files of any size."""

import os

import pytest

from assay.media import page_cache
from assay.media.page_cache import PAGE_BYTES, resident_bytes


def test_a_folder_that_vanishes_while_it_is_looked_at_counts_as_nothing(tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "file").write_bytes(bytes(PAGE_BYTES))
    real = os.walk

    def walk(place):
        for listed in real(place):
            if (tmp_path / "gone").exists():
                (tmp_path / "gone").rmdir()
            yield listed

    monkeypatch.setattr(os, "walk", walk)
    assert resident_bytes(tmp_path) == PAGE_BYTES


@pytest.mark.slow
@pytest.mark.parametrize("mapped", [page_cache._MAPPED_BYTES, 1 << 33])
def test_a_file_that_is_larger_than_memory_is_counted(tmp_path, monkeypatch, mapped):
    monkeypatch.setattr(page_cache, "_MAPPED_BYTES", mapped)
    memory = os.sysconf("SC_PHYS_PAGES") * PAGE_BYTES
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(2 * memory)
        file.seek(-5, os.SEEK_END)
        file.write(b"bytes")
    counted = resident_bytes(tmp_path)
    if counted == 0:  # a machine that is short of memory has dropped the page
        with (tmp_path / "sparse").open("rb") as file:
            file.seek(-5, os.SEEK_END)
            file.read()
        counted = resident_bytes(tmp_path)
    assert counted == PAGE_BYTES
