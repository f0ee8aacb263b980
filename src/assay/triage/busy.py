"""How long the nodes' drives were busy while jobs ran, by what a site measured of them: Prometheus, sar or iostat.

Readings lie apart, and clocks differ, so a stage gets a step more at both ends, and the time to the readings around it.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from assay.engine.past.job import PastJob, StageSums
from assay.model.errors import BadInputError
from assay.model.host_names import HostNames
from assay.model.naming import bytes_text, first_few
from assay.probe.counters import PartSpan, Readings
from assay.report.words import seconds_text
from assay.triage.bounds import Busy, busy_at_once, tasks_at_once

_STEPS = 2
"""A stage of fewer steps has most of its readings from before or after it."""
MUCH_LONGER = 3
"""A time longer than so many usual ones between two readings is a gap: when the work was done in it nobody knows."""
PLAUSIBLE_SHARE = 0.1
"""Drives that moved less of what jobs count, and what the page cache can't have kept from them, are other drives."""
FASTEST = 20e9
"""Bytes a second that no drive moves: one that does so by its counters does not count its busy time."""
MOST_BUSY = 1.1
"""Clocks differ by so much at most: what is busy for a larger share of a time is no measurement."""
_LATE_S = 10
"""A reading may come so much later than its time says (Prometheus: scrape_timeout)."""
_QUIET = 4096
"""Bytes a second for which no drive is busy for long: a request a second at most."""
_QUIET_S, _BUSY_SHARE = 60.0, 0.5
"""A drive that is busy for such a share of so much quiet time, or more, counts what it does not do."""
_SERIES = ("busy_s", "read_bytes", "written_bytes")
_Gained = tuple[Sequence[int], Sequence[float]]
"""When a counter was read, in ms, and what it had gained by then."""
_VOLUME = re.compile(r"dm-\d+")
_WRITTEN_BACK_S = 60
"""The kernel writes pages to drives half a minute after they became dirty, and looks for them every five seconds."""


class _NodeUse(NamedTuple):
    """What a node's drives did in a stage: how long they kept tasks waiting, one worked at most, all did; and bytes."""

    seconds: float
    busiest_s: float
    busy_s: float
    read: float
    written: float
    usual_s: float
    """How long the busiest one worked, without the steps around the stage."""
    around: PartSpan
    """The time with these steps, of which all else tells."""


class _Moved(NamedTuple):
    """Bytes that jobs count and no page cache can have kept from drives, and those that drives count, in stages."""

    read: float = 0.0
    written: float = 0.0
    drives_read: float = 0.0
    drives_written: float = 0.0
    busy_s: float = 0.0
    unflushed: float = 0.0
    """Output that the page cache may have kept until after a stage, and no longer."""

    def plus(self, other: "_Moved") -> "_Moved":
        return _Moved(*map(sum, zip(self, other, strict=True)))

    def refutes(self, cache_bytes: float) -> bool:
        """Whether other drives must have moved it: a page cache of so many bytes may have served what was read."""
        return (
            self.drives_read < PLAUSIBLE_SHARE * (self.read - cache_bytes)
            or self.drives_written < PLAUSIBLE_SHARE * self.written
            or self.busy_s * FASTEST < self.drives_read + self.drives_written
        )

    @property
    def words(self) -> str:
        """Both, in a clause."""
        if self.busy_s * FASTEST < self.drives_read + self.drives_written:
            moved = bytes_text(self.drives_read + self.drives_written)
            return f"these drives moved {moved} and count {seconds_text(self.busy_s)} s of work"
        return (
            f"jobs read {bytes_text(self.read)} and wrote {bytes_text(self.written)} there, and these drives read "
            f"{bytes_text(self.drives_read)} and wrote {bytes_text(self.drives_written)}"
        )


class MeasuredDrives(NamedTuple):
    """What a site knows of its nodes' drives: by node their names, and counters between which there is no gap.

    `step_s` lie between two readings at most. `memory` is by node, in bytes; `cores` are a node's hardware threads.
    `remarks` say what was assumed, and what is not known. `busy_at_rest` are the nodes that `busy_at_rest()` names.
    """

    source: str
    readings: Mapping[str, Sequence[Readings]]
    drives: Mapping[str, frozenset[str]]
    step_s: float
    memory: Mapping[str, float] = {}
    cores: int | None = None
    remarks: Sequence[str] = ()
    busy_at_rest: frozenset[str] = frozenset()


def busy_at_rest(readings: Mapping[str, Sequence[Readings]]) -> frozenset[str]:
    """The nodes with a drive that counts as busy most of the time in which it moves nothing.

    Some kernels count so, such as 3.10.0-957 and 4.19.
    """
    return frozenset(node for node, parts in readings.items() if any(map(_has_busy_at_rest, parts)))


def _has_busy_at_rest(readings: Readings) -> bool:
    by_drive: dict[str, dict[str, _Gained]] = {}
    for subject, series, times_ms, gained in readings.gains():
        by_drive.setdefault(subject, {})[series] = times_ms, gained
    return any(
        _is_busy_at_rest(*(drive[series] for series in _SERIES))
        for drive in by_drive.values()
        if drive.keys() == set(_SERIES)
    )


def _is_busy_at_rest(busy: _Gained, read: _Gained, written: _Gained) -> bool:
    (times_ms, busy_s), (read_ms, read_bytes), (written_ms, written_bytes) = busy, read, written
    if not times_ms == read_ms == written_ms:  # a reading of one of them was no number
        return False
    moved = map(sum, zip(read_bytes, written_bytes, strict=True))
    quiet_s = quiet_busy_s = 0.0
    steps = zip(pairwise(times_ms), pairwise(busy_s), pairwise(moved), strict=True)
    for (begin_ms, end_ms), (busy_before_s, busy_after_s), (moved_before, moved_after) in steps:
        length_s = (end_ms - begin_ms) / 1000
        if moved_after - moved_before <= _QUIET * length_s:
            quiet_s += length_s
            quiet_busy_s += busy_after_s - busy_before_s
    return quiet_s >= _QUIET_S and quiet_busy_s >= _BUSY_SHARE * quiet_s


def rest_remark(option: str, nodes: Collection[str]) -> Iterator[str]:
    """A remark where nodes have drives that count as busy while they move nothing."""
    if nodes:
        yield (
            f"{option} has drives that count as busy while they move nothing, on {first_few(sorted(nodes))}, as some "
            "kernels count: busy times bound jobs there, too high, and do not tell what is likely"
        )


def unnamed_volumes(
    option: str, drives: Mapping[str, Collection[str]], devices: Mapping[str, Collection[str]]
) -> Iterator[str]:
    """A remark where volumes have numbers in place of names, so that drives below them may be paths to one drive.

    Both are by node: the drives that count, and all devices that the option tells of.
    """
    of_several = [of_node for node, of_node in devices.items() if len(drives[node]) > 1]
    if volumes := sorted({device for of_node in of_several for device in of_node if _VOLUME.fullmatch(device)}):
        yield (
            f"{option} has volumes by number alone ({first_few(volumes)}), and the drives below count in their place: "
            "where a volume has several paths (multipath), each path counts as a drive, and bounds may be too small"
        )


def too_short(measured: MeasuredDrives, jobs: Sequence[PastJob]) -> Iterator[str]:
    """A remark where runs are too short for the steps in which it is known how busy drives were."""
    least_ms = _STEPS * 1000 * measured.step_s
    if short := sum(all(stage.elapsed_ms < least_ms for stage in job.stages) for job in jobs):
        yield (
            f"{measured.source} tells how busy drives were in steps of up to {measured.step_s:g} s. No stage of "
            f"{short} of {len(jobs)} runs takes two steps: busy times hardly bound these runs, and do not tell what is "
            "likely"
        )


def measurable(jobs: Iterable[PastJob], option: str) -> list[PastJob]:
    """Those of which busy times tell: their histories lack nothing and name all nodes.

    Raises BadInputError where that is none, for the option that names where busy times are kept.
    """
    whole = [job for job in jobs if not job.missing]
    if chosen := [job for job in whole if job.all_nodes]:
        return chosen
    reason = "no history names the nodes of its job;"
    if not whole:
        reason = "all of their histories are damaged, cut short or of jobs that failed;"
    elif any(job.nodes for job in whole):
        reason = "a history server names the nodes of a few tasks alone; name its folder of files in --history, or"
    raise BadInputError(f"{option} tells nothing of these jobs: {reason} leave {option} out")


class DriveTimes:
    """How long the drives of the nodes on which some jobs ran worked for them."""

    def __init__(self, measured: MeasuredDrives, jobs: Sequence[PastJob], drives_named: int = 0) -> None:
        """`drives_named` are the drives that each node has, by who knows; 0 where nobody says so."""
        self._measured = measured
        self._names = HostNames(measured.drives)
        self._too_busy: dict[str, str] = {}
        """The nodes of jobs by which a drive was busy for longer than there was time, each with how long."""
        self._busy = {_key(job): self._measure(job) for job in jobs}
        self._refuted = self._refute(jobs) | self._too_busy | self._too_few(drives_named)

    def of(self, job: PastJob) -> Busy:
        """What the drives of its nodes did during the job; nothing where it is none of those that were given."""
        if _key(job) not in self._busy:
            return Busy({}, 0.0)
        refuted = next((self._refuted[node] for node in job.nodes if node in self._refuted), "")
        if refuted:
            return Busy({}, 0.0, refuted=refuted)
        return self._busy[_key(job)][0]._replace(confirmed=self._confirmed)

    def _refute(self, jobs: Sequence[PastJob]) -> dict[str, str]:
        """The jobs' nodes whose measured drives are others than those that the jobs used, each with why.

        Jobs are compared one by one, and all together: the page cache may have served any of them, but not all.
        """
        moved = [self._busy[_key(job)][1] for job in jobs]
        together = _sum(moved)
        on_drives, counted = together.drives_read + together.drives_written, together.read + together.written
        counted += together.unflushed
        self._confirmed = counted >= PLAUSIBLE_SHARE * on_drives > 0 and on_drives >= PLAUSIBLE_SHARE * counted
        together = together._replace(written=together.written + together.unflushed)
        if together.refutes(sum(self._measured.memory.values())):
            return {node: together.words for job in jobs for node in job.nodes}
        refuted: dict[str, str] = {}
        for job, of_job in zip(jobs, moved, strict=True):
            if of_job.refutes(sum(self._measured.memory.get(self._known(node) or "", 0.0) for node in job.nodes)):
                refuted |= dict.fromkeys(job.nodes, of_job.words)
        return refuted

    def _too_few(self, named: int) -> dict[str, str]:
        """The nodes that have more drives than were measured, each with how many."""
        return {
            node: f"--drives names {named} of each node, and {self._measured.source} sees {len(drives)} of one"
            for node, drives in self._measured.drives.items()
            if len(drives) < named
        }

    def _measure(self, job: PastJob) -> tuple[Busy, _Moved]:
        seconds: dict[str, float] = {}
        busiest_s: dict[str, float] = {}
        usual_s: dict[str, float] = {}
        moved = _Moved()
        at_rest = any(self._known(node) in self._measured.busy_at_rest for node in job.nodes)
        for stage in job.stages:
            nodes = [self._on(node, stage, len(job.nodes)) for node in job.nodes]
            uses = [use for use in nodes if use is not None]
            if not uses or len(uses) < len(nodes):
                continue
            seconds[stage.name] = max(use.seconds for use in uses)
            busiest_s[stage.name] = max(use.busiest_s for use in uses)
            for use in uses:
                most_s = (use.around.end_ms - use.around.begin_ms) / 1000
                if use.busiest_s > MOST_BUSY * most_s + _LATE_S:
                    said = f"a drive counts {seconds_text(use.busiest_s)} s of work in {seconds_text(most_s)} s"
                    self._too_busy |= dict.fromkeys(job.nodes, said)
            steps_ms = (max(stage.begin_ms - use.around.begin_ms, use.around.end_ms - stage.end_ms) for use in uses)
            if stage.elapsed_ms >= _STEPS * max(steps_ms) and not at_rest:
                usual_s[stage.name] = max(use.usual_s for use in uses)
            work, length_s = stage.whole, max(1e-3, stage.elapsed_ms / 1000)
            on_drives = max(0.0, 1 - _WRITTEN_BACK_S / length_s)
            moved = moved.plus(_Moved(
                work.store_read + work.local_read + work.fetched, on_drives * (work.store_written + work.local_written),
                sum(use.read for use in uses), sum(use.written for use in uses), sum(use.busy_s for use in uses),
                (1 - on_drives) * work.store_written,
            ))  # fmt: skip
        number = min((len(self._drives_of(node)) for node in job.nodes), default=1)
        return Busy(seconds, moved.drives_read, busiest_s, usual_s=usual_s, drives=max(1, number)), moved

    def _known(self, node: str) -> str | None:
        return self._names.find([node])

    def _drives_of(self, node: str) -> frozenset[str]:
        return self._measured.drives.get(self._known(node) or "", frozenset())

    def _on(self, node: str, stage: StageSums, nodes: int) -> _NodeUse | None:
        """What that node's drives did in a stage; None if not known."""
        step_ms = round(self._measured.step_s * 1000)
        within = PartSpan("run", stage.begin_ms, stage.end_ms)
        for readings in self._measured.readings.get(self._known(node) or "", ()):
            read = readings.widened(within)
            if max(within.begin_ms - read.begin_ms, read.end_ms - within.end_ms) > MUCH_LONGER * step_ms:
                continue
            around = PartSpan(
                "run", min(read.begin_ms, within.begin_ms - step_ms), max(read.end_ms, within.end_ms + step_ms)
            )
            counted = _counted(readings, around)
            busy = counted["busy_s"]
            if busy and len(busy) >= len(self._drives_of(node)):
                usual = _counted(readings, within)["busy_s"]
                seconds = max(*busy, sum(busy) / busy_at_once(len(busy), tasks_at_once(stage, max(1, nodes))))
                moved = sum(counted["read_bytes"]), sum(counted["written_bytes"])
                return _NodeUse(seconds, max(busy), sum(busy), *moved, max(usual, default=0.0), around)
        return None


def _counted(readings: Readings, span: PartSpan) -> dict[str, list[float]]:
    """What each drive counted in a time, by series."""
    by_series: dict[str, list[float]] = {series: [] for series in _SERIES}
    for series, value in readings.gained(span):
        by_series[series].append(value)
    return by_series


def _key(job: PastJob) -> tuple[str, str, int]:
    return job.id, job.source, job.started_ms


def _sum(each: Iterable[_Moved]) -> _Moved:
    total = _Moved()
    for moved in each:
        total = total.plus(moved)
    return total
