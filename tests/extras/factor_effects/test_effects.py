"""Proves that known effects of factors, and of factors on each other's, are found, and untellable ones are refused."""

from math import log

import pytest

from assay.model.trial import NoisePrior
from assay.stats.sample import MACHINE, TrialSample
from assay_extras.factor_effects.effects import effects
from assay_extras.factor_effects.view import effects_view, levels_text
from tests.builders import summaries
from tests.report.made_runs import made_run, made_trials, page
from tests.stats.fake_times import FakeTimes

FACTORS = {"settings": {"a": 1.0, "b": 1.44}, "placement": {"hdd": 1.0, "ssd": 0.25}}
EXACT = {"noise": 0.0, "disturbed": 0.0, "drift": 0.0}


def effect_of(found, *factors):
    return next(one for one in found.effects if one.factors == factors)


def times(effect):
    return {level.levels: level.times for level in effect.levels}


def test_main_effects_are_distances_from_the_average_of_all_levels():
    (found,) = effects(FakeTimes(factors=FACTORS, **EXACT).samples(3, 1))
    assert times(effect_of(found, "settings")) == {("a",): pytest.approx(1 / 1.2), ("b",): pytest.approx(1.2)}
    assert times(effect_of(found, "placement")) == {("hdd",): pytest.approx(2), ("ssd",): pytest.approx(0.5)}
    assert effect_of(found, "settings", "placement").share == pytest.approx(0, abs=1e-9)
    assert found.effects[0].factors == ("placement",)
    assert (found.balanced, found.refused, found.rest_share) == (True, (), pytest.approx(0, abs=1e-9))


def test_two_factors_that_change_each_others_effect():
    fake = FakeTimes(factors=FACTORS, together={("b", "ssd"): 1.1**4}, **EXACT)
    (found,) = effects(fake.samples(3, 1))
    assert times(effect_of(found, "settings", "placement")) == {
        ("a", "hdd"): pytest.approx(1.1), ("a", "ssd"): pytest.approx(1 / 1.1),
        ("b", "hdd"): pytest.approx(1 / 1.1), ("b", "ssd"): pytest.approx(1.1),
    }  # fmt: skip


def test_shares_of_a_whole_plan_add_up():
    (found,) = effects(FakeTimes(factors=FACTORS, together={("b", "ssd"): 1.2}, drift=0.01).samples(5, 2))
    total = sum(one.share for one in found.effects) + found.drift_share + found.rest_share
    assert total == pytest.approx(1)
    assert found.drift_share > 0


def test_drift_is_not_taken_for_an_effect():
    (found,) = effects(FakeTimes(factors=FACTORS, noise=0.001, disturbed=0, drift=0.02).samples(12, 3))
    assert effect_of(found, "settings").levels[1].times == pytest.approx(1.2, rel=0.02)


def table(found):
    import pandas as pd

    return pd.DataFrame(
        [dict(one.factors) | {"log": log(one.elapsed_s), "block": f"b{one.repetition}"} for one in found]
    )


@pytest.mark.slow
def test_shares_are_those_of_an_analysis_of_variance():
    import statsmodels.formula.api as smf
    from statsmodels.stats.anova import anova_lm

    every = FakeTimes(factors=FACTORS, together={("b", "ssd"): 1.2}, drift=0.01).samples(5, 2)
    for trials in (every, every[:-3]):
        (found,) = effects(trials)
        oracle = anova_lm(smf.ols("log ~ C(block) + C(settings, Sum) * C(placement, Sum)", table(trials)).fit(), typ=3)
        logs = table(trials)["log"]
        total = ((logs - logs.mean()) ** 2).sum()
        for names, row in (
            (("settings",), "C(settings, Sum)"),
            (("placement",), "C(placement, Sum)"),
            (("settings", "placement"), "C(settings, Sum):C(placement, Sum)"),
        ):
            assert effect_of(found, *names).share == pytest.approx(oracle["sum_sq"][row] / total)
        assert found.rest_share == pytest.approx(oracle["sum_sq"]["Residual"] / total)


@pytest.mark.slow
def test_intervals_are_those_of_least_squares():
    import statsmodels.formula.api as smf

    own = NoisePrior(deviation=0.1, freedom=1e-9, source="assumption")
    trials = FakeTimes(factors=FACTORS).samples(4, 1)
    (found,) = effects(trials, prior=own)
    oracle = smf.ols("log ~ C(block) + C(settings, Sum) * C(placement, Sum)", table(trials)).fit().conf_int()
    first = effect_of(found, "placement").levels[0].interval
    assert (log(first.low), log(first.high)) == pytest.approx(tuple(oracle.loc["C(placement, Sum)[S.hdd]"]))


def test_without_repetitions_there_is_no_interval():
    (found,) = effects(FakeTimes(factors=FACTORS).samples(1, 1))
    assert {level.interval for one in found.effects for level in one.levels} == {None}


def test_zero_storage_delay_is_no_level():
    factors = {**FACTORS, "placement": {"hdd": 1.0, "ssd": 0.25, "zero-delay": 0.2}}
    (found,) = effects(FakeTimes(factors=factors, **EXACT).samples(3, 1))
    assert times(effect_of(found, "placement")) == {("hdd",): pytest.approx(2), ("ssd",): pytest.approx(0.5)}


def test_a_missing_trial_is_borne_and_said():
    found = [one for one in FakeTimes(factors=FACTORS, **EXACT).samples(4, 1) if one.trial != "0007"]
    (seen,) = effects(found)
    assert not seen.balanced
    assert times(effect_of(seen, "settings"))["b",] == pytest.approx(1.2)


def test_one_factor_at_a_time_has_main_effects_and_refuses_pairs():
    base = {("a", "hdd"), ("b", "hdd"), ("a", "ssd")}
    every = FakeTimes(factors=FACTORS, **EXACT).samples(4, 1)
    (found,) = effects([one for one in every if (one.level("settings"), one.level("placement")) in base])
    assert [one.factors for one in found.effects] == [("placement",), ("settings",)]
    assert times(effect_of(found, "placement"))["ssd",] == pytest.approx(0.5)
    assert found.refused == (
        "whether settings and placement change each other's effect can't be told: "  # noqa: ISC004 - one sentence
        "1 of 4 combinations of their levels are missing",
    )


def test_factors_that_vary_together_are_not_told_apart():
    found = [
        TrialSample(str(n), (("memory", memory), ("cpus", cpus), (MACHINE, "A")), n, time)
        for n in range(4)
        for memory, cpus, time in (("1GiB", "1", 10), ("2GiB", "2", 6))
    ]
    (seen,) = effects(found)
    assert [one.factors for one in seen.effects] == [("memory",)]
    assert seen.balanced
    assert seen.refused == ("the effect of cpus can't be told: it varies only together with others",)


def test_machines_are_fitted_apart_and_so_is_each_workload_where_asked_for():
    one = FakeTimes(factors=FACTORS, **EXACT).samples(3, 1)
    other = FakeTimes(factors={**FACTORS, "placement": {"hdd": 1, "ssd": 1}}, machine="B", **EXACT).samples(3, 1)
    first, second = effects([*one, *other])
    assert (first.within, second.within) == (((MACHINE, "A"),), ((MACHINE, "B"),))
    assert times(effect_of(second, "placement"))["ssd",] == pytest.approx(1)
    within = effects(one, within=("settings",))
    assert sorted(found.within for found in within) == [((MACHINE, "A"), ("settings", level)) for level in ("a", "b")]


def test_single_trials_leave_nothing_to_tell_chance_by():
    (found,) = effects(FakeTimes(factors=FACTORS).samples(1, 1))
    assert "there are as many effects as trials: chance can't be told from them" in found.refused


def test_nothing_varies():
    assert effects([]) == []
    (found,) = effects([TrialSample("1", (("placement", "hdd"), (MACHINE, "A")), 1, 10.0)])
    assert found.effects == ()


@pytest.mark.slow
@pytest.mark.parametrize(("settings", "shown"), [(("defaults",), False), (("defaults", "customs"), True)])
def test_effects_are_shown_where_several_factors_vary(settings, shown):
    plan, records = made_run(made_trials(settings=settings, repetitions=6))
    assert ("What each factor does" in page(plan, records)) == shown
    assert ("<td>drift between repetitions</td>" in page(plan, records)) == shown
    view = effects_view(summaries(records))
    assert (view is not None) == shown
    if view:
        (table,) = view.tables
        assert [one.factors for one in table.effects][:2] == [("settings",), ("placement",)]
        assert levels_text(table.effects[1]).startswith("hdd 1.2")


@pytest.mark.parametrize(("repetitions", "said"), [(1, True), (2, False)])
def test_a_run_without_repetitions_says_so(repetitions, said):
    plan, records = made_run(made_trials(settings=("defaults", "customs"), repetitions=repetitions))
    assert ("No combination ran twice" in page(plan, records)) == said
