"""What a plan will do and cost, in lines that are said before it starts."""

import re

from assay.model.trial import Estimate, Plan, Trial
from assay.preflight import Needs
from assay.report.text import bytes_text, duration_text

# Levels of factors that say nothing.
_PLAIN = {"", "none", "all", "paper", "default"}
_FOLDERS = re.compile(r"(?<==)/\S*/(?=[^/\s])")


def needs_lines(plan: Plan, needs: Needs) -> list[str]:
    """Head, each trial, each medium, memory, and in the last line the sum of times with the worst disk and memory."""
    head = f"{plan.experiment}: {len(plan.trials)} trials, {_about(plan, needs)} {duration_text(needs.seconds)}"
    trials = [trial_line(trial, needs.estimates[trial.id]) for trial in plan.trials]
    return [head, *trials, *_sources(needs), *_places(needs), f"  in all: {_sum(plan, needs)}"]


def _about(plan: Plan, needs: Needs) -> str:
    """Times that are reckoned are those of a quick drive, and emulated ones are slow."""
    hopeful = any(
        medium.kind == "emulated" and not needs.estimates[trial.id].records
        for trial in plan.trials
        for medium in trial.media
    )
    return "at least" if hopeful else "about"


def trial_line(trial: Trial, estimate: Estimate | None = None) -> str:
    """A trial's factors, but those that say nothing; of paths in options the last name; its time if records tell it."""
    factors = {**trial.factors, "options": _FOLDERS.sub("", trial.factors["options"])}
    further = [f"{name}={level}" for name, level in trial.levels.items() if level not in _PLAIN]
    named = [value for name, value in factors.items() if name not in trial.levels and value not in _PLAIN]
    turn = "warm-up" if trial.warm_up else f"repetition {trial.repetition}"
    time = f", {duration_text(estimate.seconds)} in earlier records" if estimate and estimate.records else ""
    return f"  {trial.id}: {', '.join([*named, *further, turn])}{time}"


def _sources(needs: Needs) -> list[str]:
    """Which times come from records; nothing is said where none does."""
    known = sum(bool(one.records) for one in needs.estimates.values())
    rest = len(needs.estimates) - known
    if not known:
        return []
    reckoned = f"; the other {rest} are reckoned, and rough" if rest else ""
    return [f"  times of {known} trial{'s' if known > 1 else ''} are medians of earlier records{reckoned}"]


def _places(needs: Needs) -> list[str]:
    lines = [
        f"  {medium}: at most about {bytes_text(wanted)} at once, {bytes_text(needs.free_bytes[medium])} free"
        for medium, wanted in needs.disk_bytes.items()
        if wanted
    ]
    if needs.memory_bytes:
        available = bytes_text(needs.available_memory_bytes)
        lines.append(f"  this machine: at most about {bytes_text(needs.memory_bytes)} of memory, {available} available")
    return lines


def _sum(plan: Plan, needs: Needs) -> str:
    """Trials run one after the other on empty media: their times add up, of their bytes the most count."""
    longest = max(plan.trials, key=lambda trial: needs.estimates[trial.id].seconds)
    seconds = duration_text(needs.estimates[longest.id].seconds)
    total = f"{_about(plan, needs)} {duration_text(needs.seconds)}"
    time = f"{total}, more on slow drives (the longest trial, {longest.id}, {seconds})"
    disk = max(estimate.disk_bytes for estimate in needs.estimates.values())
    if not disk:
        return f"{time}; disk and memory of the cluster are its own and not estimated"
    return f"{time}; at most about {bytes_text(disk)} of disk and {bytes_text(needs.memory_bytes)} of memory at once"
