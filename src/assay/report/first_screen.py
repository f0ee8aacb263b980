"""What the page begins with: few decisions as cards with a chart each, many as a table of verdicts."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import chain, islice, zip_longest
from typing import NamedTuple

from assay.model.doubt import Doubt, Outcome, decisive
from assay.model.installed import described
from assay.model.naming import bytes_text, first_few
from assay.model.trial import Plan
from assay.model.trial_summary import TrialSummary
from assay.record.folder import Damaged
from assay.report.analysis import Answered, Filter, RunAnalysis, marks_of
from assay.report.answer import OUTCOMES, Answer, deciding_level, more_time, names_of, outcome_of
from assay.report.bias import bias_text
from assay.report.caveats import repetition_notes, scope_of, scopes_of
from assay.report.charts.shares import shares_chart
from assay.report.charts.split import split_charts
from assay.report.shares import chart_notes, summary_sentences
from assay.report.templates import address
from assay.report.words import job_name, shown_level
from assay.stats.changes import CHANGE
from assay.stats.decision import Decision, PlacementResult, Question, Verdict
from assay.stats.estimate import Estimate
from assay.stats.sample import PLACEMENT, in_order, in_plan_order

MOST_NAMED = 5
BLOCKED_TIME = "blocked-time"
BASELINE = "zero storage delay: what no drive can beat, not a drive to buy"


class Overview(NamedTuple):
    """When and where it `ran`; what was `compared`, by name; clauses on belief; whether all `outputs` are right."""

    ran: str
    compared: tuple[tuple[str, str], ...]
    checked: str
    missing: str
    doubted: str
    outputs: Outcome


def overview(
    plan: Plan, summaries: Sequence[TrialSummary], damaged: Sequence[Damaged], doubts: Sequence[Doubt]
) -> Overview:
    """Summarise all readable records of a run."""
    counted = [summary for summary in summaries if not summary.trial.warm_up]
    passed = sum(summary.outcome is Outcome.PASS for summary in counted)
    failed = sum(summary.outcome is Outcome.FAIL for summary in counted)
    unknown = len(counted) - passed - failed
    unchecked = [f"{unknown} {'was' if unknown == 1 else 'were'} not checked"] if unknown else []
    outputs = Outcome.FAIL if failed or not counted else Outcome.UNKNOWN if unknown else Outcome.PASS
    if not counted:
        checked = "no trial was read"
    elif failed:
        checked = ", ".join([f"{passed} of {len(counted)} outputs are correct", f"{failed} failed", *unchecked])
    elif not unknown:
        checked = f"all {passed} outputs passed verification"
    elif passed:
        checked = ", ".join([f"{passed} of {len(counted)} outputs passed verification", *unchecked])
    else:
        checked = "no output was checked"
    missing = len(plan.trials) - len(summaries)
    lacking = [f"{missing} of {len(plan.trials)} planned trials are not in this report"] if missing else []
    lacking += [f"{len(damaged)} record folder{'s' if len(damaged) > 1 else ''} can't be read"] if damaged else []
    kinds = [kind.replace("-", " ") for kind in dict.fromkeys(doubt.kind for doubt in doubts)]
    doubted = f"doubts: {_listed(kinds)}" if kinds else "no doubt was raised"
    return Overview(
        ran=ran_text(summaries),
        compared=_compared(counted, plan.placements),
        checked=checked,
        missing="; ".join(lacking),
        doubted=doubted,
        outputs=outputs,
    )


def ran_text(summaries: Sequence[TrialSummary]) -> str:
    """`2026-11-25 on AMD EPYC, 2 cores, 23.5 GiB`: the days and the machines of a run's trials."""
    days = sorted({f"{datetime.fromtimestamp(one.began_ms / 1000, UTC):%Y-%m-%d}" for one in summaries if one.began_ms})
    machines = []
    for cpu, machine in dict.fromkeys((str(one.facts.get("cpu", "")), one.machine) for one in summaries):
        cores = f"{machine.cores} core{'' if machine.cores == 1 else 's'}" if machine.cores else ""
        size = bytes_text(machine.memory_bytes) if machine.memory_bytes else ""
        if any(parts := (cpu, cores, size)):
            machines.append(", ".join(filter(None, parts)))
    begun = " to ".join(dict.fromkeys((days[0], days[-1]))) if days else ""
    on = f"on {first_few(machines, '; ', most=2)}" if machines else ""
    return " ".join(part for part in (begun, on) if part)


def _compared(summaries: Sequence[TrialSummary], planned: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Names and levels: the media by what they are, what was computed, what else varies, how often it ran.

    The zero-delay baseline is named by itself, as it is nothing to choose.
    """
    baseline = [("baseline", BASELINE)] if any(summary.trial.zero_delay for summary in summaries) else []
    trials = [summary.trial for summary in summaries if not (summary.trial.zero_delay or summary.trial.varied)]
    if not trials:
        return tuple(baseline)
    last_media = {medium.name: medium for trial in trials for medium in trial.media}
    media = {name: described(medium) for name, medium in last_media.items()}
    combinations = list(map(dict, dict.fromkeys(tuple(trial.factors.items()) for trial in trials)))
    levels: dict[str, list[str]] = {}
    for combination in combinations:
        for name, level in combination.items():
            levels.setdefault(name, []).append(level)
    levels["dataset"] = [level for level in levels["dataset"] if level != "none"]
    different = {
        name: [shown_level(name, level) for level in in_order(filter(None, names))] for name, names in levels.items()
    }
    different[PLACEMENT] = in_plan_order(levels[PLACEMENT], planned)
    always = (PLACEMENT, "workload", "dataset")
    of_work = {combination["workload"]: combination for combination in combinations}
    pairs = [(of_work[combination["workload"]], combination) for combination in combinations]
    vary = {name for name in levels if any(first.get(name) != other.get(name) for first, other in pairs)}
    others = [name for name in levels if name in vary and name not in always]
    rest = [(name, _listed(different[name])) for name in ("dataset", *others) if different[name]]
    placements, on = _listed(different[PLACEMENT], media), ("on", _listed(different["workload"]))
    if len(different[PLACEMENT]) == 1 and others:
        compared = "; ".join(f"{name}: {_listed(different[name])}" for name in others)
        named = [("compared", compared), on, (PLACEMENT, placements), *rest[: len(rest) - len(others)]]
    else:
        named = [("compared" if len(different[PLACEMENT]) > 1 else PLACEMENT, placements), on, *rest]
    return (*named, *baseline, ("repetitions", f"{len({trial.repetition for trial in trials})}"))


def _listed(levels: Sequence[str], about: "dict[str, str] | None" = None) -> str:
    named = [f"{level} ({about[level]})" if about and level in about else level for level in levels]
    return first_few(named, most=MOST_NAMED if len(named) > MOST_NAMED + 1 else len(named))


MOST_FIRST, MOST_ROWS, MOST_CARDS, MOST_CAVEATS = 3, 20, 12, 3
"""Cards on the first screen; decisions in its table, of more than that workloads; cards below; caveats."""
MOST_SINGLE = 6
"""Answers that are read one by one."""
MOST_DETAILS = 12
"""Sentences on what the answers rest on: of many decisions most say the same with other numbers."""
MOST_LISTED = 150
"""Decisions in a table of all of them: more is not read."""


class Heads(NamedTuple):
    """What a table of decisions calls the `change` that the `other` placement brings, alone and of many; and a note."""

    change: str
    changes: str
    other: str
    note: str


HEADS: Mapping[Question, Heads] = {
    Question.WORTH: Heads(
        "saves", "fastest other saves", "fastest other", "Saves: how much less time than {base} the fastest other takes"
    ),
    Question.COST: Heads(
        "costs",
        "slowest costs",
        "slowest",
        "Costs: how much more time than {base} the slowest fault takes",
    ),
    Question.LIKENESS: Heads(
        "takes more",
        "twin takes more",
        "emulated",
        "Takes more: how much more time than {base} its twin takes",
    ),
}


class DecisionView(NamedTuple):
    """One decision: its words, how links and filters know it; `chart` is its card's as SVG, where it is `carded`.

    `kind` is the verdict as a class of the style sheet, `base` what others are compared with, `other` the one that the
    answer is about, with the `change` of time that the question asks for.
    """

    id: str
    decision: Decision
    answer: Answer
    kind: str
    base: PlacementResult | None
    other: PlacementResult | None
    change: Estimate | None
    marks: str
    carded: bool
    chart: str = ""


class WorkloadRow(NamedTuple):
    """One workload on one data set: in how many combinations of all else which verdict holds.

    The shares that others save (or cost) and that storage takes are from the least to the greatest.
    """

    subject: str
    counts: Mapping[str, int]
    changes: tuple[float, float] | None
    storage: tuple[float, float] | None
    marks: str


class FirstScreen(NamedTuple):
    """`first` are the cards of a report of few decisions; else there are a headline and `rows` or `workloads`.

    `cards` are shown further down, `listed` is the table of all decisions where the first has workloads; `left_out`
    counts the decisions that are in no card. `caveats` are sentences on what could change the answers, each once, with
    how many more there are. `scope` says what all of them hold for. Of several jobs with several levels the first has
    `summaries` and `shares`, their chart, in place of rows, with its notes. `heads` are of the tables of
    decisions, `base` says on what, or with what, others are compared.
    """

    first: list[DecisionView]
    headline: str
    rows: list[DecisionView]
    workloads: list[WorkloadRow]
    listed: list[DecisionView]
    cards: list[DecisionView]
    left_out: int
    caveats: list[str]
    more_caveats: int
    scope: str
    heads: Heads
    base: str
    summaries: list[str]
    shares: str
    shares_notes: list[str]


def first_screen(analysis: RunAnalysis, filters: Sequence[Filter]) -> FirstScreen:
    """Of a report's answers. Without any there are neither cards nor rows."""
    answers, decisions = analysis.answers, analysis.decisions
    few = len(answers) <= MOST_FIRST
    views = _views(answers, filters)
    cards = [view for view in views if view.carded]
    rows = [] if few else views
    drawn = analysis.shares if rows else None
    by_workload = drawn is None and len(rows) > MOST_ROWS
    heads, base = HEADS[decisions[0].question if decisions else Question.WORTH], _base_words(views)
    caveats, more_caveats = caveats_of(answers, analysis.doubts)
    scopes = scopes_of(decisions)
    return FirstScreen(
        first=cards if few else [],
        headline="" if few else headline_of(decisions),
        rows=[] if drawn or by_workload else rows,
        workloads=_workloads(rows, filters) if by_workload else [],
        listed=rows[:MOST_LISTED] if drawn or by_workload else [],
        cards=[] if few else cards,
        left_out=len(answers) - len(cards),
        caveats=caveats,
        more_caveats=more_caveats,
        scope=scopes[0] if len(scopes) == 1 else "",
        heads=heads._replace(note=heads.note.format(base=base)),
        base=base,
        summaries=list(summary_sentences(drawn)) if drawn else [],
        shares=shares_chart(drawn, partial(marks_of, filters)) if drawn else "",
        shares_notes=list(chart_notes(drawn)) if drawn else [],
    )


def _views(answers: Sequence[Answered], filters: Sequence[Filter]) -> list[DecisionView]:
    """Each answer, those that are carded with their charts."""
    shown = carded([answer.decision for answer in answers])
    labels = [[line.label for line in answers[place].words.lines] for place in shown]
    predicted = [answers[place].predicted for place in shown]
    drawn = split_charts([answers[place].decision for place in shown], labels, predicted)
    charts = dict(zip(shown, drawn, strict=True))
    views: list[DecisionView] = []
    for place, (decision, words, *_) in enumerate(answers):
        name = address(f"answer {words.subject}", [view.id for view in views])
        views.append(
            DecisionView(
                name, decision, words, OUTCOMES[decision.question][words.verdict],
                next(iter(decision.placements), None), deciding_level(decision), _change(decision),
                marks_of(filters, decision.levels), place in charts, charts.get(place, ""),
            )
        )  # fmt: skip
    return views


def details_of(answers: Sequence[Answered]) -> list[str]:
    """Sentences on what the answers rest on, each once; that all of them hold for the same is told before."""
    decisions = [answer.decision for answer in answers]
    repeated = set(map(scope_of, decisions)) if len(scopes_of(decisions)) == 1 else set()
    details = (note for answer in answers for note in answer.words.details)
    return [words for words in dict.fromkeys(details) if words not in repeated][:MOST_DETAILS]


_FIGURES = re.compile(r"\d[\d,.:]*")


def caveats_of(answers: Sequence[Answered], doubts: Sequence[Doubt]) -> tuple[list[str], int]:
    """The few that could change the answers most, and how many more caveats and doubts there are.

    Sentences that differ in their figures alone, as those of several jobs do, are one caveat, and so are doubts of a
    kind. How many repetitions would decide each of many answers is left out: the next step says how many decide all of
    them.
    """
    many = [answer.decision for answer in answers] if len(answers) > MOST_SINGLE else []
    left_out = {words for decision in many if decision.more for words in repetition_notes(decision, names_of(decision))}
    alike: dict[str, list[str]] = {}
    for words in dict.fromkeys(chain.from_iterable(answer.words.caveats for answer in answers)):
        if words not in left_out:
            alike.setdefault(_FIGURES.sub("", words), []).append(words)
    sentences = [
        f"{first} (And {len(others)} more of this kind.)" if others else first for first, *others in alike.values()
    ]
    has_baseline = any(line.baseline for answer in answers for line in answer.words.lines)
    # Beside a baseline no answer rests on blocked time.
    worst = decisive(doubt for doubt in doubts if not (has_baseline and doubt.instrument == BLOCKED_TIME))
    decisive_doubts = [
        f"Doubt: {doubt.what}{f' (and {count - 1} more of this kind)' if count > 1 else ''}.{bias_text(doubt.kind)}"
        for doubt, count in worst
    ]
    shown = [*sentences, *decisive_doubts][:MOST_CAVEATS]
    return shown, len(sentences) + len({doubt.kind for doubt in doubts}) - len(shown)


def _base_words(views: Sequence[DecisionView]) -> str:
    """`on hdd`, or of other factors `with settings small`, `without a fault`."""
    first = next((view for view in views if view.base), None)
    if first is None or first.base is None:
        return ""
    label = first.answer.lines[0].label
    own_name = first.decision.factor == PLACEMENT and first.decision.question is Question.WORTH
    return f"on {first.base.placement}" if own_name else f"{label[0].lower()}{label[1:]}"


def carded(decisions: Sequence[Decision]) -> list[int]:
    """The places of those with a card, in their order: of each workload in turn that with the largest difference."""
    if len(decisions) <= MOST_CARDS:
        return list(range(len(decisions)))
    by_work: dict[tuple[str, str], list[int]] = {}
    for index, decision in enumerate(decisions):
        by_work.setdefault(_work(decision), []).append(index)
    changes = [_change(decision) for decision in decisions]
    saved = [change.value if change else 0.0 for change in changes]
    for indexes in by_work.values():
        indexes.sort(key=lambda index: -abs(saved[index]))
    turns = (index for turn in zip_longest(*by_work.values()) for index in turn if index is not None)
    return sorted(islice(turns, MOST_CARDS))


def _work(decision: Decision) -> tuple[str, str]:
    return decision.levels["workload"], decision.levels.get("dataset", "none")


def _change(decision: Decision) -> Estimate | None:
    """The share of time that the deciding placement saves, or where costs are asked for, takes more."""
    other = deciding_level(decision)
    if other is None or other.saving is None:
        return None
    return other.saving if decision.question is Question.WORTH else more_time(other)


def headline_of(decisions: Sequence[Decision]) -> str:
    """`triangles, walk on brightkite-like: ssd instead of hdd is worth it in 3 of 8 combinations, not known yet in 5`.

    What is compared is named where it is the same in all, each of several levels with how often it is worth it.
    """
    works = list(dict.fromkeys(job_name(decision.levels) for decision in decisions))
    sets = list(dict.fromkeys(decision.levels.get("dataset", "none") for decision in decisions))
    subject = ", ".join(works) if len(works) <= MOST_FIRST else f"{len(works)} workloads"
    on = f" on {', '.join(sets) if len(sets) <= MOST_FIRST else f'{len(sets)} data sets'}" if "none" not in sets else ""
    if each := _each_tried(decisions):
        return f"{subject}{on}: {each}"
    parts = [f"{name} in {count}" for name, count in _counts(decisions).items() if count]
    parts[0] += f" of {len(decisions)} combinations"
    return f"{subject}{on}: {_instead_words(decisions)}{', '.join(parts)}"


def _instead_words(decisions: Sequence[Decision]) -> str:
    """`settings tuned instead of small is`: a level that decisions on worth try, and the base of all of them."""
    of_worth = all(decision.question is Question.WORTH and decision.factor != CHANGE for decision in decisions)
    bases = {decision.placements[0].placement for decision in decisions if len(decision.placements) > 1}
    if not of_worth or len(bases) != 1:
        return ""
    tried = list(_verdicts(decisions))
    if len(tried) > MOST_FIRST:
        return ""
    factor = "" if decisions[0].factor == PLACEMENT else f"{decisions[0].factor} "
    return f"{factor}{tried[0]} instead of {bases.pop()} is "


def _each_tried(decisions: Sequence[Decision]) -> str:
    """`nvme instead of hdd is worth it in 2 of 4 combinations; ssd: in none of 4, not known yet in 1`.

    Empty where one level is tried alone, or nothing can be named.
    """
    tried, instead = _verdicts(decisions), _instead_words(decisions)
    if not instead or len(tried) < 2:
        return ""
    pieces: list[str] = []
    for level, verdicts in tried.items():
        worth, unknown = (verdicts.count(verdict) for verdict in (Verdict.WORTH_IT, Verdict.NOT_KNOWN_YET))
        begin = f"{level}:" if pieces else f"{instead}{Verdict.WORTH_IT}"
        combinations = "" if pieces else f" combination{'' if len(verdicts) == 1 else 's'}"
        open_ = f", {Verdict.NOT_KNOWN_YET} in {unknown}" if unknown else ""
        pieces.append(f"{begin} in {worth or 'none'} of {len(verdicts)}{combinations}{open_}")
    return "; ".join(pieces)


def _verdicts(decisions: Sequence[Decision]) -> dict[str, list[Verdict | None]]:
    """Those of each level that is tried, the level that is worth it most often first."""
    verdicts: dict[str, list[Verdict | None]] = {}
    for result in (result for decision in decisions for result in decision.placements[1:]):
        verdicts.setdefault(result.placement, []).append(result.verdict)
    return dict(sorted(verdicts.items(), key=lambda item: -item[1].count(Verdict.WORTH_IT)))


def _counts(decisions: Sequence[Decision]) -> dict[str, int]:
    known = [outcome_of(decision) for decision in decisions]
    return {outcome: known.count(outcome) for outcome in OUTCOMES[decisions[0].question]}


def _workloads(rows: Sequence[DecisionView], filters: Sequence[Filter]) -> list[WorkloadRow]:
    grouped: dict[tuple[str, str], list[DecisionView]] = {}
    for row in rows:
        grouped.setdefault(_work(row.decision), []).append(row)
    return [
        WorkloadRow(
            subject=work if dataset == "none" else f"{work} on {dataset}",
            counts=_counts([row.decision for row in work_rows]),
            changes=_spread([row.change for row in work_rows]),
            storage=_spread([row.base.storage_share for row in work_rows if row.base]),
            marks=marks_of(filters, dict(set.intersection(*(set(row.decision.levels.items()) for row in work_rows)))),
        )
        for (work, dataset), work_rows in grouped.items()
    ]


def _spread(estimates: Sequence[Estimate | None]) -> tuple[float, float] | None:
    known = [estimate.value for estimate in estimates if estimate is not None]
    return (min(known), max(known)) if known else None
