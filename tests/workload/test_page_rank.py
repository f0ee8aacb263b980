"""Proves that the verifier of PageRank passes right ranks and fails each kind of wrong ones, and what graphs are made."""

import numpy as np
import pytest

from assay.input.directed import made_graph, read_graph, write_graph
from assay.model.doubt import Outcome, overall
from assay.model.engine import LaunchReport
from assay.model.errors import AssayError, BadInputError
from assay.model.progress import Silent
from assay.model.trial import WorkloadSpec
from assay.workload.page_rank import PageRank, PowerIteration
from assay_extras.testing.fake_hadoop import FakeEngine, FakeStore, Script
from tests.builders import a_trial


def workload(**options):
    given = {name: str(value) for name, value in options.items()}
    return PageRank(WorkloadSpec(name="page-rank", options=given), "/base")


def brute_force(vertices, edges, damping, tolerance, most):
    """Ranks by vertex, the number of iterations and the last change, by a dense matrix."""
    place = {vertex: at for at, vertex in enumerate(vertices)}
    matrix = np.zeros((len(vertices), len(vertices)))
    for source, target in edges:
        matrix[place[target], place[source]] = 1
    outward = matrix.sum(axis=0)
    matrix[:, outward == 0] = 1
    matrix /= matrix.sum(axis=0)
    ranks, change, iterations = np.full(len(vertices), 1 / len(vertices)), 2.0, 0
    while change >= tolerance and iterations < most:
        after = (1 - damping) / len(vertices) + damping * matrix @ ranks
        change, ranks, iterations = np.abs(after - ranks).sum(), after, iterations + 1
    return dict(zip(vertices, ranks.tolist(), strict=True)), iterations, change, int((outward == 0).sum())


class Output:
    """A right output; each part can be changed before it is judged."""

    def __init__(self, subject, graph, damping=0.85, tolerance=1e-7, most=50):
        self.workload = subject
        edges = list(zip(graph.sources.tolist(), graph.targets.tolist(), strict=True))
        found = brute_force(graph.vertices.tolist(), edges, damping, tolerance, most)
        self.ranks, iterations, change, dangling = found
        self.extra = []
        self.result = {
            "iterations": iterations, "converged": int(change < tolerance), "change": change,
            "vertices": len(graph.vertices), "edges": len(edges), "dangling_vertices": dangling,
        }  # fmt: skip

    def judged(self):
        return overall(self.verdicts())

    def verdicts(self):
        store = FakeStore(Script())
        lines = [f"{vertex}\t{rank!r}".encode() for vertex, rank in self.ranks.items()]
        store.files = {"/base/output/part-r-00000": lines[1::2] + self.extra, "/base/output/part-r-00001": lines[::2]}
        return self.workload.verify(store, LaunchReport(jobs=(), result=self.result))


@pytest.fixture
def output():
    return Output(workload(scale=6, edge_factor=3), made_graph(6, 3, 1))


def test_right_ranks_pass(output):
    assert output.result["dangling_vertices"] > 0
    assert len(made_graph(6, 3, 1).isolated) > 0
    assert output.result["converged"] == 1
    assert output.judged() is Outcome.PASS


@pytest.mark.parametrize(("damping", "tolerance", "most"), [(0.85, 1e-7, 3), (0.3, 1e-3, 50), (0.99, 1e-10, 200)])
def test_other_options_pass(damping, tolerance, most):
    subject = workload(scale=5, edge_factor=2, damping=damping, tolerance=tolerance, iterations=most)
    assert Output(subject, made_graph(5, 2, 1), damping, tolerance, most).judged() is Outcome.PASS


@pytest.mark.parametrize("share", [1e-8, -1e-8, 0.5])
def test_a_changed_rank_fails(output, share):
    output.ranks[7] *= 1 + share
    assert output.judged() is Outcome.FAIL


@pytest.mark.parametrize("rank", ["nan", "inf"])
def test_a_rank_that_is_no_number_fails_the_comparison_itself(output, rank):
    output.ranks[7] = float(rank)
    differing = next(one for one in output.verdicts() if "equal those of power iteration" in one.check)
    assert (differing.outcome, differing.detail) == (Outcome.FAIL, "1 vertices differ")


def test_two_ranks_exchanged_fail(output):
    output.ranks[7], output.ranks[8] = output.ranks[8] + 1e-9, output.ranks[7]
    assert output.judged() is Outcome.FAIL


def test_a_missing_doubled_or_strange_vertex_fails(output):
    rank = output.ranks.pop(7)
    assert output.judged() is Outcome.FAIL
    output.ranks[64] = rank
    assert output.judged() is Outcome.FAIL
    del output.ranks[64]
    output.ranks[7] = rank
    output.extra = [b"7\t%r" % rank]
    assert output.judged() is Outcome.FAIL


@pytest.mark.parametrize("line", [b"", b"1", b"x\t0.1", b"1\tx", b"1\t2\t3", b"9223372036854775808\t1"])
def test_a_line_that_is_no_rank_cant_be_read(output, line):
    output.extra = [line]
    with pytest.raises(AssayError, match="not `vertex<TAB>rank`"):
        output.judged()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["iterations", "converged", "vertices", "edges", "dangling_vertices"])
@pytest.mark.parametrize("by", [-1, 1])
def test_figures_that_disagree_fail(output, name, by):
    output.result[name] += by
    assert output.judged() is Outcome.FAIL


def test_a_wrong_change_fails(output):
    output.result["change"] *= 1.001
    assert output.judged() is Outcome.FAIL
    del output.result["change"]
    assert output.judged() is Outcome.FAIL


def test_iterations_out_of_bounds_fail_without_being_done(output):
    for iterations in (0, 51, 10**15, 1.5):
        output.result["iterations"] = iterations
        assert output.judged() is Outcome.FAIL


def test_both_libraries_agree():
    power = PowerIteration(made_graph(9, 4, 2), 0.85)
    ranks, changes = power.iterate(200)
    assert np.abs(ranks - power.limit()).sum() < 1e-11
    assert changes[-1] < 1e-13


def test_a_users_graph_passes(tmp_path):
    file = tmp_path / "edges.txt"
    file.write_text("# source target\n1\t9223372036854775807\n5,1\n5 5\n1\t9223372036854775807\n7 5\n")
    graph = read_graph(file)
    assert graph.vertices.tolist() == [1, 5, 7, (1 << 63) - 1]
    assert len(graph.sources) == 4
    output = Output(workload(file=file), graph)
    assert output.judged() is Outcome.PASS
    assert output.result["dangling_vertices"] == 1


@pytest.mark.slow
def test_made_graphs_are_skewed_and_seeded():
    graph = made_graph(12, 16, 1)
    assert graph.vertices.tolist() == list(range(4096))
    edges = set(zip(graph.sources.tolist(), graph.targets.tolist(), strict=True))
    assert len(edges) == len(graph.sources)
    assert 0.5 * 16 * 4096 < len(edges) < 16 * 4096
    degrees = np.sort(np.bincount(graph.sources, minlength=4096))[::-1]
    assert degrees[:41].sum() > 0.1 * len(edges)
    assert len(graph.isolated) > 100
    assert np.array_equal(made_graph(12, 16, 1).targets, graph.targets)
    assert not np.array_equal(made_graph(12, 16, 2).targets[:1000], graph.targets[:1000])


def test_edges_fall_into_the_quarters_as_the_initiator_says(monkeypatch):
    """Without renumbering the first bit of both ends tells the quarter."""
    identity = lambda self, count: np.arange(count)  # noqa: E731
    random = type("Ordered", (), {"permutation": identity, "random": lambda self, count: drawn.random(count)})
    drawn = np.random.default_rng(1)
    monkeypatch.setattr(np.random, "default_rng", lambda seed: random())
    graph = made_graph(14, 1, 1)
    half = 1 << 13
    quarters = np.bincount(2 * (graph.sources >= half) + (graph.targets >= half), minlength=4) / len(graph.sources)
    assert quarters == pytest.approx([0.57, 0.19, 0.19, 0.05], abs=0.02)


def test_the_graph_is_written_whole(tmp_path):
    graph = made_graph(8, 2, 3)
    write_graph(graph, tmp_path / "edges.txt")
    lines = [line.split("\t") for line in (tmp_path / "edges.txt").read_text().splitlines()]
    edges = [(int(line[0]), int(line[1])) for line in lines if len(line) == 2]
    assert edges == list(zip(graph.sources.tolist(), graph.targets.tolist(), strict=True))
    assert {int(one) for line in lines for one in line} == set(range(256))
    assert [int(line[0]) for line in lines if len(line) == 1] == graph.isolated.tolist()


def test_staging_and_command():
    store = FakeStore(Script())
    engine = FakeEngine(Script(), a_trial(), store)
    tuned = PageRank(WorkloadSpec(name="page-rank", variant="tuned", options={"scale": "4"}), "/base")
    assert tuned.stage(store, engine, Silent()).jobs == ()
    assert list(store.files) == ["/base/input/edges.txt"]
    tuned.run(engine, Silent())
    (launch,) = engine.launches
    assert launch.command == "page-rank-tuned"
    assert launch.options == ("--damping=0.85", "--tolerance=1e-07", "--iterations=50")


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"scale": "0"}, "scale is '0', and must be a whole number from 1 on"),
        ({"scale": "-3"}, "scale is '-3'"),
        ({"scale": "32"}, "scale is '32', and must be a whole number from 1 to 31"),
        ({"edge_factor": "0"}, "edge_factor is '0'"),
        ({"iterations": "0"}, "iterations is '0'"),
        ({"damping": "1"}, "damping is '1', and must be a number above 0 and below 1"),
        ({"damping": "-0.5"}, "damping is '-0.5'"),
        ({"tolerance": "0"}, "tolerance is '0'"),
        ({"tolerance": "x"}, "tolerance is 'x'"),
        ({"file": "x", "scale": "3"}, "scale is of made graphs; leave out scale, or file"),
    ],
)
def test_options_that_are_impossible_are_refused_at_once(options, what):
    with pytest.raises(BadInputError, match=what):
        workload(**options)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("1 2\n3 x\n", "edges.txt line 2: 'x' is not a vertex number"),
        ("1 2\n3\n", "edges.txt line 2: the edge has 1 numbers, and must have 2"),
        ("# nothing\n\n", "edges.txt has no edge; give a file with one edge per line"),
        ("", "edges.txt has no edge"),
    ],
)
def test_files_that_are_wrong_are_refused_before_anything_starts(tmp_path, text, what):
    (tmp_path / "edges.txt").write_text(text)
    with pytest.raises(BadInputError, match=what):
        workload(file=tmp_path / "edges.txt").estimate()


def test_estimates_grow_with_what_is_moved():
    small, large = (workload(scale=scale).estimate() for scale in (16, 20))
    assert large.disk_bytes == 16 * small.disk_bytes
    assert large.seconds > small.seconds
    assert workload(iterations=1).estimate().seconds < small.seconds
