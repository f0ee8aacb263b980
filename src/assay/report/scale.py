"""Trials on scale models: their times are modelled, and each is shown with the checks of its model."""

from collections.abc import Sequence
from textwrap import wrap
from typing import NamedTuple

from assay.model.registry import SECTIONS
from assay.model.scale import CheckId, ScaleCheck, ScaleReport
from assay.model.section import RunView
from assay.model.trial_summary import TrialSummary
from assay.report.columns import Column, escaped, grid, layout_table
from assay.report.templates import template
from assay.report.words import number_text, seconds_text

TITLE = "Scale model"
MOST_TRIALS, MOST_EXCLUDED = 40, 20
WIDTH = 78
"""Of a terminal's line."""

NOTE = (
    "Modelled: these clusters ran so many times slower than the ones that they stand for (dilation), their nodes' "
    "processors, drives, links and Hadoop's timers alike, and all times here are divided by that. Where a check fails, "
    "time is crossed out (~~) and counts in no result"
)
"""Ends without a full stop."""


class ScaleView(NamedTuple):
    """A `SectionView` of trials on scale models."""

    trials: Sequence[TrialSummary]

    @property
    def excluded(self) -> list[str]:
        """Why trials' times are excluded, one sentence for each."""
        return [
            f"{summary.id} is excluded: {'; '.join(check.detail for check in summary.scale.failed)}"
            for summary in self.trials
            if summary.scale is not None and summary.struck_out
        ]

    def summary_html(self) -> str:
        """A link to the section, and how many trials are excluded."""
        excluded = len(self.excluded)
        of_all = f"; checks of it exclude {excluded} of {len(self.trials)} trials" if excluded else ""
        return f'<a href="#scale">The scale model</a> that modelled these times is below{of_all}.'

    def html(self) -> str:
        """The table, and which trials are excluded."""
        shown = template("scale.html.j2")
        return str(shown.render(title=TITLE, columns=scale_columns(self.trials), note=NOTE, excluded=self.excluded))

    def text(self) -> str:
        """The table, and which trials are excluded."""
        lines = [f"{TITLE}:", *layout_table(scale_columns(self.trials), WIDTH)]
        for sentence in (NOTE, *self.excluded[:MOST_EXCLUDED]):
            lines += wrap(f"{sentence}.", WIDTH, initial_indent="  ", subsequent_indent="  ")
        return "\n".join(lines)

    def markdown(self) -> str:
        """The table, and which trials are excluded."""
        excluded = "\n".join(f"- {escaped(sentence)}" for sentence in self.excluded)
        parts = [f"## {TITLE}", grid(scale_columns(self.trials)), f"{NOTE}.", excluded]
        return "\n\n".join(part for part in parts if part)

    def json(self) -> str:
        """Nothing: the records have the checks."""
        return ""


def scale_columns(summaries: Sequence[TrialSummary]) -> list[Column]:
    """One line for each trial on a scale model, at most so many."""
    own = [(summary, summary.scale) for summary in summaries if summary.scale is not None][:MOST_TRIALS]
    made = {check.id for _, scale in own for check in scale.checks}
    checks = []
    for rank, check in enumerate([check_id for check_id in CheckId if check_id in made], 3):
        found = [next((seen_check for seen_check in scale.checks if seen_check.id is check), None) for _, scale in own]
        of_windows = any(seen_check is not None and seen_check.lowest is not None for seen_check in found)
        checks.append(
            Column(
                f"{check.heading}, lowest second" if of_windows else check.heading,
                list(map(_seen, found)),
                rank=rank,
                titles=[seen_check.detail if seen_check else "" for seen_check in found],
            )
        )
    times = [
        f"~~{time}~~" if summary.struck_out else time
        for summary, _ in own
        for time in [seconds_text(summary.elapsed_s)]
    ]
    return [
        Column("trial", [summary.id for summary, _ in own], name=True),
        Column("dilation", [str(scale.dilation) for _, scale in own]),
        Column("elapsed", times, unit="s"),
        Column("source", ["modelled" if scale.modelled else "measured" for _, scale in own], words=True),
        Column("checks", [_verdict(scale) for _, scale in own], words=True),
        Column("tasks' processor time", [_processor_time(summary) for summary, _ in own], unit="s", rank=9),
        *checks,
    ]


def _processor_time(summary: TrialSummary) -> str:
    """Of all tasks after their start-up; equal work should take as much at every dilation."""
    return "-" if summary.cpu_ms is None else seconds_text(summary.cpu_ms / 1000)


def _verdict(scale: ScaleReport) -> str:
    """Whether all checks passed, and how many if not all could be made."""
    if scale.failed:
        return "failed"
    made = sum(check.passed is not None for check in scale.checks)
    return "passed" if made == len(scale.checks) else f"passed ({made} of {len(scale.checks)})"


def _seen(check: ScaleCheck | None) -> str:
    """What was seen, of windows the lowest, marked where it is not within its limit."""
    if check is None or check.value is None:
        return "-" if check is None or check.passed is None else "none!"
    return f"{number_text(check.value if check.lowest is None else check.lowest)}{'!' if check.passed is False else ''}"


def _scale(run: RunView) -> ScaleView | None:
    """Make the section; None where no trial ran on a scale model."""
    trials = [summary for summary in run.trials if summary.scale is not None]
    return ScaleView(trials) if trials else None


SECTIONS.add("scale", _scale, place=0)
