"""What a plan will do and cost, in lines that are said before it starts."""

import re

from assay.model.trial import Plan, Trial
from assay.preflight import Needs
from assay.report.text import bytes_text, duration_text

# Levels of factors that say nothing.
_PLAIN = {"", "none", "all", "paper", "default"}
_FOLDERS = re.compile(r"(?<==)/\S*/(?=[^/\s])")


def needs_lines(plan: Plan, needs: Needs) -> list[str]:
    """Head, each trial, each medium, memory, and in the last line the sum of times with the worst disk and memory."""
    head = f"{plan.experiment}: {len(plan.trials)} trials, about {duration_text(needs.seconds)}"
    return [head, *map(trial_line, plan.trials), *_places(needs), f"  in all: {_sum(plan, needs)}"]


def trial_line(trial: Trial) -> str:
    """A trial's factors, but those that say nothing; of paths in options the last name."""
    factors = {**trial.factors, "options": _FOLDERS.sub("", trial.factors["options"])}
    told = ", ".join(value for value in factors.values() if value not in _PLAIN)
    return f"  {trial.id}: {told}, repetition {trial.repetition}"


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
    time = f"about {duration_text(needs.seconds)}, more on slow drives (the longest trial, {longest.id}, {seconds})"
    disk = max(estimate.disk_bytes for estimate in needs.estimates.values())
    if not disk:
        return f"{time}; disk and memory are the cluster's own and not estimated"
    return f"{time}; at most about {bytes_text(disk)} of disk and {bytes_text(needs.memory_bytes)} of memory at once"
