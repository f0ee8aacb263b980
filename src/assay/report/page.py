"""The run as one self-contained HTML page: no address but its own, works offline, and without its script too."""

import json
from collections.abc import Mapping, Sequence

from assay.model.fact import Value
from assay.report.analysis import RunAnalysis, RunData
from assay.report.evidence import Evidence
from assay.report.first_screen import first_screen, overview
from assay.report.next_steps import next_steps
from assay.report.templates import template, with_contents
from assay.report.values import combination_values, csv_lines, trial_values

MOST_ANSWERS = 12
"""Workloads of a run without an answer."""
LEAST_FILTERED = 3
"""Fewer combinations need no filter."""
MOST_CARRIED = 2000
"""Combinations and trials whose figures the page has with all their digits, to be taken away."""


def run_page(run: RunData, analysis: RunAnalysis) -> str:
    """The page's HTML of a run that was read: its answers, the sections that bear on them, and the evidence."""
    rows, bearing = analysis.rows, [section for section in analysis.sections.values() if section.summary_html()]
    evidence = Evidence.of(run, analysis)
    html = template("page.html.j2").render(
        name=run.plan.experiment,
        description=run.plan.description,
        overview=overview(run.plan, run.trials, run.damaged, analysis.doubts),
        screen=first_screen(analysis, evidence.filters),
        alone=[] if analysis.answers else [row for row in rows if not row.predictor][:MOST_ANSWERS],
        steps=next_steps(run, analysis.decisions),
        filters=evidence.filters if len(evidence.rows) >= LEAST_FILTERED else [],
        summaries=[section.summary_html() for section in bearing],
        sections=[section.html() for section in bearing],
        evidence=evidence.parts(),
        data=data_of(
            combinations=[combination_values(row) for row in rows] if len(rows) <= MOST_CARRIED else [],
            trials=list(trial_values(run.trials, run.predicted)) if len(run.trials) <= MOST_CARRIED else [],
        ),
    )
    return with_contents(str(html))


def data_of(**tables: Sequence[Mapping[str, Value]]) -> str:
    """Tables as CSV for the page's script, as JSON that can't end its element; empty ones are left out."""
    texts = {name: "\n".join(csv_lines(rows)) + "\n" for name, rows in tables.items() if rows}
    return json.dumps(texts).replace("<", "\\u003c")
