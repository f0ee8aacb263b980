"""Proves that the verifier of k-means passes a right output and fails each kind of wrong one; ties, empty clusters too."""

import math
from contextlib import nullcontext
from itertools import pairwise

import numpy as np
import pytest

from assay.input import staging
from assay.input.points import FilePoints, GeneratedPoints, drawn
from assay.model.doubt import Outcome, overall
from assay.model.engine import LaunchReport
from assay.model.errors import AssayError, BadInputError
from assay.model.progress import Silent
from assay.model.trial import WorkloadSpec
from assay.workload import k_means
from assay.workload.k_means import KMeans, iterate, nearest, read_centres, write_centres
from assay_extras.testing.fake_hadoop import FakeEngine, FakeStore, Script
from tests.builders import a_trial


def workload(**options):
    return KMeans(WorkloadSpec(name="k-means", options={name: str(value) for name, value in options.items()}), "/base")


def write_points(points, file):
    """A point per line, with numbers that are read as the same doubles."""
    file.write_text("".join(",".join(map(repr, row)) + "\n" for row in points.tolist()), encoding="utf-8")


def brute_force(points, centres, most):
    """Plain loops; the ties of coarse grids are equal to a share of 1e-12."""
    centres, iterations, still = [list(one) for one in centres], 0, 0
    while iterations < most and still < len(centres):
        iterations += 1
        members = [[] for _ in centres]
        for point in points:
            members[label(point, centres)].append(point)
        after = [
            [sum(column) / len(mine) for column in zip(*mine, strict=True)] if mine else old
            for mine, old in zip(members, centres, strict=True)
        ]
        still = sum(np.allclose(new, old, rtol=0, atol=1e-12) for new, old in zip(after, centres, strict=True))
        centres = after
    return centres, [len(mine) for mine in members], iterations, still


def label(point, centres):
    squares = [sum((x - c) ** 2 for x, c in zip(point, centre, strict=True)) for centre in centres]
    return next(at for at, square in enumerate(squares) if square <= min(squares) * (1 + 1e-12))


class Output:
    """A right output of points in a file; each part can be changed before it is judged."""

    def __init__(self, folder, points, start, most=50):
        self.file, starts = folder / "points.txt", folder / "centres.txt"
        write_points(np.array(points), self.file)
        write_points(np.array(start), starts)
        self.workload = workload(file=self.file, centres=starts, iterations=most, assign=True)
        centres, counts, iterations, still = brute_force(points, start, most)
        self.centres = [
            f"{at}\t{count}\t{','.join(map(repr, centre))}".encode()
            for at, (count, centre) in enumerate(zip(counts, centres, strict=True))
        ]
        lines = self.file.read_bytes().splitlines()
        self.clusters = [b"%d\t%s" % (label(point, centres), line) for point, line in zip(points, lines, strict=True)]
        self.result = {
            "iterations": iterations, "points": len(points), "converged": still, "empty": counts.count(0),
            "assigned": len(points),
        }  # fmt: skip

    def judged(self):
        store = FakeStore(Script())
        store.files = {
            "/base/output/centres/part-r-00000": self.centres, "/base/output/clusters/part-m-00000": self.clusters,
            "/base/input/points/points.txt": self.file.read_bytes().splitlines(),
        }  # fmt: skip
        return overall(self.workload.verify(store, LaunchReport(jobs=(), result=self.result)))


@pytest.fixture
def output(tmp_path):
    random = np.random.default_rng(8)
    points = (random.integers(0, 30, (60, 3)) / 10).tolist()
    return Output(tmp_path, points, points[:4])


def test_a_right_output_passes(output):
    assert output.result["iterations"] > 2
    assert output.judged() is Outcome.PASS
    output.centres.reverse()
    output.clusters.reverse()
    assert output.judged() is Outcome.PASS


def test_ties_and_empty_clusters_pass(tmp_path):
    """A symmetric grid has many equal distances; centres that coincide or are far off have no points."""
    points = [[x / 10, y / 10] for x in range(-3, 4) for y in range(-3, 4)]
    output = Output(tmp_path, points, [[-0.3, 0.0], [0.3, 0.0], [0.3, 0.0], [9.0, 9.0], [0.0, -0.3]])
    assert output.result["empty"] == 1  # the one that coincided gets points once the other has moved
    assert output.judged() is Outcome.PASS


@pytest.mark.parametrize("seed", range(5))
def test_the_bound_may_end_it(tmp_path, seed):
    points = np.random.default_rng(seed).normal(size=(50, 2)).tolist()
    output = Output(tmp_path, points, points[:5], most=2)
    assert output.result["converged"] < 5
    assert output.judged() is Outcome.PASS


def moved(line):
    index, count, first = line.split(b"\t")
    values = [float(one) for one in first.split(b",")]
    return b"%s\t%s\t%s" % (index, count, ",".join(repr(one * (1 + 3e-6)) for one in values).encode())


def miscounted(line):
    index, count, rest = line.split(b"\t")
    return b"%s\t%d\t%s" % (index, int(count) + 1, rest)


def test_wrong_centres_fail(output):
    right = output.centres
    for wrong in ([moved(right[0]), *right[1:]], [*right[:3], miscounted(right[3])]):
        output.centres = wrong
        assert output.judged() is Outcome.FAIL
    for unreadable in (right[1:], [*right, right[0]], [*right[1:], b"9\t1\t1,1,1"], [*right[1:], b"0\t1\t1,1"],
                       [*right[1:], b"nonsense"]):  # fmt: skip
        output.centres = unreadable
        with pytest.raises(AssayError, match="the output of k-means has"):
            output.judged()


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity"])
def test_a_centre_that_is_no_number_fails(output, value):
    index, count, coordinates = output.centres[2].split(b"\t")
    _, *others = coordinates.split(b",")
    output.centres[2] = b"%s\t%s\t%s" % (index, count, b",".join([value.encode(), *others]))
    assert output.judged() is Outcome.FAIL
    output.centres[2] = b"%s\t%s\t%s" % (index, count, b",".join([value.encode()] * 3))
    assert output.judged() is Outcome.FAIL


def test_wrong_clusters_fail(output):
    right = output.clusters
    index, point = right[0].split(b"\t", 1)
    for wrong in (
        right[1:], [*right, right[0]], [b"%d\t%s" % (1 - min(1, int(index)), point), *right[1:]],
        [b"%s\t2.95,2.95,2.95" % index, *right[1:]], [b"9\t" + point, *right[1:]],
    ):  # fmt: skip
        output.clusters = wrong
        assert output.judged() is Outcome.FAIL


@pytest.mark.parametrize(
    "line", [b"nonsense", b"x\t1,1,1", b"0\t1,1", b"0\t1,1,1,1", b"0\t1,1,x", b"1.5\t1,1,1", b"0 1,1,1"]
)
def test_a_line_that_is_no_cluster_and_point_cant_be_read(output, line):
    output.clusters = [*output.clusters[1:], line]
    with pytest.raises(AssayError, match="the output of k-means has a line that is not a cluster's index and a point"):
        output.judged()


def test_an_index_beyond_64_bits_fails(output):
    _, point = output.clusters[0].split(b"\t", 1)
    output.clusters[0] = b"99999999999999999999\t" + point
    assert output.judged() is Outcome.FAIL


@pytest.mark.parametrize("name", ["iterations", "points", "converged", "empty", "assigned"])
@pytest.mark.parametrize("by", [-1, 1])
def test_counters_that_disagree_fail(output, name, by):
    output.result[name] += by
    assert output.judged() is Outcome.FAIL


def test_an_iteration_too_many_fails(output):
    """The centres are the same, but it should have ended before."""
    output.result["iterations"] += 1
    assert output.judged() is Outcome.FAIL


def test_iterations_out_of_bounds_fail_without_being_done(output):
    for iterations in (0, 51, 10**15, 1.5):
        output.result["iterations"] = iterations
        assert output.judged() is Outcome.FAIL


def test_ties_go_to_the_lowest_index():
    points = np.array([[0.3, 0.0], [0.1, 0.0], [0.5, 0.0]])
    labels, _ = nearest(points, np.array([[0.5, 0.0], [0.1, 0.0], [0.5, 0.0]]))
    assert labels.tolist() == [0, 1, 0]


@pytest.mark.parametrize("coordinate", [1e160, -1e200, math.nan])
def test_a_point_beyond_all_distances_has_no_nearest_centre(coordinate):
    centres = np.array([[0.0, 1.0], [2.0, 3.0]])
    with pytest.raises(AssayError, match="so far from all centres that the square of its distance is beyond a double"):
        nearest(np.array([[1.0, 1.0], [coordinate, 0.0]]), centres)
    labels, _ = nearest(np.array([[1e160, 0.0]]), np.array([[0.0, 0.0], [1e160, 1.0]]))
    assert labels.tolist() == [1]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("far_off", [False, True])
@pytest.mark.filterwarnings("ignore:One of the clusters is empty")
def test_without_ties_the_iteration_is_that_of_a_library(tmp_path, seed, far_off):
    """SciPy's k-means by Lloyd; a centre that is far off has no points, and stays where it is in both."""
    from scipy.cluster.vq import kmeans2

    file = tmp_path / "points.txt"
    write_points(np.random.default_rng(seed).normal(size=(400, 3)), file)
    points = FilePoints(file)
    given = np.concatenate(list(points.chunks()))
    start = given[:7].copy()
    if far_off:
        start[3] = 1e3
    for iterations in (1, 2, 5, 20):
        found = iterate(points, start, iterations)
        centres, _ = kmeans2(given, start, iter=iterations, minit="matrix", missing="warn")
        assert found.centres == pytest.approx(centres, rel=1e-9, abs=1e-12)
        _, labels = kmeans2(given, found.centres, iter=1, minit="matrix", missing="warn")
        assert np.array_equal(nearest(given, found.centres)[0], labels)
        assert (found.counts[3] == 0) == far_off


@pytest.mark.slow
def test_made_points_are_written_as_they_are_computed(tmp_path):
    made = GeneratedPoints(300_000, 4, seed=5)
    file = tmp_path / "points.txt"
    file.write_bytes(b"".join(made.text_pieces()))
    read = FilePoints(file)
    assert (read.count, read.attributes) == (300_000, 4)
    assert np.array_equal(np.concatenate(list(read.chunks())), np.concatenate(list(made.chunks())))
    assert made.size().bytes == pytest.approx(file.stat().st_size, rel=1e-3)
    values = next(made.chunks())
    assert set(np.unique(values[:, 2])) == {0.0, 1.0}
    assert len(np.unique(values[:, 0])) == len(np.unique(values[:, 1])) == 100
    assert GeneratedPoints(10_000_000, 10, 1).size().bytes == 326_000_000


def test_other_seeds_make_other_points():
    first, second, again = (next(GeneratedPoints(100, 3, seed).chunks()) for seed in (1, 2, 1))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, second)


@pytest.mark.slow
def test_centres_are_drawn_without_replacement():
    points = GeneratedPoints(200_000, 10, seed=3)
    all_of_them = np.concatenate(list(points.chunks()))
    centres = drawn(points, 50, seed=3)
    assert len(np.unique(centres, axis=0)) == 50
    assert all((all_of_them == centre).all(axis=1).any() for centre in centres)
    assert np.array_equal(centres, drawn(points, 50, seed=3))
    assert len(np.unique(drawn(GeneratedPoints(7, 10, 1), 7, 2), axis=0)) == 7


def test_what_is_drawn_of_made_points_is_computed_once_and_is_the_callers_own(monkeypatch):
    points = GeneratedPoints(5000, 3, seed=9)
    first = drawn(points, 4, seed=9)
    kept = first.copy()
    first[:] = 0
    monkeypatch.setattr(GeneratedPoints, "chunks", None)
    assert np.array_equal(drawn(GeneratedPoints(5000, 3, seed=9), 4, seed=9), kept)


def test_inertia_never_rises():
    points = GeneratedPoints(20_000, 5, seed=1)
    inertias = iterate(points, drawn(points, 8, 1), 12).inertias
    assert all(after <= before for before, after in pairwise(inertias))


def test_staging_and_command():
    store = FakeStore(Script())
    engine = FakeEngine(Script(), a_trial(), store)
    tuned = KMeans(WorkloadSpec(name="k-means", variant="tuned", options={"points": "50", "k": "3"}), "/base")
    assert tuned.stage(store, engine, Silent()).jobs == ()
    assert list(store.files) == ["/base/input/points/points.txt", "/base/input/centres/centres.txt"]
    tuned.run(engine, Silent())
    (launch,) = engine.launches
    assert launch.command == "k-means-tuned"
    assert launch.input == "/base/input/points"
    centres = "--centres={store}/base/input/centres/centres.txt"
    assert launch.options == (centres, "--numbered", "--iterations=100")


def test_centres_are_staged_with_their_indices_so_that_their_order_does_not_matter(tmp_path):
    centres = np.array([[0.1, 2.0], [1e300, -3.5]])
    write_centres(centres, tmp_path / "centres.txt")
    assert (tmp_path / "centres.txt").read_text() == "0\t0\t0.1,2.0\n1\t0\t1e+300,-3.5\n"

    class Reversed(FakeStore):
        def lines(self, path):
            return reversed((tmp_path / "centres.txt").read_bytes().splitlines())

    assert np.array_equal(read_centres(Reversed(Script()), "/centres", (2, 2))[0], centres)


class ColumnarStore(FakeStore):
    """Notes what it is told, and what it holds then."""

    def __init__(self):
        super().__init__(Script())
        self.expected = []

    def expect(self, path, columns):
        self.expected.append((path, columns, list(self.files)))


def test_a_store_of_columns_is_told_which_of_them_are_read_before_they_come():
    for unused, expected, options in (("0", [], ()), ("5", [("/base/input/points", 4, [])], ("--attributes=4",))):
        store = ColumnarStore()
        engine = FakeEngine(Script(), a_trial(), store)
        options_given = {"points": "50", "attributes": "4", "unused": unused, "k": "3"}
        k_means = KMeans(WorkloadSpec(name="k-means", options=options_given), "/base")
        k_means.stage(store, engine, Silent())
        assert store.expected == expected
        k_means.run(engine, Silent())
        assert engine.launches[0].options[3:] == options


def test_unused_numbers_change_no_point():
    without, beside = GeneratedPoints(200_000, 4, 7), GeneratedPoints(200_000, 4, 7, unused=5)
    assert without != beside
    assert beside.attributes == 4
    assert np.array_equal(np.concatenate(list(without.chunks())), np.concatenate(list(beside.chunks())))
    text = b"".join(beside.text_pieces())
    lines = text.splitlines()
    assert {line.count(b",") for line in lines} == {8}
    assert beside.size().bytes == pytest.approx(len(text), rel=1e-3)
    for plain, line in zip(b"".join(without.text_pieces()).splitlines(), lines, strict=True):
        assert line.startswith(plain + b",")


def test_unused_numbers_of_a_file_are_no_attributes(tmp_path):
    file = tmp_path / "points.txt"
    file.write_text("1,2,9\n3 4 8\n")
    points = FilePoints(file, unused=1)
    assert (points.count, points.attributes) == (2, 2)
    assert np.concatenate(list(points.chunks())).tolist() == [[1, 2], [3, 4]]
    with pytest.raises(
        BadInputError, match="points.txt has 3 numbers in a line, of which 3 are unused; leave 1 or more"
    ):
        FilePoints(file, unused=3).shape()


def test_made_points_are_streamed_into_a_store_that_takes_them(tmp_path):
    class Streaming(FakeStore):
        streams = True

        def write(self, path, pieces):
            self.contents[path] = b"".join(pieces)

    store = Streaming(Script())
    one = KMeans(WorkloadSpec(name="k-means", options={"points": "200000", "attributes": "4"}), "/base")
    one.stage(store, FakeEngine(Script(), a_trial(), store), Silent())
    assert store.contents["/base/input/points/points.txt"] == b"".join(GeneratedPoints(200_000, 4, 1).text_pieces())
    assert list(store.files) == ["/base/input/centres/centres.txt"]


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"points": "0"}, "points is '0', and must be a whole number from 1 on"),
        ({"points": "-5"}, "points is '-5', and must be"),
        ({"k": "0"}, "k is '0', and must be"),
        ({"attributes": "-1"}, "attributes is '-1'"),
        ({"iterations": "0"}, "iterations is '0'"),
        ({"assign": "perhaps"}, "assign is 'perhaps', and must be true or false"),
        ({"points": "9", "k": "10"}, "k is 10, and there are only 9 points; take a smaller k"),
        ({"file": "x", "points": "3"}, "points is the file's"),
    ],
)
def test_options_that_are_impossible_are_refused_at_once(options, what):
    with pytest.raises(BadInputError, match=what):
        workload(**options)


@pytest.mark.parametrize(
    ("points", "centres", "options", "what"),
    [
        ("1,2\n3,4\n", None, {"k": 3}, "k is 3, and there are only 2 points"),
        ("1,2\n3\n", None, {"k": 1}, "points.txt line 2: the point has 1 numbers, and must have 2"),
        ("1,2\n3,x\n", None, {"k": 1}, "points.txt line 2: 'x' is not a finite decimal number"),
        ("\n", None, {"k": 1}, "points.txt has no point"),
        ("1,2\n3,4\n", "1,2\n3,4\n5,6\n", {}, "k is 3, and there are only 2 points"),
        ("1,2\n3,4\n", "1\n", {}, "the centres have 1 attributes, and the points 2"),
        ("1,2\n3,4\n", "1,2\n", {"k": 2}, "k is 2, and the file of centres has 1; leave k out"),
        ("1,2\n3,4\n", "1,2\n3\n", {}, "centres.txt line 2: the point has 1 numbers"),
        ("1,2\n3,4\n", "", {}, "centres.txt has no point"),
    ],
)
def test_files_that_are_wrong_are_refused_before_anything_starts(tmp_path, points, centres, options, what):
    (tmp_path / "points.txt").write_text(points)
    given = dict(options, file=tmp_path / "points.txt")
    if centres is not None:
        (tmp_path / "centres.txt").write_text(centres)
        given["centres"] = tmp_path / "centres.txt"
    with pytest.raises(BadInputError, match=what):
        workload(**given).estimate()


def test_a_file_of_centres_decides_k_whatever_the_default(tmp_path):
    """Ten is the default, and there are but three points."""
    (tmp_path / "centres.txt").write_text("1,2\n3,4\n")
    given = workload(points=3, attributes=2, centres=tmp_path / "centres.txt")
    assert given.estimate().disk_bytes > 0
    (tmp_path / "centres.txt").write_text("1,2\n3,4\n5,6\n7,8\n")
    with pytest.raises(BadInputError, match="k is 4, and there are only 3 points"):
        workload(points=3, attributes=2, centres=tmp_path / "centres.txt").estimate()


@pytest.mark.parametrize(("own", "wanted"), [(True, []), (False, [GeneratedPoints(20, 2, 1).size().bytes])])
def test_room_is_asked_for_what_is_made_alone(tmp_path, monkeypatch, own, wanted):
    asked = []
    monkeypatch.setattr(staging, "scratch_directory", lambda size: asked.append(size) or nullcontext(tmp_path))
    (tmp_path / "mine.txt").write_text("1,2\n3,4\n")
    given = workload(file=tmp_path / "mine.txt", k=2) if own else workload(points=20, attributes=2, k=2)
    script = Script()
    store = FakeStore(script)
    given.stage(store, FakeEngine(script, a_trial(), store), Silent())
    assert asked == wanted


def test_files_that_are_not_there_are_refused(tmp_path):
    with pytest.raises(BadInputError, match="nowhere can't be read"):
        workload(file=tmp_path / "nowhere").estimate()


def test_estimates_grow_with_what_is_moved():
    small, large = (workload(points=points).estimate() for points in (100_000, 1_000_000))
    assert large.disk_bytes == pytest.approx(10 * small.disk_bytes, rel=0.01)
    assert large.disk_bytes > 32_600_000 + 3 * 1_000_000 * 80
    assert large.seconds > small.seconds


def test_what_only_a_trial_needs_is_worked_out_by_no_estimate(monkeypatch):
    """A plan is estimated before each run, also of a dry one, and drawing or iterating takes seconds."""
    monkeypatch.setattr(GeneratedPoints, "_chunk_codes", lambda *_: pytest.fail("points were made"))
    workload(points=100_000, iterations=1).estimate()


def test_the_judge_s_iterations_are_worked_out_once_for_all_trials_of_a_plan(monkeypatch):
    first, second = (workload(points=77, k=3, iterations=1) for _ in range(2))
    expected = first._iterations(1)
    monkeypatch.setattr(k_means, "iterate", lambda *_: pytest.fail("it was worked out again"))
    assert second._iterations(1) is expected


@pytest.mark.parametrize("count", [5, 131_072, 131_073, 300_001])
def test_single_points_are_those_of_the_whole(count):
    points = GeneratedPoints(count, 7, 3)
    places = np.unique([0, count - 1, count // 2, min(count - 1, 131_072), min(count - 1, 131_071)])[::-1]
    assert np.array_equal(points.at(places), np.concatenate(list(points.chunks()))[places])
