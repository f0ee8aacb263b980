"""Proves that what limits a decision is told by the trials that it is made of, each kind with its numbers."""

import pytest

from assay.model.doubt import Outcome
from assay.model.scale import CheckId, ScaleCheck, ScaleReport
from assay.model.trial import MediumSpec
from assay.stats.caveats import (
    AssumedParameters,
    LinksIdle,
    NothingCounts,
    NotRepeated,
    RanElsewhere,
    SlowedDrives,
    TimesModelled,
    caveats_of,
)
from assay.stats.decision import decisions
from tests.builders import a_record, a_trial, summaries, summaries_by
from tests.stats.terasort import terasort_run


def of_trials(*records, ran=None, network="", repeated=True):
    return caveats_of(summaries_by({"disk": records}), ran or {"disk": True}, network, repeated=repeated)


def on_drive(slowdown=1, **facts):
    trial = a_trial().model_copy(update={"media": (MediumSpec(name="disk", kind="emulated", slowdown=slowdown),)})
    return a_record(trial, facts={f"medium.disk.{name}": value for name, value in facts.items()})


def on_scale_model(backlog=None, dilation=4, checks=True):
    check = ScaleCheck(id=CheckId.LINKS, value=backlog, limit=0.05, passed=None, detail="")
    return a_record(scale=ScaleReport(dilation=dilation, clock="model", checks=(check,) if checks else ()))


def test_trials_without_a_limit_have_no_caveat():
    assert of_trials(a_record(), a_record()) == ()


def test_levels_of_which_nothing_counts_are_told_from_those_that_ran_elsewhere():
    ran = {"disk": True, "tape": False, "ssd": True}
    assert of_trials(a_record(), ran=ran) == (NothingCounts(of=("tape",)), RanElsewhere(of=("ssd",)))


def test_a_placement_whose_outputs_are_wrong_is_a_caveat_of_the_decision():
    plan, records = terasort_run()
    wrong = [
        one.model_copy(update={"verdicts": (one.verdicts[0].model_copy(update={"outcome": Outcome.FAIL}),)})
        if one.trial.placement.name == "ssd"
        else one
        for one in records
    ]
    (decision,) = decisions(plan, summaries(wrong))
    assert decision.caveats == (NothingCounts(of=("ssd",)),)


def test_without_repetitions_that_is_a_caveat():
    assert of_trials(a_record(), repeated=False) == (NotRepeated(),)


def test_slowed_drives_are_told_with_the_largest_factor():
    assert of_trials(on_drive(slowdown=8)) == (SlowedDrives(times_slower=8),)
    fast = on_drive()
    by_level = {"slow": [on_drive(slowdown=8)], "slower": [on_drive(slowdown=9)], "fast": [fast]}
    assert caveats_of(summaries_by(by_level), dict.fromkeys(by_level, True), "", repeated=True) == (
        SlowedDrives(times_slower=9, alike=False),
    )


@pytest.mark.parametrize("count", [0, "unknown"])
def test_a_profile_without_assumptions_is_no_caveat(count):
    assert of_trials(on_drive(profile="wd10ezex", assumed_parameters=count, parameters=19)) == ()


def test_assumed_parameters_are_counted_for_each_profile_once():
    known = AssumedParameters(profile="wd10ezex", assumed=14, parameters=19)
    record = on_drive(profile="wd10ezex", assumed_parameters=14, parameters=19)
    assert caveats_of(
        summaries_by({"one": [record], "two": [record]}), {"one": True, "two": True}, "", repeated=True
    ) == (known,)
    zero = {"one": [record], "zero-delay": [on_drive(profile="none", assumed_parameters=1, parameters=2)]}
    assert caveats_of(summaries_by(zero), dict.fromkeys(zero, True), "", repeated=True) == (known,)


def test_times_of_a_scale_model_are_told_with_its_factor_and_links_that_were_idle():
    idle = on_scale_model()
    assert of_trials(idle) == (TimesModelled(times_slower=4), LinksIdle())
    assert of_trials(idle, network="none") == (TimesModelled(times_slower=4),)
    for other in (on_scale_model(backlog=0.01), on_scale_model(checks=False)):
        assert of_trials(idle, other) == (TimesModelled(times_slower=4),)
    assert of_trials(on_scale_model(dilation=1, backlog=0.01)) == ()
