"""The page's block *Method and evidence*: each part as HTML, empty where a run has nothing for it."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import log
from operator import attrgetter
from typing import Any, NamedTuple

from assay.model.installed import engine_kind, notes_of
from assay.model.record import JobRecord, Record, Status
from assay.model.trial import ZERO_DELAY
from assay.model.trial_summary import OF_MEDIA
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
from assay.report.first_screen import carded, details_of
from assay.report.medians import medians_note
from assay.report.next_steps import compare_command, run_command
from assay.report.predicted import NOTE as PREDICTED_NOTE
from assay.report.predicted import predicted_words
from assay.report.templates import template
from assay.report.trial_detail import MOST_CORE_PERCENT, MOST_MIB, MOST_MIB_PER_HOUR, detail_groups
from assay.report.words import base_text, phases_of, shown_level
from assay.stats.comparison import Comparison
from assay.stats.sample import MACHINE, PLACEMENT
from assay.stats.summary import Row, noise_words, varying

MOST_DETAILS, MOST_VALUES, MOST_JOBS = 40, 4, 40
"""Sentences, values of one fact, and jobs of one trial."""
SHARED_FACTORS = ("dataset", "settings", "memory", "page_cache", "cpus", "cache")
"""Told once where they are the same in all rows."""
MOST_OTHERS = 40
"""Comparisons of other factors that are listed; the rest is in the CSV."""
MOST_STAGES = 4
"""Stages of a trial's jobs that have a column each."""


class Evidence(NamedTuple):
    """A run with all that is said of it.

    Of its table `rows` are those that are shown, `filters` how a reader may filter them, and `names` the factors that
    vary. `facts` are the machine's, the software's and the media's, each with some of its different values.
    """

    run: RunData
    analysis: RunAnalysis
    rows: Sequence[Row]
    filters: Sequence[Filter]
    names: Sequence[str]
    facts: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, run: RunData, analysis: RunAnalysis) -> "Evidence":
        """Choose the rows that are shown."""
        rows = rows_shown(analysis.rows)
        facts = {
            name: [*levels[:MOST_VALUES], *([f"and {more} more"] if (more := len(levels) - MOST_VALUES) > 0 else [])]
            for name, levels in fact_values(run.trials).items()
        }
        return cls(run, analysis, rows, filters_of(rows), varying(analysis.rows), facts)

    def marks(self, levels: Mapping[str, str]) -> str:
        """What filters know a part of the page by."""
        return marks_of(self.filters, levels)

    def parts(self) -> list[str]:
        """All parts that have anything to say, in their order."""
        return [html for part in PARTS if (html := part(self))]


class FactorRow(NamedTuple):
    """A comparison of two levels of a factor: the levels of all else in words, and how filters know it."""

    comparison: Comparison
    others: str
    marks: str


def _html(name: str, **parts: Any) -> str:
    return str(template(f"evidence/{name}.html.j2").render(**parts))


def _rests_on(of: Evidence) -> str:
    details = details_of(of.analysis.answers)
    figures = depends_charts(answer.sensitivity for answer in of.analysis.answers)
    return _html("rests_on", details=details, depends=figures) if details or figures else ""


def _elapsed(of: Evidence) -> str:
    rows, names = of.analysis.rows, of.names
    bars = rows_shown(of.rows, MOST_BARS)
    of_shared = {name: {str(getattr(row.group, name)) for row in rows} for name in SHARED_FACTORS}
    return _html(
        "elapsed",
        columns=combination_columns(of.rows, names),
        marked=[(of.marks(levels_of(row)), row.group) for row in of.rows],
        all_rows=len(rows),
        shared={name: level_names.pop() for name, level_names in of_shared.items() if len(level_names) == 1},
        any_ratio=any(row.comparison for row in of.rows),
        base=base_text(rows),
        charts=elapsed_charts(_panels(of, bars)),
        chart_rows=len(bars),
        noise=noise_words([row.comparison.noise for row in rows if row.comparison]),
        medians_note=medians_note(of.analysis.decisions),
        predicted=predicted_words(of.rows, names),
        predicted_note=PREDICTED_NOTE,
    )


def _panels(of: Evidence, rows: Sequence[Row]) -> Mapping[str, list[ChartRow]]:
    """The charts' lines by workload and data set, coloured by placement, or by what varies in its stead."""
    names = label_factors(rows)
    several = "dataset" in varying(rows)
    colour = next((name for name in (PLACEMENT, *names) if name in names), PLACEMENT)
    label = names or [PLACEMENT]
    combined = by_combination(of.run.trials)
    panels: dict[str, list[ChartRow]] = {}
    for row in rows:
        levels = levels_of(row)
        title = f"{row.group.workload} on {row.group.dataset}" if several else row.group.workload
        trials = [] if row.predictor else combined.get(levels_key(levels), [])
        line = ChartRow(row, label_of(row, label), levels[colour], trials, of.marks(levels))
        panels.setdefault(title, []).append(line)
    return panels


def _parts(of: Evidence) -> str:
    """Jobs and phases of the answers that have a card; a twin's own section has those of it."""
    shown = [of.analysis.answers[place] for place in carded(of.analysis.decisions)]
    breakdowns = [
        (
            answer.breakdown, answer.words.subject, of.marks(answer.decision.levels),
            list(blocked_lines(answer.decision)),
        )
        for answer in shown
        if answer.breakdown is not None and not answer.decision.of_twin
    ]  # fmt: skip
    return _html("parts", breakdowns=breakdowns, blocked_head=BLOCKED_HEAD, zero_delay=ZERO_DELAY) if breakdowns else ""


def _others(of: Evidence) -> str:
    """The significant comparisons first, then by the size of the difference."""
    ordered = sorted(
        of.analysis.others, key=lambda comparison: (not comparison.significant, -abs(log(comparison.ratio)))
    )
    rows = []
    for comparison in ordered[:MOST_OTHERS]:
        others: Mapping[str, str] = dict(comparison.others)
        told = ("workload", "dataset", *of.names, "placement")
        levels = [shown_level(name, others.get(name, "")) for name in told]
        level_text = ", ".join(dict.fromkeys(level for level in levels if level and level != "none"))
        rows.append(FactorRow(comparison, level_text, of.marks(others)))
    return _html("others", rows=rows, left_out=max(0, len(ordered) - MOST_OTHERS)) if rows else ""


def _tasks(of: Evidence) -> str:
    charts = phase_charts(_panels(of, rows_shown(of.rows, MOST_BARS)))
    return _html("tasks", charts=charts) if charts else ""


def _details(of: Evidence) -> str:
    """Time and bytes of the trials that are drawn, and what measuring them cost."""
    detailed = of.run.detailed
    if not detailed:
        return ""
    engines = [engine_kind(name) for name in dict.fromkeys(tables.record.trial.engine for tables in detailed)]
    groups = detail_groups(detailed, [name for name in of.names if name != MACHINE])
    return _html(
        "details",
        groups=groups,
        marks=of.marks,
        several_nodes=any(detail.nodes.uses for group in groups for detail in group.all),
        detailed=len(detailed),
        finished=sum(summary.status is Status.FINISHED for summary in of.run.trials),
        most_trials=MOST_TRIALS,
        most_bins=MOST_BINS,
        access_head=ACCESS_HEAD,
        use_head=USE_HEAD,
        path_notes=[kind.path_note for kind in engines if kind.path_note],
        figures_notes=[kind.figures_note for kind in engines if kind.figures_note],
        traffic_notes=notes_of((tables.record.trial for tables in detailed), attrgetter("traffic_note")),
        bounds=f"{MOST_CORE_PERCENT} % of one core, {MOST_MIB} MiB and {MOST_MIB_PER_HOUR} MiB per hour",
        cost_reason=next((tables.reason("own-cost") for tables in detailed if not tables.record.amounts), ""),
    )


def _sections(of: Evidence) -> str:
    """The sections that do not bear on the answers."""
    sections = of.analysis.sections.values()
    return "\n".join(section.html() for section in sections if not section.summary_html())


def _doubts(of: Evidence) -> str:
    macros = template("macros.html.j2").module
    return str(macros.what_to_doubt(by_kind(of.analysis.doubts), of.run.damaged, MOST_DETAILS))


def _trials(of: Evidence) -> str:
    return _html(
        "trials",
        trials=of.run.trials,
        shown=of.run.shown,
        marks=of.marks,
        phases=phases_of(of.analysis.rows),
        most_jobs=MOST_JOBS,
        stage_columns=stage_columns,
    )


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


def _facts(of: Evidence) -> str:
    return _html(
        "facts",
        facts={name: values for name, values in of.facts.items() if not name.startswith(OF_MEDIA)},
        media_facts={name: values for name, values in of.facts.items() if name.startswith(OF_MEDIA)},
        settings=_settings(of.run.shown),
    )


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


def _reproduce(of: Evidence) -> str:
    again = (run_command(of.run), compare_command(of.run))
    kept = of.run.experiment is not None
    return _html("reproduce", again=again, kept=kept, plan=of.run.plan, facts=of.facts)


PARTS: tuple[Callable[[Evidence], str], ...] = (
    _rests_on, _elapsed, _parts, _others, _tasks, _details, _sections, _doubts, _trials, _facts, _reproduce,
)  # fmt: skip
