"""The alternatives that are compared: what each changes of a run, what it costs, and how many drives it adds to a node.

A further one is an entry of `alternatives`: a function from a run to the same run after the change.
"""

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from math import ceil
from typing import NamedTuple

from assay.advise.saving import Change, Changed, StageAfter, most_saved, worked_now
from assay.engine.past.formats import suggestions
from assay.engine.past.job import MAP, PastJob, StageSums
from assay.model.naming import bytes_text
from assay.plan.job_experiment import ROLES
from assay.stats.caveats import BUSY_MARGIN
from assay.triage.bounds import part_of, parts_of, tasks_at_once, uses_of
from assay.triage.drives import Drives
from assay.triage.names import run_name
from assay.triage.ranking import DriveSite
from assay.triage.reasons import BoundedRun

INPUT, INTERMEDIATE = ROLES[0], ROLES[1]
LOCAL_ON_SSD, DATA_ON_SSD, DIRECTED_JOBS = "local-directories-on-ssd", "data-on-ssd", "directed-jobs-on-ssd"
LOCAL_OF_SOME, ONE_MORE_DISK = "local-directories-of-some-nodes", "one-more-disk"
OF_DRIVES = frozenset({LOCAL_ON_SSD, DATA_ON_SSD, DIRECTED_JOBS, LOCAL_OF_SOME, ONE_MORE_DISK})
"""The kinds of alternatives that change drives."""
MORE_NODES = "more-nodes"
"""By what the others are measured."""
KINDS = (
    "sort buffer", "spills", "compression", "small pieces", LOCAL_ON_SSD, LOCAL_OF_SOME, DIRECTED_JOBS, DATA_ON_SSD,
    ONE_MORE_DISK, "more-memory", MORE_NODES,
)  # fmt: skip
"""Of all alternatives."""


class Purchase(NamedTuple):
    """What may be bought for each node: so many SSDs of a kind, and memory in bytes.

    `ssd_nodes` is how many nodes get SSDs where some do, else half; `small_ssd_bytes` the size of one for few jobs,
    else a tenth of what all need; `more_nodes` how many nodes are added, else as many as the SSDs cost. Prices are of
    one disk, one SSD, a small one (without it, that of one SSD), that memory, and a node, in the same money: 0 for what
    is there already, None where none is said. `slots` are the drives that a node has room for, if that is said.
    """

    ssd: Drives
    memory_bytes: int
    slots: int | None = None
    ssd_nodes: int | None = None
    small_ssd_bytes: float | None = None
    more_nodes: int | None = None
    disk_price: float | None = None
    ssd_price: float | None = None
    small_ssd_price: float | None = None
    memory_price: float | None = None
    node_price: float | None = None


class Alternative(NamedTuple):
    """A change that competes with others. `price` is that of the whole cluster, None where it is not said.

    `kinds` are what services, or counters that suggest it, call it. `units` of what has a price are for each node,
    on average: none of a setting. `has_room` says whether a node has slots for them.
    """

    name: str
    price: float | None
    change: Change
    kinds: tuple[str, ...]
    units: float = 1
    has_room: bool = True


class Directed(NamedTuple):
    """The jobs that alone use an SSD of that size in each node."""

    jobs: Collection[str]
    ssd_bytes: float


def alternatives(
    site: DriveSite, nodes: int, purchase: Purchase, directed: Directed | None = None
) -> list[Alternative]:
    """All that are compared on a cluster of so many nodes, those that cost nothing first."""
    ssds = [*_ssds(site, nodes, purchase, directed)]
    return [*_of_settings(), *ssds, *_others(site, nodes, purchase), *_nodes(nodes, purchase, ssds)]


def _of_settings() -> list[Alternative]:
    changes: Sequence[tuple[str, Change, tuple[str, ...]]] = (
        ("larger buffers for fewer spills", _written_once, ("sort buffer", "spills")),
        ("compressed shuffle", _compressed, ("compression",)),
        ("fewer and larger shuffle pieces", _one_piece, ("small pieces",)),
    )
    return [
        Alternative(name, 0.0, partial(_where_suggested, kinds, change), kinds, units=0)
        for name, change, kinds in changes
    ]


def _ssds(site: DriveSite, nodes: int, purchase: Purchase, directed: Directed | None) -> Iterator[Alternative]:
    """SSDs for local directories on all nodes, on some, and for few jobs alone, and SSDs for all data."""
    ssd, price = purchase.ssd, purchase.ssd_price
    plural = "" if ssd.number == 1 else "s"
    if site.drives[INTERMEDIATE].profile != ssd.profile:
        change, room = partial(on_ssd, (INTERMEDIATE,), ssd), _has_room(site, purchase, ssd.number)
        yield Alternative(
            f"{ssd.number} SSD{plural} a node for local directories", _times(nodes * ssd.number, price), change,
            (LOCAL_ON_SSD,), ssd.number, room,
        )  # fmt: skip
        some = purchase.ssd_nodes or nodes // 2
        if some:
            yield Alternative(
                f"{ssd.number} SSD{plural} in {some} node{'' if some == 1 else 's'}, local directories",
                _times(some * ssd.number, price), partial(_on_some_nodes, some / nodes, change), (LOCAL_OF_SOME,),
                ssd.number * some / nodes, room,
            )  # fmt: skip
        if directed and directed.jobs:
            number = len(directed.jobs)
            yield Alternative(
                f"1 SSD of {bytes_text(directed.ssd_bytes)} a node for {number} job{'' if number == 1 else 's'}",
                _times(nodes, price if purchase.small_ssd_price is None else purchase.small_ssd_price),
                partial(_where_directed, directed.jobs, partial(on_ssd, (INTERMEDIATE,), ssd._replace(number=1))),
                (DIRECTED_JOBS,), has_room=_has_room(site, purchase, 1),
            )  # fmt: skip
    if site.drives[INPUT].profile != ssd.profile:
        all_ssds = ssds_for_all_data(site, ssd)
        yield Alternative(
            f"{all_ssds.number} SSD{'' if all_ssds.number == 1 else 's'} a node for all data",
            _times(nodes * all_ssds.number, price), partial(on_ssd, ROLES, all_ssds), (DATA_ON_SSD,), all_ssds.number,
            purchase.slots is None or all_ssds.number <= purchase.slots,
        )  # fmt: skip


def ssds_for_all_data(site: DriveSite, ssd: Drives) -> Drives:
    """SSDs of a kind in place of all drives of the input: as many as these, or more."""
    return ssd._replace(number=max(ssd.number, site.drives[INPUT].number))


def _others(site: DriveSite, nodes: int, purchase: Purchase) -> Iterator[Alternative]:
    """What may be bought besides."""
    yield Alternative(
        "1 more disk a node", _times(nodes, purchase.disk_price), _one_more_disk, (ONE_MORE_DISK,),
        has_room=_has_room(site, purchase, 1),
    )  # fmt: skip
    yield Alternative(
        f"{bytes_text(purchase.memory_bytes)} more memory a node", _times(nodes, purchase.memory_price),
        partial(_more_memory, purchase.memory_bytes), ("more-memory",),
    )  # fmt: skip


def _nodes(nodes: int, purchase: Purchase, ssds: Sequence[Alternative]) -> Iterator[Alternative]:
    """One more node, and as many as are asked for, else as SSDs for local directories on all nodes cost."""
    price = purchase.node_price
    same_money = [int(of.price / price) for of in ssds if price and of.price and LOCAL_ON_SSD in of.kinds]
    for number in sorted({1, purchase.more_nodes or max([1, *same_money])}):
        yield Alternative(
            f"{number} more node{'' if number == 1 else 's'}", _times(number, price),
            partial(_more_nodes, nodes, number), (MORE_NODES,),
        )  # fmt: skip


def _times(units: int, price: float | None) -> float | None:
    return None if price is None else units * price


def _has_room(site: DriveSite, purchase: Purchase, more: int) -> bool:
    installed = sum(drives.number for drives in set(site.drives.values()))
    return purchase.slots is None or installed + more <= purchase.slots


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


def _on_some_nodes(share: float, change: Change, run: BoundedRun, site: DriveSite) -> Changed:
    """The change on a share of the nodes: it saves at most as much as on all, if all others waited for those nodes.

    Changed nodes take independent tasks of several waves from the others. A single wave ends when the other nodes do,
    and what is fetched comes from them, too.
    """
    changed = change(run, site)
    stages = [
        after._replace(nodes=share) if _in_waves(stage) and not stage.whole.fetched else StageAfter(worked)
        for stage, after, worked in zip(run.job.stages, changed.stages, worked_now(run, site), strict=True)
    ]
    return changed._replace(stages=stages, untried="no job was measured with SSDs in some of its nodes alone")


def _where_directed(jobs: Collection[str], change: Change, run: BoundedRun, site: DriveSite) -> Changed:
    """The change of some jobs alone: the others gain at most what drives did for jobs beside them."""
    if run_name(run.job) in jobs:
        return change(run, site)
    return Changed(
        min(run.bound.seconds, run.bound.beside_s), [StageAfter(worked) for worked in worked_now(run, site)]
    )  # fmt: skip


def _in_waves(stage: StageSums) -> bool:
    """Whether it has more tasks than ever ran at once."""
    return stage.whole.tasks > stage.peak


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


def _more_nodes(nodes: int, added: int, run: BoundedRun, site: DriveSite) -> Changed:
    """Drives of each node have less to do, and stages of several waves of tasks have more slots, down to one wave."""
    share = nodes / (nodes + added)
    stages: list[StageAfter] = []
    fewer_waves_s = 0.0
    for stage, worked in zip(run.job.stages, worked_now(run, site), strict=True):
        slots = max(1, stage.peak)
        before, after = _waves(stage, slots), _waves(stage, ceil(slots * (nodes + added) / nodes))
        less = {drives: share * seconds for drives, seconds in worked.items()}
        stages.append(StageAfter(less, max(share, 1 / before)))
        fewer_waves_s += max(0.0, share - after / before) * stage.elapsed_ms / 1000
    most_s = min(run.job.tasks_s, (1 - share) * run.job.tasks_s + fewer_waves_s)
    return Changed(most_s, stages, untried="no job was measured before and after nodes were added")


def _waves(stage: StageSums, slots: int) -> int:
    """In how many waves its tasks run: 121 tasks on 120 slots take two."""
    return max(1, ceil(stage.whole.tasks / slots))


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
