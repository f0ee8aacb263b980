"""Proves that jobs and phases are tested with their own noise, and not at all where some trial does not have them."""

import numpy as np
import pytest

from assay.model.trial import PART_PRIOR, ZERO_DELAY, NoisePrior
from assay.stats.breakdown import breakdowns
from assay.stats.decision import decisions
from tests.builders import NO_PHASES, summaries
from tests.stats.terasort import mirrored_run, terasort_run

ORDER = ("hdd", "ssd", ZERO_DELAY, "ssd", "hdd")


def with_phases(record, **seconds):
    phases = {**NO_PHASES, **{name.removesuffix("_s"): own for name, own in seconds.items()}}
    return record.model_copy(update={"totals": record.totals.model_copy(update={"phases": phases})})


def parts_of(plan, records):
    (found,) = breakdowns(plan, summaries(records), decisions(plan, summaries(records)))
    return {one.name: one for one in found.parts}


def mirrored(**phases):
    """Phases by name, each with seconds for the five trials."""
    plan, records = mirrored_run([(name, 40.0) for name in ORDER])
    rows = zip(records, *phases.values(), strict=True)
    return plan, [with_phases(one, **dict(zip(phases, own, strict=True))) for one, *own in rows]


def significant(part):
    return [one for time in part.times for one in (time.storage_share, time.saving) if one and one.significant]


@pytest.mark.slow
def test_noisy_phases_without_an_effect_are_seldom_significant():
    """Of 200 runs with four phases of 2 s and a noise of 25 %."""
    source = np.random.default_rng(1)
    runs = 200
    claimed = 0
    for _ in range(runs):
        times = 2.0 * np.exp(0.25 * source.standard_normal((4, len(ORDER))))
        parts = parts_of(*mirrored(**dict(zip(NO_PHASES, times, strict=True))))
        claimed += any(significant(one) for one in parts.values())
    assert claimed / runs <= 0.05 + 2 * (0.05 * 0.95 / runs) ** 0.5


def test_a_phase_that_storage_doubles_is_significant_in_one_mirrored_repetition():
    parts = parts_of(*mirrored(map_s=(10.0, 5.1, 5.0, 4.9, 10.4), reduce_s=(3.0, 3.1, 3.0, 2.9, 3.0)))
    (ssd,) = (one for one in parts["map"].times if one.placement == "ssd")
    assert ssd.saving.significant
    assert ssd.saving.share.value == pytest.approx(0.5, abs=0.02)
    assert not significant(parts["reduce"])


def test_what_earlier_runs_say_of_whole_jobs_is_not_taken_for_phases():
    plan, records = mirrored(map_s=(3.0, 2.4, 2.3, 2.5, 2.9))
    sure = plan.model_copy(update={"prior": NoisePrior(deviation=0.01, freedom=20, source="history")})
    assert parts_of(sure, records) == parts_of(plan, records)
    assert PART_PRIOR.deviation > plan.prior.deviation


@pytest.mark.parametrize(("missing", "tested"), [(0.0, False), (8.0, True)])
def test_a_phase_that_one_trial_does_not_have_is_not_tested(missing, tested):
    plan, records = terasort_run(3)
    records = [with_phases(one, map_s=8.0 + at % 2) for at, one in enumerate(records[:-1])] + [
        with_phases(records[-1], map_s=missing)
    ]
    part = parts_of(plan, records)["map"]
    assert part.tested is tested
    assert all(one.saving is None and one.storage_share is None for one in part.times) is not tested
