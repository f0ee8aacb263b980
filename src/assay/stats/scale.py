"""Whether a scale model was kept to: what was seen of it against the conditions under which its times can be believed.

The conditions are this project's, after those of emulators of networks that watch their own fidelity (N. Handigol and
others, Reproducible Network Experiments Using Container-Based Emulation, CoNEXT 2012).
"""

from collections.abc import Mapping, Sequence
from statistics import quantiles

from assay.model.doubt import Doubt, doubt_kind
from assay.model.fault import NODE
from assay.model.record import DeviceReport
from assay.model.scale import HeartbeatsSeen, LinkSeen, ScaleCheck, ScaleReport, ScaleSeen

IDLE_SHARE, IDLE_WINDOWS = 0.10, 0.99
LATE_US_P99 = 1000.0
"""By the model's clock: a delay of this machine is that much shorter in the times that are reported."""
LATE_DRIVE_SHARE = 0.02
LINK_SHARE, LINK_LEAST_S = 0.05, 1.0
LINK_RUN_SHARE = 0.01
"""Of the run, what links that were off their rate may have cost."""
BEAT_RATIO, BEAT_LEAST = 1.2, 10
"""Fewer heartbeats of each node are counted too coarsely."""
LEAST_WAKES = 100

SCALE_MODEL_NOT_KEPT = doubt_kind(
    "scale-model-not-kept", "trial",
    when="a check of a scale model failed: processors that were not idle for 10 % of a second, a thread that woke up "
    "too late, late drives, links off their rate, heartbeats that did not come in time",
    why="not everything was slower by the same factor, so that the times are not those of the cluster that the model "
    "stands for; they are struck out, and count in no figure",
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


def judged(seen: ScaleSeen, devices: Mapping[str, Mapping[str, DeviceReport]]) -> ScaleReport:
    """All checks of a trial's run, by what was seen meanwhile and what its drives reported of it."""
    checks = (
        idle_check(seen.idle_shares), wake_check(seen.late_us, seen.dilation), drive_check(devices),
        link_check(seen.links, len(seen.idle_shares)), heartbeat_check(seen.heartbeats),
    )  # fmt: skip
    return ScaleReport(dilation=seen.dilation, checks=checks)


def scale_doubts(report: ScaleReport, troubles: Sequence[str] = ()) -> list[Doubt]:
    """Why the trial's times are struck out, and what could not be told of them."""
    found = [SCALE_MODEL_NOT_KEPT.doubt(f"{check.name}: {check.detail}", check.name) for check in report.failed]
    unseen = [check for check in report.checks if check.passed is None and check.value is None and check.name in NEEDED]
    why = f" ({'; '.join(troubles)})" if troubles else ""
    found += [SCALE_MODEL_NOT_SEEN.doubt(f"{check.name}: {check.detail}{why}", check.name) for check in unseen]
    return found


IDLE, WAKE, DRIVES, LINKS, HEARTBEATS = (
    "idle processor time", "wake-up latency", "late drives", "links with a backlog", "heartbeats",
)  # fmt: skip
NEEDED = frozenset({IDLE, WAKE})
"""What every trial shows; the others are of what it has, or uses."""


def idle_check(shares: Sequence[float]) -> ScaleCheck:
    """Of windows of a second: idle for at least 10 % of the time in 99 % of them."""
    if not shares:
        return _unseen(IDLE, IDLE_WINDOWS, "the run took less than a second")
    enough = sum(share >= IDLE_SHARE for share in shares) / len(shares)
    lowest = min(shares)
    detail = (
        f"the processors were idle for at least {IDLE_SHARE:.0%} of the time in {enough:.1%} of {len(shares)} windows "
        f"of a second, at least {IDLE_WINDOWS:.0%} are needed; the lowest was {lowest:.0%}"
    )
    passed = enough >= IDLE_WINDOWS
    return ScaleCheck(name=IDLE, value=enough, limit=IDLE_WINDOWS, passed=passed, detail=detail, lowest=lowest)


def wake_check(late_us: Sequence[int], dilation: float) -> ScaleCheck:
    """The 99th percentile of how late a thread woke that wanted to each 5 ms of this machine, by the model's clock."""
    if len(late_us) < LEAST_WAKES:
        return _unseen(WAKE, LATE_US_P99, f"a thread woke {len(late_us)} times, at least {LEAST_WAKES} are needed")
    at_99 = quantiles(late_us, n=100, method="inclusive")[98] / dilation
    detail = (
        f"a thread woke up to {at_99:.0f} us of the model's time late in 99 % of {len(late_us)} times, below "
        f"{LATE_US_P99:.0f} us is allowed"
    )
    return ScaleCheck(name=WAKE, value=at_99, limit=LATE_US_P99, passed=at_99 < LATE_US_P99, detail=detail)


def drive_check(devices: Mapping[str, Mapping[str, DeviceReport]]) -> ScaleCheck:
    """The largest share of the run that requests waited longer than for the drive, of any drive."""
    shares, of_busy = {}, {}
    for name, reports in devices.items():
        report = reports.get("run")
        late = (report.model_extra or {}).get("late_seconds") if report else None
        if report is not None and report.elapsed_seconds and isinstance(late, int | float):
            shares[name] = late / report.elapsed_seconds
            if report.busy_seconds:
                of_busy[name] = f", {late / report.busy_seconds:.0%} of the time in which it was busy"
    if not shares:
        return _unseen(DRIVES, LATE_DRIVE_SHARE, "no drive told how late it was")
    worst = max(shares, key=lambda name: shares[name])
    share = shares[worst]
    detail = (
        f"requests waited longer than for the drive in {share:.2%} of the run ({worst}{of_busy.get(worst, '')}), below "
        f"{LATE_DRIVE_SHARE:.0%} is allowed"
    )
    return ScaleCheck(name=DRIVES, value=share, limit=LATE_DRIVE_SHARE, passed=share < LATE_DRIVE_SHARE, detail=detail)


def link_check(links: Mapping[str, LinkSeen], run_s: float) -> ScaleCheck:
    """How far the rate of any link was off its own, while packets waited before it.

    A queue of a fast link also runs empty between two looks that both find packets. So a rate that is off fails only
    where the time that it cost, if all of it was the link's, is a share of the run that matters.
    """
    known = {name: one for name, one in links.items() if one.seconds >= LINK_LEAST_S}
    if not known:
        return _unseen(LINKS, LINK_SHARE, "packets waited before no link for a second or longer")
    off = {name: one.sent_bytes / (one.rate_bytes_per_s * one.seconds) - 1 for name, one in known.items()}
    worst = max(off, key=lambda name: abs(off[name]))
    detail = (
        f"{worst} sent {1 + off[worst]:.1%} of its rate in {known[worst].seconds:.1f} s with a backlog, the furthest "
        f"off of {len(known)}; within {LINK_SHARE:.0%} is allowed"
    )
    value = round(abs(off[worst]), 6)
    cost = max(abs(off[name]) * one.seconds for name, one in known.items()) / run_s if run_s else 1.0
    if value > LINK_SHARE:
        detail += f", or {LINK_RUN_SHARE:.0%} of the run in all: it was {cost:.2%}"
    passed = value <= LINK_SHARE or cost <= LINK_RUN_SHARE
    return ScaleCheck(name=LINKS, value=value, limit=LINK_SHARE, passed=passed, detail=detail)


def heartbeat_check(heartbeats: Mapping[str, HeartbeatsSeen]) -> ScaleCheck:
    """The mean time between two heartbeats of a node, in terms of what it was told, of the worse daemon.

    Means, since daemons count heartbeats and do not tell of each.
    """
    ratios = {
        role: one.seconds * one.nodes / one.beats / one.interval_s
        for role, one in heartbeats.items()
        if one.nodes and one.seconds / one.interval_s >= BEAT_LEAST and one.beats
    }
    silent = [role for role, one in heartbeats.items() if one.seconds / one.interval_s >= BEAT_LEAST and not one.beats]
    if silent:
        detail = f"no heartbeat reached the {silent[0]}"
        return ScaleCheck(name=HEARTBEATS, value=None, limit=BEAT_RATIO, passed=False, detail=detail)
    if not ratios:
        return _unseen(HEARTBEATS, BEAT_RATIO, f"the run was shorter than {BEAT_LEAST} intervals")
    worst = max(ratios, key=lambda role: ratios[role])
    decimals = 3 if abs(ratios[worst] - BEAT_RATIO) < 0.01 else 2
    detail = (
        f"those to the {worst} came every {ratios[worst]:.{decimals}f} intervals in the mean "
        f"({heartbeats[worst].beats} of {heartbeats[worst].nodes:.3g} nodes), at most {BEAT_RATIO} is allowed"
    )
    return ScaleCheck(
        name=HEARTBEATS, value=ratios[worst], limit=BEAT_RATIO, passed=ratios[worst] <= BEAT_RATIO, detail=detail
    )


SENDERS = {"resourcemanager": "nodemanager", "namenode": "datanode"}


def around_strike(
    before: Mapping[str, HeartbeatsSeen], after: Mapping[str, HeartbeatsSeen], killed: str
) -> dict[str, HeartbeatsSeen]:
    """Heartbeats of a run in which a daemon of this role, or a `node`, was killed: of those that could send any."""
    found = {}
    for role in {**before, **after}:
        parts = [before[role]] if role in before else []
        if role in after:
            lost = killed in {NODE, SENDERS.get(role)}
            parts.append(after[role]._replace(nodes=after[role].nodes - lost))
        if seconds := sum(one.seconds for one in parts):
            nodes = sum(one.nodes * one.seconds for one in parts) / seconds
            found[role] = HeartbeatsSeen(sum(one.beats for one in parts), nodes, seconds, parts[0].interval_s)
    return found


def _unseen(name: str, limit: float, why: str) -> ScaleCheck:
    return ScaleCheck(name=name, value=None, limit=limit, passed=None, detail=why)
