"""Proves that users' files of numbers are read whole, and refused with file and line where they are wrong."""

import os

import numpy as np
import pytest

from assay.input import points as number_lines
from assay.input.points import DECIMAL, ID, LineForm, tables
from assay.model.errors import BadInputError

POINT = LineForm(row="point", number="a number", pattern=DECIMAL, dtype=np.float64)
EDGE = LineForm(row="edge", number="an id", pattern=ID, dtype=np.int64, columns=2, comment=b"#")


def read(path, form):
    return np.concatenate(list(tables(path, form)))


@pytest.fixture
def file(tmp_path):
    return tmp_path / "given.txt"


def test_all_separators_ends_and_forms(file):
    file.write_bytes(b"1,2.5\r\n-3 , +4e2\n\n\t.5\t6.\n7 8")
    assert read(file, POINT).tolist() == [[1, 2.5], [-3, 400], [0.5, 6], [7, 8]]


@pytest.mark.slow
@pytest.mark.parametrize("block_bytes", [1, 7, 64, 1 << 20])
def test_blocks_of_any_size_give_the_same(file, block_bytes, monkeypatch):
    monkeypatch.setattr(number_lines, "_BLOCK_BYTES", block_bytes)
    values = np.random.default_rng(4).normal(size=(100, 3))
    file.write_text("".join(",".join(map(repr, row)) + "\n" for row in values.tolist()))
    assert np.array_equal(read(file, POINT), values)
    file.write_text(file.read_text() + "1,2\n")
    with pytest.raises(BadInputError, match="given.txt line 101: the point has 2 numbers, and must have 3"):
        read(file, POINT)


@pytest.mark.parametrize(
    "word", ["x", "nan", "inf", "0x10", "1_0", "1e999", "1;2", "1\x0b2", "1\xa02", "1\r2", "'1'", "--1", "1e", "\xb2"]
)
def test_what_is_no_number_is_told_with_its_line(file, word):
    file.write_text(f"1,2\n\n3,{word}\n4,5\n")
    with pytest.raises(BadInputError, match=r"given.txt line 3: ['\"].*['\"] is not a number; correct the line"):
        read(file, POINT)


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("1 x", "'x' is not an id"), ("-1 2", "'-1' is not an id"), ("1.0 2", "'1.0' is not an id"),
        ("1 9223372036854775808", "'9223372036854775808' is not an id"), ("1", "the edge has 1 numbers"),
        ("1 2 3", "the edge has 3 numbers"), ("1 2 # c", "'#' is not an id"),
    ],
)  # fmt: skip
def test_what_is_no_edge_is_told_with_its_line(file, line, what):
    file.write_text(f"# a comment\n1\t2\n{line}\n")
    with pytest.raises(BadInputError, match=f"given.txt line 3: {what}"):
        read(file, EDGE)
    file.write_text(f"1\t2\n{line}\n")
    with pytest.raises(BadInputError, match=f"given.txt line 2: {what}"):
        read(file, EDGE)


def test_comments_are_left_out_and_large_ids_kept(file):
    file.write_text("# head\n9223372036854775807, 0\n  # more\n1\t2\n")
    assert read(file, EDGE).tolist() == [[(1 << 63) - 1, 0], [1, 2]]


def test_a_file_that_is_not_there_is_refused(file):
    with pytest.raises(BadInputError, match="can't be read: No such file"):
        read(file, POINT)


def test_nothing_gives_nothing(file):
    file.write_text("\n \n")
    assert list(tables(file, POINT)) == []


def test_a_pipe_is_refused_without_waiting_for_its_writer(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadInputError, match=r"pipe can't be read: it is a pipe \(FIFO\)"):
        read(tmp_path / "pipe", POINT)


@pytest.mark.parametrize("form", [POINT, EDGE])
def test_a_number_of_thousands_of_digits_is_told_with_its_line(file, form):
    file.write_text("1 2\n" + "9" * 5000 + " 3\n")
    with pytest.raises(BadInputError, match="given.txt line 2: '9+' is not"):
        read(file, form)
