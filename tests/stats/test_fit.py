"""Proves that levels are fitted as a general linear model does it, whatever blocks hold, and that ratios follow."""

from itertools import product
from math import log

import numpy as np
import pytest

from assay.model.trial import NoisePrior
from assay.stats.fit import fits, noise_by_combination
from assay.stats.sample import MACHINE, RUN, TrialSample, combinations

ALMOST_NONE = NoisePrior(deviation=0.1, freedom=1e-9, source="assumption")
SEED = np.random.default_rng(7)


def trial(level, repetition, seconds, **more):
    levels = {"workload": "sort", "placement": level, MACHINE: "A"} | more
    return TrialSample(f"{level}-{repetition}", tuple(levels.items()), repetition, seconds)


def random_trials(cells):
    return [trial(level, block, float(np.exp(SEED.normal(3, 0.2)))) for level, block in cells]


def only(found):
    (one,) = found.values()
    return one


FULL = list(product(["hdd", "nvme", "ssd"], range(5)))
MIRRORED = [(level, 1) for level in ("hdd", "ssd", "zero", "ssd", "hdd")]
UNEQUAL = [*FULL[:4], *FULL[6:], ("hdd", 9), ("ssd", 3), ("ssd", 3)]


def ordinary(found, levels):
    """The oracle's fit of the trials of these levels, with a term for each block."""
    import pandas as pd
    import statsmodels.formula.api as smf

    own = [one for one in found if one.level("placement") in levels]
    table = {
        "log": [log(one.elapsed_s) for one in own],
        "level": [one.level("placement") for one in own],
        "block": [f"b{one.repetition}" for one in own],
    }
    formula = "log ~ C(level)" + (" + C(block)" if len(set(table["block"])) > 1 else "")
    return smf.ols(formula, pd.DataFrame(table)).fit()


@pytest.mark.slow
@pytest.mark.parametrize("cells", [FULL, MIRRORED, UNEQUAL], ids=["full", "mirrored", "unequal"])
def test_ratios_are_those_of_ordinary_least_squares_with_a_term_for_each_block(cells):
    found = random_trials(cells)
    fit = only(fits(found, "placement", ALMOST_NONE))
    oracle = ordinary(found, fit.levels)
    assert fit.blocked
    assert fit.noise.deviation == pytest.approx(oracle.mse_resid**0.5)
    for level in fit.levels[1:]:
        assert fit.contrast(level, "hdd").log == pytest.approx(oracle.params[f"C(level)[T.{level}]"])


@pytest.mark.slow
@pytest.mark.parametrize("level", ["nvme", "ssd"])
def test_intervals_are_those_of_ordinary_least_squares_on_the_two_levels_where_all_blocks_are_whole(level):
    found = random_trials(FULL)
    name, oracle = f"C(level)[T.{level}]", ordinary(found, ("hdd", level))
    for contrast in (
        only(fits(found, "placement", ALMOST_NONE)).contrast(level, "hdd"),
        only(fits(found, "placement")).own_contrast(level, "hdd"),
    ):
        assert contrast.error == pytest.approx(oracle.bse[name])
        assert contrast.freedom == pytest.approx(oracle.df_resid)
        assert contrast.p() == pytest.approx(oracle.pvalues[name])
        low, high = oracle.conf_int().loc[name]
        assert log(contrast.interval().low) == pytest.approx(low)
        assert log(contrast.interval().high) == pytest.approx(high)


def test_one_repetition_there_and_back_has_two_degrees_of_freedom():
    assert only(fits(random_trials(MIRRORED), "placement")).noise.own_freedom == 2


@pytest.mark.slow
def test_levels_that_never_share_a_repetition_are_compared_without_blocks():
    import pandas as pd
    import statsmodels.formula.api as smf

    cells = [("hdd", 1), ("hdd", 2), ("hdd", 3), ("ssd", 4), ("ssd", 5), ("ssd", 6)]
    found = random_trials(cells)
    fit = only(fits(found, "placement", ALMOST_NONE))
    table = pd.DataFrame({"log": [log(one.elapsed_s) for one in found], "level": [level for level, _ in cells]})
    oracle = smf.ols("log ~ level", table).fit()
    assert not fit.blocked
    assert fit.contrast("ssd", "hdd").log == pytest.approx(oracle.params["level[T.ssd]"])
    assert fit.contrast("ssd", "hdd").error == pytest.approx(oracle.bse["level[T.ssd]"])


def test_one_shared_repetition_of_many_does_not_throw_the_others_away():
    cells = [*(("hdd", n) for n in range(6)), *(("ssd", n) for n in range(5, 11))]
    assert not only(fits(random_trials(cells), "placement")).blocked


def test_trials_of_one_number_in_two_runs_share_no_block():
    found = [trial("hdd", n, 10.0 + n, **{RUN: run}) for run in ("old", "new") for n in range(3)]
    assert not only(fits(found, RUN)).blocked


def test_drift_between_repetitions_is_no_noise():
    found = [trial(level, n, base * 1.5**n) for level, base in (("hdd", 10), ("ssd", 7)) for n in range(4)]
    fit = only(fits(found, "placement", ALMOST_NONE))
    assert fit.noise.deviation < 1e-5
    assert fit.contrast("ssd", "hdd").ratio == pytest.approx(0.7)
    assert noise_by_combination(combinations(found))[found[0].factors].deviation > 0.3


def test_noise_is_that_of_each_combinations_own_trials():
    quiet = [one._replace(factors=(*one.factors, ("memory", "1GiB"))) for one in random_trials(FULL)]
    noisy = [one._replace(factors=(*one.factors[:-1], ("memory", "2GiB")), elapsed_s=one.elapsed_s**3) for one in quiet]
    alone, together = only(fits(quiet, "placement")), fits([*quiet, *noisy], "placement")
    assert {fit.noise.own_freedom for fit in together.values()} == {8}
    noises = {dict(others)["memory"]: fit.noise.deviation for others, fit in together.items()}
    assert noises["1GiB"] == alone.noise.deviation
    assert noises["2GiB"] > 1.5 * noises["1GiB"]


def test_a_level_that_is_there_once_has_a_wider_interval():
    found = random_trials([("hdd", 1), ("ssd", 1), ("zero", 1), ("ssd", 1), ("hdd", 1)])
    quiet = [one._replace(elapsed_s=one.elapsed_s**0.1) for one in found]  # so that all noises are the prior's, nearly
    fit = only(fits(quiet, "placement"))
    assert fit.contrast("zero", "hdd").error > fit.contrast("ssd", "hdd").error


def test_draws_scatter_as_contrasts_do():
    fit = only(fits(random_trials(FULL), "placement"))
    drawn = fit.draws(("nvme", "ssd"), "hdd", 200_000, 3)
    assert drawn.shape == (200_000, 2)
    for level, difference in (("nvme", drawn[:, 0]), ("ssd", drawn[:, 1])):
        contrast = fit.contrast(level, "hdd")
        assert difference.mean() == pytest.approx(contrast.log, abs=contrast.error / 20)
        low, high = np.exp(np.quantile(difference, [0.025, 0.975]))
        assert (low, high) == (
            pytest.approx(contrast.interval().low, rel=0.02),
            pytest.approx(contrast.interval().high, rel=0.02),
        )
    between = np.quantile(drawn[:, 1] - drawn[:, 0], [0.025, 0.975])
    assert between == pytest.approx(np.log(list(dict(fit.contrast("ssd", "nvme").interval()).values())), abs=0.01)
    assert (fit.draws(("ssd",), "hdd", 9, 3) == fit.draws(("ssd",), "hdd", 9, 3)).all()


def test_a_p_value_of_another_ratio_than_1():
    contrast = only(fits(random_trials(FULL), "placement")).contrast("ssd", "hdd")
    assert contrast.p(contrast.log) == 1
    assert contrast.p(log(contrast.interval().high)) == pytest.approx(0.05)


def test_a_factor_that_is_not_there():
    with pytest.raises(KeyError):
        fits(random_trials(FULL), "colour")
    assert fits([], "placement") == {}
