"""Trials on scale models: their times are modelled, and each is shown with the checks of its model."""

from collections.abc import Sequence

from assay.model.installed import counted_by_tasks
from assay.model.record import Record
from assay.model.scale import CheckId, ScaleCheck, ScaleReport
from assay.report.columns import Column
from assay.report.words import number_text, seconds_text

MOST_TRIALS = 40

NOTE = (
    "Modelled: these clusters ran so many times slower than the ones that they stand for (dilation), their nodes' "
    "processors, drives, links and Hadoop's timers alike, and all times here are divided by that. Where a check fails, "
    "time is crossed out (~~) and counts in no result"
)
"""Ends without a full stop."""


def scale_columns(records: Sequence[Record]) -> list[Column]:
    """One line for each trial on a scale model, at most so many; nothing where there is none."""
    own = [(record, record.scale) for record in records if record.scale is not None][:MOST_TRIALS]
    if not own:
        return []
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
        f"~~{time}~~" if record.struck_out else time
        for record, _ in own
        for time in [seconds_text(record.totals.elapsed_s if record.totals else None)]
    ]
    return [
        Column("trial", [record.trial.id for record, _ in own], name=True),
        Column("dilation", [str(scale.dilation) for _, scale in own]),
        Column("elapsed", times, unit="s"),
        Column("source", ["modelled" if scale.modelled else "measured" for _, scale in own], words=True),
        Column("checks", [_verdict(scale) for _, scale in own], words=True),
        Column("tasks' processor time", [_processor_time(record) for record, _ in own], unit="s", rank=9),
        *checks,
    ]


def struck_out_words(records: Sequence[Record]) -> list[str]:
    """Why trials' times are excluded, one line for each."""
    return [
        f"{record.trial.id} is excluded: {'; '.join(check.detail for check in record.scale.failed)}"
        for record in records
        if record.scale is not None and record.struck_out
    ]


def _processor_time(record: Record) -> str:
    """Of all tasks after their start-up; equal work should take as much at every dilation."""
    cpu_ms = counted_by_tasks(record.trial.engine, record.totals.counters).get("cpu_ms") if record.totals else None
    return "-" if cpu_ms is None else seconds_text(cpu_ms / 1000)


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
