"""Proves that a sample is the same anywhere, has whole files and whole lines, says how it was taken, and is kept apart."""

import gzip
import json

import pytest

from assay.input.sample import MANIFEST, ThisMachine, choose, write_sample
from assay.model.errors import AssayError, BadInputError

LINE = "a line of text\n"


@pytest.fixture
def logs(tmp_path):
    """A folder of ten texts of 1,500 bytes, of which one lies deeper, and what is no input."""
    folder = tmp_path / "logs"
    for number in range(10):
        file = folder / ("day" if number == 3 else "") / f"part-{number}"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(LINE * 100)
    (folder / "_SUCCESS").write_text("")
    (folder / ".hidden").write_text(LINE)
    (folder / "empty").write_text("")
    return folder


def test_names_decide_which_files_wherever_they_lie(logs, tmp_path):
    names = [file.path.rpartition("/")[2] for file in choose(str(logs), ThisMachine(), 4500).files]
    assert len(names) == 3
    assert names != sorted(names)
    logs.rename(tmp_path / "elsewhere")
    again = choose(str(tmp_path / "elsewhere"), ThisMachine(), 4500)
    assert [file.path.rpartition("/")[2] for file in again.files] == names
    assert not again.is_all
    assert (
        again.text == f"4.4 KiB of the 14.6 KiB of {tmp_path}/elsewhere: 3 of 10 files, chosen by their names' digests"
    )


def test_a_larger_sample_has_the_smaller_one_s_files(logs):
    small, large = (choose(str(logs), ThisMachine(), size).files for size in (3000, 9000))
    assert large[:2] == small


def test_a_sample_as_large_as_the_input_is_all_of_it(logs):
    sample = choose(str(logs), ThisMachine(), 15_000)
    assert sample.is_all
    assert sample.text == f"all of {logs}, 14.6 KiB"


def test_linked_folders_are_a_part_of_the_input(logs, tmp_path):
    logs.rename(tmp_path / "2026")
    logs.mkdir()
    (logs / "2026").symlink_to("../2026")
    sample = choose(str(logs), ThisMachine(), 15_000)
    assert sample.text == f"all of {logs}, 14.6 KiB"
    write_sample(choose(str(logs), ThisMachine(), 14_000), ThisMachine(), tmp_path / "sample")
    assert (tmp_path / "sample" / "2026" / "day" / "part-3").read_text() == LINE * 100


def test_the_last_text_is_cut_behind_a_line(logs, tmp_path):
    sample = choose(str(logs), ThisMachine(), 2000)
    assert (len(sample.files), sample.cut_bytes) == (1, 500)
    assert ", and the first 500 B of part-" in sample.text
    write_sample(sample, ThisMachine(), tmp_path / "sample")
    files = {file.name: file for file in (tmp_path / "sample").rglob("part-*")}
    assert files[sample.cut.path.rpartition("/")[2]].read_text() == LINE * 33
    assert sum(file.stat().st_size for file in files.values()) == 1500 + 33 * len(LINE)


def test_whole_files_are_links_under_their_own_folders(logs, tmp_path):
    write_sample(choose(str(logs), ThisMachine(), 14_000), ThisMachine(), tmp_path / "sample")
    assert (tmp_path / "sample" / "day" / "part-3").resolve() == logs / "day" / "part-3"


def test_what_is_no_text_is_taken_whole_or_not_at_all(tmp_path):
    folder = tmp_path / "packed"
    folder.mkdir()
    for number, size in enumerate((4000, 900, 900)):
        (folder / f"{number}.gz").write_bytes(gzip.compress(b"", mtime=0) + b"\0\n" * (size // 2))
    sample = choose(str(folder), ThisMachine(), 1000)
    assert [file.path.rpartition("/")[2] for file in sample.files] == ["2.gz", "1.gz"]
    assert sample.cut is None
    with pytest.raises(BadInputError, match=r"--sample 100 B is less than half of each .* at least 920 B"):
        choose(str(folder), ThisMachine(), 100)


def test_one_file_may_be_the_input(logs, tmp_path):
    sample = choose(str(logs / "part-1"), ThisMachine(), 40)
    write_sample(sample, ThisMachine(), tmp_path / "sample")
    assert (tmp_path / "sample" / "part-1").read_text() == LINE * 2


def test_a_text_without_lines_can_t_be_cut(tmp_path):
    (tmp_path / "one").write_text("x" * 50 + "\n" + "y" * 70_000)
    sample = choose(str(tmp_path / "one"), ThisMachine(), 66_000)
    write_sample(sample, ThisMachine(), tmp_path / "sample")
    assert (tmp_path / "sample" / "one").stat().st_size == 51
    with pytest.raises(BadInputError, match="less than half"):
        choose(str(tmp_path / "one"), ThisMachine(), 40)


def test_an_input_with_nothing_in_it_is_refused(logs):
    for file in logs.rglob("part-*"):
        file.write_text("")
    with pytest.raises(BadInputError, match=r"--input .*/logs has nothing in it"):
        choose(str(logs), ThisMachine(), 100)


def test_a_sample_is_taken_once_and_never_over_something_else(logs, tmp_path):
    folder = tmp_path / "sample"
    sample = choose(str(logs), ThisMachine(), 3000)
    write_sample(sample, ThisMachine(), folder)
    assert json.loads((folder / MANIFEST).read_text())["source"] == str(logs)
    before = {file: file.lstat().st_mtime_ns for file in folder.rglob("*")}
    write_sample(sample, ThisMachine(), folder)
    assert {file: file.lstat().st_mtime_ns for file in folder.rglob("*")} == before
    with pytest.raises(BadInputError, match="holds something else than this sample; remove it"):
        write_sample(choose(str(logs), ThisMachine(), 4500), ThisMachine(), folder)


def test_a_file_that_goes_meanwhile_is_said(logs, tmp_path):
    sample = choose(str(logs), ThisMachine(), 15_000)
    (logs / "part-1").unlink()
    with pytest.raises(AssayError, match=r"part-1 can't be read, or changed"):
        write_sample(sample, ThisMachine(), tmp_path / "sample")


def test_a_sample_that_was_interrupted_is_taken_again(logs, tmp_path):
    sample, folder = choose(str(logs), ThisMachine(), 3000), tmp_path / "sample"

    class Interrupted(ThisMachine):
        def get(self, paths, folder):
            super().get(paths[:1], folder)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_sample(sample, Interrupted(), folder)
    assert not folder.exists()
    write_sample(sample, ThisMachine(), folder)
    assert (folder / MANIFEST).is_file()
    assert sum(file.stat().st_size for file in folder.rglob("part-*")) == 3000
    assert [path.name for path in tmp_path.glob("sample*")] == ["sample"]


def test_few_files_are_looked_at_for_lines(tmp_path):
    folder = tmp_path / "packed"
    folder.mkdir()
    for number in range(50):
        (folder / f"{number}.gz").write_bytes(b"\0\n" * 2000)
    seen = []

    class Counted(ThisMachine):
        def pieces(self, path, offset=0, size=None):
            seen.append(path)
            return super().pieces(path, offset, size)

    with pytest.raises(BadInputError, match="none of the first 8 is a text"):
        choose(str(folder), Counted(), 100)
    assert len(seen) == 8
