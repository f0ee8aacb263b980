"""K-means: points gathered around k centres by Lloyd's iteration, one job per iteration."""

from collections.abc import Collection, Mapping
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

import numpy as np

from assay.model.dataset import Dataset
from assay.model.doubt import Verdict, verdict
from assay.model.engine import Engine, Launch, LaunchReport
from assay.model.errors import BadInputError
from assay.model.graph import Graph, GraphFacts
from assay.model.progress import Progress
from assay.model.registry import WORKLOADS
from assay.model.store import Store, Streaming
from assay.model.trial import Estimate, WorkloadSpec
from assay.model.workload import Variant
from assay.workload.ahead import ahead
from assay.workload.clusters import judge_clusters, read_centres
from assay.workload.graph import RECORD_S
from assay.workload.lloyd import Course, iterate
from assay.workload.made import JOB_S, MadeWorkload
from assay.workload.points import FilePoints, Floats, MadePoints, Points, drawn, write_points
from assay.workload.scratch import scratch_directory

MIB = 1 << 20
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


class KMeans(MadeWorkload):
    """The nearest of k centres for each point, by Euclidean distance; then the mean of each centre's points."""

    summary: ClassVar[str] = "gathers points around k centres (k-means), one job per iteration"
    stresses: ClassVar[str] = (
        "repeated jobs: all points are read, parsed and compared with each centre; much CPU per byte"
    )
    source: ClassVar[str] = "the study of storage subsystems, k-means (section 5.2.2)"
    variants: ClassVar[Mapping[str, Variant]] = {
        "paper": Variant(
            about="as the study has it: no combiner, all points go to one reducer",
            jobs=("iteration 1", "..."),
            command="k-means",
        ),
        "tuned": Variant(
            about="points are added up on the map side; as many reducers as are set",
            jobs=("iteration 1", "..."),
            command="k-means-tuned",
        ),
    }
    defaults: ClassVar[Mapping[str, str]] = {
        "points": "1000000", "attributes": "10", "k": "10", "seed": "1", "iterations": "100",
        "file": "", "centres": "", "assign": "false",
    }  # fmt: skip
    option_help: ClassVar[Mapping[str, str]] = {
        "points": "how many are made",
        "attributes": "numbers per point",
        "k": "centres; not more than points",
        "seed": "of the points, and of the draw of the starting centres",
        "iterations": "the most that run",
        "file": "points of your own, one per line, instead",
        "centres": "a file of starting centres; drawn from the points without one",
        "assign": "true: one more job writes each point with its cluster",
    }
    path_options: ClassVar[Collection[str]] = (
        "file",
        "centres",
    )

    def __init__(self, spec: WorkloadSpec, base: str) -> None:
        """Raises BadInputError when an option is unknown or impossible; files are read by `estimate`."""
        super().__init__(spec, base)
        self._seed, self._k = self.options.count("seed", 0), self.options.count("k")
        self._most, self._assign = self.options.count("iterations"), self.options.flag("assign")
        made = MadePoints(self.options.count("points"), self.options.count("attributes"), self._seed)
        file, centres = self.options.text("file"), self.options.text("centres")
        self._points: Points = FilePoints(Path(file).expanduser()) if file else made
        self._centres_file = FilePoints(Path(centres).expanduser()) if centres else None
        for name in ("points", "attributes"):
            if file and name in spec.options:
                raise BadInputError(f"workload {spec.name}: {name} is the file's; leave out {name}, or file")
        # A file of centres has its own k.
        if not file and not centres:
            self._check_k(made.count)

    def estimate(self, facts: GraphFacts, staged_bytes: int) -> Estimate:
        """The points, and what of them is spilled and shuffled at once; raises BadInputError for wrong files."""
        k, points = len(self._start), self._points
        shuffled = points.count * (_RECORD_BYTES + _NUMBER_BYTES * points.attributes)
        spilled = _SPILLS * shuffled if self.spec.variant == "paper" else shuffled
        seconds = points.count * (RECORD_S + points.attributes * (_NUMBER_S + k * _DISTANCE_S))
        return Estimate(
            disk_bytes=points.text_bytes * (3 if self._assign else 1) + spilled,
            memory_bytes=256 * MIB + points.held_bytes,
            seconds=self._most * (JOB_S + seconds),
        )

    def prepare(self) -> None:
        """The judge's iterations, where it is known before that there will be one."""
        if self._most == 1 and isinstance(self._points, MadePoints):
            self._course(1)

    def stage(self, dataset: Dataset, store: Store, engine: Engine, progress: Progress) -> LaunchReport:
        """The points in one file, and the starting centres."""
        path = f"{self._points_path}/points.txt"
        pieces = self._points.text_pieces() if isinstance(self._points, MadePoints) else None
        streamed = isinstance(store, Streaming) and pieces is not None
        # A user's file is put as it is.
        made_bytes = 0 if streamed or pieces is None else self._points.text_bytes
        with scratch_directory(made_bytes) as scratch:
            progress.detail("make points")
            if isinstance(store, Streaming) and pieces is not None:
                store.write(path, ahead(pieces))
            else:
                store.put(self._points.text_file(scratch), path)
            start = scratch / "centres.txt"
            write_points(self._start, start)
            store.put(start, self._centres_path)
        return LaunchReport(jobs=(), result={})

    def run(self, engine: Engine, progress: Progress) -> LaunchReport:
        """All iterations."""
        assign = ("--assign",) if self._assign else ()
        launch = Launch(
            command=self.variants[self.spec.variant].command,
            input=self._points_path,
            output=self.output,
            options=(f"--centres={self._centres_path}", f"--iterations={self._most}", *assign),
            properties=self.spec.hadoop,
        )
        return engine.run(launch, progress)

    def verify(self, graph: Graph, store: Store, report: LaunchReport) -> tuple[Verdict, ...]:
        """As many iterations with SciPy's distances, from the same points and centres, end with the same centres."""
        done = report.result.get("iterations")
        if not isinstance(done, int) or not 1 <= done <= self._most:
            return (verdict("the iterations are within their bound", passed=False, detail=f"{done} of {self._most}"),)
        centres, counts = read_centres(store, f"{self.output}/centres", self._start.shape)
        course = self._course(done)
        return (
            self._agree(centres, course),
            verdict(
                "clusters have as many points",
                passed=np.array_equal(counts, course.counts),
                detail=f"{int((counts != course.counts).sum())} of {len(counts)} differ",
            ),
            self._ended(course, report),
            _never_rises(course),
            self._counted(course, report),
            # Centres that are no numbers have failed above, and nothing is near them.
            *(self._clusters(store, centres, report) if self._assign and np.isfinite(centres).all() else ()),
        )

    def _course(self, iterations: int) -> Course:
        """The judge's own iterations; those of made points are remembered for the plan's other trials."""
        if isinstance(self._points, MadePoints) and self._centres_file is None:
            points = self._points
            return _course_of_made(points.count, points.attributes, self._k, self._seed, iterations)
        return iterate(self._points, self._start, iterations)

    @property
    def _points_path(self) -> str:
        return f"{self.input}/points"

    @property
    def _centres_path(self) -> str:
        return f"{self.input}/centres/centres.txt"

    @cached_property
    def _start(self) -> Floats:
        """The starting centres (shape (k, attributes)). Raises BadInputError."""
        if self._centres_file is None:
            self._check_k(self._points.count)
            return drawn(self._points, self._k, self._seed)
        start = np.concatenate(list(self._centres_file.chunks())) if self._centres_file.count else np.empty((0, 0))
        if "k" in self.spec.options and len(start) != self._k:
            raise BadInputError(
                f"workload {self.spec.name}: k is {self._k}, and the file of centres has {len(start)}; leave k out"
            )
        self._check_k(self._points.count, len(start))
        if start.shape[1] != self._points.attributes:
            raise BadInputError(
                f"workload {self.spec.name}: the centres have {start.shape[1]} attributes, and the points "
                f"{self._points.attributes}; give centres with as many"
            )
        return start

    def _check_k(self, count: int, k: int | None = None) -> None:
        if (k or self._k) > count:
            raise BadInputError(
                f"workload {self.spec.name}: k is {k or self._k}, and there are only {count} points; take a smaller k"
            )

    def _agree(self, centres: Floats, course: Course) -> Verdict:
        """Relative to each coordinate, or where that is near zero to the largest of its attribute."""
        largest = np.abs(course.centres).max(axis=0)
        # In this form a coordinate that is no number is off too.
        off = ~(np.abs(centres - course.centres) <= AGREEMENT * np.abs(course.centres) + 1e-12 * largest)
        return verdict(
            "the centres equal those of Lloyd's iteration with SciPy",
            passed=not off.any(),
            detail=f"{int(off.any(axis=1).sum())} of {len(centres)} centres are off by more than {AGREEMENT:g}",
        )

    def _ended(self, course: Course, report: LaunchReport) -> Verdict:
        """No centre moved in the last iteration, and some did in all before it; or the bound was reached."""
        still = report.result.get("converged") == len(course.centres)
        right = course.moves[-1] <= _STILL if still else course.moves[-1] > _MOVED and len(course.moves) == self._most
        return verdict(
            "the iterations ended when no centre moved, or at their bound",
            passed=right and all(move > _MOVED for move in course.moves[:-1]),
            detail=f"{len(course.moves)} iterations of at most {self._most}, the last move {course.moves[-1]:.3g}",
        )

    def _counted(self, course: Course, report: LaunchReport) -> Verdict:
        told = (report.result.get("points"), report.result.get("empty"))
        expected = (self._points.count, int((course.counts == 0).sum()))
        return verdict(
            "counters equal the points and the empty clusters",
            passed=told == expected,
            detail=f"{told} counted, {expected} expected",
        )

    def _clusters(self, store: Store, centres: Floats, report: LaunchReport) -> tuple[Verdict, ...]:
        return judge_clusters(
            store.lines(f"{self.output}/clusters"), store.lines(self._points_path), centres,
            report.result.get("assigned"),
        )  # fmt: skip


@lru_cache(maxsize=4)
def _course_of_made(count: int, attributes: int, k: int, seed: int, iterations: int) -> Course:
    points = MadePoints(count, attributes, seed)
    return iterate(points, drawn(points, k, seed), iterations)


def _never_rises(course: Course) -> Verdict:
    """What Lloyd's iteration promises, but for roundings."""
    rises = sum(after > before * (1 + 1e-12) for before, after in pairwise(course.inertias))
    return verdict(
        "the sum of squared distances never rises",
        passed=rises == 0,
        detail=f"from {course.inertias[0]:.9g} to {course.inertias[-1]:.9g}, {rises} rises",
    )


WORKLOADS.add("k-means", KMeans, place=10)
