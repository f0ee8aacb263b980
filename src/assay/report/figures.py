"""The table of a run as rows of plain values, the same for CSV, JSON and Markdown."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence

from assay.model.record import Phases, Record
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
        "outcome": str(row.outcome),
        "words": row.words,
    }


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
