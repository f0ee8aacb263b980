"""Several runs side by side: each judged by itself, those of one machine against one another, never pooled."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from assay.model.doubt import Doubt, doubt_kind
from assay.model.fact import Value
from assay.model.installed import described, kind_of
from assay.model.naming import first_few
from assay.model.trial import FACTORS, SHIPPED_PRIOR, NoisePrior
from assay.model.trial_summary import TrialSummary
from assay.report.analysis import RunData, fact_values, levels_key, levels_of, rows_shown
from assay.report.figures import FIGURES, figures_of, medians_over
from assay.report.values import combination_trials, combination_values
from assay.stats.comparison import Comparison, compare
from assay.stats.machine_kind import MEDIUM_FACTS, Changed, medium_facts
from assay.stats.run_doubts import different_machines, doubts_of
from assay.stats.sample import MACHINE, PLACEMENT, RUN, Levels, Trials
from assay.stats.summary import Row, rows_of, varying

Configuration = tuple[tuple[str, str, str], ...]
"""What a trial's names stood for, sorted: of what (`medium ssd`), which property (empty: the whole), its value."""
_NO_PROPERTIES = {
    *(factor.field.removeprefix("cluster.") for factor in FACTORS if factor.field.startswith("cluster.")),
    "node_sources",  # how it was measured
    "kerberos",  # by which login
}
PLACES = frozenset({"path", "file", "conf_dir", "ca_file", "history"})
"""Where something lies on one machine says nothing of what it is, and is another on the next."""


def configurations(summaries: Trials, of_run: Sequence[str]) -> list[Configuration]:
    """Return for each trial what it had under its names; `of_run` names the run of each.

    What a real drive is counts among trials of one machine only: elsewhere it is another in any case.
    """
    known: dict[tuple[object, ...], Configuration] = {}
    result = []
    for summary, run, changes in zip(summaries, of_run, summaries.changes, strict=True):
        key = (run, changes, *summary.trial.factors.items())
        if key not in known:
            known[key] = tuple(sorted(_configuration(summary, changes)))
        result.append(known[key])
    return result


def _configuration(summary: TrialSummary, changes: Sequence[Changed]) -> Iterator[tuple[str, str, str]]:
    trial = summary.trial
    facts = medium_facts(summary)
    properties = {name: value for name, value in trial.settings.properties.items() if name not in trial.levels}
    yield from _flat("dataset", trial.dataset.model_dump(exclude={"name"}))
    yield from _flat("cluster", trial.cluster.model_dump(exclude=_NO_PROPERTIES))
    yield from _flat("settings", properties)
    for medium in trial.media:
        digest = facts[medium.name][MEDIUM_FACTS.index("profile_digest")]
        kind = kind_of(medium)
        options = dict(medium.model_extra or {})  # as recorded, also of a kind that is not installed
        if kind.known_by in options:  # a file's folder says nothing
            options[kind.known_by] = Path(str(options[kind.known_by])).name
        recorded = {"kind": medium.kind, **options, "profile_digest": digest}
        if medium.elsewhere is not None:
            recorded["workers"] = described(medium)
        yield from _flat(f"medium {medium.name}", recorded)
    for change in changes:
        yield f"the {change.fact} of {change.part.name}", "", change.after


def _flat(name: str, values: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    return ((name, key, str(value)) for key, value in values.items() if value is not None and key not in PLACES)


SAME_NAMES_FOR_OTHER_THINGS = doubt_kind(
    "same-names-for-other-things",
    "run",
    when="compared runs have other media, data, clusters or settings under the same names",
    why="a difference between such runs may come from these, so they are not compared",
    cure="give different things different names, or run both with the same things",
    severity=150,
)


Share = Literal["all", "some", "none"]
CONFIGURATION = "configuration"


class ComparedRow(NamedTuple):
    """One combination in one run and on one machine, and what its trials had under their names.

    `against` is with the first run that had the same on the same machine. `figures` are the medians over its trials, by
    the sort of figures: of those that have a table.
    """

    run: str
    machine: str
    key: Levels
    combination: Row
    configuration: Configuration
    against: Comparison | None
    figures: Mapping[str, Mapping[str, Value]]


class ComparedRuns(NamedTuple):
    """Runs by name, in the order in which they were given; `rows` with the runs of one combination together.

    `machines` are each run's kinds of machines, `apart` the trials of each run on each of them.
    """

    runs: Mapping[str, RunData]
    machines: Mapping[str, tuple[str, ...]]
    apart: Mapping[tuple[str, str], Sequence[TrialSummary]]
    rows: Sequence[ComparedRow]
    doubts: Sequence[Doubt]


class Agreement(NamedTuple):
    """One level against another with all else equal, as several runs compare them; `significant` in how many."""

    title: str
    headline: str
    significant: Share
    details: tuple[tuple[str, Comparison], ...]


def compare_runs(runs: Mapping[str, RunData]) -> ComparedRuns:
    """Judge each run's trials of each machine by themselves, and runs on one machine against one another."""
    of_run = [name for name, run in runs.items() for _ in run.trials]
    every = Trials([summary for run in runs.values() for summary in run.trials], of_run)
    apart: dict[tuple[str, str], list[TrialSummary]] = {}
    for name, machine, summary in zip(of_run, every.machines, every, strict=True):
        apart.setdefault((name, machine), []).append(summary)
    configured = configurations(every, of_run)
    known = {(run, summary.id): one for run, summary, one in zip(of_run, every, configured, strict=True)}
    prior = next((run.plan.prior for run in runs.values()), SHIPPED_PRIOR)
    between = _between(every, of_run, configured, prior)
    shown = [name for name, kind in FIGURES.items() if kind.table is not None]
    figures = {name: figures_of(run.trials, shown) for name, run in runs.items()}
    by_key: dict[Levels, list[ComparedRow]] = {}
    for (name, machine), summaries in apart.items():
        configurations_of = {levels_key(summary.factors): known[name, summary.id] for summary in summaries}
        plan = runs[name].plan
        rows = rows_of(summaries, prior=plan.prior, placements=plan.placements)
        trials = combination_trials(rows, summaries)
        medians = {kind: medians_over(by_trial, trials) for kind, by_trial in figures[name].items()}
        for place, row in enumerate(rows):
            levels = levels_of(row)
            key = levels_key({factor: level for factor, level in levels.items() if factor != MACHINE})
            against = between.get((name, configurations_of[key], levels_key({**levels, MACHINE: machine})))
            by_key.setdefault(key, []).append(
                ComparedRow(
                    name,
                    machine,
                    key,
                    row,
                    configurations_of[key],
                    against,
                    {kind: columns[place] for kind, columns in medians.items()},
                )
            )
    return ComparedRuns(
        runs=runs,
        machines={name: tuple(machine for run, machine in apart if run == name) for name in runs},
        apart=apart,
        rows=[row for rows in by_key.values() for row in rows],
        doubts=_doubts(runs, apart, every, by_key),
    )


def _between(
    every: Trials, of_run: Sequence[str], known: Sequence[Configuration], prior: NoisePrior
) -> dict[tuple[str, Configuration, Levels], Comparison]:
    """Comparisons of trials of several runs that had the same under the same names, by the run and all else."""
    by_number = {str(number): configuration for number, configuration in enumerate(dict.fromkeys(known))}
    numbers = {configuration: number for number, configuration in by_number.items()}
    own_numbers = {
        (summary.trial.id, run): numbers[configuration]
        for summary, run, configuration in zip(every, of_run, known, strict=True)
    }
    compared_samples = [
        sample._replace(factors=(*sample.factors, (CONFIGURATION, own_numbers[sample.trial, sample.level(RUN)])))
        for sample in every.samples
    ]
    between = {}
    for comparison in compare(compared_samples, [RUN], prior, {RUN: of_run}):
        others = dict(comparison.others)
        configuration = by_number[others.pop(CONFIGURATION)]
        between[comparison.level, configuration, levels_key(others)] = comparison
    return between


def _doubts(
    runs: Mapping[str, RunData],
    apart: Mapping[tuple[str, str], Sequence[TrialSummary]],
    every: Sequence[TrialSummary],
    by_key: Mapping[Levels, Sequence[ComparedRow]],
) -> list[Doubt]:
    """Each run's own, that machines differ, and that runs have other things under the same names; each once."""
    doubts = [doubt for run in runs.values() for doubt in run.plan.doubts]
    doubts += [
        doubt.model_copy(update={"what": f"{name}: {doubt.what}"})
        for (name, _), summaries in apart.items()
        for doubt in doubts_of(summaries)
    ]
    doubts += different_machines(every)
    for key, rows in by_key.items():
        configurations_seen = dict.fromkeys(row.configuration for row in rows)
        settings = [{(name, of): value for name, of, value in configuration} for configuration in configurations_seen]
        differing = []
        for name, of in dict.fromkeys(setting for configuration in settings for setting in configuration):
            missing = "not given" if of else "what it was at first"
            values = dict.fromkeys(configuration.get((name, of), missing) for configuration in settings)
            if len(values) > 1:
                differing.append(f"{f'{name}: {of}' if of else name} is {' or '.join(values)}")
        if differing:
            levels = dict(key)
            title = [levels["workload"], *(levels[name] for name in ("settings", PLACEMENT) if levels.get(name))]
            conflict = f"the runs have different things under the same names in {' '.join(title)}"
            doubts.append(SAME_NAMES_FOR_OTHER_THINGS.doubt(f"{conflict}: {first_few(differing, '; ', '; and')}"))
    return list({doubt.model_dump_json(): doubt for doubt in doubts}.values())


class Slowdowns(NamedTuple):
    """Combinations of later runs that were compared with those of the first, to find those slower by more than `above`.

    `above` is a share of the first run's time, `names` are the factors that tell combinations of one workload apart.
    `shown` are slower by more than that, `open` may be, of `tested` in all.
    """

    above: float
    names: Sequence[str]
    shown: Sequence[tuple[ComparedRow, Comparison]]
    open: Sequence[tuple[ComparedRow, Comparison]]
    tested: int


def slowdowns(compared: ComparedRuns, above: float) -> Slowdowns:
    """What takes longer than in the first run by more than `above`.

    That is shown where the whole 95 % interval of the ratio lies beyond it, and the ratio's difference from 1 is
    significant after correction for all that is compared; it is open where only a part of the interval lies beyond.
    """
    tested = [(row, row.against) for row in compared.rows if row.against is not None]
    beyond = [(row, against) for row, against in tested if against.interval.high > 1 + above]
    clear = [against.significant and against.interval.low > 1 + above for _, against in beyond]
    names = [name for name in varying([row.combination for row in compared.rows]) if name not in {"dataset", MACHINE}]
    return Slowdowns(
        above,
        names,
        shown=[pair for pair, is_clear in zip(beyond, clear, strict=True) if is_clear],
        open=[pair for pair, is_clear in zip(beyond, clear, strict=True) if not is_clear],
        tested=len(tested),
    )


def slowdown_words(slower: Slowdowns) -> Iterator[str]:
    """Phrase each slowdown that is shown in a line, then how many there are."""
    for row, against in slower.shown:
        low, high = (f"{100 * (end - 1):.0f}" for end in (against.interval.low, against.interval.high))
        more = f"{100 * (against.ratio - 1):.0f} % more time than in {against.base} (95 % interval {low} to {high} %)"
        yield f"Slower: {_title(row, slower.names)} in {row.run}: {more}."
    of_all = f"{len(slower.shown)} of {slower.tested} comparison{'' if slower.tested == 1 else 's'} with the first run"
    unclear = f"; {len(slower.open)} may be, which more repetitions would decide" if slower.open else ""
    yield f"Slower by more than {100 * slower.above:g} %: {of_all}{unclear}."


def _title(row: ComparedRow, names: Sequence[str]) -> str:
    levels = dict(row.key)
    shown = [levels.get(name, "") for name in ("workload", "dataset", *names, PLACEMENT)]
    return " ".join(level for level in shown if level not in {"", "none"})


def shown_rows(compared: ComparedRuns) -> list[ComparedRow]:
    """Choose the rows that tell most, where there are many; each combination in all its runs."""
    shown = {(row.group, row.placement) for row in rows_shown([row.combination for row in compared.rows])}
    return [row for row in compared.rows if (row.combination.group, row.combination.placement) in shown]


def agreements(compared: ComparedRuns, names: Sequence[str]) -> list[Agreement]:
    """List the agreements on each comparison of placements that two runs or more make with the same things by name."""
    configurations_of = {(row.run, row.machine, row.key): row.configuration for row in compared.rows}
    grouped: dict[tuple[Levels, str, tuple[Configuration, ...]], list[tuple[str, Comparison]]] = {}
    for row in compared.rows:
        comparison = row.combination.comparison
        if comparison is not None:
            where = row.run if len(compared.machines[row.run]) == 1 else f"{row.run} on {row.machine}"
            base = configurations_of[row.run, row.machine, levels_key({**dict(row.key), PLACEMENT: comparison.base})]
            grouped.setdefault((row.key, comparison.base, (base, row.configuration)), []).append((where, comparison))
    return [
        _agreement(dict(key), base, labelled, names)
        for (key, base, _), labelled in grouped.items()
        if len(labelled) > 1
    ]


def _agreement(
    levels: Mapping[str, str], base: str, labelled: Sequence[tuple[str, Comparison]], names: Sequence[str]
) -> Agreement:
    tested = any(comparison.p is not None for _, comparison in labelled)
    faster = [where for where, comparison in labelled if comparison.significant and comparison.ratio < 1]
    slower = [where for where, comparison in labelled if comparison.significant and comparison.ratio > 1]
    level = levels[PLACEMENT]
    low, high = (f"{chosen(comparison.ratio for _, comparison in labelled):.2f}" for chosen in (min, max))
    ratios = f"{low} to {high}" if low != high else low
    if faster and slower:
        headline = f"the runs disagree: {level} is faster in {', '.join(faster)} and slower in {', '.join(slower)}"
    elif faster or slower:
        count = len(faster or slower)
        direction = "faster" if faster else "slower"
        headline = f"{level} is {direction} than {base} in {count} of {len(labelled)} comparisons"
    elif not tested:
        headline = f"{level} and {base} can't be compared: each ran once"
    else:
        headline = f"no significant difference of {level} from {base} in {len(labelled)} comparisons"
    count = len(faster) + len(slower)
    significant: Share = "all" if count == len(labelled) else "some" if count else "none"
    dataset = levels.get("dataset", "none")
    of = [levels["workload"] if dataset == "none" else f"{levels['workload']} on {dataset}"]
    of += [levels[name] for name in names if levels.get(name) and name != "dataset"]
    return Agreement(", ".join(of), f"{headline} ({ratios} times as long)", significant, tuple(labelled))


def compared_values(row: ComparedRow) -> dict[str, Value]:
    """One line of CSV: the run, its machine, the combination, how it lies to the first run, and its figures."""
    against = row.against
    interval = against.interval if against else None
    return {
        "run": row.run,
        **combination_values(row.combination),
        "machine": row.machine,
        "first_run": against.base if against else None,
        "run_ratio": against.ratio if against else None,
        "run_ratio_low": interval.low if interval else None,
        "run_ratio_high": interval.high if interval else None,
        "run_significant": against.significant if against else None,
        **{name: value for columns in row.figures.values() for name, value in columns.items()},
    }


def differing_facts(runs: Mapping[str, RunData]) -> dict[str, list[str]]:
    """Facts of which runs have different values: those of each run, in their order."""
    values = [fact_values(run.trials) for run in runs.values()]
    by_fact = {
        fact: [first_few(values_of_run.get(fact, []), "; ") or "-" for values_of_run in values]
        for fact in dict.fromkeys(fact for values_of_run in values for fact in values_of_run)
    }
    return {fact: values_of_run for fact, values_of_run in by_fact.items() if len(set(values_of_run)) > 1}
