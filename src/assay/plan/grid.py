"""Which combinations of levels an experiment has, and which of them are left out."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, product
from math import prod
from typing import Any, NamedTuple

from assay.model.errors import BadInputError
from assay.model.naming import nearest
from assay.model.trial import FACTORS, ZERO_DELAY, Plan
from assay.plan.placement import alone_on
from assay.plan.source import ExperimentSource

WORKLOAD, DATASET, SETTINGS, PLACEMENT = "workload", "dataset", "settings", "placement"
# The keys of an experiment whose factor tables call otherwise.
_KEYS = {"workloads": WORKLOAD, "datasets": DATASET, "placements": PLACEMENT, "media": PLACEMENT}

MOST_TRIALS = 100_000
"""More than anyone waits for: a plan of so many is a mistake."""

Choice = Mapping[str, Sequence[str]]
"""Some factors, each with levels of which any will do."""


class Level(NamedTuple):
    """One level of an axis: what a trial is made with, and what tables show of it, by factors' names.

    A workload shows three factors: `workload`, `variant` and `options`.
    """

    value: Any
    labels: Mapping[str, str]


class Axis(NamedTuple):
    """Something that varies in an experiment. Its name is that of a factor."""

    name: str
    levels: Sequence[Level]


def axis(name: str, levels: Iterable[tuple[Any, str]]) -> Axis:
    """An axis of one factor, from values and what tables show of them."""
    return Axis(name, [Level(value, {name: text}) for value, text in levels])


class Combination(NamedTuple):
    """A level of each axis, or of some, by the axes' names."""

    levels: Mapping[str, Level]

    @property
    def labels(self) -> dict[str, str]:
        """The levels of its factors as tables show them."""
        return {name: text for level in self.levels.values() for name, text in level.labels.items()}


def combinations(
    source: ExperimentSource, axes: Sequence[Sequence[Axis]]
) -> tuple[list[Combination], Mapping[str, str]]:
    """All that an experiment asks for, each once, and the base of one that changes one factor at a time.

    `axes` are each workload's, itself first. Raises BadInputError.
    """
    experiment = source.experiment
    workloads = Axis(WORKLOAD, [of_workload[0].levels[0] for of_workload in axes])
    every = [workloads, *(axis for of_workload in axes for axis in of_workload)]
    with source.at("zip"):
        zipped = _zipped(experiment.zip, every)
    grids = [_Grid(of_workload, zipped, at) for at, of_workload in enumerate(axes)]
    one_at_a_time = experiment.design == "one-at-a-time"
    key = next(key for key in ("base", "design", "workloads") if key in experiment.model_fields_set)
    with source.at(key):
        if experiment.base and not one_at_a_time:
            raise BadInputError("base belongs to `design: one-at-a-time`; add that, or leave base out")
        if one_at_a_time and not experiment.base:
            raise BadInputError(
                "`design: one-at-a-time` needs a base: the factors to change, each with the level at which it stays "
                "otherwise, such as base: {settings: defaults}"
            )
        known = _levels_of(level.labels for axis in every for level in axis.levels)
        base = {name: levels[-1] for name, levels in _choice(experiment.base, known).items()}
        if one_at_a_time:
            swept = (combination for grid in grids for combination in grid.one_at_a_time(base))
            combinations = list(islice(swept, MOST_TRIALS + 1))
            _refuse_many(len(combinations) * experiment.repetitions)
        else:
            _refuse_many(sum(prod(map(len, grid.joints)) for grid in grids) * experiment.repetitions)
            combinations = [one for grid in grids for one in _product(grid.joints)]
    with source.at("exclude"):
        known = _levels_of(combination.labels for combination in combinations)
        if experiment.zero_delay_baseline:
            known[PLACEMENT] = [*known[PLACEMENT], ZERO_DELAY]
        excluded = [_choice(words, known) for words in experiment.exclude]
        combinations = [
            combination
            for combination in combinations
            if not any(_has(combination.labels, choice) for choice in excluded)
        ]
        if not combinations:
            raise BadInputError("exclude leaves no combination; give fewer, or more levels in each")
    if not experiment.zero_delay_baseline:
        return combinations, base
    # The baseline runs once for all combinations that differ in their placement alone; where that is one of several
    # changes, for those without another.
    others = {name: [text] for name, text in base.items() if name != PLACEMENT} if PLACEMENT in base else {}
    baseline = Level(alone_on(ZERO_DELAY), {PLACEMENT: ZERO_DELAY})
    added = [
        Combination({**combination.levels, PLACEMENT: baseline})
        for combination in combinations
        if _has(combination.labels, others)
    ]
    once = {tuple(combination.labels.items()): combination for combination in added}.values()
    return [
        *combinations,
        *(combination for combination in once if not any(_has(combination.labels, choice) for choice in excluded)),
    ], base


def only(plan: Plan, selections: Sequence[str]) -> Plan:
    """The trials with these `FACTOR=LEVEL`s; of several of one factor any will do. Raises BadInputError for none."""
    if not selections:
        return plan
    words: dict[str, list[str]] = {}
    for text in selections:
        name, sign, level = text.partition("=")
        if not sign:
            raise BadInputError(f"--only {text}: say FACTOR=LEVEL, such as placement={plan.trials[0].placement.name}")
        words.setdefault(name, []).append(level)
    try:
        choice = _choice(words, _levels_of(trial.factors for trial in plan.trials))
    except BadInputError as error:
        raise BadInputError(f"--only: {error}") from None
    trials = tuple(trial for trial in plan.trials if _has(trial.factors, choice))
    if not trials:
        raise BadInputError(f"no trial has all of --only {' --only '.join(selections)}")
    return plan.model_copy(update={"trials": trials})


class _Grid:
    """The combinations of one workload: a level of each of its `joints`, which are axes, zipped ones joined."""

    def __init__(self, axes: Sequence[Axis], zipped: Sequence[Sequence[str]], workload: int) -> None:
        """`workload` is the workload's position among all: axes that are zipped with it stay at the same one."""
        by_name = {axis.name: axis for axis in axes}
        free = by_name.keys() - {name for group in zipped for name in group}
        self.joints = [[Combination({axis.name: level}) for level in axis.levels] for axis in axes if axis.name in free]
        for group in zipped:
            members = [by_name[name] for name in group if name in by_name]
            positions: Sequence[int] = range(max((len(axis.levels) for axis in members), default=1))
            # First with first; an axis of one level (no dataset, a workload's own value) goes with all.
            self.joints.append(
                [
                    Combination({member.name: member.levels[at if len(member.levels) > 1 else 0] for member in members})
                    for at in ([workload] if WORKLOAD in group else positions)
                ]
            )
        self._workload = by_name[WORKLOAD].levels[0].labels

    def one_at_a_time(self, base: Mapping[str, str]) -> Iterator[Combination]:
        """The base, and each combination that leaves it in one factor; in full with the factors it does not name.

        A workload that is not the base's is itself what changes. Raises BadInputError where zipped factors have no such
        levels together.
        """
        swept, homes, crossed = [], [], []
        for joint in self.joints:
            labels = [combination.labels.items() for combination in joint]
            shared = dict(item for item in base.items() if any(item in own for own in labels))
            home = next(
                (combination for combination, own in zip(joint, labels, strict=True) if shared.items() <= own), None
            )
            if home is None:
                together = ", ".join(f"{name}: {text}" for name, text in shared.items())
                raise BadInputError(f"base: the levels {together} don't occur together")
            if shared:
                swept.append(joint)
                homes.append([home])
            else:
                crossed.append(joint)
        yield from _product([*homes, *crossed])
        if any(base.get(name, text) != text for name, text in self._workload.items()):
            return
        for at, joint in enumerate(swept):
            away = [combination for combination in joint if combination is not homes[at][0]]
            yield from _product([*homes[:at], away, *homes[at + 1 :], *crossed])


def _product(joints: Sequence[Sequence[Combination]]) -> Iterator[Combination]:
    for parts in product(*joints):
        yield Combination({name: level for part in parts for name, level in part.levels.items()})


def _zipped(groups: Sequence[Sequence[str]], axes: Sequence[Axis]) -> list[list[str]]:
    """The axes of each zipped list, which have equally many levels."""
    lengths: dict[str, int] = {}
    for axis in axes:
        lengths[axis.name] = max(lengths.get(axis.name, 0), len(axis.levels))
    zipped: list[list[str]] = []
    for group in groups:
        names = [_factor(word, list(lengths)) for word in group]
        for name in names:
            if names.count(name) > 1 or any(name in other for other in zipped):
                raise BadInputError(f"zip: {name} can't go together with others twice")
        if len({lengths[name] for name in names}) > 1:
            counts = ", ".join(f"{name} has {lengths[name]}" for name in names)
            raise BadInputError(f"zip: factors that go together must have the same number of levels, and {counts}")
        zipped.append(names)
    return zipped


def _refuse_many(trials: int) -> None:
    if trials > MOST_TRIALS:
        raise BadInputError(
            f"these are {trials} trials, more than {MOST_TRIALS}; give fewer levels, zip some, or sweep one factor at "
            "a time"
        )


def _levels_of(labels: Iterable[Mapping[str, str]]) -> dict[str, list[str]]:
    """All levels of all factors, in the order in which they come."""
    names: dict[str, dict[str, None]] = {}
    for of_axis in labels:
        for name, text in of_axis.items():
            names.setdefault(name, {})[text] = None
    return {name: list(texts) for name, texts in names.items()}


def _factor(word: str, known: Sequence[str]) -> str:
    name = _KEYS.get(word, word)
    if name not in known:
        raise BadInputError(f"unknown factor {word!r}; {nearest(word, known)}")
    return name


def _choice(words: Mapping[str, str | Sequence[str]], known: Mapping[str, Sequence[str]]) -> Choice:
    """Factors and levels as tables show them, from how a user writes them."""
    choice: dict[str, list[str]] = {}
    for factor, levels in words.items():
        name = _factor(factor, list(known))
        for word in [levels] if isinstance(levels, str) else levels:
            text = next((factor.as_shown(word) for factor in FACTORS if factor.name == name), word)
            if text not in known[name]:
                raise BadInputError(f"{name} has no level {word!r}; {nearest(text, known[name])}")
            choice.setdefault(name, []).append(text)
    return choice


def _has(labels: Mapping[str, str], choice: Choice) -> bool:
    return all(labels[name] in levels for name, levels in choice.items())
