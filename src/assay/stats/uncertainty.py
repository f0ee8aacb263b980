"""What a run knows least: which work a further repetition says most of."""

from collections.abc import Sequence
from math import inf

from assay.model.record import Record
from assay.model.trial import Trial
from assay.stats.interval import LEAST_VALUES, medians
from assay.stats.machine_kind import machine_of
from assay.stats.pairing import WORK, began_ms, couples_of
from assay.stats.ranks import signed_rank
from assay.stats.sample import APART, Levels, Sample, counts, samples, varying_factors

Work = tuple[str, ...]


def work_of(trial: Trial) -> Work:
    """What a trial computes: trials of different work are never compared with each other."""
    factors = trial.factors
    return tuple(factors[name] for name in WORK)


def levels_of(trial: Trial) -> Levels:
    """The levels of all its factors."""
    return tuple(trial.factors.items())


def never_finished(records: Sequence[Record]) -> set[Levels]:
    """The combinations that have run here and have no time: repeating them tells nothing."""
    here = _of_this_machine(records)
    ran = {levels_of(record.trial) for record in here if not record.trial.warm_up}
    return ran - {levels_of(record.trial) for record in here if counts(record)}


def least_certain(trials: Sequence[Trial], records: Sequence[Record]) -> list[Work]:
    """The work that some trials do, the least certain first: that of the widest interval of a ratio.

    Where only one combination does some work its median's interval is taken, as a share of the median. Work of which
    some combination has fewer than 3 times comes before all other.
    """
    found: dict[Work, list[Sample]] = {}
    here = _of_this_machine(records)
    ids = {record.trial.id: work_of(record.trial) for record in here}
    for sample in samples(here):
        found.setdefault(ids[sample.trial], []).append(sample)
    combinations: dict[Work, set[Levels]] = {}
    for trial in trials:
        combinations.setdefault(work_of(trial), set()).add(levels_of(trial))
    widths = {work: _width(own, found.get(work, [])) for work, own in combinations.items()}
    return sorted(widths, key=lambda work: -widths[work])


def _width(combinations: set[Levels], found: Sequence[Sample]) -> float:
    """Of the widest interval; infinite where there are too few values for any."""
    times: dict[Levels, list[float]] = {}
    for one in found:
        levels = tuple(item for item in one.factors if item[0] not in APART)
        if levels in combinations:
            times.setdefault(levels, []).append(one.elapsed_s)
    if min((len(times.get(levels, ())) for levels in combinations), default=0) < LEAST_VALUES:
        return inf
    if len(combinations) == 1:
        (middle,) = medians((tuple(times.popitem()[1]),))
        return inf if middle.interval is None else (middle.interval.high - middle.interval.low) / middle.value
    return max((width for factor in varying_factors(found) for width in _of_ratios(found, factor)), default=inf)


def _of_ratios(found: Sequence[Sample], factor: str) -> list[float]:
    """The width of each ratio's interval between levels of a factor, as a share of the ratio."""
    import numpy as np

    widths = []
    for couple in couples_of(found, factor, None, every=False):
        shift = signed_rank(couple.differences[None, :]) if len(couple.differences) >= LEAST_VALUES else None
        widths.append(inf if shift is None else float(np.exp(shift.high[0] - shift.low[0])) - 1)
    return widths


def _of_this_machine(records: Sequence[Record]) -> list[Record]:
    """Those of the machine that ran the last trial: what an earlier one knew is not pooled with what this one will."""
    last = max(records, key=began_ms, default=None)
    return [record for record in records if last is not None and machine_of(record) == machine_of(last)]
