"""What the page begins with: few decisions as cards with a chart each, many as a table of verdicts."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from assay.model.doubt import Doubt, decisive
from assay.report.answer import Answer, interval_text, percent
from assay.report.levels import Filter, marks_of
from assay.report.overview import Overview
from assay.report.split_chart import split_charts
from assay.report.text import seconds_text
from assay.stats.decision import Decision, Estimate, PlacementResult, Verdict

MOST_FIRST, MOST_ROWS, MOST_CARDS, MOST_DOUBTS = 3, 20, 12, 4
"""Cards on the first screen; decisions in its table, of more than that workloads; cards below; doubts."""
MOST_LISTED = 150
"""Decisions in a table of all of them: more is not read."""
CLASSES = {Verdict.WORTH_IT: "worth", Verdict.NOT_WORTH_IT: "not-worth", Verdict.NOT_KNOWN_YET: "open"}


class Figure(NamedTuple):
    """A number in words, its value to sort by (None where there is none), and its interval in words."""

    words: str
    value: float | None = None
    interval: str = ""


class Card(NamedTuple):
    """One decision: its words, its chart as SVG, how links and filters know it."""

    id: str
    answer: Answer
    kind: str
    chart: str
    levels: str


class VerdictRow(NamedTuple):
    """One decision in a line; `best` is the placement with the least time, `saves` what it saves of the base's time.

    `id` is the address of its card, where it has one (`carded`).
    """

    id: str
    carded: bool
    subject: str
    base: str
    time: Figure
    storage: Figure
    best: str
    saves: Figure
    verdict: Verdict
    kind: str
    levels: str


class WorkloadRow(NamedTuple):
    """One workload on one data set: in how many combinations of all else which verdict holds, and what is saved."""

    subject: str
    counts: Mapping[str, int]
    saves: Figure
    storage: Figure
    levels: str


class FirstScreen(NamedTuple):
    """`first` are the cards of a report of few decisions; else there are a headline and `rows` or `workloads`.

    `cards` are shown further down, `listed` is the table of all decisions where the first has workloads; `left_out`
    counts the decisions that are in no card. `doubts` are sentences, the worst first, with how many more there are.
    """

    first: list[Card]
    headline: str
    rows: list[VerdictRow]
    workloads: list[WorkloadRow]
    listed: list[VerdictRow]
    cards: list[Card]
    left_out: int
    checked: str
    right: bool
    missing: str
    doubts: list[str]
    more_doubts: int


def first_screen(
    decisions: Sequence[Decision],
    answers: Sequence[Answer],
    filters: Sequence[Filter],
    seen: Overview,
    doubts: Sequence[Doubt],
) -> FirstScreen:
    """Of a report's decisions with their words; without any there are neither cards nor rows."""
    names = _addresses(answers)
    few = len(decisions) <= MOST_FIRST
    shown = list(range(len(decisions))) if few else carded(decisions)
    charts = split_charts(
        [decisions[place] for place in shown],
        [[line.where.partition(" (")[0] for line in answers[place].lines] for place in shown],
    )
    cards = [
        Card(
            names[place], answers[place], CLASSES[answers[place].verdict], chart,
            marks_of(filters, decisions[place].levels),
        )
        for place, chart in zip(shown, charts, strict=True)
    ]  # fmt: skip
    rows = [
        _row(names[place], one, answers[place], filters, carded=place in shown)
        for place, one in enumerate([] if few else decisions)
    ]
    by_workload = len(rows) > MOST_ROWS
    alike = decisive(doubts)
    told = [f"{one.what}{f' (and {count - 1} more like it)' if count > 1 else ''}" for one, count in alike]
    return FirstScreen(
        first=cards if few else [],
        headline="" if few else _headline(decisions),
        rows=[] if by_workload else rows,
        workloads=_workloads(decisions, rows) if by_workload else [],
        listed=rows[:MOST_LISTED] if by_workload else [],
        cards=[] if few else cards,
        left_out=len(decisions) - len(cards),
        checked=seen.checked,
        right=seen.right,
        missing=seen.missing,
        doubts=told[:MOST_DOUBTS],
        more_doubts=len(doubts) - sum(count for _, count in alike[:MOST_DOUBTS]),
    )


def _addresses(answers: Sequence[Answer]) -> list[str]:
    """Of each decision's card, from its subject."""
    found: dict[str, None] = {}
    for one in answers:
        base = "answer-" + (re.sub(r"[^a-z0-9]+", "-", one.subject.lower()).strip("-") or "run")
        found[next(name for number in range(1, len(answers) + 2) if (name := _numbered(base, number)) not in found)] = (
            None
        )
    return list(found)


def _numbered(base: str, number: int) -> str:
    return base if number == 1 else f"{base}-{number}"


def carded(decisions: Sequence[Decision]) -> list[int]:
    """The places of those with a card, in their order: of each workload in turn that with the largest difference."""
    if len(decisions) <= MOST_CARDS:
        return list(range(len(decisions)))
    by_work: dict[tuple[str, str], list[int]] = {}
    for place, one in enumerate(decisions):
        by_work.setdefault(_work(one), []).append(place)
    for own in by_work.values():
        own.sort(key=lambda place: -abs(_saved(decisions[place])))
    turns = [
        own[rank] for rank in range(max(map(len, by_work.values()))) for own in by_work.values() if rank < len(own)
    ]
    return sorted(turns[:MOST_CARDS])


def _work(one: Decision) -> tuple[str, str]:
    return one.levels["workload"], one.levels.get("dataset", "none")


def _saved(one: Decision) -> float:
    best = _best(one)
    return best.saving.value if best is not None and best.saving else 0.0


def _best(one: Decision) -> PlacementResult | None:
    """The placement with the least time of those beside the base; None where there is none."""
    return min(one.placements[1:], key=lambda own: own.elapsed_s.value, default=None)


def _row(name: str, one: Decision, answer: Answer, filters: Sequence[Filter], *, carded: bool) -> VerdictRow:
    base, best = next(iter(one.placements), None), _best(one)
    return VerdictRow(
        id=name,
        carded=carded,
        subject=answer.subject,
        base=base.placement if base else "",
        time=Figure(f"{seconds_text(base.elapsed_s.value)} s", base.elapsed_s.value) if base else Figure("-"),
        storage=_share(base.storage_share) if base else Figure("-"),
        best=best.placement if best else "",
        saves=_share(best.saving) if best else Figure("-"),
        verdict=one.verdict,
        kind=CLASSES[one.verdict],
        levels=marks_of(filters, one.levels),
    )


def _share(one: Estimate | None) -> Figure:
    if one is None:
        return Figure("-")
    return Figure(percent(one.value), one.value, "" if one.low is None else interval_text(one))


def _headline(decisions: Sequence[Decision]) -> str:
    """`triangles, components on brightkite-like: worth it in 3 of 8 combinations, not known yet in 5`."""
    works = list(dict.fromkeys(one.levels["workload"] for one in decisions))
    sets = [name for name in dict.fromkeys(one.levels.get("dataset", "none") for one in decisions) if name != "none"]
    what = ", ".join(works) if len(works) <= MOST_FIRST else f"{len(works)} workloads"
    on = f" on {', '.join(sets) if len(sets) <= MOST_FIRST else f'{len(sets)} data sets'}" if sets else ""
    counts = _counts(decisions)
    told = [f"{name} in {count}" for name, count in counts.items() if count]
    first, _, rest = ", ".join(told).partition(",")
    return f"{what}{on}: {first} of {len(decisions)} combinations{f',{rest}' if rest else ''}"


def _counts(decisions: Sequence[Decision]) -> dict[str, int]:
    return {str(verdict): sum(one.verdict is verdict for one in decisions) for verdict in Verdict}


def _workloads(decisions: Sequence[Decision], rows: Sequence[VerdictRow]) -> list[WorkloadRow]:
    grouped: dict[tuple[str, str], list[int]] = {}
    for place, one in enumerate(decisions):
        grouped.setdefault(_work(one), []).append(place)
    return [
        WorkloadRow(
            subject=work if dataset == "none" else f"{work} on {dataset}",
            counts=_counts([decisions[place] for place in places]),
            saves=_spread([rows[place].saves.value for place in places]),
            storage=_spread([rows[place].storage.value for place in places]),
            levels=" ".join(_common([rows[place].levels.split() for place in places])),
        )
        for (work, dataset), places in grouped.items()
    ]


def _spread(values: Sequence[float | None]) -> Figure:
    """From the least to the greatest of several shares; sorted by the greatest."""
    known = [value for value in values if value is not None]
    if not known:
        return Figure("-")
    low, high = min(known), max(known)
    return Figure(f"{round(100 * low):d} to {percent(high)}" if low != high else percent(low), high)


def _common(levels: Sequence[Sequence[str]]) -> list[str]:
    return [one for one in levels[0] if all(one in own for own in levels)]
