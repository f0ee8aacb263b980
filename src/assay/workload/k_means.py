"""K-means: points gathered around k centres by Lloyd's iteration, one job per iteration.

The loop is written out here because the libraries' own know neither the jobs' rule for ties nor a convergence that is
looked at after each iteration. Where there is no tie it is held to scipy.cluster.vq.kmeans2 by the tests.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from itertools import islice, pairwise
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from assay.input.points import FilePoints, Floats, GeneratedPoints, Points, drawn
from assay.input.staging import scratch_directory
from assay.model.dataset import InputKind
from assay.model.doubt import CheckResult, verdict
from assay.model.engine import Engine, Launch, LaunchReport, stored
from assay.model.errors import AssayError
from assay.model.progress import Progress
from assay.model.registry import WORKLOADS
from assay.model.store import Files, Store
from assay.model.trial import ResourceEstimate
from assay.model.workload import HADOOP_JOB_S, MIB, RECORD_S, Option
from assay.workload.base import (
    BaseWorkload,
    counters_agree,
    output_rows,
    whole,
)

# Squared distances that differ by less than this share are equal, for the jobs too.
TIE = 1e-12
# So many distances at once.
_DISTANCES = 1 << 21


class Iterations(NamedTuple):
    """The result of the iterations: the last centres, their clusters' points, and two figures for each iteration.

    `inertias` are the sums of squared distances before the centres moved; `moves` the largest move of a coordinate,
    as a share of its mean magnitude in the cluster.
    """

    centres: Floats
    counts: NDArray[np.int64]
    inertias: tuple[float, ...]
    moves: tuple[float, ...]


def nearest(points: Floats, centres: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Find each point's nearest centre, the lowest index of several, and the squared distance (both (n,)).

    Raises AssayError for a point that has no finite squared distance from any centre.
    """
    from scipy.spatial.distance import cdist

    squares = cdist(points, centres, "sqeuclidean")
    least = squares.min(axis=1)
    # All distances would be equal, and the lowest index as good as any.
    if not np.isfinite(least).all():
        raise AssayError("a point is so far from all centres that the square of its distance is beyond a double")
    return (squares <= (least * (1 + TIE))[:, None]).argmax(axis=1), least


def iterate(points: Points, start: Floats, iterations: int) -> Iterations:
    """Iterate so many times from these centres; an empty cluster keeps its centre."""
    centres, inertias, moves = start, [], []
    counts = np.zeros(len(start), dtype=np.int64)
    for _ in range(iterations):
        # Extended precision, so that the means hardly depend on the order of the sums.
        sums, sizes = np.zeros(centres.shape, dtype=np.longdouble), np.zeros(centres.shape)
        counts = np.zeros(len(centres), dtype=np.int64)
        inertia = 0.0
        for chunk in points.chunks():
            rows = max(1, _DISTANCES // len(centres))
            for some in (chunk[at : at + rows] for at in range(0, len(chunk), rows)):
                labels, squares = nearest(some, centres)
                inertia += float(squares.sum())
                counts += np.bincount(labels, minlength=len(centres))
                for label in np.unique(labels):
                    members = some[labels == label]
                    sums[label] += members.sum(axis=0, dtype=np.longdouble)
                    sizes[label] += np.abs(members).sum(axis=0)
        filled = counts > 0
        after = centres.copy()
        after[filled] = (sums[filled] / counts[filled, None]).astype(np.float64)
        moved, mean_sizes = np.abs(after - centres)[filled], sizes[filled] / counts[filled, None]
        shares = np.divide(moved, mean_sizes, out=np.where(moved > 0, np.inf, 0.0), where=mean_sizes > 0)
        moves.append(float(shares.max(initial=0.0)))
        inertias.append(inertia)
        centres = after
    return Iterations(centres, counts, tuple(inertias), tuple(moves))


_LINES = 1 << 16
_SEPARATORS = bytes.maketrans(b",\t", b"  ")


def read_centres(store: Store, path: str, shape: tuple[int, ...]) -> tuple[Floats, NDArray[np.int64]]:
    """Read lines of `index<TAB>points<TAB>x1,x2,...` as centres (of this shape) and points (shape (k,)).

    Raises AssayError when one is missing, twice, a stranger or not of the form.
    """
    columns = {"index": whole, "points": whole, "centre": lambda field: [float(text) for text in field.split(b",")]}
    rows = sorted(output_rows(store.lines(path), "k-means", **columns))
    if [index for index, _, _ in rows] != list(range(shape[0])) or any(len(row[2]) != shape[1] for row in rows):
        raise AssayError(f"the output of k-means has not each of {shape[0]} centres of {shape[1]} numbers once")
    return np.array([centre for _, _, centre in rows]), np.array([points for _, points, _ in rows])


def write_centres(centres: Floats, file: Path) -> None:
    """Write lines of `index<TAB>0<TAB>x1,x2,...`, read as the same doubles: a store may give lines in any order."""
    rows = enumerate(centres.tolist())
    file.write_text("".join(f"{index}\t0\t{','.join(map(repr, row))}\n" for index, row in rows), encoding="utf-8")


def _assigned(line: bytes, numbers: int) -> tuple[int, bytes, list[float]]:
    """Split a line into its index, its point's line, and all numbers of that. Raises AssayError for another form."""
    label, _, text = line.partition(b"\t")
    try:
        index, point = int(label), [float(field) for field in text.translate(_SEPARATORS).split()]
    except ValueError:
        index, point = -1, []
    if len(point) != numbers:
        raise AssayError(f"the output of k-means has a line that is not a cluster's index and a point: {line[:100]!r}")
    return index, text, point


def _some(lines: Iterable[bytes]) -> Iterator[tuple[bytes, ...]]:
    """Yield many lines at a time, without blank lines and carriage returns at the end."""
    ended = (line.removesuffix(b"\r") for line in lines)
    full = (line for line in ended if line.translate(_SEPARATORS).strip())
    while some := tuple(islice(full, _LINES)):
        yield some


def _sums(lines: Iterable[bytes]) -> NDArray[np.int64]:
    sums = [crc32(line) for line in lines]
    return np.array([len(sums), sum(sums)])


# Per number of a point and iteration, on one present-day core pair: reading it, and its distance to one centre.
_NUMBER_S, _DISTANCE_S = 2e-8, 7e-10
# A point in the shuffle: key, lengths, number of points and of coordinates; then 8 bytes a coordinate.
_RECORD_BYTES, _NUMBER_BYTES = 8, 8
# Spilled, merged once, and on the reducer's side.
_SPILLS = 3
# Centres agree when they differ by less than this share.
AGREEMENT = 1e-6
# The iterations' end: a move below the first is none, above the second is one; in between rounding decides.
_STILL, _MOVED = 1e-11, 1e-13


class KMeans(BaseWorkload):
    """The nearest of k centres for each point, by Euclidean distance; then the mean of each centre's points."""

    takes = InputKind.POINTS
    needs_files = False
    summary = (
        "clusters points around k centres (k-means): each goes to its nearest centre, and a "
        "centre moves to the mean of its points"
    )
    stresses = (
        "the maps' processors (parsing, distances); `paper` also spills and shuffles all points in each iteration"
    )
    source = "storage subsystem study, section 5.2.2"
    result = (
        "`centres/` with `index<TAB>points<TAB>x1,x2,...`; with `assign` also `clusters/` with `index<TAB>the point's"
        " line`"
    )
    verified = (
        "centres agree to 1e-6 with as many Lloyd iterations by SciPy, from the same points and centres; cluster "
        "sizes and counters agree; the run ended when nothing moved, or at the bound; the sum of squared distances "
        "never rose; with `assign` every point occurs once, with its nearest centre"
    )
    known_options = {
        "points": Option("1000000", "number of generated points; the study had 10 million"),
        "attributes": Option("10", "numbers per generated point"),
        "unused": Option(
            "0",
            "further numbers at the end of each line that take no part; the iterations read only what is before them",
        ),
        "k": Option("10", "number of centres, at most the number of points"),
        "seed": Option("1", "seed of the points and of the draw of the starting centres"),
        "iterations": Option("100", "the largest number of iterations"),
        "file": Option(
            "",
            "your own points instead: one per line, decimal numbers separated by commas, tabs or spaces",
            is_path=True,
        ),
        "centres": Option(
            "",
            "a file of starting centres in the same form; by default k points are drawn without replacement",
            is_path=True,
        ),
        "assign": Option("false", "`true`: one more job, `assignment`, writes each point with its cluster"),
    }

    input: Points

    def read_options(self) -> None:
        self._seed, self._k = self.options.count("seed", 0), self.options.count("k")
        self._most, self._assign = self.options.count("iterations"), self.options.flag("assign")
        unused = self.options.count("unused", 0)
        generated = GeneratedPoints(self.options.count("points"), self.options.count("attributes"), self._seed, unused)
        file, centres = self.options.text("file"), self.options.text("centres")
        self.input = FilePoints(Path(file).expanduser(), unused) if file else generated
        self._centres_file = FilePoints(Path(centres).expanduser()) if centres else None
        self._centres_given = ""
        for name in ("points", "attributes"):
            if file and name in self.spec.options:
                raise self.error(f"{name} is the file's; leave out {name}, or file")
        # A file of centres has its own k.
        if not file and not centres:
            self._check_k(self._k, generated.count)

    def estimate(self) -> ResourceEstimate:
        """Estimate by the points and the part spilled and shuffled at once. Raises BadInputError for wrong files."""
        k, points = self._centres_count(), self.input
        shuffled = points.count * (_RECORD_BYTES + _NUMBER_BYTES * points.attributes)
        spilled = _SPILLS * shuffled if self.variant.ships_all else shuffled
        starts = self._most if self.variant.jobs_per_iteration else 1
        seconds = points.count * (RECORD_S + points.attributes * (_NUMBER_S + k * _DISTANCE_S))
        return ResourceEstimate(
            disk_bytes=int(points.size().bytes) * (3 if self._assign else 1) + spilled,
            memory_bytes=256 * MIB + points.held_bytes(),
            seconds=starts * (self.variant.start_s or HADOOP_JOB_S) + self._most * seconds,
            rounds=self._most + self._assign,
        )

    def stage(self, store: Store, engine: Engine, progress: Progress) -> LaunchReport:
        if self.input.unused:
            store.expect(self._points_path, self.input.attributes)
        report = self.input.stage(self._points_path, store, engine, progress)
        with scratch_directory() as scratch:
            start = scratch / "centres.txt"
            write_centres(self._start, start)
            store.put(start, self._centres_path)
        if not isinstance(store, Files):  # lines have no name but their table's
            self._centres_given = self._centres_path.rpartition("/")[0]
        return report

    def run(self, engine: Engine, progress: Progress) -> LaunchReport:
        some = (f"--attributes={self.input.attributes}",) if self.input.unused else ()
        assign = ("--assign",) if self._assign else ()
        centres = stored(self._centres_given or self._centres_path)
        launch = Launch(
            command=self.variant.command, input=self._points_path, output=self.output_path,
            options=(f"--centres={centres}", "--numbered", f"--iterations={self._most}", *some, *assign),
            properties=self.spec.hadoop,
        )  # fmt: skip
        return engine.run(launch, progress)

    def verify(self, store: Store, report: LaunchReport) -> tuple[CheckResult, ...]:
        done = report.result.get("iterations")
        if not isinstance(done, int) or not 1 <= done <= self._most:
            return (verdict("the iterations are within their bound", passed=False, detail=f"{done} of {self._most}"),)
        centres, counts = read_centres(store, f"{self.output_path}/centres", self._start.shape)
        iterations = self._iterations(done)
        counters = {"points": self.input.count, "empty": int((iterations.counts == 0).sum())}
        # A coordinate counts relative to itself, or where that is near zero to the largest of its attribute. In this
        # form one that is no number is off too.
        largest = np.abs(iterations.centres).max(axis=0)
        off = ~(np.abs(centres - iterations.centres) <= AGREEMENT * np.abs(iterations.centres) + 1e-12 * largest)
        # No centre moved in the last iteration, and some did in all before it; or the bound was reached.
        *earlier, last = iterations.moves
        still = report.result.get("converged") == len(iterations.centres)
        right = last <= _STILL if still else last > _MOVED and done == self._most
        # Lloyd's iteration promises that there are none, but for roundings.
        rises = sum(after > before * (1 + 1e-12) for before, after in pairwise(iterations.inertias))
        return (
            verdict(
                "the centres equal those of Lloyd's iteration with SciPy",
                passed=not off.any(),
                detail=f"{int(off.any(axis=1).sum())} of {len(centres)} centres are off by more than {AGREEMENT:g}",
            ),
            verdict(
                "clusters have as many points",
                passed=np.array_equal(counts, iterations.counts),
                detail=f"{int((counts != iterations.counts).sum())} of {len(counts)} differ",
            ),
            verdict(
                "the iterations ended when no centre moved, or at their bound",
                passed=right and all(move > _MOVED for move in earlier),
                detail=f"{done} iterations of at most {self._most}, the last move {last:.3g}",
            ),
            verdict(
                "the sum of squared distances never rises",
                passed=rises == 0,
                detail=f"from {iterations.inertias[0]:.9g} to {iterations.inertias[-1]:.9g}, {rises} rises",
            ),
            *counters_agree(report, counters, "counters equal the points and the empty clusters"),
            # Centres that are no numbers have failed above, and nothing is near them.
            *(self._clusters(store, centres, report) if self._assign and np.isfinite(centres).all() else ()),
        )

    def _iterations(self, iterations: int) -> Iterations:
        """Compute the iterations for the judge; those of made points are remembered for the plan's other trials."""
        if isinstance(self.input, GeneratedPoints) and self._centres_file is None:
            return _iterations_of_generated(self.input, self._k, self._seed, iterations)
        return iterate(self.input, self._start, iterations)

    @property
    def read_path(self) -> str:
        return self._points_path

    @property
    def _points_path(self) -> str:
        return f"{self.input_path}/points"

    @property
    def _centres_path(self) -> str:
        return f"{self.input_path}/centres/centres.txt"

    def _centres_count(self) -> int:
        """Count the centres without drawing them. Raises BadInputError."""
        if self._centres_file is not None:
            return len(self._start)
        self._check_k(self._k, self.input.count)
        return self._k

    @cached_property
    def _start(self) -> Floats:
        """Return the starting centres (shape (k, attributes)). Raises BadInputError."""
        if self._centres_file is None:
            return drawn(self.input, self._centres_count(), self._seed)
        start = np.concatenate(list(self._centres_file.chunks())) if self._centres_file.count else np.empty((0, 0))
        if "k" in self.spec.options and len(start) != self._k:
            raise self.error(f"k is {self._k}, and the file of centres has {len(start)}; leave k out")
        self._check_k(len(start) or self._k, self.input.count)
        if start.shape[1] != self.input.attributes:
            raise self.error(
                f"the centres have {start.shape[1]} attributes, and the points {self.input.attributes}; give centres "
                "with as many"
            )
        return start

    def _check_k(self, k: int, count: int) -> None:
        if k > count:
            raise self.error(f"k is {k}, and there are only {count} points; take a smaller k")

    def _clusters(self, store: Store, centres: Floats, report: LaunchReport) -> tuple[CheckResult, ...]:
        """Judge that each of the given points is assigned once, to the nearest of these centres.

        The points are compared as a whole, by their number and the sum of their lines' CRC-32 checksums. Raises
        AssayError for a line of another form than `index<TAB>point`.
        """
        counted = report.result.get("assigned")
        wrong = 0
        output_sums = np.zeros(2, dtype=np.int64)
        for lines in _some(store.lines(f"{self.output_path}/clusters")):
            numbers = centres.shape[1] + self.input.unused
            labels, texts, points = zip(*(_assigned(line, numbers) for line in lines), strict=True)
            output_sums += _sums(texts)
            expected, _ = nearest(np.array(points, dtype=np.float64)[:, : centres.shape[1]], centres)
            wrong += sum(label != right for label, right in zip(labels, expected.tolist(), strict=True))
        input_sums = sum((_sums(lines) for lines in _some(store.lines(self._points_path))), np.zeros(2, dtype=np.int64))
        return (
            verdict(
                "every point is assigned once",
                passed=np.array_equal(output_sums, input_sums) and counted == output_sums[0],
                detail=f"{output_sums[0]} points, checksum {output_sums[1]:x}; "
                f"{input_sums[0]} with {input_sums[1]:x} given, counter {counted}",
            ),
            verdict("every point is with its nearest centre", passed=wrong == 0, detail=f"{wrong} are not"),
        )


@lru_cache(maxsize=16)
def _iterations_of_generated(points: GeneratedPoints, k: int, seed: int, count: int) -> Iterations:
    return iterate(points, drawn(points, k, seed), count)


WORKLOADS.add("k-means", KMeans, place=10)
