"""Storage share and saving of several jobs with several levels of other factors: a table, and a sentence per level."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from assay.model.trial import ZERO_DELAY
from assay.report.answer import HARDLY_USED, interval_text, time_text
from assay.report.columns import Column
from assay.report.words import capitalised, labels_of, percent
from assay.stats.decision import Decision, Verdict
from assay.stats.estimate import Estimate
from assay.stats.sample import MACHINE, Levels
from assay.stats.shares import SharesLine, SharesTable

UNUSED, OTHER_CAUSE = "*", "†"
MARKS = f" {UNUSED}{OTHER_CAUSE}"
"""What may follow a verdict."""


class LevelSummary(NamedTuple):
    """One level over all jobs that have it: shares from the least to the greatest, and how many changes are worth it.

    Shares of jobs that hardly used storage, which are noise, are in no range: `hardly_used` says how many such jobs
    there are. `saving` and `worth_it` are of one placement beside the base.
    """

    level: Levels
    other: str
    share: str
    saving: str
    worth_it: str
    hardly_used: int


def job_labels(table: SharesTable) -> list[str]:
    """A name for each row."""
    return labels_of([dict(work) for work in table.rows])


def level_label(level: Levels) -> str:
    """`small, 2GiB`; of a machine its letter."""
    names = (f"machine {value.partition(' ')[0]}" if name == MACHINE else value for name, value in level)
    return ", ".join(filter(None, names))


def summaries(table: SharesTable) -> list[LevelSummary]:
    """Each level with each placement beside the base, or with none where there is no other."""
    every = []
    for level in table.levels:
        lines = table.lines_with(level)
        using = [line for line in lines if not hardly_used(line.decision)]
        share = _range([base.storage_share for line in using if (base := line.result(table.base))])
        for other in table.others or ("",):
            results = [result for line in lines if (result := line.result(other))]
            worth_it = sum(result.verdict is Verdict.WORTH_IT for result in results)
            verdicts = f"{Verdict.WORTH_IT} in {worth_it} of {len(results)}" if results else ""
            saving = _range([result.saving for line in using if (result := line.result(other))])
            every.append(LevelSummary(level, other, share, saving, verdicts, len(lines) - len(using)))
    return every


def summary_sentences(table: SharesTable) -> Iterator[str]:
    """Say of each level `small: storage takes 12 to 45 %; ssd saves 9 to 38 %: worth it in 4 of 5`, as a sentence.

    Another says in how many jobs storage was hardly used.
    """
    by_level: dict[Levels, list[LevelSummary]] = {}
    for summary in summaries(table):
        by_level.setdefault(summary.level, []).append(summary)
    for level, of_level in by_level.items():
        share, unused = of_level[0].share, of_level[0].hardly_used
        noise = " (below 0 is noise)" if share.startswith("-") else ""
        parts = [f"storage takes {share}{noise}"] if share else []
        parts += [f"{each.other} saves {each.saving}: {each.worth_it}" for each in of_level if each.saving]
        if parts and unused:
            parts[-1] += f". In {unused} storage was hardly used: their shares are left out"
        elif unused:
            parts = [f"storage was hardly used in {unused} of {len(table.lines_with(level))} jobs"]
        yield f"{level_label(level)}: {'; '.join(parts) or f'nothing is known of the time on {table.base}'}."


def columns_of(table: SharesTable, *, grouped: bool) -> tuple[list[Column], list[str]]:
    """Columns, and for each of their lines the group that it is of: all jobs, then each job.

    Where they are `grouped`, the group stands above its lines, and in no column.
    """
    cells: list[tuple[str, ...]] = []
    for summary in summaries(table):
        head = f"all {len(table.rows)} jobs"
        level, other, share, saving, worth_it, _ = summary
        cells.append((head, level_label(level), other, "", share, saving, worth_it))
    for job, lines in zip(job_labels(table), table.rows.values(), strict=True):
        for level in table.levels:
            if level in lines:
                cells += [(job, level_label(level), *line) for line in _lines(table, lines[level])]
    group, level_cells, others, times, shares, savings, verdicts = map(list, zip(*cells, strict=True))
    several = len(table.others) > 1
    columns = [Column("job", group, name=True, rank=None if grouped else 0)]
    columns.append(Column(", ".join(table.factors), level_cells, name=True))
    columns += [Column("instead", others, name=True)] if several else []
    columns.append(Column(f"on {table.base}", times, rank=1))
    columns += [Column("storage share", shares)] if table.with_baseline else []
    if table.others:
        columns.append(Column("saves" if several else f"{table.others[0]} saves", savings))
        columns.append(Column("verdict", verdicts, words=True))
    return columns, group


def _lines(table: SharesTable, line: SharesLine) -> Iterator[tuple[str, str, str, str, str]]:
    """Of each placement beside the base: its name, time and storage share of the base, saving, verdict."""
    base = line.result(table.base)
    share = share_text(base.storage_share) if base and base.storage_share else (base and missing_text(line)) or "-"
    share += "" if table.others else mark_of(line.decision)
    for place, other in enumerate(table.others or ("",)):
        result = line.result(other)
        verdict = f"{result.verdict}{mark_of(line.decision, other)}" if result and result.verdict else ""
        why = missing_text(line, other if base else table.base)
        first = (time_text(base) if base else "-", share) if not place else ("", "")
        saving = share_text(result.saving) if result and result.saving else "-"
        yield (other, *first, saving, verdict or why or "-")


def missing_text(line: SharesLine, placement: str = "") -> str:
    """`ssd failed`, or without a placement `no baseline`; empty where it was not planned, or has a time."""
    why = line.missing.get(placement or ZERO_DELAY)
    return "" if why is None else f"{placement} {why}" if placement else "no baseline"


def hardly_used(decision: Decision | None) -> bool:
    """Whether a line's shares are noise, since its job hardly used storage and stands for no larger one."""
    return decision is not None and decision.storage_hardly_used and decision.site_ratio is None


def mark_of(decision: Decision | None, placement: str = "") -> str:
    """The marks of notes that stand below, of a storage share or of what a placement saves."""
    unused = UNUSED if hardly_used(decision) else ""
    other_cause = OTHER_CAUSE if decision is not None and placement in decision.of_other_cause else ""
    return f" {unused}{other_cause}".rstrip()


def notes_of(table: SharesTable) -> Iterator[str]:
    """What the columns are, and what the marks mean that some line has."""
    parts = [f"storage share: of the time on {table.base}, what is above that with zero storage delay"]
    parts = parts if table.with_baseline else []
    if table.others:
        parts.append(f"saves: how much less time than on {table.base}; threshold {percent(table.worth.share)}")
    intervals = "Brackets hold 95 % intervals. " if _repeated(table) else ""
    unused = any(hardly_used(line.decision) for line in _every(table))
    left_out = f", without the jobs marked {UNUSED}" if unused else ""
    note = f"{'; '.join(parts)}. {intervals}Lines of all jobs give the least and the greatest value{left_out}."
    yield capitalised(note)
    yield from line_notes(table)


def chart_notes(table: SharesTable) -> Iterator[str]:
    """What the chart's marks are."""
    intervals = ", with 95 % confidence intervals" if _repeated(table) else ""
    yield f"All shares are of the time on {table.base}{intervals}."
    if table.with_baseline:
        yield "Storage share: what is above the time with zero storage delay."
    if table.others:
        yield "A filled mark right of your threshold is worth it, left of it not."
    yield from line_notes(table)


def _repeated(table: SharesTable) -> bool:
    return any(line.decision is not None and line.decision.repeated for line in _every(table))


def _every(table: SharesTable) -> list[SharesLine]:
    return [line for job in table.rows.values() for line in job.values()]


def line_notes(table: SharesTable) -> Iterator[str]:
    """Which variants ran, for how many verdicts they are corrected, and what marks and shares mean that a line has."""
    lines = _every(table)
    if table.variants:
        yield f"Variants: {'; '.join(_variants_texts(table))}."
    corrected = max((line.decision.corrected for line in lines if line.decision), default=1)
    if table.others and corrected > 1:
        yield f"Verdicts are corrected for all {corrected} together, intervals are not."
    marks = "".join(mark_of(line.decision, other) for line in lines for other in table.others or ("",))
    if UNUSED in marks:
        yield f"{UNUSED} {capitalised(HARDLY_USED)}."
    if OTHER_CAUSE in marks:
        yield f"{OTHER_CAUSE} The drives were not busy for long enough to cause this difference."
    bases = [base for line in lines if (base := line.result(table.base))]
    if any(base.storage_share is not None and round(100 * base.storage_share.value) < 0 for base in bases):
        yield "A storage share below 0 is noise: no drive is faster than zero delay."


def _variants_texts(table: SharesTable) -> Iterator[str]:
    """`grep, sort tuned (small, large), plain (huge)`, jobs with the same variants together."""
    alike: dict[str, list[str]] = {}
    for job, work in zip(job_labels(table), table.rows, strict=True):
        by_variant: dict[str, list[str]] = {}
        for level, variant in table.variants.get(work, {}).items():
            by_variant.setdefault(variant, []).append(level_label(level))
        if by_variant:
            texts = ", ".join(f"{variant} ({', '.join(levels)})" for variant, levels in by_variant.items())
            alike.setdefault(texts, []).append(job)
    return (f"{', '.join(jobs)} {texts}" for texts, jobs in alike.items())


def share_text(share: Estimate) -> str:
    """`38 % (30 to 45 %)`; without the interval where it is not known."""
    value = f"{round(100 * share.value)} %"
    return value if share.low is None else f"{value} ({interval_text(share)})"


def _range(shares: Sequence[Estimate | None]) -> str:
    """`12 to 45 %`, from the least to the greatest; empty where none is known."""
    known = [round(100 * share.value) for share in shares if share is not None]
    return " to ".join(map(str, dict.fromkeys((min(known), max(known))))) + " %" if known else ""
