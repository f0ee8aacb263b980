"""All that a report reads of a run: outlines of all records where they are many, and some trials whole."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from assay.model.errors import BadInputError
from assay.model.record import Record
from assay.model.trial import Plan
from assay.record.folder import Damaged, RunFolder
from assay.report.closeup import Closeup, chosen, look
from assay.report.selection import trials_shown
from assay.stats.outlier import outliers
from assay.stats.sample import samples

WHOLE_UP_TO = 200
"""A whole record takes most of a megabyte of memory; of more trials only outlines are read."""


class Gathered(NamedTuple):
    """`records` are all that could be read; `told` those of them that are shown with all that they hold.

    `folder` is where the run lies, as it was named, and `experiment` its experiment's file, where it was kept.
    """

    plan: Plan
    records: Sequence[Record]
    damaged: Sequence[Damaged]
    told: Sequence[Record]
    closeups: Sequence[Closeup] = ()
    folder: Path | None = None
    experiment: Path | None = None


def gather(run: RunFolder, *, close: bool = True) -> Gathered:
    """Read a run; with `close` the tables of the trials that are drawn, too. Raises BadInputError when it is no run."""
    plan = run.plan()
    outlines = len(run.trials()) > WHOLE_UP_TO
    records, damaged = run.records(plan, outlines=outlines)
    told, broken = _whole(run, shown_of(records), records, outlines=outlines)
    lost = {one.folder.name for one in broken}
    records = [record for record in records if record.trial.id not in lost]
    whole = {record.trial.id: record for record in told}
    drawn = [whole[record.trial.id] for record in chosen(records) if record.trial.id in whole] if close else []
    closeups = [look(run, record) for record in drawn]
    return Gathered(plan, records, [*damaged, *broken], told, closeups, run.path, run.experiment)


def shown_of(records: Sequence[Record]) -> list[str]:
    """The ids of the trials that are shown with all that they hold."""
    odd = {one.trial for one in outliers(samples(records))}
    return trials_shown(records, {record.trial.id for record in chosen(records)}, odd)


def _whole(
    run: RunFolder, ids: Sequence[str], records: Sequence[Record], *, outlines: bool
) -> tuple[list[Record], list[Damaged]]:
    """The records of some trials with all that they hold, and those that turn out to be damaged."""
    if not outlines:
        wanted = set(ids)
        return [record for record in records if record.trial.id in wanted], []
    whole, broken = [], []
    for trial in ids:
        try:
            whole.append(run.record(trial))
        except BadInputError as error:
            broken.append(Damaged(run.file(trial, ""), str(error)))
    return whole, broken
