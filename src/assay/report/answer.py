"""The answer in a sentence per workload: which level wins, by how much, and how sure that is.

It claims what `stats.comparison` tells and nothing else: a level wins where its difference is told after correction.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from assay.report.levels import label_factors
from assay.report.standing import Belief, verdict_on, verdict_over
from assay.report.text import seconds_text
from assay.stats.comparison import Comparison
from assay.stats.sample import PLACEMENT
from assay.stats.summary import Row
from assay.stats.wording import in_words


class Answer(NamedTuple):
    """What is said of one workload, data set and factor.

    `times` are the medians where one combination of all else was compared. `details` are sentences, one for each
    comparison, and what they are of where there are several; `made` says which were made.
    """

    subject: str
    factor: str
    headline: str
    belief: Belief
    why: str
    times: str
    details: tuple[tuple[str, str], ...]
    made: str
    levels: Mapping[str, str]


def answers(rows: Sequence[Row], compared: Sequence[Comparison]) -> tuple[list[Answer], list[Answer]]:
    """Those of the question that the run asks (of the placement, where that varies), and those of factors beside it."""
    question = [one for one in compared if one.factor == PLACEMENT] or list(compared)
    beside = [one for one in compared if one.factor != PLACEMENT] if len(question) < len(compared) else []
    return _answers(question, rows), _answers(beside, rows)


def _answers(comparisons: Sequence[Comparison], rows: Sequence[Row]) -> list[Answer]:
    """One for each workload, data set and factor, in the order of the rows."""
    grouped: dict[tuple[str, str, str], list[Comparison]] = {}
    for one in comparisons:
        others = dict(one.others)
        grouped.setdefault((others["workload"], others["dataset"], one.factor), []).append(one)
    names = label_factors(rows)
    places = {(row.group.workload, row.group.dataset): place for place, row in reversed(list(enumerate(rows)))}
    several: dict[str, set[str]] = {}
    for workload, dataset, _ in grouped:
        several.setdefault(workload, set()).add(dataset)
    return [
        _answer(f"{workload} on {dataset}" if len(several[workload]) > 1 else workload, own, names, rows)
        for (workload, dataset, _), own in sorted(grouped.items(), key=lambda one: places[one[0][:2]])
    ]


def _answer(subject: str, own: Sequence[Comparison], names: Sequence[str], rows: Sequence[Row]) -> Answer:
    within: dict[tuple[tuple[str, str], ...], list[Comparison]] = {}
    for one in own:
        within.setdefault(one.others, []).append(one)
    headline, belief, why = verdict_on(own) if len(within) == 1 else verdict_over(list(within.values()))
    factor, others = own[0].factor, dict(own[0].others)
    return Answer(
        subject=subject,
        factor=factor,
        headline=headline if factor == PLACEMENT else f"{factor}: {headline}",
        belief=belief,
        why=why + _left_out(factor, others, rows),
        times=_medians(own, rows) if len(within) == 1 else "",
        details=tuple((_of(one, names), f"{in_words(one)}.") for one in own),
        made=_made(own),
        levels={"workload": others["workload"], "dataset": others["dataset"]},
    )


def _left_out(factor: str, others: Mapping[str, str], rows: Sequence[Row]) -> str:
    """How many trials of the same work were left out as their output was wrong, and of which levels."""
    wrong: dict[str, int] = {}
    for row in rows:
        if row.wrong and (row.group.workload, row.group.dataset) == (others["workload"], others["dataset"]):
            level = row.placement if factor == PLACEMENT else str(getattr(row.group, factor))
            wrong[level] = wrong.get(level, 0) + row.wrong
    if not wrong:
        return ""
    one = sum(wrong.values()) == 1
    told = ", ".join(f"{count} of {level}" for level, count in wrong.items())
    return f"; {told} {'is' if one else 'are'} left out, as {'its output is' if one else 'their outputs are'} wrong"


def _made(own: Sequence[Comparison]) -> str:
    """For how many comparisons their p-values were corrected."""
    count = max(one.comparisons for one in own)
    return f"P-values are corrected for {count} comparisons." if count > 1 else ""


def _of(one: Comparison, names: Sequence[str]) -> str:
    """What was equal in it, of what varies otherwise."""
    others = dict(one.others)
    return ", ".join(f"{name} {others[name]}" for name in names if others.get(name))


def _medians(own: Sequence[Comparison], rows: Sequence[Row]) -> str:
    """`hdd 77.9 s, ssd 37.4 s`, of what was compared with everything else equal."""
    factor = own[0].factor
    wanted = {
        tuple(sorted({**dict(one.others), factor: level}.items())) for one in own for level in (one.base, one.level)
    }
    found = [
        (levels[factor], row.elapsed_s)
        for row in rows
        if row.elapsed_s is not None
        for levels in [{name: str(level) for name, level in {**dict(row.group), PLACEMENT: row.placement}.items()}]
        if tuple(sorted(levels.items())) in wanted
    ]
    return ", ".join(f"{level} {seconds_text(seconds)} s" for level, seconds in found)
