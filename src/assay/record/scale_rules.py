"""Whether a scale model was kept to: what was seen of it against the conditions under which its times can be believed.

The checks are made when a record is read. Each change of the conditions is a version of them (`RULES`), so that a
record can be judged by any. The conditions are this project's, after those of emulators of networks that watch their
own fidelity (N. Handigol and others, Reproducible Network Experiments Using Container-Based Emulation, CoNEXT 2012).
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from enum import IntEnum
from typing import NamedTuple

from assay.model.doubt import Doubt, doubt_kind
from assay.model.fault import NODE
from assay.model.installed import heartbeat_sender
from assay.model.record import DriveReports, Record
from assay.model.scale import (
    CheckId,
    DriveSeen,
    HeartbeatsSeen,
    LinkSeen,
    ScaleCheck,
    ScaleReport,
    ScaleSeen,
    StrikeSeen,
)

IDLE_SHARE, IDLE_WINDOWS = 0.10, 0.99
LATE_US_P99 = 1000.0
LATE_DRIVE_SHARE = 0.02
LINK_SHARE, LINK_LEAST_S = 0.05, 1.0
BEAT_RATIO, BEAT_LEAST = 1.2, 10
"""Fewer heartbeats of each node are counted too coarsely."""
LEAST_WAKES = 100

SCALE_MODEL_NOT_KEPT = doubt_kind(
    "scale-model-not-kept", "trial",
    when="a check of a scale model failed: processors that were not idle for 10 % of a second, a thread that woke up "
    "too late, late drives, links off their rate, heartbeats that did not come in time",
    why="not everything was slower by the same factor, so that the times are not those of the cluster that the model "
    "stands for; they are excluded, and count in no result",
    cure="give a larger dilation, close other programs, or take fewer nodes",
    severity=180,
)  # fmt: skip
SCALE_MODEL_NOT_SEEN = doubt_kind(
    "scale-model-not-seen", "trial",
    when="a check of a scale model could not be made",
    why="nothing tells whether everything was slower by the same factor",
    cure="see what the check lacks; a longer trial is seen better than a short one",
    severity=60,
)  # fmt: skip
NEEDED = frozenset({CheckId.IDLE, CheckId.WAKES})
"""What every trial shows; the others are of what it has, or uses."""


class Late(IntEnum):
    """Which waits count as a drive's lateness; a greater one contains the smaller ones."""

    NEITHER = 0
    """Neither those for the driver to have a request nor those behind a flush."""
    BY_DRIVE = 1
    """Those behind a flush too, where the drive takes commands meanwhile."""
    IN_DRIVER = 2
    """Those behind a flush too."""
    ALL = 3
    """All, but for those that the driver had no room for."""


class Rules(NamedTuple):
    """A version of the conditions: when it came into force (UTC), what changed, why; then what tells it from others.

    `model_clock`: wake-ups are judged by the model's clock. `late`: which waits count as a drive's. `link_run_share`:
    of the run, what links off their rate may have cost; None where any cost fails. `without_killed`: heartbeats are
    not waited for from what was killed.
    """

    version: int
    since: datetime
    check: CheckId | None
    change: str
    why: str
    model_clock: bool
    late: Late
    link_run_share: float | None
    without_killed: bool


def _since(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


_FIRST = Rules(
    1, _since("2026-11-23 14:23"), None, "the five checks", "scale models began",
    model_clock=False, late=Late.ALL, link_run_share=None, without_killed=False,
)  # fmt: skip
_SECOND = _FIRST._replace(
    version=2, since=_since("2026-11-23 20:30"), check=CheckId.WAKES, model_clock=True,
    change="wake-ups may be 1 ms late by the model's clock, and no more by this machine's",
    why="trials failed by 1.1 to 2.2 ms; a delay here is K times shorter in the times that are reported",
)  # fmt: skip
_THIRD = _SECOND._replace(
    version=3, since=_since("2026-11-24 03:01"), check=CheckId.DRIVES, late=Late.IN_DRIVER,
    change="what a request waits before the driver has it does not count as the drive's lateness",
    why="commits of a file system's journal that wait for a flush counted; with a real drive they wait for it, too",
)  # fmt: skip
_FOURTH = _THIRD._replace(
    version=4, since=_since("2026-11-24 03:07"), check=CheckId.HEARTBEATS, without_killed=True,
    change="heartbeats are not waited for from a node or daemon that a fault killed",
    why="those that it could not send counted as late",
)  # fmt: skip
_FIFTH = _FOURTH._replace(
    version=5, since=_since("2026-11-24 09:27"), check=CheckId.DRIVES, late=Late.NEITHER,
    change="what a request waits behind a flush does not count as the drive's lateness, of any drive",
    why="trials failed by it; a drive behind SATA takes no command while a flush is under way",
)  # fmt: skip
_SIXTH = _FIFTH._replace(
    version=6, since=_since("2026-11-24 10:49"), check=CheckId.LINKS, link_run_share=0.01,
    change="links off their rate by more than 5 % fail only where that can have cost more than 1 % of the run",
    why="trials at 625 Mbit failed by 6 to 14 % in 1.0 to 1.5 s: a queue also runs empty between two looks",
)  # fmt: skip
_SEVENTH = _SIXTH._replace(
    version=7, since=_since("2026-11-25 02:30"), check=CheckId.DRIVES, late=Late.BY_DRIVE,
    change="what a request waits behind a flush counts again for drives that take commands meanwhile",
    why="the fifth version's reason holds for drives behind SATA alone, not behind NVMe or SAS",
)  # fmt: skip
RULES = (_FIRST, _SECOND, _THIRD, _FOURTH, _FIFTH, _SIXTH, _SEVENTH)
"""All versions, the newest last."""


def in_force(record: Record) -> Rules:
    """The rules that a record's checks are by: as it says, or those of the time when the trial began.

    A record by rules that are not known here is none that can be read (`assay.record.reading`).
    """
    if record.scale is not None and record.scale.rules is not None:
        return RULES[record.scale.rules - 1]
    began_ms = min((step.started_ms for step in record.steps), default=0)
    return next((rules for rules in reversed(RULES) if rules.since.timestamp() * 1000 <= began_ms), RULES[0])


def judged(report: ScaleReport, rules: Rules = RULES[-1]) -> ScaleReport:
    """A report with all checks by one version of the rules; one that kept no more than verdicts as it is."""
    observed = report.seen
    if observed is None:
        return report
    heartbeats = observed.heartbeats
    if rules.without_killed and observed.strike is not None:
        heartbeats = around_strike(observed.strike)
    checks = (
        idle_check(observed.idle_shares),
        wake_check(observed.late_us, observed.dilation if rules.model_clock else 1),
        drive_check(observed.drives, rules.late),
        link_check(observed.links, len(observed.idle_shares), rules.link_run_share),
        heartbeat_check(heartbeats),
    )
    return report.model_copy(update={"checks": checks, "rules": rules.version})


def report_of(seen: ScaleSeen) -> ScaleReport:
    """What is recorded of a scale model, with the checks by the newest rules."""
    return judged(ScaleReport(dilation=seen.dilation, seen=seen))


def with_verdicts(record: Record) -> Record:
    """A record as the newest rules judge it, with the doubts that follow; as it is where it kept verdicts only."""
    if record.scale is None or record.scale.seen is None:
        return record
    scale = judged(record.scale)
    others = [
        doubt for doubt in record.doubts if doubt.kind not in {SCALE_MODEL_NOT_KEPT.name, SCALE_MODEL_NOT_SEEN.name}
    ]
    return record.model_copy(update={"scale": scale, "doubts": (*others, *scale_doubts(scale))})


def without_seen(record: Record) -> Record:
    """A record with the checks of its scale model, and without what they were made from."""
    if record.scale is None or record.scale.seen is None:
        return record
    return record.model_copy(update={"scale": record.scale.model_copy(update={"seen": None})})


UNTOLD = "untold"
"""The verdict of a version that the kept figures do not tell."""

Told = bool | str | None


def verdicts(record: Record, rules: Rules) -> Mapping[CheckId, Told]:
    """How a version of the rules judges a trial: passed or not, None where nothing was seen.

    A record that kept no more than verdicts and figures is judged by these as far as they go; else it is `UNTOLD`.
    """
    if record.scale is None:
        return {}
    if record.scale.seen is not None:
        return {check.id: check.passed for check in judged(record.scale, rules).checks}
    then = in_force(record)
    killed = record.trial.cluster.fault is not None and bool(record.trial.cluster.fault.kill)
    return {
        check.id: None if check.passed is None else _by_value(check, record.scale.dilation, then, rules, killed=killed)
        for check in record.scale.checks
    }


def _by_value(check: ScaleCheck, dilation: int, then: Rules, now: Rules, *, killed: bool) -> Told:
    """What `now` says of a figure that was kept with the verdict of `then`."""
    match check.id:
        case CheckId.WAKES if check.value is not None:
            wall_us = check.value * (dilation if then.model_clock else 1)
            return wall_us / (dilation if now.model_clock else 1) < LATE_US_P99
        case CheckId.DRIVES if now.late != then.late:
            still = check.passed if (now.late < then.late) is check.passed else None
            return UNTOLD if still is None else still
        case CheckId.LINKS if check.value is not None and now.link_run_share != then.link_run_share:
            if check.value <= LINK_SHARE:
                return True
            return False if now.link_run_share is None else UNTOLD
        case CheckId.HEARTBEATS if killed and now.without_killed != then.without_killed:
            return UNTOLD
    return check.passed


def scale_doubts(report: ScaleReport) -> list[Doubt]:
    """Why the trial's times are excluded, and what could not be told of them."""
    doubts = [
        SCALE_MODEL_NOT_KEPT.doubt(f"{check.id.heading}: {check.detail}", check.id.heading) for check in report.failed
    ]
    unseen = [check for check in report.checks if check.passed is None and check.value is None and check.id in NEEDED]
    troubles = report.seen.troubles if report.seen else ()
    why = f" ({'; '.join(troubles)})" if troubles else ""
    doubts += [
        SCALE_MODEL_NOT_SEEN.doubt(f"{check.id.heading}: {check.detail}{why}", check.id.heading) for check in unseen
    ]
    return doubts


def drives_seen(devices: Iterable[DriveReports]) -> dict[str, DriveSeen]:
    """What is kept of the drives' reports of the run; of those alone that tell how late they were."""
    drives = {}
    for drive in devices:
        report = drive.reports.get("run")
        further = (report.model_extra or {}) if report else {}
        late_s = further.get("late_otherwise_seconds", further.get("late_seconds"))
        if report is not None and report.elapsed_seconds and isinstance(late_s, int | float):
            drives[drive.label] = DriveSeen(
                elapsed_s=report.elapsed_seconds,
                busy_s=report.busy_seconds,
                late_s=late_s,
                late_behind_flush_s=further.get("late_behind_flush_seconds", 0.0),
                late_before_driver_s=further.get("late_before_driver_seconds", 0.0),
                flush_alone=further.get("flush_alone", True),
            )
    return drives


def idle_check(shares: Sequence[float]) -> ScaleCheck:
    """Check windows of a second: 99 % of them must be idle for at least 10 % of the time."""
    if not shares:
        return _unseen(CheckId.IDLE, IDLE_WINDOWS, "the run took less than a second")
    enough = sum(share >= IDLE_SHARE for share in shares) / len(shares)
    lowest = min(shares)
    detail = (
        f"the processors were idle for at least {IDLE_SHARE:.0%} of the time in {enough:.1%} of {len(shares)} windows "
        f"of a second, at least {IDLE_WINDOWS:.0%} are needed; the lowest was {lowest:.0%}"
    )
    passed = enough >= IDLE_WINDOWS
    return ScaleCheck(
        id=CheckId.IDLE, value=enough, limit=IDLE_WINDOWS, passed=passed, detail=detail, lowest=lowest
    )  # fmt: skip


def wake_check(late_us: Mapping[int, int], slower: float) -> ScaleCheck:
    """The 99th percentile of how late a thread woke that wanted to each 5 ms, by a clock that is so much slower.

    It is the end of its step: up to 1.6 % too late, and never too early.
    """
    wakes = sum(late_us.values())
    if wakes < LEAST_WAKES:
        return _unseen(CheckId.WAKES, LATE_US_P99, f"a thread woke {wakes} times, at least {LEAST_WAKES} are needed")
    at_99 = _quantile(late_us, 0.99) / slower
    clock = "the model's" if slower > 1 else "this machine's"
    detail = (
        f"a thread woke up to {at_99:.0f} us of {clock} time late in 99 % of {wakes} times, below "
        f"{LATE_US_P99:.0f} us is allowed"
    )
    return ScaleCheck(id=CheckId.WAKES, value=at_99, limit=LATE_US_P99, passed=at_99 < LATE_US_P99, detail=detail)


def _quantile(counts: Mapping[int, int], share: float) -> int:
    """The least value that at least this share of all do not exceed."""
    needed, reached = share * sum(counts.values()), 0
    for value in sorted(counts):
        reached += counts[value]
        if reached >= needed:
            return value
    raise ValueError("no values")


def drive_check(drives: Mapping[str, DriveSeen], late: Late) -> ScaleCheck:
    """The largest share of the run that requests waited longer than for the drive, of any drive."""
    if not drives:
        return _unseen(CheckId.DRIVES, LATE_DRIVE_SHARE, "no drive told how late it was")
    late_s = {name: _late_s(drive, late) for name, drive in drives.items()}
    shares = {name: seconds / drives[name].elapsed_s for name, seconds in late_s.items()}
    worst = max(shares, key=lambda name: shares[name])
    share, busy_s = shares[worst], drives[worst].busy_s
    of_busy = f", {late_s[worst] / busy_s:.0%} of the time in which it was busy" if busy_s else ""
    detail = (
        f"requests waited longer than for the drive in {share:.2%} of the run ({worst}{of_busy}), below "
        f"{LATE_DRIVE_SHARE:.0%} is allowed"
    )
    passed = share < LATE_DRIVE_SHARE
    return ScaleCheck(id=CheckId.DRIVES, value=share, limit=LATE_DRIVE_SHARE, passed=passed, detail=detail)


def _late_s(drive: DriveSeen, late: Late) -> float:
    behind = late >= Late.IN_DRIVER or (late is Late.BY_DRIVE and not drive.flush_alone)
    before = late is Late.ALL
    return drive.late_s + behind * drive.late_behind_flush_s + before * drive.late_before_driver_s


def link_check(links: Mapping[str, LinkSeen], run_s: float, run_share: float | None) -> ScaleCheck:
    """How far the rate of any link was off its own, while packets waited before it.

    A queue of a fast link also runs empty between two looks that both find packets. So a rate that is off fails only
    where the time that it cost, if all of it was the link's, is more than a share of the run; None fails any cost.
    """
    known = {name: link for name, link in links.items() if link.seconds >= LINK_LEAST_S}
    if not known:
        return _unseen(CheckId.LINKS, LINK_SHARE, "packets waited before no link for a second or longer")
    off = {name: link.sent_bytes / (link.rate_bytes_per_s * link.seconds) - 1 for name, link in known.items()}
    worst = max(off, key=lambda name: abs(off[name]))
    detail = (
        f"{worst} sent {1 + off[worst]:.1%} of its rate in {known[worst].seconds:.1f} s with a backlog, the furthest "
        f"off of {len(known)}; within {LINK_SHARE:.0%} is allowed"
    )
    value = round(abs(off[worst]), 6)
    passed = value <= LINK_SHARE
    if not passed and run_share is not None:
        cost = max(abs(off[name]) * link.seconds for name, link in known.items()) / run_s if run_s else 1.0
        detail += f", or {run_share:.0%} of the run in all: it was {cost:.2%}"
        passed = cost <= run_share
    return ScaleCheck(id=CheckId.LINKS, value=value, limit=LINK_SHARE, passed=passed, detail=detail)


def heartbeat_check(heartbeats: Mapping[str, HeartbeatsSeen]) -> ScaleCheck:
    """The mean time between two heartbeats of a node, in terms of what it was told, of the worse daemon.

    Means, since daemons count heartbeats and do not tell of each.
    """
    known = {
        role: beats_seen
        for role, beats_seen in heartbeats.items()
        if beats_seen.seconds / beats_seen.interval_s >= BEAT_LEAST
    }
    silent = [role for role, beats_seen in known.items() if not beats_seen.beats]
    if silent:
        detail = f"no heartbeat reached the {silent[0]}"
        return ScaleCheck(id=CheckId.HEARTBEATS, value=None, limit=BEAT_RATIO, passed=False, detail=detail)
    ratios = {
        role: beats_seen.seconds * beats_seen.nodes / beats_seen.beats / beats_seen.interval_s
        for role, beats_seen in known.items()
        if beats_seen.nodes
    }
    if not ratios:
        return _unseen(CheckId.HEARTBEATS, BEAT_RATIO, f"the run was shorter than {BEAT_LEAST} intervals")
    worst = max(ratios, key=lambda role: ratios[role])
    decimals = 3 if abs(ratios[worst] - BEAT_RATIO) < 0.01 else 2
    detail = (
        f"those to the {worst} came every {ratios[worst]:.{decimals}f} intervals in the mean "
        f"({heartbeats[worst].beats} of {heartbeats[worst].nodes:.3g} nodes), at most {BEAT_RATIO} is allowed"
    )
    passed = ratios[worst] <= BEAT_RATIO
    return ScaleCheck(id=CheckId.HEARTBEATS, value=ratios[worst], limit=BEAT_RATIO, passed=passed, detail=detail)


def around_strike(strike: StrikeSeen) -> dict[str, HeartbeatsSeen]:
    """Heartbeats of a run in which a daemon or a node was killed: of those that could send any."""
    heartbeats = {}
    for role in {**strike.before, **strike.after}:
        parts = [strike.before[role]] if role in strike.before else []
        if role in strike.after:
            after = strike.after[role]
            lost = strike.killed in {NODE, heartbeat_sender(role)}
            parts.append(after.model_copy(update={"nodes": after.nodes - lost}))
        if seconds := sum(part.seconds for part in parts):
            nodes = sum(part.nodes * part.seconds for part in parts) / seconds
            heartbeats[role] = HeartbeatsSeen(
                beats=sum(part.beats for part in parts), nodes=nodes, seconds=seconds, interval_s=parts[0].interval_s
            )
    return heartbeats


def _unseen(check: CheckId, limit: float, why: str) -> ScaleCheck:
    return ScaleCheck(id=check, value=None, limit=limit, passed=None, detail=why)
