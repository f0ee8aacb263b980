"""What a run says in short: medians per combination of factors, and ratios between placements."""

from collections.abc import Sequence
from statistics import median

from assay.model.base import Frozen
from assay.model.doubt import Doubt, Outcome
from assay.model.record import Phases, Record, Status

ENOUGH_REPETITIONS = 5
# Trials that differ in one of these are not of one kind.
MACHINE_FACTS = ("cpu", "cores", "memory_bytes", "kernel", "java", "hadoop", "jobs_jar_sha256", "assay")


class Group(Frozen):
    """All factors but the placement: what is compared within it differs in the placement only."""

    workload: str
    variant: str
    options: str
    dataset: str
    settings: str
    memory: str
    cpus: str
    cache: str
    probes: str


class Row(Frozen):
    """One combination of factors over its repetitions.

    `elapsed_s` is the median of the jobs' added elapsed times; `phases` are medians of the phases' added averages;
    `ratio` is elapsed time over that of the group's first placement, the median over repetitions (None for the
    first placement itself and where either did not finish). `outcome` is the worst of the repetitions.
    """

    group: Group
    placement: str
    trials: int
    finished: int
    elapsed_s: float | None
    phases: Phases | None
    ratio: float | None
    outcome: Outcome


def summarise(records: Sequence[Record]) -> list[Row]:
    """One row per combination, groups in the order of the records' trial ids, placements in that of their names."""
    groups: dict[Group, dict[str, list[Record]]] = {}
    for record in sorted(records, key=lambda one: (one.trial.workload.name, one.trial.dataset.name, one.trial.id)):
        factors = dict(record.trial.factors)
        placement = factors.pop("placement")
        groups.setdefault(Group.model_validate(factors), {}).setdefault(placement, []).append(record)
    rows = []
    for group, by_placement in groups.items():
        first = sorted(by_placement)[0]
        rows += [
            _row(group, placement, by_placement[placement], None if placement == first else by_placement[first])
            for placement in sorted(by_placement)
        ]
    return rows


def varying(rows: Sequence[Row]) -> list[str]:
    """The factors besides workload and placement that tell rows of one workload apart."""
    names = ("variant", "options", "dataset", "settings", "memory", "cpus", "cache", "probes")
    workloads = {row.group.workload for row in rows}
    return [
        name
        for name in names
        if any(len({getattr(row.group, name) for row in rows if row.group.workload == one}) > 1 for one in workloads)
    ]


def _row(group: Group, placement: str, records: list[Record], base: list[Record] | None) -> Row:
    finished = _finished(records)
    times = [record.totals.elapsed_s for record in finished if record.totals]
    phases = [record.totals.phases for record in finished if record.totals]
    return Row(
        group=group,
        placement=placement,
        trials=len(records),
        finished=len(finished),
        elapsed_s=median(times) if times else None,
        phases=_median_phases(phases) if phases else None,
        ratio=_ratio(finished, base) if base is not None else None,
        outcome=_worst([record.outcome for record in records]),
    )


def _finished(records: list[Record]) -> list[Record]:
    return [record for record in records if record.status is Status.FINISHED and record.totals is not None]


def _median_phases(phases: list[Phases]) -> Phases:
    return Phases.model_validate({name: median(getattr(one, name) for one in phases) for name in Phases.model_fields})


def _ratio(finished: list[Record], base: list[Record]) -> float | None:
    """The median over repetitions of the ratio within each repetition, in which both ran close in time."""
    bases = {record.trial.repetition: record.totals.elapsed_s for record in _finished(base) if record.totals}
    ratios = [
        record.totals.elapsed_s / bases[record.trial.repetition]
        for record in finished
        if record.totals and bases.get(record.trial.repetition)
    ]
    return median(ratios) if ratios else None


def _worst(outcomes: list[Outcome]) -> Outcome:
    order = [Outcome.PASS, Outcome.UNKNOWN, Outcome.FAIL]
    return max(outcomes, key=order.index)


def doubts_of(records: Sequence[Record]) -> list[Doubt]:
    """The run's doubts, each once: those of its trials, and those that only the whole run shows."""
    found = {doubt.model_dump_json(): doubt for record in records for doubt in record.doubts}
    doubts = list(found.values())
    repetitions = min((row.finished for row in summarise(records)), default=0)
    if 0 < repetitions < ENOUGH_REPETITIONS:
        doubts.append(
            Doubt(
                kind="few-repetitions",
                what=f"some combinations ran only {repetitions} time{'s' if repetitions > 1 else ''}",
                why="a difference of a few percent between such runs may be chance",
                cure=f"set repetitions: {ENOUGH_REPETITIONS} or more in the experiment",
            )
        )
    kinds = {medium.kind == "emulated" for record in records for medium in record.trial.media}
    if len(kinds) > 1:
        doubts.append(
            Doubt(
                kind="emulated-beside-real",
                what="emulated drives stand beside media of this machine",
                why="a real medium is made cold by dropping all of the page cache, Java and Hadoop's jars included, an "
                "emulated one by dropping its own pages alone: the first tasks on the real one start more slowly",
                cure="compare emulated drives with one another, or make a profile of the real one and emulate that too",
            )
        )
    machines = {_machine(record) for record in records}
    if len(machines) > 1:
        doubts.append(
            Doubt(
                kind="different-machines",
                what=f"the trials ran on {len(machines)} different machines, or with different software",
                why="differences between those look like differences between media",
                cure="run the whole plan on one machine, with one Java, Hadoop and Assay",
            )
        )
    return doubts


def _machine(record: Record) -> tuple[str | None, ...]:
    """What must be the same for two trials to be of one kind; version 1 and 2 of control groups bound differently."""
    limits = record.limits.interface if record.limits else None
    return (*(record.facts.get(key) for key in MACHINE_FACTS), limits)
