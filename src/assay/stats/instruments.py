"""What the emulator and the probes took of the processors while a trial's jobs ran."""

from assay.model.record import Record
from assay.model.trial_summary import TrialSummary

_INSTRUMENTS = {("processes", "emulator"), ("own-cost", "probes")}
_BUSY = {"user_s", "system_s", "busy_s"}


def instruments_s(record: Record) -> float | None:
    """Processor time that the emulator and the probes took while the jobs ran; None where nobody measured it."""
    known = [
        amount.value
        for amount in record.amounts
        if amount.part == "run" and (amount.probe, amount.subject) in _INSTRUMENTS and amount.series in _BUSY
    ]
    return sum(known) if known else None


def elapsed_without_instruments_s(summary: TrialSummary) -> float | None:
    """The jobs' time less what the emulator and the probes took from them: the least that they could have taken.

    None where that is not known, where the instruments had processors of their own, and on a scale model, whose nodes
    are not held up by them.
    """
    taken_s, cores = summary.instruments_s, summary.machine.cores
    apart = summary.modelled or "processors.instruments" in summary.facts
    if taken_s is None or summary.elapsed_s is None or not cores or apart:
        return None
    return summary.elapsed_s - taken_s / cores
