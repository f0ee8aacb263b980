"""A graph for the workloads that give each vertex a value, and what is done to outputs that are right."""

from collections import defaultdict

import numpy as np

from assay.model.dataset import Graph
from assay.model.doubt import Outcome, overall
from assay.model.engine import LaunchReport
from assay.model.trial import WorkloadSpec
from assay_extras.testing.fakes import FakeStore, Script
from tests.workload.stored import GivenGraph, name_of

FAR = 1 << 62


def a_graph(seed=7, edges=150):
    """Two random parts of which one has ids near 2^62, a path, and lone vertices (also vertex 0)."""
    source = np.random.default_rng(seed)
    pairs = source.integers(1, 60, size=(edges, 2))
    far = source.integers(FAR, FAR + 15, size=(30, 2))
    edges = np.concatenate([pairs, far, [[100, 101], [101, 102]]])
    edges = np.unique(np.sort(edges[edges[:, 0] != edges[:, 1]], axis=1), axis=0)
    return Graph(edges=edges, lone=np.array([0, 200], dtype=np.int64))


def neighbours_of(graph):
    """For each vertex the set of its neighbours."""
    found = defaultdict(set)
    for u, v in graph.edges.tolist():
        found[u].add(v)
        found[v].add(u)
    return {**found, **{vertex: set() for vertex in graph.lone.tolist()}}


def lines_of(values):
    """As the jobs write them."""
    return [f"{vertex}\t{value}\t0\t7 8".encode() for vertex, value in values.items()]


def outcome(kind, graph, lines, result, **options):
    """What the verifier makes of an output and of what the jobs counted."""
    return overall(verdicts(kind, graph, lines, result, **options))


def verdicts(kind, graph, lines, result, variant="paper", **options):
    options = {name.strip("_"): text for name, text in options.items()}
    spec = WorkloadSpec(name=name_of(kind), variant=variant, options=options)
    workload = kind(spec, "/base", GivenGraph(graph))
    store = FakeStore(Script())
    store.files["/base/output/part-r-00000"] = lines
    return workload.verify(store, LaunchReport(jobs=(), result=result))


def assert_judged_right(kind, graph, values, result, **options):
    """The right output passes in any order; each corruption of it, and of each counter, fails."""
    lines = lines_of(values)
    assert outcome(kind, graph, lines, result, **options) is Outcome.PASS
    assert outcome(kind, graph, lines[::-1], result, **options) is Outcome.PASS
    for name, count in result.items():
        assert outcome(kind, graph, lines, {**result, name: count + 1}, **options) is Outcome.FAIL
        assert outcome(kind, graph, lines, {n: c for n, c in result.items() if n != name}, **options) is Outcome.FAIL
    corrupted = {
        "a line is missing": lines[1:],
        "a line is there twice": [*lines, lines[0]],
        "a stranger": [*lines, b"77777\t0\t0\t"],
        "a stranger in place of a vertex": [*lines[1:], b"77777\t0\t0\t"],
        "nothing": [],
    }
    for vertex in (0, 102, FAR + 1):
        corrupted[f"another value of {vertex}"] = lines_of({**values, vertex: values[vertex] + 1})
    for name, wrong in corrupted.items():
        assert outcome(kind, graph, wrong, result, **options) is Outcome.FAIL, name
