"""Proves that what is assumed of a machine's noise comes from its own earlier trials, and from no others'."""

import numpy as np
import pytest

from assay.model.trial import SHIPPED_PRIOR
from assay.stats.duration_history import TrialDuration
from assay.stats.fit import prior_of
from tests.builders import a_trial

HERE = {"host": "here", "cpu": "fast", "cores": "2", "kernel": "6.1"}
WORKLOADS = ("triangles", "sort", "components", "count")


def history(noise, facts=HERE, runs=("a", "b"), drift=0.0, workloads=WORKLOADS, elapsed=True):
    """Runs of some workloads, four repetitions of two placements each."""
    source = np.random.default_rng(3)
    return [
        TrialDuration(
            a_trial(1, medium, repetition, workload),
            seconds=60.0,
            elapsed_s=float(30 * np.exp(source.normal(0, noise) + drift * repetition)) if elapsed else None,
            facts=facts,
            run=run,
        )
        for run in runs
        for workload in workloads
        for repetition in range(1, 5)
        for medium in ("hdd", "ssd")
    ]


@pytest.mark.parametrize("noise", [0.02, 0.15])
def test_the_prior_is_the_noise_of_earlier_trials_without_their_drift(noise):
    for drift in (0.0, 0.3):
        found = prior_of(history(noise, drift=drift), HERE, {"embedded"})
        assert found.deviation == pytest.approx(noise, rel=0.3)
        assert (found.source, found.workloads, found.trials) == ("history", 4, 64)
        assert found.freedom <= 8


def test_another_machine_or_cluster_says_nothing_of_this_one_but_other_software_does():
    assert prior_of(history(0.05, {**HERE, "host": "other"}), HERE, {"embedded"}) is SHIPPED_PRIOR
    assert prior_of(history(0.05, {"cpu": "fast"}), HERE, {"embedded"}) is SHIPPED_PRIOR
    assert prior_of(history(0.05), HERE, {"existing"}) is SHIPPED_PRIOR
    assert prior_of(history(0.05, {**HERE, "kernel": "5.4"}), HERE, {"embedded"}).source == "history"


def test_few_workloads_wrong_outputs_and_warm_ups_are_no_history():
    assert prior_of(history(0.05, workloads=WORKLOADS[:2]), HERE, {"embedded"}) is SHIPPED_PRIOR
    assert prior_of(history(0.05, elapsed=False), HERE, {"embedded"}) is SHIPPED_PRIOR
    warm = [one._replace(trial=one.trial.model_copy(update={"warm_up": True})) for one in history(0.05)]
    assert prior_of(warm, HERE, {"embedded"}) is SHIPPED_PRIOR
    assert prior_of([], HERE, {"embedded"}) is SHIPPED_PRIOR


def test_repetitions_of_one_number_in_two_runs_are_no_pairs():
    """The second run is twice as slow: as blocks of the first they would be noise."""
    slower = [one._replace(elapsed_s=2 * one.elapsed_s, run="later") for one in history(0.03, runs=("b",))]
    found = prior_of([*history(0.03, runs=("a",)), *slower], HERE, {"embedded"})
    assert found.deviation == pytest.approx(0.03, rel=0.4)
