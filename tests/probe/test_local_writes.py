"""Proves that written intermediates are counted by medium, also when their files are removed at once."""

from contextlib import contextmanager
from pathlib import Path

from assay.model.installed import stack_of
from assay.model.layout import Directory, Layout
from assay.model.probe import Scene
from assay.probe.local_writes import LocalWrites

OUTPUT = "usercache/me/appcache/application_1_0001/output/attempt_1"


def a_directory(path, medium):
    (role,) = (role for role in stack_of().roles if role.passing)
    return Directory(path=path, medium=medium, roles=(role.name,), passing=role.passing)


@contextmanager
def watching(*directories, before=lambda: None):
    """Gives what landed while the jobs ran, `before` which something else is written."""
    found = []
    probe = LocalWrites()
    probe.attach(Scene(layout=Layout(neutral=Path("/nowhere"), directories=directories)))
    before()
    probe.mark("staging")
    yield lambda: found[0]
    (landed,) = probe.mark("run")
    found.append(landed)
    probe.close()


def test_files_closed_below_output_count_by_medium(tmp_path):
    directories = [a_directory(tmp_path / name, name) for name in ("hdd", "ssd")]
    for directory in directories:
        (directory.path / OUTPUT).mkdir(parents=True)
    with watching(*directories) as landed:
        (tmp_path / "hdd" / OUTPUT / "file.out").write_bytes(b"x" * 3000)
        (tmp_path / "ssd" / OUTPUT / "file.out").write_bytes(b"x" * 1000)
        (tmp_path / "ssd" / "usercache" / "job.jar").write_bytes(b"x" * 5000)
    assert landed().bytes == 4000
    assert landed().shares == {"hdd": 0.75, "ssd": 0.25}


def test_a_file_renamed_as_soon_as_it_is_closed_counts_once(tmp_path):
    (tmp_path / OUTPUT).mkdir(parents=True)
    with watching(a_directory(tmp_path, "hdd")) as landed:
        for number in range(200):
            spill = (tmp_path / OUTPUT).parents[1] / f"attempt_1_m_{number}_spill_0.out"
            spill.write_bytes(b"x" * 10)
            spill.rename(tmp_path / OUTPUT / f"file{number}.out")
    assert landed().bytes == 2000


def test_spills_count_beside_what_they_are_merged_into(tmp_path):
    (tmp_path / OUTPUT).mkdir(parents=True)
    with watching(a_directory(tmp_path, "hdd")) as landed:
        spills = [(tmp_path / OUTPUT).parents[1] / f"attempt_1_m_0_spill_{number}.out" for number in range(2)]
        for spill in spills:
            spill.write_bytes(b"x" * 100)
        (tmp_path / OUTPUT / "file.out").write_bytes(b"x" * 200)
        for spill in spills:
            spill.unlink()
    assert 200 <= landed().bytes <= 400


def test_directories_made_later_are_watched_too(tmp_path):
    with watching(a_directory(tmp_path, "hdd")) as landed:
        (tmp_path / OUTPUT).mkdir(parents=True)
        (tmp_path / OUTPUT / "spill0.out").write_bytes(b"x" * 10)
    assert landed().bytes == 10


def test_what_was_written_before_the_jobs_ran_does_not_count(tmp_path):
    directory = a_directory(tmp_path, "hdd")
    (tmp_path / OUTPUT).mkdir(parents=True)

    def stage():
        (tmp_path / OUTPUT / "staged.out").write_bytes(b"x" * 700)

    with watching(directory, before=stage) as landed:
        (tmp_path / OUTPUT / "file.out").write_bytes(b"x" * 30)
    assert (landed().bytes, landed().shares, landed().trouble) == (30, {"hdd": 1.0}, None)
