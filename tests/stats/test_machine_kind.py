"""Proves that kinds of machines are told apart by short names, and that warm-ups and failures never count."""

import pytest

from assay.model.doubt import Outcome
from assay.model.limits import LimitUse
from assay.model.record import Status
from assay.stats import sample
from assay.stats.machine_kind import machine_names, machine_of, machines_of
from assay.stats.run_doubts import different_machines, media_changed, programs_changed
from assay.stats.sample import Trials, in_order, samples, varying_factors
from assay.stats.trial_summary import summarise
from tests.builders import a_record, a_trial, summaries

FACTS = {"cpu": "test", "cores": 2, "memory_bytes": 8 << 30, "kernel": "6.1", "jobs_jar_sha256": "f" * 64}


def names(*facts):
    return list(machine_names(machine_of(summarise(a_record(facts={**FACTS, **one}))) for one in facts).values())


def kinds(*media, runs=()):
    """One trial on each medium with these facts."""
    trials = [a_trial(number, medium) for number, (medium, _) in enumerate(media, 1)]
    facts = [{f"medium.{name}.{fact}": value for fact, value in own.items()} for name, own in media]
    records = [a_record(trial, facts={**FACTS, **own}) for trial, own in zip(trials, facts, strict=True)]
    return Trials(summaries(records), runs).machines, [
        ", ".join(change.words for change in changes) for changes in Trials(summaries(records)).changes
    ]


def test_one_kind_is_a():
    assert names({}, {"medium.disk.free_bytes": "7"}) == ["A"]
    assert kinds(("disk", {"free_bytes": "1"}), ("disk", {"free_bytes": "2"})) == (["A", "A"], ["", ""])


def test_trials_on_different_media_of_one_machine_are_of_one_kind():
    assert kinds(("hdd", {"drive": "wd"}), ("ssd", {"drive": "evo"}), ("hdd", {"drive": "wd"}))[0] == ["A"] * 3


def test_a_medium_that_became_another_one_is_told_apart_and_the_others_stay():
    found, words = kinds(
        ("hdd", {"drive": "wd"}), ("ssd", {"drive": "evo"}), ("ssd", {"drive": "mx"}), ("hdd", {"drive": "wd"})
    )
    assert found == ["A", "A", "A2 (ssd drive mx)", "A"]
    assert words[2] == "the drive of ssd is evo in some trials and mx in others"
    for fact in (
        "profile_digest",
        "emulator_digest",
        "device",
        "file_system",
        "mount_options",
        "size_bytes",
        "scheduler",
        "read_ahead_kb",
    ):
        assert kinds(("ssd", {fact: "1"}), ("ssd", {fact: "2"}))[0][1].startswith("A2 (ssd "), fact


def programs(version, digest="a" * 64):
    return {"programs.tez.version": version, "programs.tez.sha256": digest}


def test_trials_with_other_programs_are_told_apart_and_those_without_any_go_with_all():
    facts = [programs("0.10.5"), {}, programs("0.10.6"), programs("0.10.5", "b" * 64)]
    records = [a_record(a_trial(number), facts={**FACTS, **own}) for number, own in enumerate(facts, 1)]
    trials = Trials(summaries(records))
    assert trials.machines == ["A", "A", "A2 (tez version 0.10.6)", "A3 (tez digest bbbbbbb)"]
    assert len({sample.level("machine") for sample in trials.samples}) == 3
    assert [doubt.what for doubt in programs_changed(summaries(records))] == [
        "the version of tez is 0.10.5 in some trials and 0.10.6 in others",
        "the digest of tez is aaaaaaa in some trials and bbbbbbb in others",
    ]
    assert media_changed(summaries(records)) == []


def test_a_medium_and_programs_that_both_changed_are_both_told():
    both = [
        {"medium.disk.drive": drive, **programs(version)} for drive, version in (("wd", "0.10.5"), ("mx", "0.10.6"))
    ]
    records = [a_record(a_trial(number), facts={**FACTS, **facts}) for number, facts in enumerate(both, 1)]
    assert Trials(summaries(records)).machines == ["A", "A2 (disk drive mx, tez version 0.10.6)"]
    assert [len(look(summaries(records))) for look in (media_changed, programs_changed)] == [1, 1]


def test_of_several_runs_programs_are_told_apart_over_all():
    records = [a_record(facts={**FACTS, **programs(version)}) for version in ("0.10.5", "0.10.6")]
    assert Trials(summaries(records), ("first", "second")).machines == ["A", "A2 (tez version 0.10.6)"]


def test_an_emulated_drive_is_the_same_on_another_device():
    trials = [a_trial(number) for number in (1, 2)]
    media = [one.media[0].model_copy(update={"kind": "emulated"}) for one in trials]
    records = [
        a_record(trial.model_copy(update={"media": (medium,)}), facts={"medium.disk.device": f"/dev/loop{trial.id}"})
        for trial, medium in zip(trials, media, strict=True)
    ]
    assert Trials(summaries(records)).machines == ["A", "A"]


def test_of_several_runs_media_are_told_apart_within_each():
    media = [("ssd", {"drive": "evo"}), ("ssd", {"drive": "mx"}), ("ssd", {"drive": "qvo"})]
    assert kinds(*media, runs=("one", "two", "two"))[0] == ["A", "A", "A2 (ssd drive qvo)"]


def test_a_trial_that_failed_before_its_facts_were_known_is_on_no_other_machine():
    whole = a_record(a_trial(1), facts={**FACTS, "medium.disk.drive": "wd"}).model_copy(update={"cluster": None})
    early = a_record(a_trial(2), facts={"cpu": "test"}).model_copy(update={"status": Status.FAILED, "error": "no"})
    assert machines_of(summaries([early, whole])) == [machine_of(summarise(whole))] * 2
    assert Trials(summaries([early, whole])).machines == ["A", "A"]
    assert different_machines(summaries([early, whole])) == []
    elsewhere = early.model_copy(update={"facts": {"cpu": "other"}})
    assert machines_of(summaries([elsewhere, whole]))[0] != machine_of(summarise(whole))
    assert len(different_machines(summaries([elsewhere, whole]))) == 1


def test_twin_hosts_are_two_machines():
    assert names({"host": "one"}, {"host": "two"}) == ["A (host one)", "B (host two)"]


def test_kinds_are_named_by_the_facts_that_tell_them_apart():
    assert names({}, {"kernel": "6.2"}) == ["A (kernel 6.1)", "B (kernel 6.2)"]
    assert names({}, {"memory_bytes": 16 << 30}) == ["A (memory 8.0 GiB)", "B (memory 16.0 GiB)"]
    assert names({}, {"kernel": "6.2"}, {"cores": 4}) == [
        "A (cores 2, kernel 6.1)", "B (cores 2, kernel 6.2)", "C (cores 4)",
    ]  # fmt: skip
    assert names({}, {"jobs_jar_sha256": "a" * 64}) == ["A (jobs fffffff)", "B (jobs aaaaaaa)"]
    assert names({"code_sha256": "a" * 64}, {"code_sha256": "b" * 64}) == ["A (code aaaaaaa)", "B (code bbbbbbb)"]


def test_another_release_whose_measuring_code_is_the_same_is_no_other_kind():
    assert names({"assay": "0.1.0+1", "code_sha256": "a"}, {"assay": "0.1.0+2", "code_sha256": "a"}) == ["A"]


def test_another_build_of_the_emulator_is_told_apart_in_words():
    _, words = kinds(("hdd", {"emulator_digest": "a" * 16}), ("hdd", {"emulator_digest": "b" * 16}))
    assert words[1] == "the emulator of hdd is aaaaaaa in some trials and bbbbbbb in others"


def test_versions_of_control_groups_are_kinds():
    kinds = machine_names(
        map(machine_of, summaries([a_record(), a_record(limits=LimitUse.model_construct(interface="cgroup v2"))]))
    )
    assert list(kinds.values()) == ["A (control groups unknown)", "B (control groups cgroup v2)"]


def test_a_sample_has_all_factors_its_machine_and_its_run():
    (one,) = samples(summaries([a_record(a_trial(7, repetition=3), elapsed_s=4.5)]), ["first"])
    assert (one.trial, one.repetition, one.elapsed_s) == ("0007-triangles-disk", 3, 4.5)
    assert dict(one.factors) == {**a_trial().factors, "run": "first", "machine": "A"}
    with pytest.raises(ValueError, match="zip"):
        samples(summaries([a_record()]), ["first", "second"])


def test_failed_trials_and_warm_ups_do_not_count():
    failed = a_record(a_trial(2), status=Status.FAILED, totals=None)
    assert [one.trial[:4] for one in samples(summaries([a_record(), failed, a_record(a_trial(3))]))] == ["0001", "0003"]
    warm_up = a_record(a_trial().model_copy(update={"warm_up": True}))
    assert [one.trial[:4] for one in samples(summaries([warm_up, failed, a_record(a_trial(3))]))] == ["0003"]


def test_wrong_outputs_do_not_count_but_unchecked_ones_do():
    trials = summaries([a_record(a_trial(number), outcome=one) for number, one in enumerate(Outcome, 1)])
    assert [one.outcome for one in trials if sample.is_valid(one)] == [Outcome.PASS, Outcome.UNKNOWN]
    assert [one.outcome for one in trials if sample.is_wrong(one)] == [Outcome.FAIL]
    assert len(samples(trials)) == 2


def test_factors_that_vary_and_levels_in_peoples_order():
    assert varying_factors(samples(summaries([a_record(), a_record(a_trial(2, medium="memory"))]))) == ["placement"]
    assert in_order(["ssd100", "ssd25", "hdd", "ssd25"]) == ["hdd", "ssd25", "ssd100"]
    assert in_order(["10", "2", "1.5"]) == ["1.5", "2", "10"]
