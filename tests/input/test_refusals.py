"""What can't be used is refused in one sentence with the file, the line, and the cure; never counted wrong."""

import bz2
import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.input.catalogue import open_dataset
from assay.model.dataset import DatasetSpec
from assay.model.errors import BadInputError
from assay.model.progress import Silent
from tests.input.conftest import Opener

MATRIX = "%%MatrixMarket matrix coordinate pattern symmetric\n"
WHOLE = gzip.compress(b"".join(b"%d %d\n" % (number, number + 1) for number in range(9999)), mtime=0)
DAMAGED = WHOLE[: len(WHOLE) // 2] + bytes([WHOLE[len(WHOLE) // 2] ^ 0xFF]) + WHOLE[len(WHOLE) // 2 + 1 :]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "1 2\n1 x\n",
            r"graph.txt, line 2: `1 x` isn't an edge of two whole numbers; number the vertices from 0 to 2\^63-1",
        ),
        ("1 x\n1 2\n1 3\n", r"line 1: `1 x` isn't an edge of two whole numbers; .*header_lines"),
        ("1 2\n# c\n\n-1 3\n", r"line 4: `-1 3` isn't an edge"),
        ("1 2\n1.5 3\n", r"line 2: `1.5 3` isn't an edge"),
        ("1 2\n3 9223372036854775808\n", r"line 2: .* beyond 2\^63-1; renumber"),
        ("1 2\n3 99999999999999999999\n", r"line 2: .* beyond 2\^63-1; renumber"),
        (
            "1 2 5\n2 3 6\n",
            r"line 1: `1 2 5` has 3 columns.*, and it isn't certain which two hold the ends.*columns: \[A, B\]",
        ),
        ("1 2\n2 3\n4\n", r"line 3: `4` has 1 column where an edge has 2; .*format: edges"),
        ("1 2\r\n3\r4\r\n", r"line 2: `3 4` has a carriage return inside"),
        ("1,2\n2,,3\n", r"line 2: `2,,3` has 3 columns"),
        ("a,b\nc,d\n1,2\n", r"line 1: `a,b` isn't an edge"),
        ("1 2\n" + "y" * 100 + " 3\n", r"line 2: `y{57}\.\.\.` isn't"),
        ("", "is empty"),
        (" \n\n", "is empty"),
        ("# only\n# comments\n", "comments only"),
        ("%%MatrixMarket matrix array real general\n2 2\n1\n", "line 1: .*isn't the banner"),
        ("%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 2\n", "line 2: .*rows"),
        ("%%MatrixMarket matrix coordinate pattern general\n3 3 3\n1 2\n", "line 2: promises 3 entries, but 1 follow"),
        ("% bip unweighted\n1 2\n", "line 1: .*two kinds"),
        (b"\x00\x01", "isn't a text file"),
        (b"\xfd7zXZ\x00abc", "compressed with xz"),
        (gzip.compress(b"1 2\n" * 999, mtime=0)[:30], "gzip data are broken or cut off"),
        (bz2.compress(b"1 2\n" * 999)[:-9], "bzip2 data are broken or cut off"),
        (bz2.compress(b"1 2\n" * 999) + b"garbage", "bzip2 data are broken or cut off"),
        (bz2.compress(b"1 2\n" * 999) + b"7 8\n" * 99_999, "bzip2 data are broken or cut off"),
        (gzip.compress(b"1 2\n" * 999, mtime=0) + b"garbage", "gzip data are broken or cut off"),
        (DAMAGED, "gzip data are broken or cut off"),
        ("9" * 5000 + " 2\n1 2\n", r"line 1: `9+\.\.\.` has an id beyond 2\^63-1; renumber"),
        ("9" * 5000 + "\n1 2\n", r"line 1: `9+\.\.\.` has 1 column where an edge has 2"),
        ("1 2\n" + "9" * 9_000_000, "line 2: is longer than 8 MiB; name a file of edges"),
        (f"{MATRIX}{'9' * 5000} {'9' * 5000} 1\n1 2\n", "line 2: .*isn't the size line `rows columns entries`"),
        (f"{MATRIX}3 3 {'9' * 5000}\n1 2\n", "line 2: .*isn't the size line"),
        (
            f"{MATRIX}3 3 2\n1 2\n4 1\n",
            "line 4: `4 1` has an index outside 1 to 3, the matrix's size; .* fetch it again",
        ),
        (f"{MATRIX}3 3 2\n% c\n\n1 2\n0 1\n", "line 6: `0 1` has an index outside 1 to 3"),
        (f"{MATRIX}0 0 1\n1 2\n", "line 3: `1 2` has an index outside 1 to 0"),
    ],
)
def test_refused_with_place_and_cure(opener: Opener, content: str | bytes, message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        opener(content).file(Silent())


def neighbours_of(edges: set[tuple[int, int]]) -> dict[int, list[int]]:
    """Of each vertex whom it has an edge with."""
    both = edges | {(v, u) for u, v in edges}
    return {u: sorted(v for w, v in both if w == u) for u in sorted({u for u, _ in both})}


CIRCLE = {(number, number % 7 + 1) for number in range(1, 8)}
STAR = {(1, number) for number in range(2, 8)} | {(3, 4)}
OTHER_FORMS: dict[str, Callable[[dict[int, list[int]]], str]] = {
    "a vertex and its neighbours": lambda of: "".join(f"{u} {' '.join(map(str, vs))}\n" for u, vs in of.items()),
    "a colon behind the vertex": lambda of: "".join(f"{u}: {' '.join(map(str, vs))}\n" for u, vs in of.items()),
    "commas between neighbours": lambda of: "".join(f"{u}\t{','.join(map(str, vs))}\n" for u, vs in of.items()),
    "LGL": lambda of: "".join(f"# {u}\n" + "".join(f"{v}\n" for v in vs) for u, vs in of.items()),
    "LGL with weights": lambda of: "".join(f"# {u}\n" + "".join(f"{v} 5\n" for v in vs) for u, vs in of.items()),
    "Pajek": lambda of: "*Vertices 7\n*Arcslist\n" + "".join(f"{u} {vs[0]}\n" for u, vs in of.items()),
    "JSON": lambda of: json.dumps({"links": [[u, v] for u, vs in of.items() for v in vs]}) + "\n",
    "GraphML": lambda of: "<graphml>\n" + "".join(f'<edge source="{u}" target="{vs[0]}"/>\n' for u, vs in of.items()),
    "GML": lambda of: "graph [\n" + "".join(f"edge [ source {u} target {vs[0]} ]\n" for u, vs in of.items()) + "]\n",
}


@pytest.mark.parametrize("edges", [CIRCLE, STAR], ids=["circle", "star"])
@pytest.mark.parametrize("form", OTHER_FORMS.values(), ids=OTHER_FORMS)
def test_other_forms_of_graphs_are_refused_and_nobody_is_told_to_name_two_columns_of_them(
    opener: Opener, edges: set[tuple[int, int]], form: Callable[[dict[int, list[int]]], str]
) -> None:
    with pytest.raises(BadInputError, match="line 1: .*write one edge `u v` into each line") as refused:
        opener(form(neighbours_of(edges))).file(Silent())
    assert "columns" not in str(refused.value)


def test_neighbours_without_their_vertex_are_refused_too(opener: Opener) -> None:
    """As METIS writes them, below the numbers of vertices and edges."""
    lists = "".join(f"{' '.join(map(str, others))}\n" for others in neighbours_of(STAR).values())
    with pytest.raises(BadInputError, match="line 2: `2 3 4 5 6 7` seems to be a list of neighbours"):
        opener(f"7 7\n{lists}").file(Silent())


def test_a_comment_that_counts_vertices_begins_no_list(opener: Opener) -> None:
    assert opener("# 3\n1 2\n2 3\n").facts().edges == 2


def test_the_line_number_is_right_far_into_the_file(opener: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.input.reading.BLOCK_BYTES", 1000)
    lines = [f"{i} {i + 1}" for i in range(5000)]
    lines[4321] = "oops"
    with pytest.raises(BadInputError, match="line 4322: `oops`"):
        opener("\n".join(lines)).file(Silent())


@pytest.mark.parametrize(
    "content",
    [
        "3 3\n1 2\n1 3\n2 3\n",
        "265 12\n" + "".join(f"{i} {i + 1}\n" for i in range(12)),
        "100 4\n1 2\n2 3\n3 4\n4 5\n",
        "6 10\n1 2\n2 3\n3 4\n4 5\n5 6\n",
        "900 800\n" + "".join(f"{i} {i + 1}\n" for i in range(20)),
    ],
)
def test_a_first_line_that_may_be_a_header_is_refused_and_can_be_declared(opener: Opener, content: str) -> None:
    lines = content.count("\n")
    with pytest.raises(BadInputError, match=r"line 1: .*may be an edge or a header.*header_lines: 1.*format: edges"):
        opener(content).file(Silent())
    assert opener(content, header_lines=1).facts().edges == lines - 1
    assert opener(content, format="edges").facts().edges == lines - (content[:3] == "3 3")


@pytest.mark.parametrize(
    "content",
    [
        "1 2\n",
        "1 2\n2 3\n",
        "1 3\n1 2\n",
        "10 9\n10 8\n9 8\n",
        "1 2\n2 1\n",
        "7 8\n8 7\n1 2\n2 1\n",
        "3 1\n1 2\n",
        "0 1\n0 2\n",
    ],
)
def test_small_graphs_are_not_taken_for_headers(opener: Opener, content: str) -> None:
    opener(content).file(Silent())


def test_single_numbers_that_are_no_counts_are_refused(opener: Opener) -> None:
    with pytest.raises(BadInputError, match=r"line 1: `77` is one number .*header_lines: 1"):
        opener("77\n1 2\n2 3\n").file(Silent())


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    for path, what in ((tmp_path / "none", "doesn't exist"), (tmp_path, "is a folder")):
        with pytest.raises(BadInputError, match=what):
            open_dataset(DatasetSpec(name="d", file=path), tmp_path).file(Silent())


@pytest.mark.parametrize("fields", [{}, {"get": "dblp", "make": "dblp"}])
def test_exactly_one_origin_has_to_be_given(tmp_path: Path, fields: dict[str, str]) -> None:
    with pytest.raises(BadInputError, match="exactly one of `file`, `get` and `make`"):
        open_dataset(DatasetSpec.model_validate({"name": "d", **fields}), tmp_path)


def test_unknown_names_and_scales_say_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"`get: nosuch`.*brightkite.*orkut"):
        open_dataset(DatasetSpec(name="d", get="nosuch"), tmp_path)
    with pytest.raises(BadInputError, match=r"`make: nosuch`.*brightkite"):
        open_dataset(DatasetSpec(name="d", make="nosuch"), tmp_path)
    with pytest.raises(BadInputError, match=r"scale: 1e-06.*has to be from"):
        open_dataset(DatasetSpec(name="d", make="orkut", scale=1e-6), tmp_path)
    for scale in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="finite number"):
            DatasetSpec(name="d", make="dblp", scale=scale)
    for scale in (1e308, -1.0):
        with pytest.raises(BadInputError, match=r"scale: .*has to be from .* to 100"):
            open_dataset(DatasetSpec(name="d", make="dblp", scale=scale), tmp_path)


def test_header_lines_have_no_use_in_a_matrix(opener: Opener) -> None:
    with pytest.raises(BadInputError, match="says itself where its edges begin; leave out `header_lines`"):
        opener(f"{MATRIX}3 3 1\n1 2\n", header_lines=2).file(Silent())


@pytest.mark.slow
def test_several_compressed_streams_are_one_file(opener: Opener) -> None:
    two = bz2.compress(b"1 2\n" * 99_999) + bz2.compress(b"2 3\n")
    assert opener(two).facts().edges == 2
    assert opener(gzip.compress(b"1 2\n") + gzip.compress(b"2 3\n")).facts().edges == 2


def test_a_pipe_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadInputError, match="pipe"):
        open_dataset(DatasetSpec(name="d", file=tmp_path / "pipe"), tmp_path).file(Silent())
