"""Proves what the benchmark of the probes' weight makes of trials, without running any."""

import pytest
from benchmarks.probe_weight import Resident, _grown, _judge, _ratios

from assay.model.record import Amount, Status, Step
from tests.builders import a_record, a_trial

MIB = 1 << 20


def a_pair(number, probed_s, plain_s, busy_s=1.0):
    """Two trials, 100 s each, one after the other."""
    costs = (("trial", "elapsed_s", 100.0), ("probes", "busy_s", busy_s), ("evaluation", "busy_s", 1.0))
    amounts = [
        Amount(probe="own-cost", subject=subject, series=series, part="run", value=value)
        for subject, series, value in costs
    ]
    for at, (probes, elapsed_s) in enumerate((("default", probed_s), ("none", plain_s))):
        trial = a_trial(2 * number + at, repetition=number).model_copy(update={"probes": probes})
        steps = (Step(name="run", started_ms=1000 * (2 * number + at) * 100, seconds=100),)
        yield a_record(trial, elapsed_s, steps=steps, amounts=tuple(amounts) if probes == "default" else ())


class Seen(Resident):
    """A peak for each trial, in order."""

    def __init__(self, *mib):
        super().__init__()
        self._seen = [(100_000 * at + 5000, size * MIB) for at, size in enumerate(mib)]


class Folder:
    def __init__(self, records):
        self._records = records

    def records(self):
        return self._records, []

    def samples_bytes(self, trial):
        return 1000


def judged(pairs, mib=120):
    records = [record for pair in pairs for record in pair]
    return _judge(Folder(records), len(pairs), Seen(*(mib, 100) * len(pairs)))


def test_pairs_that_hardly_differ_pass():
    assert judged([a_pair(n, 10 + 0.01 * n, 10) for n in range(10)])


@pytest.mark.parametrize("probed_s", [10.3, 9.7])
def test_trials_with_probes_may_be_neither_slower_nor_faster(probed_s, capsys):
    assert not judged([a_pair(n, probed_s, 10) for n in range(10)])
    assert f"elapsed, probes over none: {probed_s / 10 - 1:+.2%}, 10 pairs: fail" in capsys.readouterr().out


def test_a_difference_that_is_not_known_well_enough_fails(capsys):
    assert not judged([a_pair(n, 10 + 0.9 * (n % 2) - 0.45, 10) for n in range(10)])
    assert "half of it 4.50%: fail" in capsys.readouterr().out


def test_the_evaluation_is_part_of_the_processor_time(capsys):
    assert not judged([a_pair(n, 10, 10, busy_s=2.5) for n in range(10)])
    assert "processor time: 3.50% of one core at most: fail" in capsys.readouterr().out


def test_memory_is_set_against_that_of_trials_without_probes(capsys):
    assert not judged([a_pair(n, 10, 10) for n in range(10)], mib=251)
    assert "memory: 151.0 MiB more than without probes at most: fail" in capsys.readouterr().out
    records = [record for n in range(2) for record in a_pair(n, 10, 10)]
    assert _grown(records, Seen(130, 120, 150, 110)) == 40 * MIB


def test_a_pair_of_which_one_trial_failed_is_none():
    records = [record for n in range(2) for record in a_pair(n, 11, 10)]
    records[0] = records[0].model_copy(update={"status": Status.FAILED, "totals": None})
    assert _ratios(records) == [pytest.approx(1.1)]
