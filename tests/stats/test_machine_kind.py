"""Proves that kinds of machines are told apart by short names, and that warm-ups and failures never count."""

import pytest

from assay.model.limits import LimitUse
from assay.model.record import Status
from assay.stats import sample
from assay.stats.machine_kind import machine_names
from assay.stats.sample import in_order, samples, varying_factors
from tests.builders import a_record, a_trial

FACTS = {"cpu": "test", "cores": "2", "memory_bytes": str(8 << 30), "kernel": "6.1", "jobs_jar_sha256": "f" * 64}


def names(*facts):
    return list(machine_names([a_record(facts={**FACTS, **one}) for one in facts]).values())


def test_one_kind_is_a():
    assert names({}, {"medium.disk.device": "/dev/y"}) == ["A"]


def test_kinds_are_named_by_the_facts_that_tell_them_apart():
    assert names({}, {"kernel": "6.2"}) == ["A (kernel 6.1)", "B (kernel 6.2)"]
    assert names({}, {"memory_bytes": str(16 << 30)}) == ["A (memory 8.0 GiB)", "B (memory 16.0 GiB)"]
    assert names({}, {"kernel": "6.2"}, {"cores": "4"}) == [
        "A (cores 2, kernel 6.1)", "B (cores 2, kernel 6.2)", "C (cores 4)",
    ]  # fmt: skip
    assert names({}, {"jobs_jar_sha256": "a" * 64}) == ["A (jobs fffffff)", "B (jobs aaaaaaa)"]


def test_versions_of_control_groups_are_kinds():
    assert "limits" in type(a_record()).model_fields
    assert "interface" in LimitUse.model_fields
    kinds = machine_names([a_record(), a_record(limits=LimitUse.model_construct(interface="cgroup v2"))])
    assert list(kinds.values()) == ["A (control groups unknown)", "B (control groups cgroup v2)"]


def test_a_sample_has_all_factors_its_machine_and_its_run():
    (one,) = samples([a_record(a_trial(7, repetition=3), elapsed_s=4.5)], ["first"])
    assert (one.trial, one.repetition, one.elapsed_s) == ("0007-triangles-disk", 3, 4.5)
    assert dict(one.factors) == {**a_trial().factors, "run": "first", "machine": "A"}
    with pytest.raises(ValueError, match="zip"):
        samples([a_record()], ["first", "second"])


def test_failed_trials_and_warm_ups_do_not_count(monkeypatch):
    failed = a_record(a_trial(2), status=Status.FAILED, totals=None)
    assert [one.trial[:4] for one in samples([a_record(), failed, a_record(a_trial(3))])] == ["0001", "0003"]
    monkeypatch.setattr(sample, "is_warm_up", lambda trial: trial.id.startswith("0001"))
    assert [one.trial[:4] for one in samples([a_record(), failed, a_record(a_trial(3))])] == ["0003"]


def test_a_trial_that_says_so_is_a_warm_up():
    assert sample.is_warm_up(a_trial().model_copy(update={"warm_up": True}))
    assert not sample.is_warm_up(a_trial())


def test_factors_that_vary_and_levels_in_peoples_order():
    assert varying_factors(samples([a_record(), a_record(a_trial(2, medium="memory"))])) == ["placement"]
    assert in_order(["ssd100", "ssd25", "hdd", "ssd25"]) == ["hdd", "ssd25", "ssd100"]
    assert in_order(["10", "2", "1.5"]) == ["1.5", "2", "10"]
