"""Trials on scale models: their times are modelled, and each is shown with the checks of its model."""

from collections.abc import Sequence

from assay.model.record import Record
from assay.model.scale import ScaleCheck
from assay.report.columns import Column
from assay.report.words import number_text, seconds_text

MOST_TRIALS = 40

NOTE = (
    "Modelled: these clusters ran so many times slower than the ones that they stand for (dilation), their nodes' "
    "processors, drives, links and Hadoop's timers alike, and all times here are divided by that. Where a check fails, "
    "time is struck out (~~) and counts in no figure"
)
"""Ends without a full stop."""


def scale_columns(records: Sequence[Record]) -> list[Column]:
    """One line for each trial on a scale model, at most so many; nothing where there is none."""
    own = [(record, record.scale) for record in records if record.scale is not None][:MOST_TRIALS]
    if not own:
        return []
    names = dict.fromkeys(check.name for _, scale in own for check in scale.checks)
    checks = [
        Column(
            name,
            [_seen(next((one for one in scale.checks if one.name == name), None)) for _, scale in own],
            rank=3 + place,
            titles=[next((one.detail for one in scale.checks if one.name == name), "") for _, scale in own],
        )
        for place, name in enumerate(names)
    ]
    times = [
        f"~~{time}~~" if record.struck_out else time
        for record, _ in own
        for time in [seconds_text(record.totals.elapsed_s if record.totals else None)]
    ]
    return [
        Column("trial", [record.trial.id for record, _ in own], name=True),
        Column("dilation", [str(scale.dilation) for _, scale in own]),
        Column("elapsed", times, unit="s"),
        Column("basis", ["modelled" if scale.modelled else "measured" for _, scale in own], words=True),
        Column("checks", ["failed" if scale.failed else "passed" for _, scale in own], words=True),
        *checks,
    ]


def struck_out_words(records: Sequence[Record]) -> list[str]:
    """Why trials' times are struck out, one line for each."""
    return [
        f"{record.trial.id} is struck out: {'; '.join(check.detail for check in record.scale.failed)}"
        for record in records
        if record.scale is not None and record.struck_out
    ]


def _seen(check: ScaleCheck | None) -> str:
    """What was seen, marked where it is not within its limit."""
    if check is None or check.value is None:
        return "-" if check is None or check.passed is None else "none!"
    return f"{number_text(check.value)}{'!' if check.passed is False else ''}"
