"""What an answer depends on, in words: the speed of the processors, and what is assumed of the drives."""

from collections.abc import Iterator

from assay.report.answer import interval_text
from assay.report.words import change_text, seconds_text
from assay.stats.estimate import Estimate
from assay.stats.sensitivity import Sensitivity

HOW = "1.29 MB by `time (seq 200000 | bzip2 -9 > /dev/null)`"
"""What `host.machine` does, in a shell."""


def restated_notes(sensitivity: Sensitivity) -> Iterator[str]:
    """The answer for other processors, where it was asked for."""
    if sensitivity.cpu_speed is not None:
        yield (
            f"With processors {sensitivity.cpu_speed:g} times as fast as here: "
            f"{_less(sensitivity.saving(sensitivity.cpu_speed))} on {sensitivity.other} than on {sensitivity.base}, "
            f"{sensitivity.verdict(sensitivity.cpu_speed)}."
        )


def depends_notes(sensitivity: Sensitivity, *, first: bool) -> Iterator[str]:
    """Sentences below an answer; the `first` of a report says how to ask for other processors."""
    slower, faster = (_less(sensitivity.saving(speed)) for speed in (0.5, 2.0))
    how = " For yours: `assay report RUN --cpu-speed 3x`." if first and sensitivity.cpu_speed is None else ""
    yield (
        f"The saving depends on the processors: {slower} with processors half as fast, {faster} with processors twice "
        f"as fast (computing scaled, storage kept).{how}"
    )
    if first and sensitivity.processor_mb_s:
        speed_text = f"{sensitivity.processor_mb_s:.1f} MB/s"
        yield f"A processor of this machine ({sensitivity.processor}) compresses {speed_text} ({HOW})."
    if sensitivity.slowdown > 1:
        decided = (
            f", {sensitivity.verdict(1 / sensitivity.slowdown)}: the slowdown decides the answer, so it must be that "
            "of your nodes"
        )
        yield (
            f"The drives were {sensitivity.slowdown} times slower than those that they are named after. At their own "
            f"speed the saving beside these processors would be {_less(sensitivity.at_own_speed)}"
            f"{decided if sensitivity.decided_by_scale else ''}."
        )
    ends = sensitivity.assumed_range()
    if ends is not None:
        low, high = ends
        yield (
            "With all assumed times and rates of the drives a fifth worse or better, the saving would lie within "
            f"{interval_text(Estimate(value=0.0, low=low, high=high))}."
        )
    if sensitivity.varied:
        each = ", ".join(
            f"{trial.placement} {seconds_text(trial.elapsed_s)} s ({seconds_text(trial.calculated_s)} s)"
            for trial in sensitivity.varied
        )
        yield (
            "Runs with such drives, which also serve several streams more slowly or faster, took (in brackets the "
            f"arithmetic alone): {each}."
        )


def _less(saving: Estimate) -> str:
    """`38 % less time (32 to 44 %)`, or more."""
    interval = "" if saving.low is None else f" ({interval_text(saving)})"
    return f"{change_text(saving.value)}{interval}"
