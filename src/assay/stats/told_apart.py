"""Doubts about trials that are told apart or left out: wrong outputs, unequal machines, media that changed."""

from collections.abc import Sequence

from assay.model.doubt import Doubt
from assay.model.record import Record
from assay.stats.machine_kind import machine_names, media_changes
from assay.stats.sample import is_wrong
from assay.stats.wording import first_few


def wrong_outputs(records: Sequence[Record]) -> list[Doubt]:
    """A doubt where trials ended with a wrong output; else none."""
    wrong = [record.trial.id for record in records if is_wrong(record)]
    if not wrong:
        return []
    named = first_few(wrong, ", ", " and")
    return [
        Doubt(
            kind="wrong-outputs",
            what=f"{len(wrong)} trial{'' if len(wrong) == 1 else 's'} ended with a wrong output: {named}",
            why="a job that loses records is done sooner, so these count in no figure of time",
            cure="read their verdicts, mend what is wrong and run them again",
        )
    ]


def different_machines(records: Sequence[Record]) -> list[Doubt]:
    """A doubt where trials ran on machines of several kinds, which it names; else none."""
    names = machine_names(records)
    if len(names) < 2:
        return []
    return [
        Doubt(
            kind="different-machines",
            what=f"the trials ran on {len(names)} different machines, or with different software: "
            f"{', '.join(names.values())}",
            why="differences between those look like differences between media; such trials are told apart",
            cure="run the whole plan on one machine, with one Java, Hadoop and Assay",
        )
    ]


def media_changed(records: Sequence[Record]) -> list[Doubt]:
    """A doubt for each medium that did not stay the same while the run went on."""
    return [
        Doubt(
            kind="medium-changed",
            what=one.words,
            why="that is another medium under the same name; its trials are told apart and never pooled",
            cure="run the whole plan on the same media, or name another one in the experiment",
        )
        for one in dict.fromkeys(filter(None, media_changes(records)))
    ]
