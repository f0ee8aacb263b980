"""Every form that a graph file comes in gives the same simple graph, and the right options for the jobs."""

import bz2
import gzip

import numpy as np
import pytest

from assay.model.progress import Silent
from tests.input.conftest import Opener

TRIANGLE = [[1, 2], [1, 3], [2, 3]]
BANNER = "%%MatrixMarket matrix coordinate pattern symmetric"


@pytest.mark.parametrize(
    ("content", "fields"),
    [
        ("1 2\n1 3\n2 3\n", {}),
        ("1 2\n1 3\n2 3", {}),
        ("1\t2\r\n1\t3\r\n\r\n2\t3\r\n", {}),
        ("  3   1 \n\n\n2    1\n 3 2\n", {}),
        ("# a comment, 1 2\n# 5 6\n1\t2\n2\t1\n1\t3\n3\t1\n2\t3\n3\t2\n", {}),
        ("1 2\n# in between\n1 3\n% another\n2 3\n3 3\n", {}),
        ("% sym unweighted\n% 3 3 3\n1 2\n1 3\n3 2\n", {}),
        ("% sym positive\n1 2 0.5 1199\n1 3 -1 1200\n3 2 1e-3 1201\n", {}),
        ("source,target\n1,2\n1,3\n2,3\n", {}),
        ("source;target;weight\n1;2;0.5\n1;3;x\n2;3;\n", {}),
        ("1,2\n1,3\n2,3\n", {}),
        ("3,3,u,graph\n1,2\n1,3\n2,3\n", {}),
        (f"{BANNER}\n% note\n3 3 3\n2 1\n3 1\n3 2\n", {}),
        ("%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n2 1 0.5\n3 1 2\n3 2 -1e9\n", {}),
        ("3\n3\n1 2\n1 3\n2 3\n", {}),
        ("3 3\n1 2\n1 3\n2 3\n", {"header_lines": 1}),
        ("# note\nnodes edges\n3 3\n1 2\n1 3\n2 3\n", {"header_lines": 2}),
        ("\ufeff1 2\n1 3\n2 3\n", {}),
    ],
)
def test_every_form_gives_the_same_graph(opener: Opener, content: str, fields: dict[str, object]) -> None:
    dataset = opener(content, **fields)
    graph = dataset.graph()
    assert graph.edges.tolist() == TRIANGLE
    assert graph.edges.dtype == np.int64
    assert graph.lone.tolist() == []
    facts = dataset.facts()
    assert (facts.nodes, facts.edges, facts.wedges, facts.wedges_by_id) == (3, 3, 3, 1)
    assert (facts.degree_squares, facts.triangles) == (12, 1)


@pytest.mark.parametrize(
    ("content", "fields", "options"),
    [
        ("1 2\n2 3\n", {}, ("--comment", "#%")),
        ("3,3,u,graph\n1,2\n1,3\n2,3\n", {}, ("--skip-bytes", "12", "--comment", "#%")),
        ("a,b,w\n1,2,5\n", {}, ("--skip-bytes", "6", "--comment", "#%", "--extra-columns", "allow")),
        ("% sym weighted\n1 2 5\n", {}, ("--comment", "#%", "--extra-columns", "allow")),
        ("# c\n3\r\n2\r\n1 2\n2 3\n", {}, ("--skip-bytes", "10", "--comment", "#%")),
        (
            f"{BANNER}\n% c\n2 2 1\n2 1\n",
            {},
            ("--skip-bytes", str(len(BANNER) + 11), "--comment", "#%", "--extra-columns", "allow"),
        ),
        ("\ufeff1 2\n", {}, ("--comment", "#%")),
        ("\ufeffa b\n1 2\n", {}, ("--skip-bytes", "7", "--comment", "#%")),
        ("1 2\n5\n", {"format": "edges"}, ("--comment", "#%", "--lone-vertices", "allow")),
    ],
)
def test_the_jobs_skip_exactly_the_header(
    opener: Opener, content: str, fields: dict[str, object], options: tuple[str, ...]
) -> None:
    staged = opener(content, **fields).file(Silent())
    assert staged.normalise_options == options
    assert not staged.canonical


@pytest.mark.parametrize(
    ("pack", "name", "staged_name"),
    [
        (bytes, "graph.txt", "graph.txt"),
        (bytes, "graph.txt.gz", "graph.txt.gz.txt"),
        (gzip.compress, "graph.jlg", "graph.jlg.gz"),
        (gzip.compress, "graph.gz", "graph.gz"),
        (bz2.compress, "graph.gz", "graph.gz.bz2"),
    ],
)
def test_compression_goes_by_the_bytes_and_the_staged_name_by_the_compression(
    opener: Opener, pack: object, name: str, staged_name: str
) -> None:
    assert callable(pack)
    dataset = opener(pack(b"1 2\n1 3\n2 3\n"), name)
    staged = dataset.file(Silent())
    assert staged.name == staged_name
    assert staged.path.name == name
    assert staged.bytes == staged.path.stat().st_size
    assert dataset.graph().edges.tolist() == TRIANGLE


def test_counts_say_what_the_file_was_made_of(opener: Opener) -> None:
    counts = opener("# c\na,b\n1,2\n2,1\n\n3,3\n1,2\n4,5\n").counts()
    assert (counts.lines, counts.header, counts.comments, counts.blank) == (8, 2, 0, 1)
    assert (counts.edge_lines, counts.self_loops, counts.duplicates) == (5, 1, 2)


def test_a_vertex_with_only_a_loop_stays_as_a_lone_vertex(opener: Opener) -> None:
    dataset = opener("1 2\n7 7\n2 2\n0 0\n")
    assert dataset.graph().lone.tolist() == [0, 7]
    assert dataset.facts().nodes == 4


def test_format_edges_takes_every_line(opener: Opener) -> None:
    dataset = opener("2 2\n5\n1 2\n3 4\n", format="edges")
    assert dataset.graph().lone.tolist() == [5]
    assert dataset.facts().edges == 2


def test_the_largest_ids_are_read_and_kept_in_order(opener: Opener) -> None:
    largest = 2**63 - 1
    dataset = opener(f"{largest} 0\n{largest - 1} {largest}\n5 4294967296\n1 2\n{largest} {largest}\n9 9\n")
    assert dataset.graph().edges.tolist() == [[0, largest], [1, 2], [5, 2**32], [largest - 1, largest]]
    assert dataset.graph().lone.tolist() == [9]
    assert dataset.facts().nodes == 8


def test_a_second_reading_comes_from_the_cache_until_the_content_changes(opener: Opener) -> None:
    first = opener("1 2\n")
    assert first.facts().edges == 1
    assert first.facts() == opener("1 2\n").facts()
    assert opener("1 2\n1 3\n").facts().edges == 2
