"""Make the plan of an experiment: its combinations of levels, in an order in which all levels meet the same drift."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from itertools import count as counting
from pathlib import Path
from typing import Any

from assay.files import absolute
from assay.model.cluster import ClusterSpec
from assay.model.errors import BadInputError
from assay.model.placement import pure
from assay.model.trial import ZERO_DELAY, MediumSpec, Plan, SettingsSpec, Trial, cpus_level, memory_level
from assay.plan.axes import axes_of, further_factors, workload_axis
from assay.plan.bounds import check_values
from assay.plan.choosing import without
from assay.plan.experiment import COPIES, ExperimentFile
from assay.plan.factors import DATASET, PLACEMENT, REPLICATION, WORKLOAD, Level
from assay.plan.grid import MOST_TRIALS, Combination, Grid, base_levels, one_at_a_time, zipped_names
from assay.plan.load import Vocabulary, load, told_at
from assay.plan.media import media_of
from assay.plan.named import Named, named_things
from assay.plan.order import blocks
from assay.plan.paths import refuse_stored
from assay.plan.properties import check_properties, one_copy, refuse_equal
from assay.plan.reserved import refuse_reserved, refuse_unjudged
from assay.plan.words import check_words, refuse_doubles
from assay.yaml_file import line_of


def make_plan(path: Path, vocabulary: Vocabulary) -> Plan:
    """The plan of an experiment file; relative paths in it count from its folder. Raises BadInputError."""
    return plan_and_more(path, vocabulary)[0]


def plan_and_more(path: Path, vocabulary: Vocabulary) -> tuple[Plan, Iterator[tuple[Trial, ...]]]:
    """The plan, and the repetitions that it would go on with if it had more of them: one after the other, without end.

    Raises BadInputError.
    """
    experiment, tree = load(path)
    check_words(path, experiment, tree, vocabulary)
    check_values(path, experiment, tree)
    refuse_reserved(path, experiment, tree)
    refuse_unjudged(path, experiment, tree)
    refuse_stored(path, experiment, tree, vocabulary.path_options)
    doubts = [*check_properties(path, experiment, tree, vocabulary.properties), *one_copy(experiment)]
    media = media_of(path, experiment, tree, vocabulary)
    named = named_things(path, experiment, tree, vocabulary)
    _refuse_doubles(path, experiment, tree, named)
    combinations = _combinations(path, experiment, tree, named)
    with told_at(path, tree, ["cluster", "conf_dir"]):
        cluster = _cluster(experiment, path.parent)
    make = _TrialMaker(experiment, cluster, media, further_factors(experiment, named))
    repetitions = make.repetitions(combinations)
    plan = Plan(
        experiment=experiment.experiment,
        description=experiment.description,
        seed=experiment.seed,
        trials=tuple(chain.from_iterable(islice(repetitions, experiment.repetitions))),
        doubts=tuple(doubts),
        worth=experiment.worth,
        next=experiment.next,
        placements=tuple(one.name for one in named.placements),
    )
    return plan, repetitions


def _combinations(path: Path, experiment: ExperimentFile, tree: Any, named: Named) -> list[Combination]:
    """All combinations that the experiment asks for, each once."""
    axes = [axes_of(experiment, named, place) for place in range(len(named.workloads))]
    every = [workload_axis(experiment, named), *(one for own in axes for one in own)]
    with told_at(path, tree, ["zip"]):
        zipped = zipped_names(experiment.zip, every)
    grids = [Grid(own, zipped, place) for place, own in enumerate(axes)]
    with told_at(path, tree, ["base" if experiment.base else "design" if "design" in tree else "workloads"]):
        found = _designed(experiment, grids, base_levels(experiment.base, every))
    with told_at(path, tree, ["exclude"]):
        found = without(found, experiment.exclude)
    return _with_baseline(found) if experiment.zero_delay_baseline else found


def _with_baseline(combinations: Sequence[Combination]) -> list[Combination]:
    """All of them, and for each that differs in more than its placement the same with zero storage delay."""
    baseline = Level(pure(ZERO_DELAY), {PLACEMENT: ZERO_DELAY})
    added: dict[tuple[tuple[str, str], ...], Combination] = {}
    for one in combinations:
        own = Combination({**one.levels, PLACEMENT: baseline})
        added.setdefault(tuple(own.shown.items()), own)
    return [*combinations, *added.values()]


def _designed(experiment: ExperimentFile, grids: Sequence[Grid], base: Mapping[str, str]) -> list[Combination]:
    if experiment.design == "grid":
        if base:
            raise BadInputError("base belongs to `design: one-at-a-time`; add that, or leave base out")
        _refuse_many(sum(grid.size for grid in grids) * experiment.repetitions)
        return [one for grid in grids for one in grid.full()]
    if not base:
        raise BadInputError(
            "`design: one-at-a-time` needs a base: the factors to change, each with the level at which it stays "
            "otherwise, such as base: {settings: defaults}"
        )
    found = list(islice(one_at_a_time(grids, base), MOST_TRIALS + 1))
    _refuse_many(len(found) * experiment.repetitions)
    return found


def _refuse_many(trials: int) -> None:
    if trials > MOST_TRIALS:
        raise BadInputError(
            f"these are {trials} trials, more than {MOST_TRIALS}; give fewer levels, zip some, or sweep one factor at "
            "a time"
        )


class _TrialMaker:
    """Makes trials of combinations of levels."""

    def __init__(
        self, experiment: ExperimentFile, cluster: ClusterSpec, media: Mapping[str, MediumSpec], factors: Sequence[str]
    ) -> None:
        self._experiment = experiment
        self._cluster = cluster
        self._media = media
        self._factors = factors

    def repetitions(self, combinations: Sequence[Combination]) -> Iterator[tuple[Trial, ...]]:
        """A block for each, without end; warm-ups go before the first."""
        experiment = self._experiment
        mirrored = experiment.order == "mirrored"
        turns_each = 2 if mirrored else 1
        width = max(4, len(str(turns_each * len(combinations) * experiment.repetitions + experiment.warm_up)))
        numbers = counting(1)
        for repetition, block in enumerate(blocks(combinations, experiment.seed, mirrored=mirrored), start=1):
            warming = [(block[turn % len(block)], 0) for turn in range(experiment.warm_up)] if repetition == 1 else []
            turns = [*warming, *((combination, repetition) for combination in block)]
            yield tuple(self._trial(f"{next(numbers):0{width}d}", *turn) for turn in turns)

    def _trial(self, number: str, combination: Combination, repetition: int) -> Trial:
        """A repetition of 0 is a warm-up."""
        level = {name: one.value for name, one in combination.levels.items()}
        workload, placement = level[WORKLOAD], level[PLACEMENT]
        further = {name: level[name] for name in self._factors if level[name] is not None}
        own = {name: value for name, value in further.items() if name in workload.hadoop}
        properties = {name: value for name, value in further.items() if name not in own}
        if REPLICATION in level:
            properties[COPIES] = str(level[REPLICATION])
        settings: SettingsSpec = level["settings"]
        shown = combination.shown
        return Trial(
            id=f"{number}-{workload.name}-{placement.name}",
            workload=workload.model_copy(update={"hadoop": {**workload.hadoop, **own}}) if own else workload,
            dataset=level[DATASET],
            media=tuple(self._media[name] for name in placement.media),
            placement=placement,
            strict_placement=self._experiment.placement_check == "error",
            settings=settings.model_copy(update={"properties": {**settings.properties, **properties}}),
            cluster=self._cluster.model_copy(
                update={"limit_memory_bytes": level["memory"], "limit_cpus": level["cpus"]}
            ),
            cache=level["cache"],
            probes=level["probes"],
            repetition=repetition,
            levels={name: shown[name] for name in (*self._factors, *([REPLICATION] if REPLICATION in level else []))},
            warm_up=repetition == 0,
            zero_delay=placement.name == ZERO_DELAY,
        )


def _refuse_doubles(path: Path, experiment: ExperimentFile, tree: Any, named: Named) -> None:
    rename = "leave one out, or give it another name"
    workloads = [" ".join([one.name, one.variant, one.own]).strip() for one in named.workloads]
    for what, names, cure in (
        ("datasets", [one.name for one in named.datasets], rename),
        ("workloads", workloads, "leave one out, or give it another variant or options"),
        ("placement", [one.name for one in named.placements], rename),
    ):
        refuse_doubles(path, line_of(tree, [what]), what, names, cure)
    for what, given in (
        ("settings", [one.name for one in named.settings]),
        ("memory", [memory_level(size) for size in experiment.memory]),
        ("cpus", [cpus_level(count) for count in experiment.cpus]),
        ("cache", list(experiment.cache)),
        ("probes", list(experiment.probes)),
        ("replication", [str(count) for count in experiment.replication]),
    ):
        refuse_doubles(path, line_of(tree, [what]), what, given)
    for name, values in experiment.hadoop.items():
        refuse_equal(path, line_of(tree, ["hadoop", name]), name, values)
    for own in named.own_levels:
        for name, levels in own.items():
            refuse_equal(path, line_of(tree, ["workloads"]), name, levels)


def _cluster(experiment: ExperimentFile, folder: Path) -> ClusterSpec:
    if experiment.cluster.conf_dir is None:
        return experiment.cluster
    conf_dir = absolute(folder, experiment.cluster.conf_dir)
    if not (conf_dir / "core-site.xml").is_file():
        raise BadInputError(
            f"conf_dir {conf_dir} has no core-site.xml; name the directory of the cluster's configuration"
        )
    return experiment.cluster.model_copy(update={"conf_dir": conf_dir})
