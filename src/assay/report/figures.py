"""The table of a run as rows of plain values, the same for CSV, JSON and Markdown."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence

from assay.model.record import Phases, Record
from assay.stats.breakdown import Breakdown
from assay.stats.decision import Decision, Estimate
from assay.stats.machine_kind import machine_kinds
from assay.stats.sample import counts, is_warm_up
from assay.stats.summary import Row

Value = str | int | float | bool | None


def combination_values(row: Row) -> dict[str, Value]:
    """One combination: factors, counts, medians with their intervals, the comparison; units are in the names."""
    elapsed = row.elapsed.interval if row.elapsed else None
    one = row.comparison
    ratio = one.interval if one else None
    return {
        **{name: str(level) for name, level in dict(row.group).items()},
        "placement": row.placement,
        "trials": row.trials,
        "finished": row.finished,
        "wrong": row.wrong,
        "elapsed_s": row.elapsed_s,
        "elapsed_low_s": elapsed.low if elapsed else None,
        "elapsed_high_s": elapsed.high if elapsed else None,
        **_phases(row.phases),
        "base": one.base if one else None,
        "ratio": row.ratio,
        "ratio_low": ratio.low if ratio else None,
        "ratio_high": ratio.high if ratio else None,
        "pairs": one.pairs if one else None,
        "p_adjusted": one.p_adjusted if one else None,
        "significant": one.significant if one else None,
        "noise": one.noise.deviation if one else None,
        "noise_borrowed": one.noise.borrowed if one else None,
        "outcome": str(row.outcome),
        "words": row.words,
    }


def placement_values(decision: Decision) -> Iterator[dict[str, Value]]:
    """One line for each level of a decision's factor, the zero-delay baseline last; shares are fractions of 1.

    `level` is that level; `placement` is the real placement, also where another factor is the decision's.
    """
    for one in (*decision.placements, decision.baseline):
        if one is not None:
            yield {
                **decision.levels,
                decision.factor: one.placement,
                "factor": decision.factor,
                "level": one.placement,
                "drives": one.drives,
                "base": decision.placements[0].placement if decision.placements else None,
                "trials": one.trials,
                **_estimate("elapsed", one.elapsed_s, "_s"),
                **_estimate("storage", one.storage_s, "_s"),
                **_estimate("storage_share", one.storage_share),
                **_estimate("saving", one.saving),
                **_estimate("won_back", one.won_back),
                "computing_s": one.split.computing_s if one.split else None,
                "start_up_s": one.split.start_up_s if one.split else None,
                "between_jobs_s": one.split.between_jobs_s if one.split else None,
                "busy_bound_s": decision.busy_bound_s if one == decision.placements[0] else None,
                "worth": decision.worth,
                "verdict": None if one.verdict is None else str(one.verdict),
            }


def part_values(breakdown: Breakdown, factor: str) -> Iterator[dict[str, Value]]:
    """One line for each level of the decisions' factor in each job and phase.

    `level` is that level; `placement` is the real placement, also where another factor is the decision's. What is too
    short to be tested has no shares.
    """
    for part in breakdown.parts:
        for one in part.times:
            yield {
                **breakdown.levels,
                factor: one.placement,
                "factor": factor,
                "level": one.placement,
                "part": part.kind,
                "name": part.name,
                "trials": one.trials,
                "median_s": one.seconds,
                "tested": part.tested,
                **_estimate("storage_share", one.storage_share.share if one.storage_share else None),
                "storage_p_adjusted": one.storage_share.p_adjusted if one.storage_share else None,
                **_estimate("saving", one.saving.share if one.saving else None),
                "saving_p_adjusted": one.saving.p_adjusted if one.saving else None,
            }


def _estimate(name: str, one: Estimate | None, unit: str = "") -> dict[str, Value]:
    """A figure and the ends of its confidence interval."""
    known = (one.value, one.low, one.high) if one else (None, None, None)
    return dict(zip((f"{name}{unit}", f"{name}_low{unit}", f"{name}_high{unit}"), known, strict=True))


def trial_values(records: Sequence[Record]) -> Iterator[dict[str, Value]]:
    """One trial after the other: factors, machine, outcome, times, its jobs' count."""
    for record, machine in zip(records, machine_kinds(records), strict=True):
        yield {
            "trial": record.trial.id,
            **record.trial.factors,
            "machine": machine,
            "repetition": record.trial.repetition,
            "warm_up": is_warm_up(record.trial),
            "status": str(record.status),
            "outcome": str(record.outcome),
            "counts": counts(record),
            "error": record.error,
            "elapsed_s": record.totals.elapsed_s if record.totals else None,
            "submitted_s": record.totals.submitted_s if record.totals else None,
            "staging_submitted_s": record.totals.staging_submitted_s if record.totals else None,
            "outside_jobs_s": record.outside_jobs_s,
            **_phases(record.totals.phases if record.totals else None),
            "jobs": len(record.jobs),
        }


def csv_lines(rows: Sequence[Mapping[str, Value]]) -> Iterator[str]:
    """A head of all rows' columns and a line for each row, without line ends.

    What is not there is empty, numbers have all their digits, and truth is `true` and `false`.
    """
    head = list(dict.fromkeys(name for row in rows for name in row))
    yield _line(head)
    for row in rows:
        yield _line([_cell(row.get(name)) for name in head])


def _line(cells: Sequence[str]) -> str:
    into = io.StringIO()
    csv.writer(into, lineterminator="").writerow(cells)
    return into.getvalue()


def _cell(value: Value) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _phases(phases: Phases | None) -> dict[str, Value]:
    return {name: getattr(phases, name) if phases else None for name in Phases.model_fields}
