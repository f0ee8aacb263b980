"""The tables of a run as rows of plain values: those of CSV, of the page's data and of JSON."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence

from assay.model.fact import Value
from assay.model.installed import phase_columns
from assay.model.record import Record
from assay.model.trial_summary import TrialSummary
from assay.report.analysis import by_combination, levels_key, levels_of
from assay.report.figures import FIGURES, Figures, FiguresKind, medians_over
from assay.stats.breakdown import Breakdown
from assay.stats.decision import Decision, Question
from assay.stats.estimate import Estimate
from assay.stats.nodes import RESOURCES, imbalances, node_uses, transfers
from assay.stats.predicted import PredictedLevel
from assay.stats.sample import Trials, is_valid
from assay.stats.staging import figures
from assay.stats.summary import Row
from assay.stats.tables import prediction_row


def combination_values(row: Row) -> dict[str, Value]:
    """One combination: factors, counts, medians with their intervals, the comparison; units are in the names."""
    elapsed = row.elapsed.interval if row.elapsed else None
    one = row.comparison
    ratio, own = (one.interval, one.own_interval) if one else (row.predicted and row.predicted.interval, None)
    return {
        **levels_of(row),
        "trials": row.trials,
        "finished": row.finished,
        "wrong": row.wrong,
        "struck_out": row.struck_out,
        "source": row.source,
        **({"predictor": row.predictor} if row.predictor else {}),
        "elapsed_s": row.elapsed_s,
        "elapsed_low_s": elapsed.low if elapsed else None,
        "elapsed_high_s": elapsed.high if elapsed else None,
        "run_s": row.run_s,
        "durable_s": row.durable_s,
        **phase_columns(row.group.engine, row.phases),
        "base": one.base if one else row.predicted.base if row.predicted else None,
        "ratio": row.ratio,
        "ratio_low": ratio.low if ratio else None,
        "ratio_high": ratio.high if ratio else None,
        "ratio_own_low": own.low if own else None,
        "ratio_own_high": own.high if own else None,
        "pairs": one.pairs if one else None,
        "p_adjusted": one.p_adjusted if one else None,
        "significant": one.significant if one else None,
        "noise": one.noise.deviation if one else None,
        "noise_borrowed": one.noise.borrowed if one else None,
        "outcome": str(row.outcome) if row.outcome else None,
        "words": row.words,
    }


def placement_values(decision: Decision, predicted: Sequence[PredictedLevel] = ()) -> Iterator[dict[str, Value]]:
    """One line for each level of a decision's factor, the zero-delay baseline last; shares are fractions of 1.

    Below them stand the levels that are `predicted`, each with its predictor. `level` is that level; `placement` is the
    real placement, also where another factor is the decision's.
    """
    for placement in (*decision.placements, decision.baseline):
        if placement is not None:
            yield {
                **decision.levels,
                decision.factor: placement.placement,
                "factor": decision.factor,
                "level": placement.placement,
                "drives": placement.drives,
                "base": decision.placements[0].placement if decision.placements else None,
                "trials": placement.trials,
                **_estimate("elapsed", placement.elapsed_s, "_s"),
                **_estimate("storage", placement.storage_s, "_s"),
                **_estimate("storage_share", placement.storage_share),
                **_own_interval("storage_share", placement.storage_share),
                **_estimate("saving", placement.saving),
                **_own_interval("saving", placement.saving),
                **_estimate("won_back", placement.won_back),
                "blocked_share": placement.blocked.share if placement.blocked else None,
                "blocked_share_low": placement.blocked.low if placement.blocked else None,
                "blocked_share_high": placement.blocked.high if placement.blocked else None,
                "not_computing_share": placement.not_computing,
                "written_share": placement.written_share,
                "computing_s": placement.split.computing_s if placement.split else None,
                "start_up_s": placement.split.start_up_s if placement.split else None,
                "between_jobs_s": placement.split.between_jobs_s if placement.split else None,
                "busy_bound_s": (decision.busy_bound_s if placement == decision.placements[0] else placement.most_s),
                "worth": decision.worth.of(placement.placement),
                "verdict": str(placement.verdict)
                if placement.verdict and decision.question is Question.WORTH
                else None,
            }
    for foretold in predicted:
        yield {
            **decision.levels,
            decision.factor: foretold.level,
            "factor": decision.factor,
            "level": foretold.level,
            "base": decision.placements[0].placement if decision.placements else None,
            "predictor": foretold.predictor,
            "trials": 0,
            **_estimate("elapsed", foretold.elapsed_s, "_s"),
            **_estimate("saving", foretold.saving),
            "worth": decision.worth.of(foretold.level),
            "verdict": foretold.verdict,
        }


def part_values(breakdown: Breakdown, factor: str) -> Iterator[dict[str, Value]]:
    """One line for each level of the decisions' factor in each job and phase.

    `level` is that level; `placement` is the real placement, also where another factor is the decision's. What is too
    short to be tested has no shares.
    """
    for part in breakdown.parts:
        for time_ in part.times:
            yield {
                **breakdown.levels,
                factor: time_.placement,
                "factor": factor,
                "level": time_.placement,
                "part": part.kind,
                "name": part.name,
                "trials": time_.trials,
                "median_s": time_.seconds,
                "tested": part.tested,
                **_estimate("storage_share", time_.storage_share.share if time_.storage_share else None),
                "storage_p_adjusted": time_.storage_share.p_adjusted if time_.storage_share else None,
                **_estimate("saving", time_.saving.share if time_.saving else None),
                "saving_p_adjusted": time_.saving.p_adjusted if time_.saving else None,
            }


def _estimate(name: str, estimate: Estimate | None, unit: str = "") -> dict[str, Value]:
    known = (estimate.value, estimate.low, estimate.high) if estimate else (None, None, None)
    return dict(zip((f"{name}{unit}", f"{name}_low{unit}", f"{name}_high{unit}"), known, strict=True))


def _own_interval(name: str, estimate: Estimate | None) -> dict[str, Value]:
    """By the run's own repetitions alone."""
    return {
        f"{name}_own_low": estimate.own_low if estimate else None,
        f"{name}_own_high": estimate.own_high if estimate else None,
    }


def trial_values(
    summaries: Sequence[TrialSummary], predicted: Sequence[TrialSummary] = ()
) -> Iterator[dict[str, Value]]:
    """One trial after the other: factors, machine, outcome, times, its jobs' count; then those that are predicted.

    Only these have a predictor and an interval.
    """
    for summary, machine in zip(summaries, Trials.of(summaries).machines, strict=True):
        yield {
            "trial": summary.id,
            **summary.factors,
            "machine": machine,
            "repetition": summary.trial.repetition,
            "warm_up": summary.trial.warm_up,
            "status": str(summary.status),
            "outcome": str(summary.outcome),
            "counts": is_valid(summary),
            "source": summary.source,
            "struck_out": summary.struck_out,
            "error": summary.error,
            "elapsed_s": summary.elapsed_s,
            "run_s": summary.run_s,
            "durable_s": summary.durable_s,
            "written_share": summary.written_share,
            "submitted_s": summary.submitted_s,
            "staging_submitted_s": summary.staging_submitted_s,
            "outside_jobs_s": summary.outside_jobs_s,
            "instruments_cpu_s": summary.instruments_s,
            "elapsed_without_instruments_s": summary.elapsed_without_instruments_s,
            **phase_columns(summary.trial.engine, summary.phases),
            "jobs": len(summary.jobs),
        }
    for summary in predicted:
        yield {**prediction_row(summary), "counts": is_valid(summary)}


def csv_lines(rows: Sequence[Mapping[str, Value]]) -> Iterator[str]:
    """A head of all rows' columns and a line for each row, without line ends.

    What is not there is empty, numbers have all their digits, and truth is `true` and `false`.
    """
    head = list(dict.fromkeys(name for row in rows for name in row))
    table: list[Sequence[Value]] = [head, *([row.get(name) for name in head] for row in rows)]
    for cells in table:
        line = io.StringIO()
        written = [str(cell).lower() if isinstance(cell, bool) else cell for cell in cells]
        csv.writer(line, lineterminator="").writerow(written)
        yield line.getvalue()


def combination_trials(rows: Sequence[Row], summaries: Sequence[TrialSummary]) -> list[list[str]]:
    """The ids of the trials that count for each combination; the trials are those that the rows are of."""
    counted = {
        key: [summary.id for summary in combined if is_valid(summary)]
        for key, combined in by_combination(summaries).items()
    }
    return [[] if row.predictor else counted.get(levels_key(levels_of(row)), []) for row in rows]


def with_figures(
    lines: Sequence[Mapping[str, Value]], trials: Sequence[Sequence[str]], known: Figures
) -> list[dict[str, Value]]:
    """Lines of a CSV, each with the medians of all figures of the trials that it is of."""
    columns = [medians_over(by_trial, trials) for by_trial in known.values()]
    return [
        {name: value for part in parts for name, value in part.items()} for parts in zip(lines, *columns, strict=True)
    ]


def imbalance_values(summary: TrialSummary) -> dict[str, Value] | None:
    """The most that a worker used over the workers' mean, by resource; None of a trial without several workers."""
    ratios = {imbalance.resource: imbalance.ratio for imbalance in summary.imbalances}
    return {f"imbalance_{name}": ratios.get(name) for name in RESOURCES} if ratios else None


def nodes_json(record: Record) -> dict[str, object] | None:
    """What the nodes of a trial did and what passed between them, as JSON holds it; None of one node."""
    uses = node_uses(record)
    if not uses:
        return None
    return {
        "nodes": [use._asdict() for use in uses],
        "transfers": [transfer._asdict() for transfer in transfers(record)],
        "imbalances": [imbalance._asdict() for imbalance in imbalances(uses)],
    }


def staging_values(summary: TrialSummary) -> dict[str, Value] | None:
    """What staging took; None of a trial whose record does not tell it."""
    return None if summary.staging is None else {**figures(summary.staging)}


FIGURES.add("nodes", FiguresKind(columns=imbalance_values, document=nodes_json), place=1)
FIGURES.add("staging", FiguresKind(columns=staging_values), place=2)
