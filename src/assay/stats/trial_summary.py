"""The summary of one trial, from its whole record: the only reader of what probes, devices and jobs counted in many.

What a plug-in's judgements need besides is in the summary's `figures`, by the functions in `SUMMARY_FIGURES`.
"""

from typing import Any

from assay.model.doubt import Outcome
from assay.model.gets import GROUP
from assay.model.record import Record
from assay.model.registry import PROBES, SUMMARY_FIGURES
from assay.model.trial import Plan
from assay.model.trial_summary import JobTime, TrialSummary
from assay.record.folder import Damaged, RunFolder
from assay.record.summaries import read_summaries
from assay.stats.blocked import beyond_pressure_share, blocked_phases, clock_shares, not_computing_share
from assay.stats.drive_use import (
    busy_by_medium,
    clocks_apart,
    counted,
    counters_still,
    moved_bytes,
    reached_drives,
    run_reports,
    written_bytes,
)
from assay.stats.nodes import imbalances, node_uses
from assay.stats.staging import staging_use
from assay.stats.trial_doubts import asked_bytes

_INSTRUMENTS = {("processes", "emulator"), ("own-cost", "probes")}
_BUSY = {"user_s", "system_s", "busy_s"}


def summarise(record: Record) -> TrialSummary:
    """Work out the summary of a trial from all that it left."""
    return TrialSummary(
        id=record.trial.id,
        trial=record.trial,
        status=record.status,
        facts=record.facts,
        media_facts=record.media_facts,
        control_groups=record.limits.interface if record.limits else None,
        source=record.source,
        error=record.error,
        outcome=record.outcome,
        failed_checks=tuple(verdict for verdict in record.verdicts if verdict.outcome is not Outcome.PASS),
        doubts=record.doubts,
        struck_out=record.struck_out,
        scale=record.scale and record.scale.model_copy(update={"seen": None}),
        fault=record.fault,
        clocks_apart=clocks_apart(record),
        still_media=tuple(counters_still(record)),
        staged=record.staged,
        staging=staging_use(record),
        imbalances=imbalances(node_uses(record)),
        seen_nodes=_seen_nodes(record),
        figures={name: figures for name, count in SUMMARY_FIGURES.items() if (figures := count(record)) is not None},
        **_times(record),
        **_drives(record),
        **_tasks(record),
    )


def _times(record: Record) -> dict[str, Any]:
    totals, jobs = record.totals, record.jobs
    span_ms = max(job.finished_ms for job in jobs) - min(job.submitted_ms for job in jobs) if jobs else None
    return {
        "began_ms": min((step.started_ms for step in record.steps), default=0),
        "took_s": record.took_s,
        "run_step_s": sum(step.seconds for step in record.steps if step.name == "run"),
        "elapsed_s": totals.elapsed_s if totals else None,
        "submitted_s": totals.submitted_s if totals else None,
        "staging_submitted_s": totals.staging_submitted_s if totals else None,
        "run_s": record.run_s,
        "durable_s": record.durable_s,
        "outside_jobs_s": record.outside_jobs_s,
        "phases": totals.phases if totals else None,
        "gets": totals.counters.get(GROUP, {}) if totals else {},
        "jobs": tuple(JobTime(job.name, job.elapsed_s, job.active_s) for job in jobs),
        "jobs_overlap": record.jobs_overlap,
        "jobs_span_s": None if span_ms is None else span_ms / 1000,
    }


def _drives(record: Record) -> dict[str, Any]:
    reports = run_reports(record)
    return {
        "busy_by_medium": busy_by_medium(record),
        "busiest_s": max((report.busy_seconds or 0.0 for report in reports), default=0.0),
        "reporting_media": tuple(medium.name for medium in record.trial.media if record.reports_of(medium.name)),
        "asked_bytes": asked_bytes(counted(record), record.staged),
        "wrote_bytes": written_bytes(record),
        "moved_bytes": moved_bytes(record),
        "drives_read_bytes": sum(report.reads.bytes for report in reports if report.reads),
        "drives_written_bytes": sum(report.writes.bytes for report in reports if report.writes),
        "reached_drives": reached_drives(record),
    }


def _tasks(record: Record) -> dict[str, Any]:
    clock = clock_shares(record)
    return {
        "cpu_ms": counted(record).get("cpu_ms"),
        "not_computing": not_computing_share(record),
        "instruments_s": _instruments_s(record),
        "blocked_phases": blocked_phases(record),
        "unexplained_share": None if clock is None else clock.left_over_share,
        "beyond_pressure_share": beyond_pressure_share(record),
    }


def _instruments_s(record: Record) -> float | None:
    """Processor time that the emulator and the probes took while the jobs ran; None where nobody measured it."""
    known = [
        amount.value
        for amount in record.amounts
        if amount.part == "run" and (amount.probe, amount.subject) in _INSTRUMENTS and amount.series in _BUSY
    ]
    return sum(known) if known else None


def _seen_nodes(record: Record) -> dict[str, tuple[str, ...]]:
    """By probe of an existing cluster, the nodes of which it counted anything while the jobs ran."""
    foreign = {name for name, kind in PROBES.items() if kind.foreign}
    nodes: dict[str, dict[str, None]] = {}
    for amount in record.amounts:
        if amount.probe in foreign and amount.part == "run" and amount.node:
            nodes.setdefault(amount.probe, {})[amount.node] = None
    return {probe: tuple(names) for probe, names in nodes.items()}


def summaries_of(folder: RunFolder, plan: Plan | None = None) -> tuple[list[TrialSummary], list[Damaged]]:
    """The summaries of a run's trials in the order of the plan, and what could not be read; see `read_summaries`."""
    return read_summaries(folder, plan or folder.plan(), summarise)
