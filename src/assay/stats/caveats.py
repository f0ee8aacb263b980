"""Caveats: what limits a decision besides its numbers, each as a kind with its own numbers; reports phrase them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from assay.model.base import Frozen
from assay.model.drive_profile import ASSUMED, PARAMETERS
from assay.model.fact import whole_number
from assay.model.installed import kind_of
from assay.model.scale import CheckId
from assay.model.trial import ZERO_DELAY
from assay.model.trial_summary import TrialSummary
from assay.stats.drive_use import late_written_shares
from assay.stats.estimate import Estimate
from assay.stats.trial_doubts import MACHINE_SHARED


class NothingCounts(Frozen):
    """No trial of these levels counts: each failed, has a wrong output, or is excluded."""

    kind: Literal["nothing-counts"] = "nothing-counts"
    of: tuple[str, ...]


class RanElsewhere(Frozen):
    """The trials of these levels ran on another machine or medium, so that they are not compared."""

    kind: Literal["ran-elsewhere"] = "ran-elsewhere"
    of: tuple[str, ...]


class NotRepeated(Frozen):
    """Nothing ran twice, so that no number has an interval."""

    kind: Literal["not-repeated"] = "not-repeated"


class NotTheDrives(Frozen):
    """The times on these levels differ from the base's by more than any drive was busy, for so many seconds at most."""

    kind: Literal["not-the-drives"] = "not-the-drives"
    of: tuple[str, ...]
    busy_s: float


class WrittenLate(Frozen):
    """The verdicts on these levels would rest on so many trials whose writes came after the jobs' end.

    Such a trial looks faster than it is: one of a level makes *worth it* unsafe, one of the base *not worth it*. Of a
    base that ran alone, it is itself. `share` is the least of what the jobs wrote that was on the drives by then.
    """

    kind: Literal["written-late"] = "written-late"
    of: tuple[str, ...]
    trials: int
    share: float


class TimesApart(Frozen):
    """The jobs of these trials and the steps that ran them contradict each other, so nothing is decided by them."""

    kind: Literal["times-apart"] = "times-apart"
    trials: tuple[str, ...]


class MachineShared(Frozen):
    """Other programs took processor time while the jobs of so many trials ran."""

    kind: Literal["machine-shared"] = "machine-shared"
    trials: int


class TimesModelled(Frozen):
    """The times are those of a cluster that the one that ran stands for, which was so many times slower."""

    kind: Literal["times-modelled"] = "times-modelled"
    times_slower: int


class LinksIdle(Frozen):
    """Packets waited before none of the network's links for as long as a second in all."""

    kind: Literal["links-idle"] = "links-idle"


class AssumedParameters(Frozen):
    """Of an emulated drive's parameters so many were neither published nor measured."""

    kind: Literal["assumed-parameters"] = "assumed-parameters"
    profile: str
    assumed: int
    parameters: int


class SlowedDrives(Frozen):
    """Emulated drives are so many times slower than those that they are named after: all of them, or some at most."""

    kind: Literal["slowed-drives"] = "slowed-drives"
    times_slower: int
    alike: bool = True


Caveat = Annotated[
    NothingCounts | RanElsewhere | NotRepeated | NotTheDrives | WrittenLate | TimesApart | MachineShared | TimesModelled
    | LinksIdle | AssumedParameters | SlowedDrives,
    Field(discriminator="kind"),
]  # fmt: skip


BUSY_MARGIN = 1.5
"""Kernels count a device's busy time by ticks, and may miss short requests: a bound decides only by this margin."""


def most_saved_s(busy_s: float) -> float:
    """The most that other drives can save, in seconds, where these were busy for so long by their counters."""
    return BUSY_MARGIN * busy_s


def most_saved_share(busy_s: float | None, elapsed_s: float) -> float | None:
    """The same as a share of the time; None where it is not known how long the drives were busy."""
    return None if busy_s is None else min(1.0, most_saved_s(busy_s) / elapsed_s)


def too_small(busy_s: float | None, elapsed_s: float, worth: float) -> bool:
    """Whether drives were busy for so little of the time that no other can be worth it."""
    most = most_saved_share(busy_s, elapsed_s)
    return most is not None and most < worth


def is_beyond(saved: Estimate | None, busy_s: float | None, elapsed_s: float) -> bool:
    """Whether a share was saved that contradicts so many seconds of busy drives: then these decide nothing.

    By the estimate itself, since one trial has no interval, and that of a few is so wide that it refutes nothing.
    """
    most = most_saved_share(busy_s, elapsed_s)
    return most is not None and saved is not None and saved.value > most


LEAST_DIFFERENCE = 0.05
"""A smaller share of the base's time is a matter of noise, whatever its cause."""


class DriveTime(NamedTuple):
    """A level's time in seconds, for how much of it its drives were busy (None: not known), and tasks were blocked."""

    level: str
    elapsed_s: float
    busy_s: float | None
    blocked_s: float


def not_the_drives(times: Sequence[DriveTime]) -> NotTheDrives | None:
    """Which times differ from the first by more than any drive was busy; None where none does, or nobody knows."""
    levels: dict[str, float] = {}
    for time in times[1:]:
        both = (times[0], time)
        known = [place.busy_s for place in both if place.busy_s is not None]
        most_s = most_saved_s(max([*known, *(place.blocked_s for place in both)]))
        difference_s = abs(time.elapsed_s - times[0].elapsed_s)
        if len(known) == len(both) and difference_s > max(most_s, LEAST_DIFFERENCE * times[0].elapsed_s):
            levels[time.level] = max(known)
    return NotTheDrives(of=tuple(levels), busy_s=max(levels.values())) if levels else None


def verdicts_on_late_writes(
    by_level: Mapping[str, Sequence[TrialSummary]], rests_on: Mapping[str, str]
) -> WrittenLate | None:
    """The levels whose verdicts rest on trials whose jobs ended before their writes; None without any.

    `rests_on` has, of each level with a verdict, the one that is not as fast as it looks where its writes are late.
    """
    late = {level: late_written_shares(by_level[level]) for level in dict.fromkeys(rests_on.values())}
    shares = [share for of_level in late.values() for share in of_level]
    levels = tuple(level for level, fast in rests_on.items() if late[fast])
    return WrittenLate(of=levels, trials=len(shares), share=min(shares)) if levels else None


def caveats_of(
    by_level: Mapping[str, Sequence[TrialSummary]], ran: Mapping[str, bool], network: str, *, repeated: bool
) -> tuple[Caveat, ...]:
    """Those of a decision, by the trials of each of its levels that are compared, the zero-delay baseline included.

    `ran` has every level of which any trial ran, and whether one of them counts. `network` is the level of that factor.
    """
    summaries = [summary for trials in by_level.values() for summary in trials]
    drives = [trials[0] for level, trials in by_level.items() if level != ZERO_DELAY]
    nothing = tuple(level for level, any_counts in ran.items() if not any_counts)
    elsewhere = tuple(level for level, any_counts in ran.items() if any_counts and level not in by_level)
    shared = sum(any(doubt.kind == MACHINE_SHARED.name for doubt in summary.doubts) for summary in summaries)
    times_slower = max((summary.times_slower for summary in summaries), default=1)
    media = [medium for level, trials in by_level.items() if level != ZERO_DELAY for medium in trials[0].trial.media]
    slowdowns = {kind_of(medium).slowdown(medium) for medium in media}
    caveats: list[Caveat] = []
    if nothing:
        caveats.append(NothingCounts(of=nothing))
    if elsewhere:
        caveats.append(RanElsewhere(of=elsewhere))
    if not repeated:
        caveats.append(NotRepeated())
    if shared:
        caveats.append(MachineShared(trials=shared))
    if times_slower > 1:
        caveats.append(TimesModelled(times_slower=times_slower))
    if network != "none" and _links_idle(summaries):
        caveats.append(LinksIdle())
    caveats += _assumed(drives)
    if max(slowdowns, default=1) > 1:
        caveats.append(SlowedDrives(times_slower=max(slowdowns), alike=len(slowdowns) == 1))
    return tuple(caveats)


def _links_idle(summaries: Sequence[TrialSummary]) -> bool:
    """Whether every trial looked at its links, which only scale models do, and none saw packets wait for a second."""
    models = [summary.scale for summary in summaries if summary.scale is not None]
    checks = [check for model in models for check in model.checks if check.id is CheckId.LINKS]
    return len(checks) == len(summaries) > 0 and all(check.value is None for check in checks)


def _assumed(summaries: Iterable[TrialSummary]) -> list[AssumedParameters]:
    """Of each drive's profile once, by name, where any parameter is assumed."""
    by_profile = {}
    for summary in summaries:
        for medium in summary.trial.media:
            facts = summary.facts_of(medium.name)
            name, assumed = str(facts.get("profile", "")), whole_number(facts.get(ASSUMED)) or 0
            parameters = whole_number(facts.get(PARAMETERS)) or 0
            if name and assumed:
                by_profile[name] = AssumedParameters(profile=name, assumed=assumed, parameters=parameters)
    return [by_profile[profile] for profile in sorted(by_profile)]
