"""The noise that earlier runs on this machine speak for: the prior of the next one."""

from collections.abc import Collection, Iterable, Mapping

from assay.model.noise import NoisePrior
from assay.record.earlier import Took
from assay.stats.fit import residuals
from assay.stats.noise import fit_prior
from assay.stats.sample import MACHINE, PLACEMENT, RUN, Sample, is_warm_up

SAME_MACHINE = ("host", "cpu", "cores")
"""Software may differ: it changes little in how much equal trials differ."""


def prior_of(took: Iterable[Took], facts: Mapping[str, str], clusters: Collection[str]) -> NoisePrior:
    """From repeated trials of the machine with these facts, on these kinds of clusters (`embedded`, `existing`).

    Each run's repetitions are blocks of their own. The shipped prior where these are too few.
    """
    found = [
        Sample(
            trial=one.trial.id,
            factors=(*one.trial.factors.items(), (RUN, one.run), (MACHINE, "")),
            repetition=one.trial.repetition,
            elapsed_s=one.elapsed_s,
        )
        for one in took
        if one.elapsed_s
        and not is_warm_up(one.trial)
        and one.trial.cluster.kind in clusters
        and all(name in one.facts and one.facts[name] == facts.get(name) for name in SAME_MACHINE)
    ]
    return fit_prior(list(residuals(found, PLACEMENT).values()))
