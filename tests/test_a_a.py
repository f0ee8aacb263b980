"""Proves that `benchmarks/a_a.py` sees in an A/A run what was put into it: effects, states, and what explains the noise."""

import numpy as np
import pytest
from benchmarks.a_a import (
    Claims,
    Pair,
    autocorrelation,
    claims,
    covariates,
    kurtosis,
    pairs_of,
    removed,
    show_covariates,
    show_noise,
    two_states,
)
from benchmarks.known_effects import measured_noise

from assay.model.errors import BadInputError
from assay.model.record import Amount
from assay.model.trial import MediumSpec
from tests.builders import a_plan, a_record, a_trial
from tests.stats.fake_times import FakeTimes


def a_run(ratio, pairs=8, noise=0.02, **medium):
    """A plan and its records; the second placement takes `ratio` times as long, and its drive differs in `medium`."""
    source = np.random.default_rng(1)
    drives = {"a": MediumSpec(name="a", kind="directory"), "b": MediumSpec(name="b", kind="directory", **medium)}
    records = []
    for repetition in range(1, pairs + 1):
        for name, times in (("a", 1.0), ("b", ratio)):
            trial = a_trial(len(records) + 1, name, repetition).model_copy(update={"media": (drives[name],)})
            records.append(a_record(trial, 20.0 * times * float(np.exp(noise * source.standard_normal()))))
    return a_plan(*(one.trial for one in records)).model_copy(update={"placements": ("a", "b")}), records


def test_without_an_effect_nothing_is_claimed_and_an_effect_is_a_false_positive():
    for ratio, wanted in ((1.0, Claims(1, 0, 0, 0)), (0.7, Claims(1, 1, 1, 1))):
        plan, records = a_run(ratio)
        (own,) = pairs_of(plan, records).values()
        assert claims(plan, own) == wanted


def test_exchanged_names_turn_a_pairs_ratio_around():
    plan, records = a_run(0.7)
    pair = pairs_of(plan, records)["triangles"][0]
    assert pair.exchanged().log_ratio == pytest.approx(-pair.log_ratio)
    assert isinstance(pair, Pair)
    assert [one.trial for one in pair.exchanged()] == [one.trial for one in pair]


def test_different_drives_are_no_a_a_run():
    with pytest.raises(BadInputError, match="the same drive"):
        pairs_of(*a_run(1.0, path="/somewhere"))


def test_a_covariate_that_makes_the_noise_removes_it_and_another_adds_to_it():
    source = np.random.default_rng(1)
    cause, other = source.standard_normal((2, 40))
    values = 0.1 * cause + 0.02 * source.standard_normal(40)
    assert removed(cause, values) > 0.9
    assert np.mean([removed(source.permutation(other), values) for _ in range(200)]) < 0


def test_covariates_are_what_was_measured_while_the_jobs_ran():
    amounts = tuple(
        Amount(probe=probe, subject=subject, series=series, part=part, value=value)
        for probe, subject, series, part, value in (
            ("spin", "processors", "busy_s", "staging", 0.1),
            ("cpu", "machine", "steal_s", "staging", 0.2),
            ("cpu", "machine", "steal_s", "run", 0.4),
            ("processes", "containers", "user_s", "run", 5.0),
            ("processes", "containers", "system_s", "run", 1.0),
        )
    )
    assert covariates(a_record(amounts=amounts)) == {"steal": 0.4, "processor time of containers": 6.0}


def test_what_each_covariate_removes_is_printed_with_the_pairs_that_have_it(capsys):
    """The time of these trials grows with their processor time alone, and the first pair has no figure of it."""
    plan, records = a_run(1.0, noise=0.2)
    with_figures = [
        record.model_copy(update={"amounts": (
            Amount(probe="processes", subject="containers", series="busy_s", part="run",
                   value=float(np.log(record.totals.elapsed_s))),
        )})
        for record in records[2:]
    ]  # fmt: skip
    show_covariates(pairs_of(plan, [*records[:2], *with_figures]))
    order, containers = capsys.readouterr().out.splitlines()[-2:]
    assert order.startswith("  order in the run: ")
    assert order.endswith("(8 pairs)")
    assert containers.startswith("  processor time of containers: +100.0%, ")
    assert containers.endswith("(7 pairs)")


def test_a_slow_state_differs_from_a_single_one():
    source = np.random.default_rng(1)
    noise = 0.03 * source.standard_normal(60)
    slow = np.arange(60) % 4 == 0
    found = two_states(list(noise + 0.3 * slow))
    assert found.evidence > 6
    assert found.slow_log == pytest.approx(0.3, abs=0.03)
    assert found.slow_share == pytest.approx(0.25, abs=0.05)
    assert two_states(list(noise)).evidence < 6


def test_noise_that_is_simulated_from_an_a_a_run_is_the_noise_of_that_run():
    measured = show_noise(pairs_of_run(noise=0.05))["triangles"]
    fake = FakeTimes(factors={"placement": {"a": 1.0, "b": 1.0}}, disturbed=0.0, **measured_noise(measured))
    times = [one.elapsed_s for one in fake.samples(2000, 1)]
    logs = np.log(times).reshape(-1, 2)
    assert np.std(logs[:, 1] - logs[:, 0]) == pytest.approx(measured["pair_deviation"], rel=0.1)


def pairs_of_run(**changes):
    return pairs_of(*a_run(1.0, pairs=20, **changes))


def test_simulated_times_have_the_tails_and_the_autocorrelation_that_were_asked_for():
    same = {"placement": {"a": 1.0}}
    heavy = FakeTimes(factors=same, tails=8, drift=0.0, disturbed=0.0)
    assert kurtosis(logs_of(heavy)) == pytest.approx(6 / (8 - 4), abs=0.5)
    alike = FakeTimes(factors=same, autocorrelation=0.6, drift=0.0, disturbed=0.0)
    assert autocorrelation(logs_of(alike), 1) == pytest.approx(0.6, abs=0.05)


def logs_of(fake):
    logs = np.log([one.elapsed_s for one in fake.samples(5000, 1)])
    return logs - logs.mean()
