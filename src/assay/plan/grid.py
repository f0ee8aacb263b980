"""Which combinations of levels an experiment has, and which of them are left out."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any, NamedTuple

from assay.model.errors import BadInputError
from assay.model.naming import nearest
from assay.model.trial import FACTORS, Plan

WORKLOAD, DATASET, SETTINGS, PLACEMENT = "workload", "dataset", "settings", "placement"
REPLICATION = "replication"
# The keys of an experiment whose factor tables call otherwise.
_KEYS = {"workloads": WORKLOAD, "datasets": DATASET, "placements": PLACEMENT, "media": PLACEMENT}


class Level(NamedTuple):
    """One level of an axis: what a trial is made with, and what tables show of it, by factors' names.

    A workload shows three factors: `workload`, `variant` and `options`.
    """

    value: Any
    shown: Mapping[str, str]


class Axis(NamedTuple):
    """Something that varies in an experiment. Its name is that of a factor."""

    name: str
    levels: Sequence[Level]


def axis(name: str, levels: Iterable[tuple[Any, str]]) -> Axis:
    """An axis of one factor, from values and what tables show of them."""
    return Axis(name, [Level(value, {name: text}) for value, text in levels])


def factor_name(word: str, known: Sequence[str]) -> str:
    """The factor that a user means. Raises BadInputError with the nearest word."""
    name = _KEYS.get(word, word)
    if name not in known:
        raise BadInputError(f"unknown factor {word!r}; {nearest(word, known)}")
    return name


def known_level(factor: str, word: str, known: Sequence[str]) -> str:
    """A level of a factor as tables show it. Raises BadInputError with the nearest one where there is no such level."""
    text = next((one.as_shown(word) for one in FACTORS if one.name == factor), word)
    if text not in known:
        raise BadInputError(f"{factor} has no level {word!r}; {nearest(text, known)}")
    return text


def levels_of(shown: Iterable[Mapping[str, str]]) -> dict[str, list[str]]:
    """All levels of all factors that some combinations show, in the order in which they come."""
    found: dict[str, dict[str, None]] = {}
    for levels in shown:
        for name, text in levels.items():
            found.setdefault(name, {})[text] = None
    return {name: list(texts) for name, texts in found.items()}


MOST_TRIALS = 100_000
"""More than anyone waits for: a plan of so many is a mistake."""


class Combination(NamedTuple):
    """A level of each axis, by the axes' names."""

    levels: Mapping[str, Level]

    @property
    def shown(self) -> dict[str, str]:
        """The levels of its factors as tables show them."""
        return {name: text for level in self.levels.values() for name, text in level.shown.items()}


class _Joint(NamedTuple):
    """Axes that vary together: in each place a level of each of them."""

    places: Sequence[Mapping[str, Level]]

    @property
    def factors(self) -> dict[str, list[str]]:
        return levels_of(level.shown for place in self.places for level in place.values())

    def matching(self, wanted: Mapping[str, str]) -> list[Mapping[str, Level]]:
        """The places that show all of these levels."""
        return [
            place
            for place in self.places
            if wanted.items() <= {item for level in place.values() for item in level.shown.items()}
        ]


class Grid:
    """The axes of one workload, with those that are zipped joined. Its workload is an axis of one level."""

    def __init__(self, axes: Sequence[Axis], zipped: Sequence[Sequence[str]], workload: int) -> None:
        """`workload` is the workload's place among all: axes that are zipped with it stay at the same one."""
        taken = {name for group in zipped for name in group}
        by_name = {one.name: one for one in axes}
        joints = [_Joint([{one.name: level} for level in one.levels]) for one in axes if one.name not in taken]
        for group in zipped:
            members = [by_name[name] for name in group if name in by_name]
            if WORKLOAD in group:
                members = [Axis(one.name, [one.levels[workload]]) if len(one.levels) > 1 else one for one in members]
            joints.append(_joined(members))
        self._joints = joints
        self._workload = by_name[WORKLOAD].levels[0].shown

    @property
    def size(self) -> int:
        """How many combinations the full grid has."""
        return prod(len(joint.places) for joint in self._joints)

    def full(self) -> Iterator[Combination]:
        """All combinations."""
        return _combined([joint.places for joint in self._joints])

    def has_workload(self, base: Mapping[str, str]) -> bool:
        """Whether its workload is what a base says of workload, variant and options."""
        return all(base.get(name, text) == text for name, text in self._workload.items())

    def one_at_a_time(self, base: Mapping[str, str], *, may_leave: bool) -> Iterator[Combination]:
        """The base, and each combination that leaves it in one factor; in full with the factors it does not name.

        `may_leave` is False where the workload has left it already. Raises BadInputError where zipped factors have no
        such levels together.
        """
        swept, homes, crossed = [], [], []
        for joint in self._joints:
            wanted = {name: text for name, text in base.items() if text in joint.factors.get(name, [])}
            if not wanted:
                crossed.append(joint.places)
                continue
            home = joint.matching(wanted)
            if not home:
                together = ", ".join(f"{name}: {text}" for name, text in wanted.items())
                raise BadInputError(f"base: the levels {together} don't occur together")
            swept.append(joint.places)
            homes.append(home[:1])
        yield from _combined([*homes, *crossed])
        if not may_leave:
            return
        for at, places in enumerate(swept):
            away = [place for place in places if place is not homes[at][0]]
            yield from _combined([*homes[:at], away, *homes[at + 1 :], *crossed])


def _joined(members: Sequence[Axis]) -> _Joint:
    """First with first; an axis of one level (no dataset, a workload's own value) goes with all."""
    length = max((len(one.levels) for one in members), default=1)
    return _Joint(
        [{one.name: one.levels[place if len(one.levels) > 1 else 0] for one in members} for place in range(length)]
    )


def _combined(lists: Sequence[Sequence[Mapping[str, Level]]]) -> Iterator[Combination]:
    for places in product(*lists):
        yield Combination({name: level for place in places for name, level in place.items()})


def one_at_a_time(grids: Sequence[Grid], base: Mapping[str, str]) -> Iterator[Combination]:
    """Sweeps around a base; a workload that is not the base's is itself what changes. Raises BadInputError."""
    for grid in grids:
        yield from grid.one_at_a_time(base, may_leave=grid.has_workload(base))


def zipped_names(groups: Sequence[Sequence[str]], axes: Sequence[Axis]) -> list[list[str]]:
    """The axes of each zipped list. Raises BadInputError for unknown or repeated factors and unequal lengths."""
    lengths: dict[str, int] = {}
    for one in axes:
        lengths[one.name] = max(lengths.get(one.name, 0), len(one.levels))
    found: list[list[str]] = []
    for group in groups:
        names = [factor_name(word, list(lengths)) for word in group]
        for name in names:
            if names.count(name) > 1 or any(name in other for other in found):
                raise BadInputError(f"zip: {name} can't go together with others twice")
        if len({lengths[name] for name in names}) > 1:
            told = ", ".join(f"{name} has {lengths[name]}" for name in names)
            raise BadInputError(f"zip: factors that go together must have the same number of levels, and {told}")
        found.append(names)
    return found


def base_levels(base: Mapping[str, str], axes: Sequence[Axis]) -> dict[str, str]:
    """The base as tables show it. Raises BadInputError for an unknown factor or level."""
    known = levels_of(level.shown for one in axes for level in one.levels)
    found = {}
    for word, level in base.items():
        name = factor_name(word, list(known))
        found[name] = known_level(name, level, known[name])
    return found


Choice = Mapping[str, Sequence[str]]
"""Some factors, each with levels of which any will do."""


def without(combinations: Sequence[Combination], excluded: Sequence[Choice]) -> list[Combination]:
    """Those that have all the levels of none of `excluded`.

    Raises BadInputError for an unknown factor or level, and where nothing is left.
    """
    known = levels_of(one.shown for one in combinations)
    choices = [_choice(words.items(), known) for words in excluded]
    left = [one for one in combinations if not any(_has(one.shown, choice) for choice in choices)]
    if not left:
        raise BadInputError("exclude leaves no combination; give fewer, or more levels in each")
    return left


def only(plan: Plan, wanted: Sequence[str]) -> Plan:
    """The trials with these levels, each as `FACTOR=LEVEL`; of several levels of one factor any will do.

    Raises BadInputError for what names no factor or level, and where no trial has all of them.
    """
    if not wanted:
        return plan
    words: dict[str, list[str]] = {}
    for text in wanted:
        name, sign, level = text.partition("=")
        if not sign:
            raise BadInputError(f"--only {text}: say FACTOR=LEVEL, such as placement={plan.trials[0].placement.name}")
        words.setdefault(name, []).append(level)
    try:
        choice = _choice(words.items(), levels_of(trial.factors for trial in plan.trials))
    except BadInputError as error:
        raise BadInputError(f"--only: {error}") from None
    trials = tuple(trial for trial in plan.trials if _has(trial.factors, choice))
    if not trials:
        raise BadInputError(f"no trial has all of --only {' --only '.join(wanted)}")
    return plan.model_copy(update={"trials": trials})


def _choice(words: Iterable[tuple[str, Sequence[str]]], known: Mapping[str, Sequence[str]]) -> Choice:
    found: dict[str, list[str]] = {}
    for word, levels in words:
        name = factor_name(word, list(known))
        found.setdefault(name, []).extend(known_level(name, level, known[name]) for level in levels)
    return found


def _has(shown: Mapping[str, str], choice: Choice) -> bool:
    return all(shown[name] in levels for name, levels in choice.items())
