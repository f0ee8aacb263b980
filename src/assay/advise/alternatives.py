"""The alternatives that are compared: what each changes of a run, what it costs, and how many drives it adds to a node.

A further one is an entry of `alternatives`: a function from a run to the same run after the change.
"""

from collections.abc import Collection, Sequence
from functools import partial
from typing import NamedTuple

from assay.advise.saving import Change, Changed, StageAfter, most_saved, worked_now
from assay.engine.past.formats import suggestions
from assay.engine.past.job import MAP, PastJob, StageSums
from assay.model.naming import bytes_text
from assay.plan.job_experiment import ROLES
from assay.stats.caveats import BUSY_MARGIN
from assay.triage.bounds import part_of, parts_of, tasks_at_once, uses_of
from assay.triage.drives import Drives
from assay.triage.ranking import DriveSite
from assay.triage.reasons import BoundedRun

INPUT, INTERMEDIATE = ROLES[0], ROLES[1]
ONE_MORE_NODE = "one-more-node"
"""By what the others are measured."""


class Purchase(NamedTuple):
    """What may be bought for each node: so many SSDs of a kind, and memory in bytes.

    Prices are of one disk, one SSD, that memory, and a node, in the same money; None where none is said. `slots` are
    the drives that a node has room for, if that is said.
    """

    ssd: Drives
    memory_bytes: int
    slots: int | None = None
    disk_price: float | None = None
    ssd_price: float | None = None
    memory_price: float | None = None
    node_price: float | None = None


class Alternative(NamedTuple):
    """A change that competes with others. `price` is that of the whole cluster, None where it is not said.

    `kinds` are what services, or counters that suggest it, call it. `units` of what has a price are bought for each
    node. `has_room` says whether a node has slots for them.
    """

    name: str
    price: float | None
    change: Change
    kinds: tuple[str, ...]
    units: int = 1
    has_room: bool = True


def alternatives(site: DriveSite, nodes: int, purchase: Purchase) -> list[Alternative]:
    """All that are compared on a cluster of so many nodes, those that cost nothing first."""
    return [*_of_settings(), *_bought(site, nodes, purchase)]


def _of_settings() -> list[Alternative]:
    changes: Sequence[tuple[str, Change, tuple[str, ...]]] = (
        ("larger sort buffers, fewer spills", _written_once, ("sort buffer", "spills")),
        ("compressed shuffle", _compressed, ("compression",)),
        ("fewer and larger shuffle pieces", _one_piece, ("small pieces",)),
    )
    return [Alternative(name, 0.0, partial(_where_suggested, kinds, change), kinds) for name, change, kinds in changes]


def _bought(site: DriveSite, nodes: int, purchase: Purchase) -> list[Alternative]:
    ssd, disk = purchase.ssd, site.drives[INPUT]
    installed = sum(drives.number for drives in set(site.drives.values()))
    all_ssds = ssd._replace(number=max(ssd.number, disk.number))

    def each(price: float | None, units: int = 1) -> float | None:
        return None if price is None else nodes * units * price

    def has_room(more: int) -> bool:
        return purchase.slots is None or installed + more <= purchase.slots

    def ssds(number: int) -> str:
        return f"{number} SSD{'' if number == 1 else 's'} a node"

    ssd_alternatives = [
        Alternative(
            f"{ssds(ssd.number)} for local directories", each(purchase.ssd_price, ssd.number),
            partial(on_ssd, (INTERMEDIATE,), ssd), ("local-directories-on-ssd",), ssd.number, has_room(ssd.number),
        ),
        Alternative(
            f"{ssds(all_ssds.number)} for all data", each(purchase.ssd_price, all_ssds.number),
            partial(on_ssd, ROLES, all_ssds), ("data-on-ssd",), all_ssds.number,
        ),
    ]  # fmt: skip
    return [
        *(
            alternative for role, alternative in zip((INTERMEDIATE, INPUT), ssd_alternatives, strict=True)
            if site.drives[role].profile != ssd.profile
        ),
        Alternative(
            "1 more disk a node", each(purchase.disk_price), _one_more_disk, ("one-more-disk",), has_room=has_room(1)
        ),
        Alternative(
            f"{bytes_text(purchase.memory_bytes)} more memory a node", each(purchase.memory_price),
            partial(_more_memory, purchase.memory_bytes), ("more-memory",),
        ),
        Alternative("1 more node", purchase.node_price, partial(_one_more_node, nodes), (ONE_MORE_NODE,)),
    ]  # fmt: skip


def _where_suggested(kinds: Collection[str], change: Change, run: BoundedRun, site: DriveSite) -> Changed:
    """The change of a run whose counters suggest it; else nothing is saved."""
    if any(suggestion.kind in kinds for suggestion in suggestions(run.job)):
        return change(run, site)
    return Changed(0.0, [StageAfter(worked) for worked in worked_now(run, site)])


def on_ssd(roles: Collection[str], ssd: Drives, run: BoundedRun, site: DriveSite) -> Changed:
    """Data of some roles on SSDs; the bound is that of drives without delay."""
    most_s = run.bound.seconds
    if len(roles) < len(ROLES):
        most_s = most_saved(run, sum(part.seconds for part in run.bound.parts if part.role in roles))
    drives = {role: ssd if role in roles else of_role for role, of_role in site.drives.items()}
    return Changed(most_s, [StageAfter(worked) for worked in worked_now(run, site._replace(drives=drives))])


def _one_more_disk(run: BoundedRun, site: DriveSite) -> Changed:
    """Each of a node's disks has a smaller share of the work that all of them have."""
    disk = site.drives[INPUT]
    share = disk.number / (disk.number + 1)
    worked_s = [
        stage.bytes_s if stage.busy_s is None else min(stage.bytes_s, BUSY_MARGIN * stage.busy_s)
        for stage in run.bound.stages
    ]
    saved_s = [
        min(stage.seconds, (1 - share) * seconds) for stage, seconds in zip(run.bound.stages, worked_s, strict=True)
    ]
    stages = [
        StageAfter({drives: seconds * (share if drives == disk else 1.0) for drives, seconds in worked.items()})
        for worked in worked_now(run, site)
    ]
    return Changed(min(run.bound.seconds, sum(saved_s)), stages)


def _more_memory(added: int, run: BoundedRun, site: DriveSite) -> Changed:
    """More of what is read stays in the page cache, and at most as much as is added of what is written."""
    seconds = 0.0
    for stage in run.job.stages:
        together = tasks_at_once(stage, max(1, len(run.job.nodes)))
        for use in uses_of(run.job, stage):
            share = 1.0 if use.direction == "read" else min(1.0, added / max(1.0, use.moved))
            if use.moved > 0 or use.accesses:
                seconds += share * part_of(use, site.drives[use.role], together).seconds
    most_s = most_saved(run, seconds)
    if not site.cache_bytes:
        return Changed(most_s, unknown="how much memory nodes leave to files is not known: say --node-memory")
    return Changed(most_s, [StageAfter(worked) for worked in worked_now(run, site, site.cache_bytes + added)])


def _one_more_node(nodes: int, run: BoundedRun, site: DriveSite) -> Changed:
    """Drives of each node have less to do, and stages of several waves of tasks have more slots."""
    share = nodes / (nodes + 1)
    stages = [
        StageAfter(
            {drives: share * seconds for drives, seconds in worked.items()},
            share if stage.whole.tasks > stage.peak else 1.0,
        )
        for stage, worked in zip(run.job.stages, worked_now(run, site), strict=True)
    ]
    return Changed((1 - share) * run.job.tasks_s, stages, untried="no job was measured with one node more")


def _written_once(run: BoundedRun, site: DriveSite) -> Changed:
    """Nothing that maps emit, or tasks hold, is written to local directories a second time."""
    of_maps = any(suggestion.kind == "sort buffer" for suggestion in suggestions(run.job))
    return _counted_anew(run, site, [
        stage._replace(busiest=stage.busiest._replace(
            local_read=0, local_written=min(stage.busiest.local_written, stage.busiest.map_output_on_disk),
        )) if stage.name == MAP or not of_maps else stage
        for stage in run.job.stages
    ])  # fmt: skip


def _one_piece(run: BoundedRun, site: DriveSite) -> Changed:
    """No fetched piece costs a positioning of its own."""
    return _counted_anew(run, site, [stage._replace(whole=stage.whole._replace(fetches=0)) for stage in run.job.stages])


def _compressed(run: BoundedRun, _site: DriveSite) -> Changed:
    most_s = most_saved(run, sum(part.seconds for part in run.bound.parts if part.role == INTERMEDIATE))
    return Changed(most_s, unknown="no counter tells how far its data shrink: run a job with compression once")


def _counted_anew(run: BoundedRun, site: DriveSite, stages: Sequence[StageSums]) -> Changed:
    """The run if its stages had counted that."""
    job = run.job._replace(stages=tuple(stages))
    spared_s = _drives_s(run.job, site) - _drives_s(job, site)
    anew = worked_now(run._replace(job=job), site)
    return Changed(most_saved(run, max(0.0, spared_s)), [StageAfter(worked) for worked in anew])


def _drives_s(job: PastJob, site: DriveSite) -> float:
    return sum(part.seconds for stage in job.stages for part in parts_of(job, stage, site.drives))
