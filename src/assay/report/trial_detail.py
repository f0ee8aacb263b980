"""Where time and bytes went in some trials, one beside another."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from assay.model.installed import engine_kind
from assay.model.record import Record
from assay.model.section import TrialTables
from assay.report.analysis import levels_key
from assay.report.charts.accesses import access_rows, flow_picture, flows, use_rows
from assay.report.charts.paths import JobPath, job_paths, path_bars, path_kinds
from assay.report.charts.phases import phase_colours
from assay.report.charts.timeline import scale_of, timeline
from assay.report.columns import Column
from assay.report.nodes import (
    TrialNodes,
    imbalance_columns,
    imbalance_words,
    nodes_in,
)
from assay.stats.trial_summary import summarise

MOST_CORE_PERCENT, MOST_MIB, MOST_MIB_PER_HOUR = 3.0, 150.0, 5.0
PROBE = "own-cost"
MIB = 2**20


class ProbeCost(NamedTuple):
    """Percent of one core and growth of memory while the jobs ran, and what the samples take on disk.

    None is what the record does not tell. The growth is Assay's own while they ran, an estimate of the probes' part.
    `instruments_s` is the processor time of emulator and probes, `elapsed_s` the jobs' time without it.
    """

    core_percent: float | None
    growth_bytes: float | None
    samples_bytes: int
    samples_bytes_per_hour: float | None
    instruments_s: float | None
    elapsed_s: float | None


def cost_of(record: Record, samples_bytes: int) -> ProbeCost:
    """From the own-cost amounts of the run part; samples are those of the whole trial, staging included."""
    busy_s, elapsed_s = _in_the_run(record, "busy_s"), _in_the_run(record, "elapsed_s")
    covered_s = sum(amount.value for amount in record.amounts if (amount.probe, amount.series) == (PROBE, "elapsed_s"))
    summary = summarise(record)
    return ProbeCost(
        core_percent=100 * busy_s / elapsed_s if busy_s is not None and elapsed_s else None,
        growth_bytes=_in_the_run(record, "resident_growth_bytes"),
        samples_bytes=samples_bytes,
        samples_bytes_per_hour=samples_bytes * 3600 / covered_s if samples_bytes and covered_s else None,
        instruments_s=summary.instruments_s,
        elapsed_s=summary.elapsed_without_instruments_s,
    )


def _in_the_run(record: Record, series: str) -> float | None:
    values = [
        amount.value
        for amount in record.amounts
        if (amount.probe, amount.series, amount.part) == (PROBE, series, "run")
    ]
    return sum(values) if values else None


TOO_SHORT = 4
"""A trial so many times shorter than the longest beside it gets a time axis of its own: it could not be read."""


class TrialDetail(NamedTuple):
    """One trial, drawn and told. `own_scale` says that its time axis is not that of the trials beside it.

    `nodes` has no uses where the trial had one node; `matrices` are its networks', drawn.
    """

    tables: TrialTables
    name: str
    timeline: str
    own_scale: bool
    paths: list[JobPath]
    flow_picture: str
    accesses: list[tuple[str, ...]]
    uses: list[tuple[str, ...]]
    cost: ProbeCost
    missing: tuple[str, ...]
    nodes: TrialNodes
    matrices: list[str]


class DetailGroup(NamedTuple):
    """Trials that differ in their placement only, by all other `factors`; `others` are their repetitions.

    `kinds` are what any job's path has, in the order in which it happens; `figures` the engine's, by title.
    `imbalances` are of trials with several workers, and `uneven` what to conclude of them.
    """

    title: str
    factors: Mapping[str, str]
    path_bars: str
    kinds: list[str]
    figures: list[str]
    firsts: list[TrialDetail]
    others: list[TrialDetail]
    imbalances: list[Column]
    uneven: list[str]

    @property
    def all(self) -> list[TrialDetail]:
        """Those of each placement, and their repetitions."""
        return [*self.firsts, *self.others]


def detail_groups(detailed: Sequence[TrialTables], names: Sequence[str]) -> list[DetailGroup]:
    """One for each combination of factors but the placement, in the trials' order; `names` are the factors to tell."""
    return [_group(factors, beside, names) for factors, beside in groups_of(detailed)]


def groups_of(detailed: Sequence[TrialTables]) -> list[tuple[dict[str, str], list[TrialTables]]]:
    """Trials that differ in their placement only, by placement, with all other factors."""
    grouped: dict[tuple[tuple[str, str], ...], list[TrialTables]] = {}
    for tables in detailed:
        others = {name: level for name, level in tables.record.trial.factors.items() if name != "placement"}
        grouped.setdefault(levels_key(others), []).append(tables)
    return [
        (dict(levels), sorted(beside, key=lambda tables: (tables.placement, tables.record.trial.id)))
        for levels, beside in grouped.items()
    ]


def title_of(factors: Mapping[str, str], names: Sequence[str]) -> str:
    """The workload, and the levels of the factors that tell groups apart."""
    return ", ".join([factors["workload"], *(factors[name] for name in names if name in factors)])


def _group(factors: Mapping[str, str], detailed: Sequence[TrialTables], names: Sequence[str]) -> DetailGroup:
    engine = factors["engine"]
    scale = scale_of(detailed)
    signed = [(tables.signature, tables.record) for tables in detailed if tables.signature]
    flows_of = {record.trial.id: flows(signature, record) for signature, record in signed}
    most_bytes = max((flow.bytes for of_trial in flows_of.values() for flow in of_trial), default=0.0)
    shown_names = trial_names(detailed)
    details = []
    for tables in detailed:
        trial, span, signature = tables.record.trial, tables.run, tables.signature
        own_scale = span is not None and TOO_SHORT * (span.end_ms - span.begin_ms) < scale.length_ms
        drawn_on = scale._replace(length_ms=scale_of([tables]).length_ms) if own_scale else scale
        label = f"{trial.id}: bytes by phase, role and direction"
        doubts = (f"{doubt.what}; {doubt.why}" for doubt in tables.record.doubts if doubt.instrument)
        nodes = nodes_in(tables.record)
        detail = TrialDetail(
            tables=tables,
            name=shown_names[trial.id],
            timeline=timeline(tables, drawn_on),
            own_scale=own_scale,
            paths=job_paths(tables),
            flow_picture=flow_picture(flows_of.get(trial.id, []), most_bytes, label, phase_colours(engine)),
            accesses=access_rows(signature, tables.record) if signature else [],
            uses=use_rows(signature, tables.record) if signature else [],
            cost=cost_of(tables.record, tables.samples_bytes),
            missing=(*tables.unreadable, *doubts),
            nodes=nodes,
            matrices=nodes.matrices(),
        )
        details.append(detail)
    uneven = [(detail.name, detail.nodes.imbalances) for detail in details if detail.nodes.imbalances]
    spent = dict.fromkeys(kind for detail in details for path in detail.paths for kind in path.seconds)
    firsts = list({detail.tables.placement: detail for detail in reversed(details)}.values())[::-1]
    return DetailGroup(
        title=title_of(factors, names),
        factors=factors,
        path_bars=path_bars([(detail.name, detail.tables, detail.paths) for detail in details]),
        kinds=[kind for kind in path_kinds(engine, spent) if kind in spent],
        figures=[figure.title for figure in engine_kind(engine).figures],
        firsts=firsts,
        others=[detail for detail in details if detail not in firsts],
        imbalances=imbalance_columns(uneven) if uneven else [],
        uneven=imbalance_words([imbalances for _, imbalances in uneven]),
    )


def trial_names(detailed: Sequence[TrialTables]) -> dict[str, str]:
    """What each trial is called beside the others, by its id: as little as tells them apart."""
    trials = [tables.record.trial for tables in detailed]
    placements = Counter(trial.placement.name for trial in trials)
    turns = Counter((trial.placement.name, trial.repetition) for trial in trials)
    names = {}
    for trial in trials:
        placement = trial.placement.name
        name = f"{placement}, repetition {trial.repetition}" if placements[placement] > 1 else placement
        # In the mirrored order a placement has two trials in each repetition.
        names[trial.id] = f"{name}, trial {trial.number}" if turns[placement, trial.repetition] > 1 else name
    return names
