"""Proves that written intermediates are counted by medium, also when their files are removed at once."""

import time

from assay.model.platform import LocalDirectory
from assay.probe.local_writes import LocalWrites

OUTPUT = "usercache/me/appcache/application_1_0001/output/attempt_1"


def until(check):
    deadline = time.monotonic() + 5
    while not check() and time.monotonic() < deadline:
        time.sleep(0.01)
    return check()


def test_files_closed_below_output_count_by_medium(tmp_path):
    directories = [LocalDirectory(path=tmp_path / name, medium=name) for name in ("hdd", "ssd")]
    for directory in directories:
        (directory.path / OUTPUT).mkdir(parents=True)
    with LocalWrites(directories).watching() as writes:
        (tmp_path / "hdd" / OUTPUT / "file.out").write_bytes(b"x" * 3000)
        (tmp_path / "ssd" / OUTPUT / "file.out").write_bytes(b"x" * 1000)
        (tmp_path / "ssd" / "usercache" / "job.jar").write_bytes(b"x" * 5000)
        assert until(lambda: writes.landed().bytes == 4000)
    assert writes.landed().shares == {"hdd": 0.75, "ssd": 0.25}


def test_a_file_renamed_as_soon_as_it_is_closed_counts_once(tmp_path):
    (tmp_path / OUTPUT).mkdir(parents=True)
    with LocalWrites([LocalDirectory(path=tmp_path, medium="hdd")]).watching() as writes:
        for number in range(200):
            spill = (tmp_path / OUTPUT).parents[1] / f"attempt_1_m_{number}_spill_0.out"
            spill.write_bytes(b"x" * 10)
            spill.rename(tmp_path / OUTPUT / f"file{number}.out")
        assert until(lambda: writes.landed().bytes == 2000)


def test_spills_count_beside_what_they_are_merged_into(tmp_path):
    (tmp_path / OUTPUT).mkdir(parents=True)
    with LocalWrites([LocalDirectory(path=tmp_path, medium="hdd")]).watching() as writes:
        spills = [(tmp_path / OUTPUT).parents[1] / f"attempt_1_m_0_spill_{number}.out" for number in range(2)]
        for spill in spills:
            spill.write_bytes(b"x" * 100)
        (tmp_path / OUTPUT / "file.out").write_bytes(b"x" * 200)
        for spill in spills:
            spill.unlink()
        assert until(lambda: writes.landed().bytes >= 200)
    assert 200 <= writes.landed().bytes <= 400


def test_directories_made_later_are_watched_too(tmp_path):
    with LocalWrites([LocalDirectory(path=tmp_path, medium="hdd")]).watching() as writes:
        (tmp_path / OUTPUT).mkdir(parents=True)
        (tmp_path / OUTPUT / "spill0.out").write_bytes(b"x" * 10)
        assert until(lambda: writes.landed().bytes == 10)
