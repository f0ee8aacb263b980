"""Doubts about an emulated drive: whether it kept its times, and whether it can show such a drive at all."""

from collections.abc import Mapping, Sequence
from typing import Any

from assay.media.profile import Profile
from assay.model.doubt import Doubt

LATE_SHARE, LATE_S = 0.02, 0.2
"""Replies that are overdue for a larger share of a part's time, and for longer, are doubted."""

OVERSHOOT_SHARE = 0.1
"""Half of the replies leaving later than this share of the drive's mean response time are doubted."""

SHORT_BYTES = 4096


def doubts_of(
    medium: str, profile: Profile, path_cost: Mapping[str, Any], reports: Sequence[Mapping[str, Any]]
) -> tuple[Doubt, ...]:
    """What the reports since attaching say, each doubt by the worst of them, and what the path's cost says."""
    found = []
    worst = max((one for one in reports if _late_s(one) > LATE_S), key=_late_share, default={})
    if _late_share(worst) > LATE_SHARE:
        found.append(_late(medium, worst))
    over = max(reports, key=_overshoot_share, default={})
    if _overshoot_share(over) > OVERSHOOT_SHARE:
        found.append(_overshot(medium, over))
    response_us, path_us = _response_us(profile), path_us_of(path_cost)
    if response_us is not None and path_us > response_us:
        found.append(_path_too_long(medium, path_us, response_us))
    if any(not report.get("memory_locked", True) for report in reports):
        found.append(_not_locked(medium))
    return tuple(found)


def path_us_of(path_cost: Mapping[str, Any]) -> float:
    """Microseconds that a read of 4 KiB takes on its way alone; 0 when nothing was measured."""
    line = path_cost.get("read")
    return (line["base_ns"] + SHORT_BYTES * line["ns_per_byte"]) / 1000 if line else 0.0


def still_cached(medium: str, left_bytes: int) -> Doubt:
    """A medium that could not be made quite cold."""
    return Doubt(
        kind="cache-not-quite-cold",
        what=f"{left_bytes} bytes of files on {medium} stayed in the page cache",
        why="pages that a process has mapped or is writing can't be dropped, so their first reads come from memory",
        cure="see what keeps files on the medium open (fuser -vm), and have nothing else use it",
    )


def _response_us(profile: Profile) -> float | None:
    """The drive's own time for one short read, alone; None for those that need none, or milliseconds."""
    if profile.kind != "ssd":
        return None
    own_us = profile.values.get("read_command_us", 0.0) + profile.values.get("read_latency_us", 0.0)
    return own_us * profile.slowdown


def _overshoot_share(report: Mapping[str, Any]) -> float:
    mean_us = report.get("mean_response_us", 0.0)
    return float(report["overshoot"]["median_us"] / mean_us) if mean_us else 0.0


def _late_share(report: Mapping[str, Any]) -> float:
    """How much of a part's time replies were overdue."""
    elapsed_s = float(report.get("elapsed_seconds", 0.0))
    return _late_s(report) / elapsed_s if elapsed_s else 0.0


def _late_s(report: Mapping[str, Any]) -> float:
    """For how many seconds replies were overdue."""
    return float(report["late"]["seconds"]) if "late" in report else 0.0


def _late(medium: str, report: Mapping[str, Any]) -> Doubt:
    late = report["late"]
    return Doubt(
        kind="emulator-was-late",
        what=f"replies of {medium} were overdue for {late['seconds']:.1f} of {report['elapsed_seconds']:.0f} s, "
        f"at worst by {late['worst_us'] / 1000:.1f} ms",
        why="the disk below its backing file, or this machine, is slower than the drive that it stands for",
        cure="put the backing file into memory (the medium's path: /dev/shm) or on a faster disk, close other "
        "programs, or take a slower drive",
    )


def _overshot(medium: str, report: Mapping[str, Any]) -> Doubt:
    return Doubt(
        kind="emulator-was-slow",
        what=f"half of the replies of {medium} were sent at least {report['overshoot']['median_us']:.0f} us late, a "
        f"request taking {report['mean_response_us']:.0f} us on average: it seems slower here than it is",
        why="this machine wakes the emulator too late, or is too slow for such a drive",
        cure="close other programs, use a machine with more processors, or take a slower drive",
    )


def _path_too_long(medium: str, path_us: float, response_us: float) -> Doubt:
    return Doubt(
        kind="drive-too-fast-for-this-machine",
        what=f"the way to {medium} alone takes {path_us:.0f} us for a read of 4 KiB, and such a drive answers within "
        f"{response_us:.0f} us: it seems slower here than it is",
        why="short requests, one after the other, can't be as fast here as they are on such a drive",
        cure="use a faster machine, or compare only what reads and writes in long requests",
    )


def _not_locked(medium: str) -> Doubt:
    return Doubt(
        kind="emulator-memory-not-locked",
        what=f"the kernel refused to lock the memory of the emulator of {medium}",
        why="parts of it may be swapped out, and requests then take longer than the drive would",
        cure="raise the limit of locked memory (ulimit -l)",
    )
