"""Several runs beside one another: each judged by itself, those of one machine against one another, never pooled."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from assay.model.doubt import Doubt, doubt_kind
from assay.model.medium import kind_of
from assay.model.record import Record
from assay.model.trial import SHIPPED_PRIOR, NoisePrior
from assay.report.analysis import Gathered, rows_shown
from assay.report.values import Value, combination_values, efficiencies, row_energies
from assay.stats.comparison import Comparison, compare
from assay.stats.machine_kind import MEDIUM_FACTS, Changed, machine_kinds, media_changes, medium_facts
from assay.stats.run_doubts import different_machines, doubts_of
from assay.stats.sample import MACHINE, PLACEMENT, RUN, samples
from assay.stats.summary import Row, first_few, summarise

Setup = tuple[tuple[str, str], ...]
PLACES = frozenset({"path", "file", "conf_dir"})
"""Where something lies on one machine says nothing of what it is, and is another on the next."""


def setups(records: Sequence[Record], of_run: Sequence[str]) -> list[Setup]:
    """Of each record: names such as `medium ssd: profile` with what its trial had; `of_run` names its run.

    What a real drive is counts among records of one machine only: elsewhere it is another in any case.
    """
    known: dict[tuple[object, ...], Setup] = {}
    found = []
    for record, run, change in zip(records, of_run, media_changes(records), strict=True):
        key = (run, change, *record.trial.factors.items())
        if key not in known:
            known[key] = tuple(sorted(_setup(record, change).items()))
        found.append(known[key])
    return found


def _setup(record: Record, change: Changed | None) -> dict[str, str]:
    trial = record.trial
    facts = medium_facts(record)
    properties = {name: value for name, value in trial.settings.properties.items() if name not in trial.levels}
    found = dict(_flat("dataset", trial.dataset.model_dump(exclude={"name"})))
    found |= _flat(
        "cluster", trial.cluster.model_dump(exclude={"nodes", "network", "limit_memory_bytes", "limit_cpus"})
    )
    found |= _flat("settings", properties)
    for medium in trial.media:
        digest = facts[medium.name][MEDIUM_FACTS.index("profile_digest")]
        kind = kind_of(medium)
        options = kind.options_of(medium).model_dump(mode="json")
        if kind.known_by:  # a file's folder says nothing
            options[kind.known_by] = Path(options[kind.known_by]).name
        own = {"kind": medium.kind, **options, "profile_digest": digest}
        found |= _flat(f"medium {medium.name}", own)
    if change is not None:
        found[f"the {change.fact} of {change.medium}"] = change.after
    return found


def _flat(name: str, values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    return ((f"{name}: {key}", str(value)) for key, value in values.items() if value is not None and key not in PLACES)


def unlike(found: Mapping[str, Sequence[Setup]]) -> list[Doubt]:
    """A doubt for each combination, by its name, whose trials had different things under the same names."""
    return [doubt for title, own in found.items() for doubt in _unlike(title, list(dict.fromkeys(own)))]


SAME_NAMES_FOR_OTHER_THINGS = doubt_kind(
    "same-names-for-other-things",
    "run",
    why="a difference between such runs is one of those things, so they are not compared with one another",
    cure="give other things other names, or run both with the same ones",
    severity=150,
)


def _unlike(title: str, own: Sequence[Setup]) -> Iterator[Doubt]:
    if len(own) < 2:
        return
    every = [dict(one) for one in own]
    names = dict.fromkeys(name for one in every for name in one)
    differing = [
        f"{name} is {' or '.join(dict.fromkeys(one.get(name, _without(name)) for one in every))}"
        for name in names
        if len({one.get(name) for one in every}) > 1
    ]
    yield SAME_NAMES_FOR_OTHER_THINGS.doubt(
        f"the runs have different things under the same names in {title}: {first_few(differing)}"
    )


def _without(name: str) -> str:
    return "not given" if ":" in name else "what it was at first"


Key = tuple[tuple[str, str], ...]
Place = tuple[str, str]
SETUP = "setup"


class Side(NamedTuple):
    """One combination in one run and on one machine; `setup` is what its trials had under their names.

    `against` is with the first run that had the same on the same machine. `energy` is what its trials' jobs took.
    """

    run: str
    machine: str
    key: Key
    row: Row
    setup: Setup
    against: Comparison | None
    energy: Mapping[str, Value]


class Beside(NamedTuple):
    """Runs by name, in the order in which they were given; `sides` with the runs of one combination together.

    `machines` are each run's kinds of machines, `apart` the records of each run on each of them.
    """

    runs: Mapping[str, Gathered]
    machines: Mapping[str, tuple[str, ...]]
    apart: Mapping[tuple[str, str], Sequence[Record]]
    sides: Sequence[Side]
    doubts: Sequence[Doubt]


class Agreement(NamedTuple):
    """One level against another with all else equal, in several runs: the comparison that each makes by itself.

    `significant` is "in all", "in some" or "in none" of them.
    """

    title: str
    headline: str
    significant: str
    details: tuple[tuple[str, Comparison], ...]


def put_beside(runs: Mapping[str, Gathered]) -> Beside:
    """Judge each run's trials of each machine by themselves, and runs on one machine against one another."""
    every = [record for run in runs.values() for record in run.records]
    of_run = [name for name, run in runs.items() for _ in run.records]
    apart: dict[Place, list[Record]] = {}
    for name, machine, record in zip(of_run, machine_kinds(every, of_run), every, strict=True):
        apart.setdefault((name, machine), []).append(record)
    found = setups(every, of_run)
    known = dict(zip(map(id, every), found, strict=True))
    prior = next((run.plan.prior for run in runs.values()), SHIPPED_PRIOR)
    between = _between(every, of_run, found, prior)
    taken = {name: efficiencies(run) for name, run in runs.items()}
    by_key: dict[Key, list[Side]] = {}
    for (name, machine), records in apart.items():
        own = {_key(record.trial.factors): known[id(record)] for record in records}
        plan = runs[name].plan
        rows = summarise(records, prior=plan.prior, placements=plan.placements)
        for row, energy in zip(rows, row_energies(rows, records, taken[name]), strict=True):
            levels = {**{factor: str(level) for factor, level in dict(row.group).items()}, PLACEMENT: row.placement}
            key = _key({factor: level for factor, level in levels.items() if factor != MACHINE})
            against = between.get((name, own[key], _key({**levels, MACHINE: machine})))
            by_key.setdefault(key, []).append(Side(name, machine, key, row, own[key], against, energy))
    return Beside(
        runs=runs,
        machines={name: tuple(machine for run, machine in apart if run == name) for name in runs},
        apart=apart,
        sides=[side for sides in by_key.values() for side in sides],
        doubts=_doubts(runs, apart, every, by_key),
    )


def _between(
    every: Sequence[Record], of_run: Sequence[str], known: Sequence[Setup], prior: NoisePrior
) -> dict[tuple[str, Setup, Key], Comparison]:
    """Comparisons of trials of several runs that had the same under the same names, by the run and all else."""
    told = {record.trial.id + run: setup for record, run, setup in zip(every, of_run, known, strict=True)}
    numbers = {setup: str(number) for number, setup in enumerate(dict.fromkeys(known))}
    by_number = {number: setup for setup, number in numbers.items()}
    found = [
        one._replace(factors=(*one.factors, (SETUP, numbers[told[one.trial + one.level(RUN)]])))
        for one in samples(every, of_run)
    ]
    between = {}
    for one in compare(found, [RUN], prior, {RUN: of_run}):
        others = dict(one.others)
        setup = by_number[others.pop(SETUP)]
        between[one.level, setup, _key(others)] = one
    return between


def _key(levels: Mapping[str, str]) -> Key:
    return tuple(sorted(levels.items()))


def _doubts(
    runs: Mapping[str, Gathered],
    apart: Mapping[Place, Sequence[Record]],
    every: Sequence[Record],
    by_key: Mapping[Key, Sequence[Side]],
) -> list[Doubt]:
    """Each run's own, that machines differ, and that runs have other things under the same names; each once."""
    found = [doubt for run in runs.values() for doubt in run.plan.doubts]
    found += [doubt for records in apart.values() for doubt in doubts_of(records)]
    found += different_machines(every)
    found += unlike({_title(key): [side.setup for side in sides] for key, sides in by_key.items()})
    return list({doubt.model_dump_json(): doubt for doubt in found}.values())


def _title(key: Key) -> str:
    levels = dict(key)
    return " ".join([levels["workload"], *(levels[name] for name in ("settings", PLACEMENT) if levels.get(name))])


def sides_shown(beside: Beside) -> list[Side]:
    """Those that tell most, where there are many; each combination in all its runs."""
    kept = {(row.group, row.placement) for row in rows_shown([side.row for side in beside.sides])}
    return [side for side in beside.sides if (side.row.group, side.row.placement) in kept]


def agreements(beside: Beside, names: Sequence[str]) -> list[Agreement]:
    """One for each comparison of placements that at least two runs make with the same things under the same names."""
    setups_of = {(side.run, side.machine, side.key): side.setup for side in beside.sides}
    grouped: dict[tuple[Key, str, tuple[Setup, ...]], list[tuple[str, Comparison]]] = {}
    for side in beside.sides:
        one = side.row.comparison
        if one is not None:
            where = side.run if len(beside.machines[side.run]) == 1 else f"{side.run} on {side.machine}"
            base = setups_of[side.run, side.machine, _key({**dict(side.key), PLACEMENT: one.base})]
            grouped.setdefault((side.key, one.base, (base, side.setup)), []).append((where, one))
    return [_agreement(dict(key), base, own, names) for (key, base, _), own in grouped.items() if len(own) > 1]


def _agreement(
    levels: Mapping[str, str], base: str, own: Sequence[tuple[str, Comparison]], names: Sequence[str]
) -> Agreement:
    faster = [where for where, one in own if one.significant and one.ratio < 1]
    slower = [where for where, one in own if one.significant and one.ratio > 1]
    level = levels[PLACEMENT]
    low, high = (f"{chosen(one.ratio for _, one in own):.2f}" for chosen in (min, max))
    ratios = f"{low} to {high}" if low != high else low
    if faster and slower:
        headline = f"the runs disagree: {level} is faster in {', '.join(faster)} and slower in {', '.join(slower)}"
    elif faster or slower:
        count = len(faster or slower)
        headline = f"{level} is {'faster' if faster else 'slower'} than {base} in {count} of {len(own)} comparisons"
    else:
        headline = f"no significant difference of {level} from {base} in {len(own)} comparisons"
    count = len(faster) + len(slower)
    significant = "in all" if count == len(own) else "in some" if count else "in none"
    dataset = levels.get("dataset", "none")
    of = [levels["workload"] if dataset == "none" else f"{levels['workload']} on {dataset}"]
    of += [levels[name] for name in names if levels.get(name) and name != "dataset"]
    return Agreement(", ".join(of), f"{headline} ({ratios} times as long)", significant, tuple(own))


def side_values(side: Side) -> dict[str, Value]:
    """One line of CSV: the run, its machine, the combination, how it lies to the first run, and its energy."""
    against = side.against
    interval = against.interval if against else None
    return {
        "run": side.run,
        **combination_values(side.row),
        "machine": side.machine,
        "first_run": against.base if against else None,
        "run_ratio": against.ratio if against else None,
        "run_ratio_low": interval.low if interval else None,
        "run_ratio_high": interval.high if interval else None,
        "run_significant": against.significant if against else None,
        **side.energy,
    }


def differing_facts(runs: Mapping[str, Gathered]) -> dict[str, list[str]]:
    """Facts of which runs have different values: those of each run, in their order."""
    values: dict[str, dict[str, dict[str, None]]] = {}
    for name, run in runs.items():
        for record in run.records:
            for fact, value in record.facts.items():
                values.setdefault(fact, {}).setdefault(name, {})[value] = None
    found = {
        fact: [first_few(list(own.get(name, {})), last=" and") or "-" for name in runs] for fact, own in values.items()
    }
    return {fact: told for fact, told in found.items() if len(set(told)) > 1}
