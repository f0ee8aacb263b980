"""Whether a scale model was kept to: what was seen of it against the conditions under which its times can be believed.

The checks are made when a record is read, so that a change of the conditions judges earlier trials, too. The conditions
are this project's, after those of emulators of networks that watch their own fidelity (N. Handigol and others,
Reproducible Network Experiments Using Container-Based Emulation, CoNEXT 2012).
"""

from collections.abc import Iterable, Mapping, Sequence

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

RULES_VERSION = 7
"""Rises with each change of the conditions; this one has been in force since 2026-11-25 02:30 UTC."""

IDLE_SHARE, IDLE_WINDOWS = 0.10, 0.99
LATE_US_P99 = 1000.0
LATE_DRIVE_SHARE = 0.02
LINK_SHARE, LINK_LEAST_S, LINK_RUN_SHARE = 0.05, 1.0, 0.01
"""A link that is off its rate by more than the first fails where that can have cost more than this share of the run."""
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


def judged(report: ScaleReport) -> ScaleReport:
    """A report with all checks by these rules; a report that kept no more than verdicts as it is."""
    observed = report.seen
    if observed is None:
        return report
    checks = (
        idle_check(observed.idle_shares),
        wake_check(observed.late_us, observed.dilation),
        drive_check(observed.drives),
        link_check(observed.links, len(observed.idle_shares)),
        heartbeat_check(observed.heartbeats if observed.strike is None else around_strike(observed.strike)),
    )
    return report.model_copy(update={"checks": checks, "rules": RULES_VERSION})


def report_of(seen: ScaleSeen) -> ScaleReport:
    """What is recorded of a scale model, with its checks."""
    return judged(ScaleReport(dilation=seen.dilation, seen=seen))


def with_verdicts(record: Record) -> Record:
    """A record as these rules judge it, with the doubts that follow; as it is where it kept verdicts only."""
    if record.scale is None or record.scale.seen is None:
        return record
    scale = judged(record.scale)
    others = [
        doubt for doubt in record.doubts if doubt.kind not in {SCALE_MODEL_NOT_KEPT.name, SCALE_MODEL_NOT_SEEN.name}
    ]
    return record.model_copy(update={"scale": scale, "doubts": (*others, *scale_doubts(scale))})


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


def drive_check(drives: Mapping[str, DriveSeen]) -> ScaleCheck:
    """The largest share of the run that requests waited longer than for the drive, of any drive.

    What a request waits before the driver has it does not count: journal commits that wait for a flush do so with a
    real drive, too. Nor does what it waits behind a flush, where the drive takes no command meanwhile.
    """
    if not drives:
        return _unseen(CheckId.DRIVES, LATE_DRIVE_SHARE, "no drive told how late it was")
    late_s = {name: _late_s(drive) for name, drive in drives.items()}
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


def _late_s(drive: DriveSeen) -> float:
    return drive.late_s + (0.0 if drive.flush_alone else drive.late_behind_flush_s)


def link_check(links: Mapping[str, LinkSeen], run_s: float) -> ScaleCheck:
    """How far the rate of any link was off its own, while packets waited before it.

    A queue of a fast link also runs empty between two looks that both find packets. So a rate that is off fails only
    where the time that it cost, if all of it was the link's, is more than a share of the run.
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
    if not passed:
        cost = max(abs(off[name]) * link.seconds for name, link in known.items()) / run_s if run_s else 1.0
        detail += f", or {LINK_RUN_SHARE:.0%} of the run in all: it was {cost:.2%}"
        passed = cost <= LINK_RUN_SHARE
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
