"""Proves that counting cached pages bears with files and folders that their owners remove meanwhile."""

import os

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
