"""What a run's faults cost, as a section of its report: the time against trials without them, and the work lost."""

from collections.abc import Iterator, Sequence
from operator import attrgetter
from textwrap import wrap
from typing import NamedTuple

from assay.model.base import json_text
from assay.model.fault import NO_FAULT, FaultReport
from assay.model.installed import notes_of
from assay.model.registry import SECTIONS
from assay.model.section import RunView
from assay.model.trial_summary import TrialSummary
from assay.report.analysis import levels_key, levels_of
from assay.report.columns import escaped
from assay.report.templates import template
from assay.report.words import seconds_text
from assay.stats.comparison import compare
from assay.stats.fault_cost import FAULT, FaultCost, fault_costs
from assay.stats.sample import MACHINE, PLACEMENT, Levels, Trials, has_failed
from assay.stats.summary import Row, rows_of

WIDTH = 78
"""Of a terminal's line."""
HEAD = "What faults cost"
_USUAL = {"variant", "options", "dataset"}


class StruckTrial(NamedTuple):
    """A trial with a fault, in words for a table; `log` are the killed daemons' last lines."""

    trial: str
    fault: str
    struck: str
    ended: str
    lost: str
    log: Sequence[str]


class FaultsView(NamedTuple):
    """A `SectionView`; `struck` are the trials with a fault."""

    costs: Sequence[FaultCost]
    struck: Sequence[TrialSummary]

    def summary_html(self) -> str:
        """A link to the section, and how many faults did not strike."""
        missed = sum(cost.trials - cost.struck for cost in self.costs)
        note = f"; {missed} did not strike, and are excluded from all results" if missed else ""
        return f'<a href="#faults">What the faults cost</a> is below{note}.'

    def html(self) -> str:
        """The costs, a table of the trials, and the last words of what was killed."""
        trials = list(map(struck_trial, self.struck))
        notes = notes_of((summary.trial for summary in self.struck), attrgetter("loss_note"))
        shown = template("faults.html.j2").render(head=HEAD, costs=list(self.sentences()), trials=trials, notes=notes)
        return str(shown)

    def text(self) -> str:
        """The costs."""
        lines = (line for sentence in self.sentences() for line in wrap(f"{sentence}.", WIDTH, subsequent_indent="  "))
        return "\n".join([f"{HEAD}:", *(f"  {line}" for line in lines)])

    def markdown(self) -> str:
        """The costs."""
        return "\n".join([f"## {HEAD}", "", *(f"- {escaped(sentence)}." for sentence in self.sentences())])

    def json(self) -> str:
        """The costs."""
        return json_text([cost.model_dump(mode="json") for cost in self.costs])

    def sentences(self) -> Iterator[str]:
        """Yield a sentence for each fault, with the levels in which the faults' trials differ."""
        every = [dict(cost.others) for cost in self.costs]
        varies = [name for name in every[0] if len({levels.get(name) for levels in every}) > 1]
        for cost, others in zip(self.costs, every, strict=True):
            of = ", ".join(f"{name} {others[name]}" if name not in _USUAL else others[name] for name in varies)
            yield f"{cost.level}{f' ({of})' if of else ''}: {'; '.join(_parts(cost))}"


def _parts(cost: FaultCost) -> Iterator[str]:
    yield _time_words(cost)
    if cost.struck < cost.trials:
        yield f"it struck in {cost.struck} of {cost.trials} trials, and the others are excluded from all results"
    if cost.failed:
        yield f"{cost.failed} of {cost.struck} trials failed by it"
    if cost.wrong:
        yield f"{cost.wrong} of {cost.struck} outputs are wrong"
    yield from _losses(
        [
            cost.lost_attempts, cost.repeated_tasks, cost.copies_lost, cost.under_replicated_blocks,
            cost.missing_blocks, cost.missing_lines,
        ]
    )  # fmt: skip


def _time_words(cost: FaultCost) -> str:
    if cost.seconds is None:
        return "no trial with it has a time that counts"
    if cost.base_s is None:
        return (
            f"{seconds_text(cost.seconds)} s; the run has no trial without a fault (`fault: none`) to compare it with"
        )
    more_s = cost.seconds - cost.base_s
    share = f"{abs(100 * more_s / cost.base_s):.0f} %"
    took = f"{seconds_text(cost.seconds)} s in place of {seconds_text(cost.base_s)} s"
    words = f"it costs {seconds_text(more_s)} s, {share} ({took})" if more_s > 0 else f"it costs no time ({took})"
    one = cost.comparison
    if one is None or one.p is None:
        return f"{words}, not tested: there are no repetitions"
    span = one.shown_interval
    interval = f" (95 % interval of the ratio {span.low:.2f} to {span.high:.2f})" if span else ""
    return f"{words}, {'significant' if one.significant else 'not significant'}{interval}"


_LOSSES = (
    "task attempts lost", "tasks ran again", "copies of blocks lost", "blocks with too few copies by the store's count",
    "blocks without any copy", "lines of the input missing",
)  # fmt: skip


def _losses(counts: Sequence[int | None]) -> Iterator[str]:
    """What was lost, of what is known and not nothing."""
    for count, noun in zip(counts, _LOSSES, strict=True):
        if count:
            yield f"{count} {noun}"


def struck_trial(summary: TrialSummary) -> StruckTrial:
    """What one trial's fault did."""
    report, fault = summary.fault or FaultReport(), summary.factors[FAULT]
    struck = "did not strike"
    if report.struck_ms is not None:
        done = ", ".join(f"{stage} {percent} %" for stage, percent in report.progress.items())
        struck = f"{report.job} at {done}".strip() if done else "from the start on"
    blocks = report.redundancy
    lost = [f"{report.containers} containers ran there"] if report.containers is not None else []
    of_blocks = (blocks.copies_lost, blocks.under_replicated_blocks, blocks.missing_blocks) if blocks else [None] * 3
    missing_lines = report.kept.missing if report.kept else None
    lost += _losses([report.lost_attempts, report.repeated_tasks, *of_blocks, missing_lines])
    reason = summary.error or "; ".join(check.detail for check in summary.failed_checks if not check.ended)
    ended = f"failed: {reason}" if has_failed(summary) else str(summary.outcome)
    return StruckTrial(summary.id, fault, struck, ended, "; ".join(lost) or "nothing", report.log)


def _faults(run: RunView) -> FaultsView | None:
    """Make the section; None where no trial had a fault."""
    if all(summary.factors[FAULT] == NO_FAULT for summary in run.trials):
        return None
    trials = Trials.of(run.trials)
    compared = compare(trials.samples, prior=run.plan.prior, orders={PLACEMENT: run.plan.placements})
    costs = fault_costs(trials, compared, _times(rows_of(trials, compared, run.plan.prior, run.plan.placements)))
    return FaultsView(costs, [summary for summary in trials if summary.fault is not None]) if costs else None


def _times(rows: Sequence[Row]) -> dict[Levels, float]:
    """Median times by all factors, of combinations that ran on one kind of machine."""
    times: dict[Levels, list[float]] = {}
    for row in rows:
        if row.elapsed_s is not None:
            levels = {name: level for name, level in levels_of(row).items() if name != MACHINE}
            times.setdefault(levels_key(levels), []).append(row.elapsed_s)
    return {levels: seconds[0] for levels, seconds in times.items() if len(seconds) == 1}


SECTIONS.add("faults", _faults, place=0)
