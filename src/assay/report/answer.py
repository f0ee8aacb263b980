"""The answer in a sentence per workload: which level wins, by how much, and how sure that is.

It claims what `stats.comparison` tells and nothing else: a level wins where its difference is told after correction.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from assay.model.record import Record
from assay.report.text import seconds_text
from assay.stats.comparison import Comparison, compare
from assay.stats.interval import LEAST_VALUES, LEVEL
from assay.stats.sample import MACHINE, samples, varying_factors
from assay.stats.summary import PLACEMENT, Row, varying
from assay.stats.wording import in_words

WORK = ("workload", "dataset", "options")
"""What is computed: more of it takes longer, so no level of these wins."""

Belief = Literal["sure", "partly sure", "not proven"]


class Answer(NamedTuple):
    """What is said of one workload, data set and factor.

    `times` are the medians where one combination of all else was compared. `details` are sentences, one for each
    comparison, and what they are of where there are several.
    """

    subject: str
    factor: str
    headline: str
    belief: Belief
    why: str
    times: str
    details: tuple[tuple[str, str], ...]
    levels: Mapping[str, str]


def answers(rows: Sequence[Row], records: Sequence[Record]) -> tuple[list[Answer], list[Answer]]:
    """Those of the question that the run asks, and those of the factors beside it.

    The question is the placement where that varies, else all other factors. Both are corrected each for itself.
    """
    found = samples(records)
    placements = [row.comparison for row in rows if row.comparison]
    factors = [name for name in varying_factors(found) if name not in (*WORK, PLACEMENT, MACHINE)]
    others = _answers(compare(found, factors) if factors else [], rows)
    return (_answers(placements, rows), others) if placements else (others, [])


def told_apart(rows: Sequence[Row]) -> list[str]:
    """The factors that tell rows of one workload and data set apart, the placement last."""
    several = len({row.placement for row in rows}) > 1
    return [*(name for name in varying(rows) if name != "dataset"), *([PLACEMENT] if several else [])]


def _answers(comparisons: Sequence[Comparison], rows: Sequence[Row]) -> list[Answer]:
    """One for each workload, data set and factor, in their order."""
    grouped: dict[tuple[str, str, str], list[Comparison]] = {}
    for one in comparisons:
        others = dict(one.others)
        grouped.setdefault((others["workload"], others["dataset"], one.factor), []).append(one)
    names = told_apart(rows)
    several: dict[str, set[str]] = {}
    for workload, dataset, _ in grouped:
        several.setdefault(workload, set()).add(dataset)
    return [
        _answer(f"{workload} on {dataset}" if len(several[workload]) > 1 else workload, own, names, rows)
        for (workload, dataset, _), own in grouped.items()
    ]


def _answer(subject: str, own: Sequence[Comparison], names: Sequence[str], rows: Sequence[Row]) -> Answer:
    within: dict[tuple[tuple[str, str], ...], list[Comparison]] = {}
    for one in own:
        within.setdefault(one.others, []).append(one)
    headline, belief, why = _single(own) if len(within) == 1 else _over_all(list(within.values()))
    factor, others = own[0].factor, dict(own[0].others)
    return Answer(
        subject=subject,
        factor=factor,
        headline=headline if factor == PLACEMENT else f"{factor}: {headline}",
        belief=belief,
        why=why,
        times=_medians(own, rows) if len(within) == 1 else "",
        details=tuple((_of(one, names), f"{in_words(one)}.") for one in own),
        levels={"workload": others["workload"], "dataset": others["dataset"]},
    )


def _of(one: Comparison, names: Sequence[str]) -> str:
    """What was equal in it, of what varies otherwise."""
    others = dict(one.others)
    return ", ".join(f"{name} {others[name]}" for name in names if others.get(name))


def fastest(own: Sequence[Comparison]) -> Comparison | None:
    """Among comparisons with one base the one of the fastest level; None where that is the base itself."""
    best = min(own, key=lambda one: one.ratio)
    return best if best.ratio < 1 else None


def _single(own: Sequence[Comparison]) -> tuple[str, Belief, str]:
    """Headline, belief and reason where everything else is equal."""
    best = fastest(own)
    base = own[0].base
    if best is not None and best.told:
        return f"{best.level} wins: {_times(best)}{_less(best)}", "sure", _chance(best)
    slower = [one for one in own if one.told and one.ratio > 1]
    if best is None and len(slower) == len(own):
        nearest = min(own, key=lambda one: one.ratio)
        return f"{base} wins: {_times(nearest)}", "sure", _chance(nearest)
    one = best or min(own, key=lambda one: one.ratio)
    if one.interval is None:
        return f"{_times(one)}, but that may be chance", "not proven", _few(one)
    return f"no winner can be told: {_times(one)}", "not proven", "the difference may be chance"


def _over_all(groups: Sequence[Sequence[Comparison]]) -> tuple[str, Belief, str]:
    """The same over several combinations of what else varies."""
    won: dict[str, list[float]] = {}
    for own in groups:
        best = fastest(own)
        if best is not None and best.told:
            won.setdefault(best.level, []).append(best.ratio)
        elif best is None and all(one.told for one in own):
            won.setdefault(own[0].base, []).append(1.0)
    count, base = len(groups), groups[0][0].base
    open_ = count - sum(map(len, won.values()))
    if not won:
        few = all(one.interval is None for own in groups for one in own)
        why = f"each needs at least {LEAST_VALUES} repetitions" if few else "the differences may be chance"
        return f"no winner can be told in any of {count} combinations ({_spread(groups)})", "not proven", why
    parts = [
        f"{level} wins in {len(ratios)} of {count} combinations"
        + (f" ({_range(ratios)} times as long as {base})" if level != base else "")
        for level, ratios in sorted(won.items(), key=lambda one: -len(one[1]))
    ]
    told = "each after correction for all comparisons together"
    rest = f"; in {open_} none can be told" if open_ else ""
    return "; ".join(parts) + rest, "sure" if not open_ else "partly sure", told


def _spread(groups: Sequence[Sequence[Comparison]]) -> str:
    ratios = [one.ratio for own in groups for one in own]
    return f"{_range(ratios)} times as long as {groups[0][0].base}"


def _range(ratios: Sequence[float]) -> str:
    low, high = f"{min(ratios):.2f}", f"{max(ratios):.2f}"
    return low if low == high else f"{low} to {high}"


def _times(one: Comparison) -> str:
    """`it took 0.62 times as long as hdd (0.58 to 0.66)`."""
    interval = f" ({one.interval.low:.2f} to {one.interval.high:.2f})" if one.interval else ""
    return f"{one.level} took {one.ratio:.2f} times as long as {one.base}{interval}"


def _less(one: Comparison) -> str:
    return f", {100 * (1 - one.ratio):.0f} % less time"


def _chance(one: Comparison) -> str:
    """How seldom chance would do this."""
    p = one.p_corrected or 0.0
    often = "less than 1 in 1000" if p < 0.001 else f"{100 * p:.1f} %"
    among = f", corrected for {one.comparisons} comparisons" if one.comparisons > 1 else ""
    level = (
        ""
        if one.interval is None or one.interval.level >= LEVEL
        else f"; the interval is {100 * one.interval.level:.0f} % sure"
    )
    return f"chance alone would do this in {often} of cases ({_basis(one)}{among}){level}"


def _basis(one: Comparison) -> str:
    return f"{one.pairs} pairs" if one.pairs else f"{one.runs} against {one.base_runs} trials"


def _few(one: Comparison) -> str:
    count = one.pairs or min(one.runs, one.base_runs)
    kind = "pair" if one.pairs else "trial of one of them"
    enough = f"; {one.needed} would tell 5 %" if one.needed else ""
    return f"{count} {kind}{'s' if count > 1 else ''} can't tell: at least {LEAST_VALUES} of each are needed{enough}"


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
