"""What advice had foretold of a change beside what was seen of it: of each job, and of all of them together."""

import json
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from assay.advise.advice import ADVICE_VERSION, Advice, Comparison
from assay.advise.alternatives import OF_DRIVES
from assay.advise.saving import JobSaving
from assay.host.files import read_bytes
from assay.model.base import Frozen
from assay.model.errors import BadInputError
from assay.model.naming import first_few, nearest
from assay.report.columns import Column, layout_table
from assay.report.words import about_text, percent
from assay.triage.changed import HistoriesChange, Ratio

_MOST_BYTES = 64 << 20
_HOW = "write it with `assay advise ... --json > FILE`, from histories before the change"


class Within(StrEnum):
    """Whether what was seen lies within the interval that was foretold."""

    YES = "yes"
    NO = "no"
    NOT_KNOWN = "not known"


_PLACES = {
    Within.YES: "within the interval", Within.NO: "outside the interval",
    Within.NOT_KNOWN: "outside the interval, into which its own reaches: not known whether the advice was right",
}  # fmt: skip


class ForetoldJob(Frozen):
    """What advice had foretold of a job, and what was seen: shares of its time that were saved, each with its interval.

    `seconds` are those of a night before the change. `likely` is None where nothing told what is. Of a saving outside
    of its interval, whose own interval reaches into that, it is not known whether it is within.
    """

    job: str
    seconds: float
    likely: float | None
    low: float
    high: float
    seen: float
    seen_low: float
    seen_high: float
    within: Within


class ForetoldChange(Frozen):
    """The same of all of them, in seconds of a night before the change: `seconds` is their time."""

    alternative: str
    seconds: float
    likely_s: float
    low_s: float
    high_s: float
    seen_s: float
    within: Within
    jobs: tuple[ForetoldJob, ...]
    remarks: tuple[str, ...]
    """Which jobs are in one of both alone, each a clause."""


def read_advice(file: Path) -> Advice:
    """Advice as `assay advise --json` wrote it. Raises BadInputError for anything else."""
    text = read_bytes(file, _MOST_BYTES)
    try:
        content: Any = json.loads(text)
        version = content["version"]
        is_advice = "alternatives" in content
    except (ValueError, LookupError, TypeError):
        is_advice = False
    if not is_advice:
        raise BadInputError(f"--advised {file} is no advice; {_HOW}")
    if version != ADVICE_VERSION or isinstance(version, bool):
        raise BadInputError(
            f"--advised {file} has version {json.dumps(version)} of advice, this Assay reads {ADVICE_VERSION}; {_HOW}"
        )
    try:
        return Advice.model_validate(content)
    except ValidationError as error:
        place = ".".join(map(str, error.errors()[0]["loc"]))
        raise BadInputError(f"--advised {file} is no whole advice, as its {place} shows; {_HOW}") from None


def foretold(advice: Advice, done: str | None, change: HistoriesChange) -> ForetoldChange:
    """What was foretold of the alternative that was done, by its name or kind, else of the first, beside what was seen.

    Raises BadInputError where there is no such alternative, or it changes no drives, or none of its jobs was compared.
    """
    row = _alternative(advice, done)
    compared = {of.job: (of.seconds, of.change) for of in change.jobs if not of.control and of.change}
    controls = {of.job for of in change.jobs if of.control}
    saved = {of.job: of for of in row.jobs}
    jobs = [_job(saved[name], seconds, seen) for name, (seconds, seen) in compared.items() if name in saved]
    if not jobs:
        raise BadInputError(
            f"none of the jobs of which --advised foretells a saving by {row.name} was compared "
            f"({first_few(list(saved)) or 'it foretells none'}); name advice on the jobs of these histories, or with "
            "--done another alternative"
        )
    guessed = []
    if row.unknown and row.likely_hours is not None:
        guessed = [f"what was foretold is good for an order alone (?), since {row.unknown}: only its intervals count"]
    low_s, likely_s, high_s, seen_s, seen_low_s, seen_high_s = (
        sum(of.seconds * share for of, share in zip(jobs, shares, strict=True))
        for shares in zip(
            *((of.low, of.likely or 0.0, of.high, of.seen, of.seen_low, of.seen_high) for of in jobs), strict=True
        )
    )
    return ForetoldChange(
        alternative=row.name, seconds=sum(of.seconds for of in jobs), likely_s=likely_s, low_s=low_s, high_s=high_s,
        seen_s=seen_s, within=_within((low_s, high_s), seen_s, (seen_low_s, seen_high_s)), jobs=tuple(jobs),
        remarks=(*guessed, *_remarks(saved.keys() - controls, set(compared))),
    )  # fmt: skip


def _alternative(advice: Advice, done: str | None) -> Comparison:
    if done is None and advice.first is None:
        raise BadInputError("--advised advises no change; say with --done which of its alternatives was done")
    row = next((of for of in advice.alternatives if done in {of.name, *of.kinds}), None)
    if done is None and advice.first is not None:
        row = advice.alternatives[advice.first]
    of_drives = [kind for of in advice.alternatives for kind in of.kinds if kind in OF_DRIVES]
    if row is None:
        raise BadInputError(f"--done {done!r} is no alternative of --advised; {nearest(str(done), of_drives)}")
    if not OF_DRIVES.intersection(row.kinds):
        refused = f"--done {done!r}" if done else f"what --advised has first, {row.name},"
        raise BadInputError(
            f"{refused} changes no drives: jobs with other settings are not compared, and memory or nodes touch the "
            f"controls, too; name with --done which drives were put in: {', '.join(of_drives) or 'it compares none'}"
        )
    return row


def _job(saved: JobSaving, seconds: float, seen: Ratio) -> ForetoldJob:
    low, high = saved.low_hours / saved.hours, saved.high_hours / saved.hours
    seen_low, share, seen_high = 1 - seen.interval.high, 1 - seen.ratio, 1 - seen.interval.low
    return ForetoldJob(
        job=saved.job, seconds=seconds,
        likely=None if saved.likely_hours is None else saved.likely_hours / saved.hours, low=low, high=high, seen=share,
        seen_low=seen_low, seen_high=seen_high,
        within=_within((low, high), share, (seen_low, seen_high)),
    )  # fmt: skip


def _within(foretold_interval: tuple[float, float], seen: float, seen_interval: tuple[float, float]) -> Within:
    (low, high), (seen_low, seen_high) = foretold_interval, seen_interval
    if low <= seen <= high:
        return Within.YES
    return Within.NO if seen_high < low or high < seen_low else Within.NOT_KNOWN


def _remarks(saved: set[str], compared: set[str]) -> Iterator[str]:
    def of_jobs(names: set[str]) -> str:
        return f"{len(names)} job{'' if len(names) == 1 else 's'} ({first_few(sorted(names))})"

    if saved - compared:
        yield f"not compared, though a saving was foretold: {of_jobs(saved - compared)}"
    if compared - saved:
        yield f"compared, though nothing was foretold: {of_jobs(compared - saved)}"


def foretold_lines(change: ForetoldChange, width: int, most: int | None) -> Iterator[str]:
    """What was foretold beside what was seen: of all jobs, and of the first of them."""
    low, high = percent(change.low_s / change.seconds), percent(change.high_s / change.seconds)
    yield (
        f"Advice had foretold of {change.alternative}: {about_text(change.likely_s)} less a night, "
        f"{percent(change.likely_s / change.seconds)} of {len(change.jobs)} jobs' time ({low} to {high}). Seen: "
        f"{percent(change.seen_s / change.seconds)}, {_PLACES[change.within]}."
    )
    yield from layout_table(_columns(change.jobs[:most]), width)
    yield from (f"{remark[:1].upper()}{remark[1:]}." for remark in change.remarks)


def _columns(jobs: Sequence[ForetoldJob]) -> list[Column]:
    def share(value: float) -> str:
        return f"{100 * value:.0f} %"

    return [
        Column("job", [of.job for of in jobs], name=True),
        Column("foretold", ["-" if of.likely is None else share(of.likely) for of in jobs]),
        Column("interval", [f"{100 * of.low:.0f} to {share(of.high)}" for of in jobs]),
        Column("seen", [share(of.seen) for of in jobs]),
        Column("interval", [f"{100 * of.seen_low:.0f} to {share(of.seen_high)}" for of in jobs], rank=1),
        Column("within", [str(of.within) for of in jobs]),
    ]
