"""Proves that only regular files are read, up to a bound, and that paths where nothing can be are refused in words."""

import os
from pathlib import Path

import pytest

from assay.host.files import (
    UnreadableFileError,
    absolute,
    input_files,
    possible,
    read_bytes,
    read_text,
    refuse_irregular,
    whole_number_in,
)
from assay.model.errors import BadInputError


@pytest.fixture
def pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


def test_a_pipe_is_refused_at_once_whoever_may_write_to_it(pipe):
    for read in (read_bytes, read_text, refuse_irregular):
        with pytest.raises(UnreadableFileError, match=r"pipe can't be read: it is a pipe \(FIFO\), and a regular file"):
            read(pipe)


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/full", "/dev/null"])
def test_a_device_is_refused_however_much_it_gives(device):
    for read in (read_bytes, refuse_irregular):
        with pytest.raises(UnreadableFileError, match="it is a device"):
            read(Path(device))


def test_a_folder_a_missing_file_and_a_circle_of_links_are_told_without_a_number(tmp_path):
    (tmp_path / "circle").symlink_to("circle")
    for name, reason in (
        (".", "it is a folder"),
        ("none", "there is no such file"),
        ("circle", "its symbolic links lead in a circle"),
        ("x" * 300, "its name is too long"),
        ("a\0b", "its name has a NUL character"),
    ):
        with pytest.raises(UnreadableFileError, match=reason) as caught:
            read_bytes(tmp_path / name)
        assert "Errno" not in str(caught.value)
        assert caught.value.missing == (name == "none")


def test_no_more_than_the_bound_is_read(tmp_path):
    file = tmp_path / "text"
    file.write_text("x" * 2048)
    assert len(read_bytes(file, 2048)) == 2048
    with pytest.raises(UnreadableFileError, match="larger than 1 KiB"):
        read_bytes(file, 1024)


def test_text_is_utf_8_and_the_line_that_is_not_is_told(tmp_path):
    file = tmp_path / "text"
    file.write_bytes(b"\xef\xbb\xbfone\r\ntwo\n")
    assert read_text(file) == "one\ntwo\n"
    file.write_bytes(b"one\ntwo\xff\n")
    with pytest.raises(UnreadableFileError, match="line 2 is not UTF-8 text; save it as UTF-8"):
        read_text(file)
    file.write_bytes("one".encode("utf-16"))
    with pytest.raises(UnreadableFileError, match="line 1 is not UTF-8 text"):
        read_text(file)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("~nosuchuser/graph.txt", "this machine has no user 'nosuchuser'; write the whole path, or ./~nosuchuser"),
        ("a\0b", "NUL character"),
        ("circle", "symbolic links lead in a circle"),
        ("circle/below", "symbolic links lead in a circle"),
        ("x" * 300, "its name is too long"),
        ("file/below", "a part of its path is a file"),
    ],
)
def test_what_cannot_be_a_path_is_refused_in_words(tmp_path, path, reason):
    (tmp_path / "circle").symlink_to("circle")
    (tmp_path / "file").touch()
    with pytest.raises(BadInputError, match=reason):
        absolute(tmp_path, Path(path))
    if not path.startswith("~"):
        with pytest.raises(BadInputError, match=reason):
            possible(tmp_path / path)


def test_a_path_counts_from_the_folder_and_a_home_is_a_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert absolute(tmp_path, Path("a/../b")) == tmp_path.resolve() / "b"
    assert absolute(Path("/nowhere"), Path("~/x")) == tmp_path.resolve() / "x"


def test_the_number_that_a_file_of_the_kernels_holds(tmp_path):
    (tmp_path / "peak").write_text("4096\n")
    (tmp_path / "max").write_text("max\n")
    assert whole_number_in(tmp_path / "peak") == 4096
    assert whole_number_in(tmp_path / "max") is None
    assert whole_number_in(tmp_path / "none") is None


def test_an_input_has_the_files_behind_links_too_and_each_where_it_is_seen(tmp_path):
    folder = tmp_path / "in"
    for name in ("in/a", "in/_hidden/b", "in/.git/c", "elsewhere/2026/d", "elsewhere/e"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    (folder / "year").symlink_to(tmp_path / "elsewhere")
    (folder / "again").symlink_to("../elsewhere/2026")
    (folder / "one").symlink_to(tmp_path / "elsewhere" / "e")
    (folder / ".hidden").symlink_to("nowhere")
    names = [str(file.relative_to(folder)) for file in input_files(folder)]
    assert names == ["a", "again/d", "one", "year/2026/d", "year/e"]


@pytest.mark.parametrize(
    ("target", "says"), [("nowhere", "to nothing"), ("link", "to nothing"), ("..", "to a folder that it lies in")]
)
def test_an_input_that_can_not_be_seen_whole_is_refused(tmp_path, target, says):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "link").symlink_to(target)
    with pytest.raises(BadInputError, match=f"{tmp_path}/deep/link is a link {says}"):
        input_files(tmp_path)


def test_a_folder_of_an_input_that_may_not_be_read_is_refused(tmp_path, monkeypatch):
    (tmp_path / "closed").mkdir()
    listed = Path.iterdir

    def iterdir(folder):
        if folder.name == "closed":
            raise PermissionError(13, "Permission denied", str(folder))
        return listed(folder)

    monkeypatch.setattr(Path, "iterdir", iterdir)
    with pytest.raises(BadInputError, match="closed can't be read: its owner or mode does not let you"):
        input_files(tmp_path)
