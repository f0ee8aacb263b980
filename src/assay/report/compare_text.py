"""Several runs beside one another on a terminal: what they agree on, and a table for each combination."""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from rich.console import Console

from assay.report.analysis import by_kind
from assay.report.compare_page import ENERGY_NOTE
from assay.report.compare_runs import Beside, Side, agreements, sides_shown
from assay.report.values import ENERGY_HEAD, energy_cells
from assay.report.words import Column, base_text, fitted, ratio_text, seconds_text
from assay.stats.comparison import Comparison
from assay.stats.noise import Interval
from assay.stats.sample import MACHINE
from assay.stats.summary import varying

NOTE = (
    "elapsed: seconds of the jobs, added up; ratio: elapsed time over that on {base} in the same run; "
    "to first: to the first run with the same on the same machine."
)


def print_beside(beside: Beside, console: Console) -> None:
    """Runs, agreements, a table for each combination with all its runs, energy, and doubts; the page has all of it."""
    names = [name for name in varying([side.row for side in beside.sides]) if name != MACHINE]
    sides = sides_shown(beside)
    console.print("Runs side by side", style="bold", highlight=False)
    for name, run in beside.runs.items():
        passed = sum(record.outcome == "pass" for record in run.records)
        machines = ", ".join(beside.machines[name]) or "-"
        _say(
            console,
            f"{name}: {run.plan.experiment} on machine {machines}, {len(run.records)} of {len(run.plan.trials)} "
            f"trials, {passed} outputs right",
        )
    for one in agreements(beside, names):
        _say(console, f"{one.title}: {one.headline} (significant {one.significant})")
    for lines in (_times(sides, names, console.width), _energies(sides, names, console.width)):
        for line in lines:
            console.print(line, highlight=False, markup=False, soft_wrap=True)
    _say(console, NOTE.format(base=base_text([side.row for side in beside.sides])))
    if any(side.energy["energy_basis"] for side in sides):
        _say(console, ENERGY_NOTE)
    for doubt, _, _ in by_kind(beside.doubts):
        _say(console, f"Doubt: {doubt.what} ({doubt.kind}): {doubt.why}.")
    for run in beside.runs.values():
        for left_out in run.damaged:
            _say(console, f"left out: {left_out.folder}: {left_out.reason}")


def _times(sides: Sequence[Side], names: Sequence[str], width: int) -> Iterator[str]:
    for title, own in _groups(sides, names):
        yield from ("", title)
        yield from fitted(
            [
                Column("placement", [side.row.placement for side in own], name=True),
                Column("run", [side.run for side in own], name=True),
                Column("machine", [side.machine.partition(" ")[0] for side in own], name=True, rank=2),
                Column("trials", [str(side.row.finished) for side in own], rank=1),
                Column("elapsed", [seconds_text(side.row.elapsed_s) for side in own]),
                Column(
                    "interval",
                    [_interval(side.row.elapsed.interval if side.row.elapsed else None, seconds_text) for side in own],
                    rank=5,
                ),
                Column("ratio", [ratio_text(side.row) for side in own]),
                Column("interval", [_ratio_interval(side.row.comparison) for side in own], rank=4),
                Column("to first", [f"{side.against.ratio:.2f}" if side.against else "-" for side in own]),
                Column("interval", [_ratio_interval(side.against) for side in own], rank=3),
                Column("output", [str(side.row.outcome) for side in own]),
            ],
            width,
        )


def _interval(interval: Interval | None, as_text: Callable[[float], str]) -> str:
    """`60.1 to 63.0`, or a dash."""
    return f"{as_text(interval.low)} to {as_text(interval.high)}" if interval else "-"


def _ratio_interval(one: Comparison | None) -> str:
    return _interval(one.interval if one else None, "{:.2f}".format)


def _energies(sides: Sequence[Side], names: Sequence[str], width: int) -> Iterator[str]:
    for title, own in _groups([side for side in sides if side.energy["energy_basis"]], names):
        energy_j, edp_js, ed2p_js2, basis = zip(*(energy_cells(side.energy) for side in own), strict=True)
        yield from ("", f"{title}: energy of the jobs")
        yield from fitted(
            [
                Column("placement", [side.row.placement for side in own], name=True),
                Column("run", [side.run for side in own], name=True),
                Column(ENERGY_HEAD[0], energy_j),
                Column(ENERGY_HEAD[1], edp_js, rank=1),
                Column(ENERGY_HEAD[2], ed2p_js2, rank=2),
                Column(ENERGY_HEAD[3], basis),
            ],
            width,
        )


def _groups(sides: Sequence[Side], names: Sequence[str]) -> Iterator[tuple[str, list[Side]]]:
    """Sides of one workload and the same levels of all that varies but the placement, with these in words."""

    def title(side: Side) -> str:
        levels = (f"{name} {getattr(side.row.group, name)}" for name in names if getattr(side.row.group, name))
        return ", ".join([side.row.group.workload, *levels])

    for words, own in groupby(sides, title):
        yield words, list(own)


def _say(console: Console, words: str) -> None:
    console.print(words, highlight=False, markup=False)
