"""The run as one self-contained HTML page: no address but its own, works offline, and without its script too."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from math import log
from operator import attrgetter
from typing import Any, NamedTuple

from assay.model.installed import engine_kind, notes_of
from assay.model.record import OF_MEDIA, JobRecord, Record, Status
from assay.model.signature import OUTSIDE
from assay.model.trial import ZERO_DELAY
from assay.report.analysis import (
    MOST_BARS,
    MOST_TRIALS,
    Filter,
    RunAnalysis,
    RunData,
    by_combination,
    by_kind,
    fact_values,
    filters_of,
    label_factors,
    label_of,
    levels_key,
    levels_of,
    marks_of,
    rows_shown,
)
from assay.report.answer import BLOCKED_HEAD, blocked_lines
from assay.report.charts.accesses import ACCESS_HEAD, USE_HEAD
from assay.report.charts.depends import depends_charts
from assay.report.charts.elapsed import ChartRow, elapsed_charts
from assay.report.charts.phases import phase_charts
from assay.report.charts.timeline import MOST_BINS
from assay.report.columns import combination_columns
from assay.report.first_screen import carded, first_screen, overview
from assay.report.medians import medians_note
from assay.report.next_steps import compare_command, next_steps, run_command
from assay.report.predicted import NOTE as PREDICTED_NOTE
from assay.report.predicted import predicted_words
from assay.report.scale import NOTE as SCALE_NOTE
from assay.report.scale import scale_columns, struck_out_words
from assay.report.templates import template, with_contents
from assay.report.trial_detail import MOST_CORE_PERCENT, MOST_MIB, MOST_MIB_PER_HOUR, detail_groups
from assay.report.values import PARTS, Value, combination_values, csv_lines, trial_values
from assay.report.words import base_text, phases_of
from assay.stats.comparison import Comparison
from assay.stats.sample import MACHINE, PLACEMENT
from assay.stats.summary import Row, noise_words, varying

MOST_ANSWERS, MOST_DETAILS, MOST_VALUES, MOST_JOBS = 12, 40, 4, 40
"""Workloads of a run without a decision, sentences, values of one fact, and jobs of one trial."""
SHARED_FACTORS = ("dataset", "settings", "memory", "page_cache", "cpus", "cache")
"""Told once where they are the same in all rows."""
MOST_OTHERS = 40
"""Comparisons of other factors that are listed; the rest is in the CSV."""
MOST_CARRIED = 2000
"""Combinations and trials whose figures the page has with all their digits, to be taken away."""
MOST_STAGES = 4
"""Stages of a trial's jobs that have a column each."""


def run_page(run: RunData, analysis: RunAnalysis) -> str:
    """The page's HTML of a run that was read."""
    rows, doubts = analysis.rows, analysis.doubts
    names = varying(rows)
    table = _table(rows, run.records)
    facts = {
        name: [*levels[:MOST_VALUES], *([f"and {len(levels) - MOST_VALUES} more"] if len(levels) > MOST_VALUES else [])]
        for name, levels in fact_values(run.records).items()
    }
    html = template(
        "page.html.j2"
    ).render(
        **table,
        **_why(run, names),
        name=run.plan.experiment,
        plan=run.plan,
        again=(run_command(run), compare_command(run)),
        kept=run.experiment is not None,
        screen=first_screen(
            analysis.decisions, analysis.answers, table["filters"], doubts, analysis.predicted, analysis.shares
        ),
        depends=depends_charts(analysis.sensitivities),
        steps=next_steps(run, analysis.decisions),
        breakdowns=[
            (
                breakdown,
                analysis.answers[index].subject,
                marks_of(table["filters"], breakdown.levels),
                list(blocked_lines(analysis.decisions[index])),
            )
            for index in carded(analysis.decisions)
            if not analysis.decisions[index].of_twin  # whose own section has its jobs and phases
            for breakdown in [analysis.breakdowns[index]]
        ],
        blocked_head=BLOCKED_HEAD,
        zero_delay=ZERO_DELAY,
        access_head=ACCESS_HEAD,
        use_head=USE_HEAD,
        factor_rows=factor_rows(analysis.others, names, table["filters"]),
        alone=[] if analysis.decisions else [row for row in rows if not row.predictor][:MOST_ANSWERS],
        predicted=predicted_words(rows_shown(rows), names),
        predicted_note=PREDICTED_NOTE,
        medians_note=medians_note(analysis.decisions),
        sections=list(analysis.sections.values()),
        most_jobs=MOST_JOBS,
        phases=phases_of(rows),
        stage_columns=stage_columns,
        data=data_of(
            combinations=[combination_values(row) for row in rows] if len(rows) <= MOST_CARRIED else [],
            trials=list(trial_values(run.records, run.predicted)) if len(run.records) <= MOST_CARRIED else [],
        ),
        overview=overview(run.plan, run.records, run.damaged, doubts),
        most_details=MOST_DETAILS,
        scale=scale_columns(run.records),
        scale_note=SCALE_NOTE,
        struck_out=struck_out_words(run.records),
        records=run.records,
        shown=run.shown,
        settings=_settings(run.shown),
        noise=noise_words([row.comparison.noise for row in rows if row.comparison]),
        damaged=run.damaged,
        doubts=by_kind(doubts),
        facts={name: values for name, values in facts.items() if not name.startswith(OF_MEDIA)},
        media_facts={name: values for name, values in facts.items() if name.startswith(OF_MEDIA)},
    )
    return with_contents(str(html))


class FactorRow(NamedTuple):
    """A comparison of two levels of a factor: the levels of all else in words, and how filters know it."""

    comparison: Comparison
    others: str
    marks: str


def stage_columns(record: Record) -> dict[str, Callable[[JobRecord], int]]:
    """The heads of what is told of the stages of a trial's jobs, and what that is of a job: its tasks in each stage.

    Where jobs have many, it is how many these are, and their tasks.
    """
    names = list(dict.fromkeys(stage.name for job in (*record.staging_jobs, *record.jobs) for stage in job.stages))
    if len(names) > MOST_STAGES:
        return {"stages": lambda job: len(job.stages), "tasks": lambda job: job.tasks}
    return {
        f"{name}s" if name[-1:].isalpha() else f"tasks, {name}": partial(JobRecord.tasks_in, stage=name)
        for name in names
    }


def factor_rows(
    comparisons: Sequence[Comparison], names: Sequence[str], filters: Sequence[Filter]
) -> tuple[list[FactorRow], int]:
    """The significant first, then by the size of the difference; and how many are left out."""
    ordered = sorted(comparisons, key=lambda comparison: (not comparison.significant, -abs(log(comparison.ratio))))
    rows = []
    for comparison in ordered[:MOST_OTHERS]:
        others: Mapping[str, str] = dict(comparison.others)
        levels = [others.get(name) for name in ("workload", "dataset", *names, "placement")]
        level_text = ", ".join(dict.fromkeys(level for level in levels if level and level != "none"))
        rows.append(FactorRow(comparison, level_text, marks_of(filters, others)))
    return rows, max(0, len(ordered) - MOST_OTHERS)


def data_of(**tables: Sequence[Mapping[str, Value]]) -> str:
    """Tables as CSV for the page's script, as JSON that can't end its element; empty ones are left out."""
    texts = {name: "\n".join(csv_lines(rows)) + "\n" for name, rows in tables.items() if rows}
    return json.dumps(texts).replace("<", "\\u003c")


def _table(rows: Sequence[Row], records: Sequence[Record]) -> dict[str, Any]:
    shown = rows_shown(rows)
    filters = filters_of(shown)
    bars = rows_shown(shown, MOST_BARS)
    panels = _panels(bars, records, filters)
    of_shared = {name: {str(getattr(row.group, name)) for row in rows} for name in SHARED_FACTORS}
    return {
        "columns": combination_columns(shown, varying(rows)),
        "marked": [(marks_of(filters, levels_of(row)), row.group) for row in shown],
        "all_rows": len(rows),
        "filters": filters,
        "marks": partial(marks_of, filters),
        "shared": {name: level_names.pop() for name, level_names in of_shared.items() if len(level_names) == 1},
        "any_ratio": any(row.comparison for row in shown),
        "base": base_text(rows),
        "charts": elapsed_charts(panels),
        "chart_rows": len(bars),
        "phase_charts": phase_charts(panels),
    }


def _panels(rows: Sequence[Row], records: Sequence[Record], filters: Sequence[Filter]) -> Mapping[str, list[ChartRow]]:
    """The charts' lines by workload and data set, coloured by placement, or by what varies in its stead."""
    names = label_factors(rows)
    several = "dataset" in varying(rows)
    colour = next((name for name in (PLACEMENT, *names) if name in names), PLACEMENT)
    label = names or [PLACEMENT]
    combined = by_combination(records)
    panels: dict[str, list[ChartRow]] = {}
    for row in rows:
        levels = levels_of(row)
        title = f"{row.group.workload} on {row.group.dataset}" if several else row.group.workload
        own = [] if row.predictor else combined.get(levels_key(levels), [])
        line = ChartRow(row, label_of(row, label), levels[colour], own, marks_of(filters, levels))
        panels.setdefault(title, []).append(line)
    return panels


def _why(run: RunData, names: Sequence[str]) -> dict[str, Any]:
    engines = [engine_kind(name) for name in dict.fromkeys(tables.record.trial.engine for tables in run.detailed)]
    groups = detail_groups(run.detailed, [name for name in names if name != MACHINE])
    seen = (phase for group in groups for one in group.all for phase in one.energy.phases)
    phases = dict.fromkeys((*chain.from_iterable(kind.phases for kind in engines), *seen))
    return {
        "groups": groups,
        "several_nodes": any(detail.nodes.uses for group in groups for detail in group.all),
        "detailed": len(run.detailed),
        "finished": sum(record.status is Status.FINISHED for record in run.records),
        "most_trials": MOST_TRIALS,
        "most_bins": MOST_BINS,
        "energy_parts": PARTS,
        "energy_phases": (*(phase for phase in phases if phase != OUTSIDE), OUTSIDE),
        "path_notes": [kind.path_note for kind in engines if kind.path_note],
        "figures_notes": [kind.figures_note for kind in engines if kind.figures_note],
        "traffic_notes": notes_of((tables.record for tables in run.detailed), attrgetter("traffic_note")),
        "bounds": f"{MOST_CORE_PERCENT} % of one core, {MOST_MIB} MiB and {MOST_MIB_PER_HOUR} MiB per hour",
        "cost_reason": next((tables.reason("own-cost") for tables in run.detailed if not tables.record.amounts), ""),
    }


def _settings(shown: Sequence[Record]) -> dict[str, Any]:
    """Hadoop's properties of so many trials: those of one value, and each value of the others with its trials' ids.

    A property that a trial does not have has the value "".
    """
    known = [record for record in shown if record.settings]
    values: dict[str, dict[str, list[str]]] = {}
    for name in sorted({name for record in known for name in record.settings}):
        for record in known:
            values.setdefault(name, {}).setdefault(record.settings.get(name, ""), []).append(record.trial.id)
    return {
        "trials": len(known),
        "shared": {name: next(iter(by_trial)) for name, by_trial in values.items() if len(by_trial) == 1},
        "differing": {name: by_trial for name, by_trial in values.items() if len(by_trial) > 1},
    }
