"""The reader's simple graph equals the one that sets of Python give, for any lines."""

import math
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.input.graph import Collector, as_graph, count_triangles, facts_of
from assay.input.graph_file import UserGraph
from assay.model.dataset import DatasetSpec

small_ids = st.integers(0, 12)
any_ids = st.one_of(small_ids, st.integers(0, 2**63 - 1), st.integers(2**32 - 2, 2**32 + 2))
edge_lists = st.lists(st.tuples(any_ids, any_ids), min_size=1, max_size=40)


def expected(pairs: list[tuple[int, int]]) -> tuple[list[list[int]], list[int]]:
    edges = {(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]}
    tied = {end for edge in edges for end in edge}
    return [list(edge) for edge in sorted(edges)], sorted({u for u, _ in pairs} - tied)


@pytest.mark.slow
@given(edge_lists, st.integers(1, 7))
def test_collected_in_any_portions_the_graph_is_the_same(pairs: list[tuple[int, int]], portion: int) -> None:
    collector = Collector()
    for start in range(0, len(pairs), portion):
        collector.add(np.array(pairs[start : start + portion], dtype=np.uint64))
    simple = collector.finish()
    edges, lone = expected(pairs)
    graph = as_graph(simple)
    assert graph.edges.tolist() == edges
    assert graph.lone.tolist() == lone
    assert simple.loops == sum(u == v for u, v in pairs)
    assert simple.duplicates == len(pairs) - simple.loops - len(edges)


@pytest.mark.slow
@settings(deadline=None)
@given(edge_lists, st.sampled_from([" ", "\t", "   ", " \t", ","]), st.sampled_from(["\n", "\r\n", "\n\n", "\n#c\n"]))
def test_the_reader_agrees_whatever_the_separators(pairs: list[tuple[int, int]], between: str, ending: str) -> None:
    text = ending.join(f"{u}{between}{v}" for u, v in pairs)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "graph"
        path.write_text(text, newline="")
        dataset = UserGraph(DatasetSpec(name="d", file=path, format="edges"), path, Path(folder))
        graph = dataset.graph()
    edges, lone = expected(pairs)
    assert graph.edges.tolist() == edges
    assert graph.lone.tolist() == lone


@pytest.mark.slow
@given(st.lists(st.tuples(small_ids, small_ids), min_size=1, max_size=60))
def test_facts_agree_with_counting_by_hand(pairs: list[tuple[int, int]]) -> None:
    collector = Collector()
    collector.add(np.array(pairs, dtype=np.uint64))
    simple = collector.finish()
    facts = facts_of(simple, count_triangles(simple))
    edges = {tuple(edge) for edge in expected(pairs)[0]}
    nodes = {end for pair in pairs for end in pair}
    neighbours = {v: {w for e in edges if v in e for w in e if w != v} for v in nodes}
    assert facts.nodes == len(nodes)
    assert facts.edges == len(edges)
    assert facts.wedges == sum(math.comb(len(near), 2) for near in neighbours.values())
    assert facts.wedges_by_id == sum(math.comb(sum(w > v for w in near), 2) for v, near in neighbours.items())
    after = [sum((len(neighbours[w]), w) > (len(near), v) for w in near) for v, near in neighbours.items()]
    assert facts.wedges_by_degree == sum(math.comb(count, 2) for count in after)
    assert facts.degree_squares == sum(len(near) ** 2 for near in neighbours.values())
    triangles = sum({(a, b), (a, c), (b, c)} <= edges for a, b, c in combinations(sorted(nodes), 3))
    assert facts.triangles == triangles
