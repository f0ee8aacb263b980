"""Proves that `benchmarks/cpu_speed_scaling.py` predicts less processor time from more, and from nothing else."""

from benchmarks.cpu_speed_scaling import comparisons, lines

from tests.report.test_depends import one


def test_half_of_the_processor_time_is_predicted_from_all_of_it():
    """Trials that the arithmetic made are predicted to the digit; the other way round nothing is predicted."""
    full, half = one(cpus="2"), one(cpus="1", cores=1.0, base_s=48.0, other_s=30.0, zero_s=28.0)
    (found,) = comparisons([half, full])
    assert found["cores"] == [2.0, 1.0]
    assert found["zero_delay_s"] == {"full": 14.0, "predicted": 28.0, "measured": 28.0}
    assert found["seconds"]["hdd"] == {"full": 34.0, "predicted": 48.0, "measured": 48.0}
    assert found["saving_predicted"]["value"] == found["saving_measured"]["value"] == 1 - 30 / 48
    assert found["storage_s"]["ssd"] == {"full": 2.0, "measured": 2.0}
    assert found["intervals_overlap"] is True
    assert "  saving measured   38 % (28 to 46 %)" in list(lines(found))


def test_a_prediction_that_fails_is_seen():
    (found,) = comparisons([one(cpus="2"), one(cpus="1", cores=1.0, base_s=60.0, other_s=58.0, zero_s=55.0)])
    assert found["intervals_overlap"] is False
    (found,) = comparisons([one(cpus="2"), one(cpus="1", cores=1.0, halves=None)])
    assert found["intervals_overlap"] is None


def test_other_memory_or_drives_are_not_compared():
    half = {"cpus": "1", "cores": 1.0}
    assert not list(comparisons([one(cpus="2"), one("3GiB", **half), one(other="nvme", **half)]))
