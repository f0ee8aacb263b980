"""What a change of the nodes or of settings saves of a run: probably, and at most.

Computing and the drives are the stations of a closed network (`stats.closed_network`), as in `triage.likely`. The share
that a change has of what drives without delay save by that formula, it has of what these are likely to save by all
evidence. The interval was fitted to drives without delay. Carried over to SSDs, it holds fewer than nine of ten savings
of kept runs (`docs/how-to/what-an-ssd-competes-with.md`); for other changes it is untested.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from assay.engine.past.job import StageSums
from assay.model.base import Frozen
from assay.plan.job_experiment import ROLES
from assay.stats.closed_network import computing_time, network_time
from assay.triage.drives import Drives
from assay.triage.likely import Likely, passed_share, worked_s
from assay.triage.ranking import DriveSite
from assay.triage.reasons import BoundedRun

MONTH_NIGHTS = 30
Worked = Mapping[Drives, float]
"""How long each drive of a kind works in a stage, in seconds."""


def nights_text(nights: int) -> str:
    """From how many nights a month is extrapolated, in words that doubt a single one."""
    return f"{nights} nights" if nights > 1 else "one night, which may be unlike others"


class JobSaving(Frozen):
    """What an alternative saves of a job: hours of its time in a month."""

    job: str
    """The job, as triage calls it."""
    runs: float
    """Its runs in a month."""
    hours: float
    """Their time."""
    likely_hours: float | None
    """What it probably saves of that; null where nothing tells."""
    low_hours: float
    """The lower end of its interval."""
    high_hours: float
    """The upper end."""
    most_hours: float
    """At most."""


class StageAfter(NamedTuple):
    """How long drives work in a stage after a change, and by what its computing is multiplied.

    `nodes` is the share of nodes that are changed. They take tasks from the others as they are free.
    """

    worked_s: Worked
    computing: float = 1.0
    nodes: float = 1.0


class Changed(NamedTuple):
    """A run after a change: the most seconds that it saves, and its stages; without them, why nothing is likely.

    `untried` says why what is likely is good for an order alone; empty where it is as good as triage's.
    """

    most_s: float
    stages: Sequence[StageAfter] = ()
    unknown: str = ""
    untried: str = ""


Change = Callable[[BoundedRun, DriveSite], Changed]


def worked_now(run: BoundedRun, site: DriveSite, cache_bytes: float | None = None) -> list[Worked]:
    """How long drives work in each stage, with the page cache that is known, or another."""
    job = run.job
    passed = passed_share(job, run.bound, cache_bytes or site.cache_bytes)
    read_back = 1.0 if passed is None else passed
    return [worked_s(job, stage, site.drives, read_back, ROLES) for stage in job.stages]


def most_saved(run: BoundedRun, seconds: float) -> float:
    """The most that a change saves which spares a node's drives so many seconds of a run's own work.

    The change may spare as much of what they do for the jobs beside it as they do.
    """
    return run.bound.seconds if run.job.uncounted else min(run.bound.seconds, seconds + run.bound.beside_s)


def likely_after(run: BoundedRun, site: DriveSite, changed: Changed) -> Likely | str:
    """What a change probably saves of a run, with an interval; a clause that says why where that is not known."""
    if isinstance(run.likely, str) or changed.unknown:
        return changed.unknown or str(run.likely)
    without_delay_s = saved_on_drives_s = saved_computing_s = 0.0
    now = worked_now(run, site)
    for stage, of_stage, after in zip(run.job.stages, now, changed.stages, strict=True):
        scale = _scale(run, stage, of_stage)
        before_s = [scale * seconds for seconds in of_stage.values()]
        computing_s = computing_time(stage.elapsed_ms / 1000, before_s)
        time_s = network_time([computing_s, *before_s])
        later_s = [scale * seconds for seconds in after.worked_s.values()]
        without_delay_s += time_s - computing_s
        on_drives_s = network_time([computing_s, *later_s])
        saved_on_drives_s += max(0.0, time_s - _on_both(time_s, on_drives_s, after.nodes))
        if after.computing != 1:
            saved_computing_s += on_drives_s - network_time([after.computing * computing_s, *later_s])
    share = saved_on_drives_s / without_delay_s if without_delay_s else 0.0
    if changed.untried:
        # Drives without delay tell nothing of computing.
        seconds = share * run.likely.seconds + saved_computing_s
        return Likely(min(seconds, changed.most_s), 0.0, changed.most_s, run.likely.evidence, changed.untried)
    seconds, low_s, high_s = (
        min(share * of_all_s, changed.most_s) for of_all_s in (run.likely.seconds, run.likely.low_s, run.likely.high_s)
    )
    likely = run.likely._replace(seconds=seconds, low_s=low_s, high_s=high_s)
    return likely._replace(low_s=0.0, high_s=changed.most_s) if likely.unlike else likely


def _on_both(time_s: float, changed_s: float, nodes: float) -> float:
    """How long a stage takes on a share of changed nodes and on others, each with as many tasks as its speed allows."""
    return time_s * changed_s / ((1 - nodes) * changed_s + nodes * time_s) if time_s else 0.0


def _scale(run: BoundedRun, stage: StageSums, now: Worked) -> float:
    """By what counted work is multiplied: drives work as long as is measured, or at most for the stage's time."""
    counted_s, longest_s = sum(now.values()), max(now.values(), default=0.0)
    measured_s = run.busy.usual_s.get(stage.name) if run.busy else None
    if not longest_s:
        return 1.0
    return min(stage.elapsed_ms / 1000 / longest_s, measured_s / counted_s if measured_s is not None else 1.0)
