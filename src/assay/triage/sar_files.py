"""What files of `sar`, `sadf` and `iostat` tell of the drives of the nodes on which jobs ran."""

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from statistics import median

from assay.engine.past.job import PastJob
from assay.host.files import why
from assay.model.errors import BadInputError
from assay.model.host_names import HostNames
from assay.model.naming import first_few
from assay.model.probe import Quantity, Reading
from assay.node.devices import is_of_paths, without_paths
from assay.probe.counters import Readings
from assay.probe.prometheus_server import SERIES
from assay.probe.sar import SADF, DriveInterval, DriveReport, check_drive_report, read_drive_report
from assay.triage.busy import (
    FASTEST,
    MOST_BUSY,
    MUCH_LONGER,
    MeasuredDrives,
    busy_at_rest,
    rest_remark,
    unnamed_volumes,
)

_DRIVE = re.compile(r"(sd|vd|xvd|hd|dasd)[a-z]+|nvme\d+(c\d+)?n\d+|mmcblk\d+|(cciss|rd)[/!]c\d+d\d+")
"""What is a drive by its name: volumes, RAIDs and mapped devices are made of drives, which are listed themselves."""
_NUMBERED, _OF_NVME = re.compile(r"dev\d+-\d+"), re.compile(r"dev259-\d+")
_HIDDEN = "dev0-0"
"""The number that all paths of NVMe's own multipath have in `/proc/diskstats`."""
_MULTIPATH = re.compile(r"mpath\w+|3[0-9a-f]{32}")
"""What device-mapper-multipath calls a volume, by default or by its WWID: its paths are listed like drives."""
_TOGETHER_S = 1.5
"""An interval that begins so much later than the last one ended follows on it: clocks are printed in whole seconds."""
_ODD = "impossible values (a drive that is busy for over 110 % of the time, or moves over 20 GB/s)"
_AROUND_S = 7200
"""What is further from all jobs is left out."""


def read_sar(files: Sequence[Path], jobs: Sequence[PastJob]) -> MeasuredDrives:
    """The drives of the jobs' nodes. Raises BadInputError.

    That is where a file can't be read, none is of a node of the jobs, or drives have several paths, or numbers in place
    of names.
    """
    names = HostNames(node for job in jobs for node in job.nodes)
    reports = [read_drive_report(file) for file in files]
    intervals = [interval for report in reports for interval in report.intervals]
    nodes = {host: names.find([host]) for host in dict.fromkeys(interval.host for interval in intervals)}
    if not any(nodes.values()):
        known = first_few(sorted({node for job in jobs for node in job.nodes}))
        hosts = first_few(sorted(nodes))
        raise BadInputError(f"--sar names files of {hosts}, and the jobs ran on {known}; name the files of these hosts")
    of_nodes = [interval for interval in intervals if nodes[interval.host]]
    _check_numbers(reports, nodes)
    if paths := sorted({interval.device for interval in of_nodes if _is_of_paths(interval.device)}):
        raise BadInputError(
            f"--sar has volumes with several paths ({first_few(paths)}), and does not tell which devices are paths of "
            "which; leave --sar out"
        )
    drives_alone = [interval for interval in of_nodes if _DRIVE.fullmatch(interval.device)]
    if not drives_alone:
        others = first_few(sorted({interval.device for interval in of_nodes}))
        raise BadInputError(f"--sar tells of no drive, only of {others}; print all block devices, by the option -p")
    odd = {(interval.host, interval.end_s) for interval in drives_alone if not _is_possible(interval)}
    drives_alone = [interval for interval in drives_alone if (interval.host, interval.end_s) not in odd]
    if not drives_alone:
        raise BadInputError(
            f"--sar has no interval without {_ODD}; print the files again with {SADF}, or leave --sar out"
        )
    by_node = _of_their_time(drives_alone, nodes, jobs)
    segments = {node: list(_segments(_in_order(of_node))) for node, of_node in by_node.items()}
    drives = {node: _drives(of_node) for node, of_node in by_node.items()}
    readings = {node: [_readings(node, part, drives[node]) for part in parts] for node, parts in segments.items()}
    every = [interval for parts in segments.values() for part in parts for interval in part]
    step_s = max((interval.end_s - interval.begin_s for interval in every), default=0.0)
    is_local = any(report.is_local for report in reports)
    devices: dict[str, set[str]] = {node: set() for node in drives}
    for interval in of_nodes:
        devices.get(nodes[interval.host] or "", set()).add(interval.device)
    remarks = (
        *_remarks(jobs, every, drives, odd=len(odd), is_local=is_local), *_left_out(devices),
        *unnamed_volumes("--sar", drives, devices), *rest_remark("--sar", at_rest := busy_at_rest(readings)),
    )  # fmt: skip
    return MeasuredDrives("--sar", readings, drives, step_s, remarks=remarks, busy_at_rest=at_rest)


def _drives(intervals: Iterable[DriveInterval]) -> frozenset[str]:
    """The drives of a node; some kernels count in the paths to a drive alone what it did."""
    did: dict[str, float] = {}
    for interval in intervals:
        work = interval.busy_s + interval.read_bytes + interval.written_bytes
        did[interval.device] = did.get(interval.device, 0.0) + work
    return without_paths(did, {device for device, work in did.items() if not work})


def _check_numbers(reports: Iterable[DriveReport], nodes: Mapping[str, str | None]) -> None:
    """Raises BadInputError where a file has numbers alone in place of names, or may have one of a drive of NVMe.

    Beside names, only what a node no longer has is printed by its number, and what sysstat can't name.
    """
    for report in reports:
        devices = {interval.device for interval in report.intervals if nodes[interval.host]}
        numbered = sorted(filter(_NUMBERED.fullmatch, devices))
        has_names = any(device.startswith("nvme") for device in devices)
        of_nvme = [name for name in numbered if name == _HIDDEN or (_OF_NVME.fullmatch(name) and not has_names)]
        if of_nvme:
            raise BadInputError(
                f"--sar has devices by the numbers of NVMe drives ({first_few(of_nvme)}), which this sysstat can't "
                "name; print text with `iostat -x -t 60` while jobs run, or leave --sar out"
            )
        if numbered and not any(map(_DRIVE.fullmatch, devices)):
            raise BadInputError(
                f"--sar has devices by number ({first_few(numbered)}), which may be drives or made of them; print the "
                "files again with their names, by the option -p"
            )


def _is_of_paths(device: str) -> bool:
    return is_of_paths(device) or _MULTIPATH.fullmatch(device) is not None


def _is_possible(interval: DriveInterval) -> bool:
    length_s = interval.end_s - interval.begin_s
    moved = interval.read_bytes + interval.written_bytes
    return 0 <= interval.busy_s <= MOST_BUSY * length_s and 0 <= moved <= FASTEST * length_s


def _of_their_time(
    intervals: Sequence[DriveInterval], nodes: Mapping[str, str | None], jobs: Sequence[PastJob]
) -> dict[str, list[DriveInterval]]:
    """By node, the intervals around the time of the jobs. Raises BadInputError where there are none."""
    began_s = min(job.started_ms for job in jobs) / 1000 - _AROUND_S
    ended_s = max(job.finished_ms for job in jobs) / 1000 + _AROUND_S
    by_node: dict[str, list[DriveInterval]] = {}
    for interval in intervals:
        if (node := nodes[interval.host]) and interval.end_s >= began_s and interval.begin_s <= ended_s:
            by_node.setdefault(node, []).append(interval)
    if not by_node:
        first_s, last_s = min(of.begin_s for of in intervals), max(of.end_s for of in intervals)
        raise BadInputError(
            f"--sar tells of {_day(first_s)} to {_day(last_s)}, and the jobs ran from {_day(began_s + _AROUND_S)} to "
            f"{_day(ended_s - _AROUND_S)}; name the files of these days"
        )
    return by_node


def _day(at_s: float) -> str:
    return f"{datetime.fromtimestamp(at_s).astimezone():%Y-%m-%d %H:%M}"


def files_of(places: Sequence[Path]) -> list[Path]:
    """The files that are named, and those in folders that are, and below. Raises BadInputError for what is no text."""
    files = [file for place in places for file in _files(place)]
    for file in files:
        if file.is_file():  # a pipe can be read once alone
            check_drive_report(file)
    return files


def _files(place: Path) -> list[Path]:
    if not place.exists():
        raise BadInputError(f"--sar {place}: there is no such file or folder")
    if not place.is_dir():
        return [place]
    files: list[Path] = []
    visited: set[tuple[int, int]] = set()
    for folder, below, names in os.walk(place, onerror=_refuse, followlinks=True):
        status = Path(folder).stat()
        if (status.st_dev, status.st_ino) in visited:  # a link led here again
            below.clear()
            continue
        visited.add((status.st_dev, status.st_ino))
        files += [file for name in names if not name.startswith(".") and (file := Path(folder, name)).is_file()]
    if not files:
        raise BadInputError(f"--sar {place} has no file in it; copy into it what {SADF} prints on each node")
    return sorted(files)


def _refuse(error: OSError) -> None:
    raise BadInputError(f"--sar {error.filename} can't be read: {why(error)}; make it readable, or name other folders")


def _in_order(intervals: Iterable[DriveInterval]) -> list[DriveInterval]:
    """By time, each of a drive once: files may hold the same, and a pause between two records of sar no interval."""
    unique = {(interval.end_s, interval.device): interval for interval in reversed(list(intervals))}
    return [unique[key] for key in sorted(unique)]


def _segments(intervals: Sequence[DriveInterval]) -> Iterator[list[DriveInterval]]:
    """The intervals of a node between gaps and restarts."""
    usual_s = median(interval.end_s - interval.begin_s for interval in intervals)
    part: list[DriveInterval] = []
    ended_s = 0.0
    for _, of_time in groupby(intervals, key=attrgetter("end_s")):
        together = list(of_time)
        begin_s = together[0].begin_s
        if begin_s < ended_s - _TOGETHER_S:  # it overlaps with another file's
            continue
        too_long = together[0].end_s - begin_s > MUCH_LONGER * usual_s
        if part and (too_long or begin_s > ended_s + _TOGETHER_S):
            yield part
            part = []
        if not too_long:
            part += together
            ended_s = together[0].end_s
    if part:
        yield part


def _readings(node: str, intervals: Sequence[DriveInterval], drives: frozenset[str]) -> Readings:
    """The intervals of a node without gaps, as counters."""
    readings = Readings("sar", SERIES)
    counted = {
        device: {Quantity(f"disk {device}", series): 0.0 for series in ("busy_s", "read_bytes", "written_bytes")}
        for device in drives
    }
    for interval in intervals:
        if interval.device in drives:
            counters = counted[interval.device]
            readings.add(Reading(node, interval.begin_s, counters))
            busy_s = min(interval.busy_s, interval.end_s - interval.begin_s)
            done = (busy_s, interval.read_bytes, interval.written_bytes)
            counters.update({name: counters[name] + gone for name, gone in zip(counters, done, strict=True)})
            readings.add(Reading(node, interval.end_s, counters))
    return readings


def _left_out(devices: Mapping[str, Collection[str]]) -> Iterator[str]:
    if numbered := sorted(filter(_NUMBERED.fullmatch, set().union(*devices.values()))):
        yield (
            f"--sar has devices by number beside others by name ({first_few(numbered)}): the nodes had them no longer "
            "when the files were printed, and what these devices did is left out"
        )


def _remarks(
    jobs: Sequence[PastJob],
    intervals: Sequence[DriveInterval],
    drives: dict[str, frozenset[str]],
    *,
    odd: int,
    is_local: bool,
) -> Iterator[str]:
    if odd:
        yield f"--sar has {odd} interval{'s' if odd > 1 else ''} with {_ODD}, and of these times nothing is known"
    if is_local:
        yield (
            "times in the files of --sar that name no zone are of this machine's zone: set TZ to that of the nodes, or "
            "print the files by `sadf -d`, which has UTC"
        )
    nodes = {node for job in jobs for node in job.nodes}
    if len(drives) < len(nodes):
        yield (
            f"--sar has files of {len(drives)} of {len(nodes)} nodes: busy times count for jobs that ran on these alone"
        )
    begin_s = min((interval.begin_s for interval in intervals), default=0.0)
    end_s = max((interval.end_s for interval in intervals), default=0.0)
    outside = sum(job.finished_ms <= 1000 * begin_s or job.started_ms >= 1000 * end_s for job in jobs)
    if outside:
        yield f"{outside} of {len(jobs)} runs are outside the time of the files of --sar, which tell nothing of them"
