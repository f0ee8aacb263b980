"""What statistics see of a trial: its factors' levels and its elapsed time."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from assay.model.doubt import Outcome
from assay.model.fault import NO_FAULT
from assay.model.naming import size_of
from assay.model.record import Status
from assay.model.signature import Array
from assay.model.trial import USUAL_ENGINE, USUAL_STORE, ZERO_DELAY
from assay.model.trial_summary import TrialSummary
from assay.stats.machine_kind import (
    Changed,
    MachineFacts,
    Parts,
    differences,
    machine_names,
    machines_of,
    sets_of_parts,
)

RUN, MACHINE, PLACEMENT = "run", "machine", "placement"
APART = (RUN, MACHINE)
"""Levels of these never take turns: their trials have no pairs."""

WORK = ("workload", "dataset", "options")
"""What is computed. More of it takes longer: levels of these are never compared with each other."""

BASES: Mapping[str, Sequence[str]] = {"fault": (NO_FAULT,), "store": (USUAL_STORE,), "engine": (USUAL_ENGINE,)}
"""Of factors that have one the level that all others are compared with, wherever it stands in the alphabet."""

Levels = tuple[tuple[str, str], ...]


class TrialSample(NamedTuple):
    """One finished trial. `factors` are all that tells it from others: the plan's, its run and its machine's kind.

    `repetition` numbers the blocks in which all combinations of a run take turns; `elapsed_s` is above 0.
    """

    trial: str
    factors: Levels
    repetition: int
    elapsed_s: float

    def level(self, factor: str) -> str:
        """Raises KeyError where the trial has no such factor."""
        return dict(self.factors)[factor]


def block_numbers(finished: Sequence[TrialSample]) -> Array:
    """Number each trial's block from 0: a block is one repetition of one run on one machine."""
    sites = {factors: tuple(map(dict(factors).get, APART)) for factors in {sample.factors for sample in finished}}
    turns = [(sites[sample.factors], sample.repetition) for sample in finished]
    places = {turn: index for index, turn in enumerate(dict.fromkeys(turns))}
    return np.array([places[turn] for turn in turns])


def is_valid(summary: TrialSummary) -> bool:
    """Whether a trial's time is one to reckon with.

    It is no warm-up, nor are its drives varied; it took time, its output is not wrong, its fault struck, and its scale
    model was kept to.
    """
    return _could_count(summary) and not summary.struck_out


def is_struck_out(summary: TrialSummary) -> bool:
    """Whether a trial would count if its scale model had been kept to."""
    return _could_count(summary) and summary.struck_out


def is_wrong(summary: TrialSummary) -> bool:
    """Whether a trial would count if its output were not wrong: who loses half the records is done sooner."""
    return _took_time(summary) and summary.outcome is Outcome.FAIL and not has_failed(summary)


def has_failed(summary: TrialSummary) -> bool:
    """Whether a trial failed, or a job of several in it."""
    return summary.status is Status.FAILED or not all(check.ended for check in summary.failed_checks)


def _could_count(summary: TrialSummary) -> bool:
    return _took_time(summary) and summary.outcome is not Outcome.FAIL and not summary.missed_fault


def _took_time(summary: TrialSummary) -> bool:
    ran = summary.trial.is_repetition and summary.source != "predicted"
    return ran and summary.status is Status.FINISHED and bool(summary.elapsed_s)


class Trials(list[TrialSummary]):
    """Trials as statistics see them: what only all of them together show is worked out once.

    `runs` names each trial's run where there are several: it is a factor then, and media are distinguished within a
    run only. Raises ValueError where their numbers differ.
    """

    def __init__(self, summaries: Sequence[TrialSummary], runs: Sequence[str] = ()) -> None:
        super().__init__(summaries)
        self._runs = runs

    @classmethod
    def of(cls, summaries: Sequence[TrialSummary], runs: Sequence[str] = ()) -> "Trials":
        """These trials; themselves if they are it already."""
        return summaries if isinstance(summaries, cls) and not runs else cls(summaries, runs)

    @cached_property
    def machine_facts(self) -> list[MachineFacts]:
        """For each trial the facts that tell the machine that it ran on from others."""
        return machines_of(self)

    @cached_property
    def _parts(self) -> tuple[dict[MachineFacts, list[Parts]], list[tuple[MachineFacts, int]]]:
        return sets_of_parts(self, self.machine_facts, self._runs)

    @cached_property
    def machines(self) -> list[str]:
        """For each trial the short name of the kind of machine, its media and programs included, that it ran on.

        `A2 (ssd drive other)` is machine A with another `ssd` than the first trials' there.
        """
        known, places = self._parts
        names = machine_names(known)
        kinds = []
        for machine, variant in places:
            name = names[machine]
            if variant:
                changes = differences(known[machine][0], known[machine][variant])
                others = ", ".join(f"{change.part.name} {change.fact} {change.after}" for change in changes)
                name = f"{name.partition(' ')[0]}{variant + 1} ({others})"
            kinds.append(name)
        return kinds

    @cached_property
    def machine_by_trial(self) -> dict[str, str]:
        """The same by the trials' names."""
        return {summary.id: machine for summary, machine in zip(self, self.machines, strict=True)}

    @cached_property
    def changes(self) -> list[tuple[Changed, ...]]:
        """For each trial how a medium, or programs, of its are others than the first of that name there."""
        known, places = sets_of_parts(self, self.machine_facts, ()) if self._runs else self._parts
        return [
            differences(known[machine][0], known[machine][variant]) if variant else () for machine, variant in places
        ]

    @cached_property
    def levels(self) -> list[Levels]:
        """For each trial the levels of all its factors, its run and its machine's kind; equal ones are one object."""
        runs: Sequence[Levels] = [((RUN, run),) for run in self._runs] or [()] * len(self)
        known: dict[Levels, Levels] = {}
        every = (
            (*summary.factors.items(), *run, (MACHINE, machine))
            for summary, run, machine in zip(self, runs, self.machines, strict=True)
        )
        return [known.setdefault(levels, levels) for levels in every]

    @cached_property
    def by_levels(self) -> dict[Levels, list[TrialSummary]]:
        """All trials, those that don't count too, by the levels of all their factors and their machine's kind."""
        groups: dict[Levels, list[TrialSummary]] = {}
        for summary, levels in zip(self, self.levels, strict=True):
            groups.setdefault(levels, []).append(summary)
        return groups

    @cached_property
    def samples(self) -> list[TrialSample]:
        """The trials that count, in their order, each with its machine's kind."""
        return [
            TrialSample(
                trial=summary.id, factors=levels, repetition=summary.trial.repetition, elapsed_s=summary.elapsed_s
            )
            for summary, levels in zip(self, self.levels, strict=True)
            if is_valid(summary) and summary.elapsed_s
        ]


def samples(summaries: Sequence[TrialSummary], runs: Sequence[str] = ()) -> list[TrialSample]:
    """The trials that count, in their order, each with its machine's kind; see `Trials`."""
    return Trials.of(summaries, runs).samples


def combinations(finished: Sequence[TrialSample]) -> dict[Levels, list[TrialSample]]:
    """Samples by all their factors: the repetitions of each combination, on one kind of machine."""
    by_levels: dict[Levels, list[TrialSample]] = {}
    for sample in finished:
        by_levels.setdefault(sample.factors, []).append(sample)
    return by_levels


def varying_factors(finished: Sequence[TrialSample]) -> list[str]:
    """List the factors with more than one level, in the order in which the trials name them."""
    levels_by_factor: dict[str, set[str]] = {}
    for factors in dict.fromkeys(sample.factors for sample in finished):
        for name, level in factors:
            levels_by_factor.setdefault(name, set()).add(level)
    return [name for name, levels in levels_by_factor.items() if len(levels) > 1]


_SIZE = re.compile(r"\b\d+(?:\.\d+)?[KMGT]iB\b")


def in_order(levels: Iterable[str]) -> list[str]:
    """Sort levels as people do, each once: `2` before `10`, `ssd25` before `ssd100`, `512MiB` before `1GiB`."""
    parts = {
        level: re.split(r"(\d+)", _SIZE.sub(lambda size: str(size_of(size[0])), level))
        for level in dict.fromkeys(levels)
    }
    return sorted(parts, key=lambda level: [(int(part) if part.isdigit() else -1, part) for part in parts[level]])


def by_levels(unordered: Iterable[Levels]) -> list[Levels]:
    """Combinations, each once, sorted by their first factor, then by the next: its base before all other levels."""
    every = list(dict.fromkeys(unordered))
    names = dict.fromkeys(name for levels in every for name, _ in levels)
    known = [dict(levels) for levels in every]
    places = {
        (name, level): rank
        for name in names
        for rank, level in enumerate(in_plan_order({levels.get(name, "") for levels in known}, BASES.get(name, ())))
    }
    return sorted(every, key=lambda levels: [places[name, dict(levels).get(name, "")] for name in names])


def in_plan_order(levels: Iterable[str], planned: Sequence[str]) -> list[str]:
    """Order levels, each once: a plan's in its order, then others by `in_order`, zero storage delay last.

    The first of those that have times is the base that all others are compared with.
    """
    places = {name: rank for rank, name in enumerate(dict.fromkeys(planned))}
    ordered = in_order(levels)
    return sorted(ordered, key=lambda level: (level == ZERO_DELAY, places.get(level, len(places))))
