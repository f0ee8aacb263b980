"""Proves that a decision gives what storage costs, what a drive saves and wins back, and a verdict only where it can."""

import pytest

from assay.model.doubt import Outcome
from assay.model.record import Amount, Step
from assay.model.trial import ZERO_DELAY
from assay.stats.caveats import AssumedParameters, MachineShared, NotTheDrives, RanElsewhere, TimesApart, WrittenLate
from assay.stats.decision import Verdict, decisions
from assay.stats.summary import rows_of
from assay.stats.trial_doubts import MACHINE_SHARED
from tests.builders import a_trial, device_reports, summaries, summarised, with_facts
from tests.stats.terasort import mirrored_run, terasort_run, timed, written

MIRRORED = [("hdd", 47.2), ("ssd", 35.3), (ZERO_DELAY, 34.3), ("ssd", 29.0), ("hdd", 46.9)]


def decision_of(run):
    (found,) = decisions(*summarised(*run))
    return found


def twenty_of(records):
    """The same times for each of twenty workloads."""
    return [
        timed(
            a_trial(100 * at + number, one.trial.placement.name, one.trial.repetition, workload=f"sort-{at}"),
            one.totals.elapsed_s,
        )
        for at in range(20)
        for number, one in enumerate(records)
    ]


def result(decision, placement):
    return next(one for one in decision.placements if one.placement == placement)


ALIKE = {"hdd": (30.0, 30.1, 29.9), "ssd": (29.9, 30.0, 30.1), ZERO_DELAY: (29.8, 29.9, 29.7)}


@pytest.mark.parametrize(
    ("shares", "late"),
    [
        ({"hdd": 0.95, "ssd": 0.9, ZERO_DELAY: 0.0}, None),
        ({"hdd": 0.81, "ssd": 0.81, ZERO_DELAY: 0.0}, None),
        ({"hdd": 0.79, "ssd": 0.9, ZERO_DELAY: 0.9}, WrittenLate(of=("ssd",), trials=3, share=0.79)),
        ({"hdd": 0.95, "ssd": 0.1, ZERO_DELAY: 0.9}, None),
        ({"hdd": 0.2, "ssd": 0.1, ZERO_DELAY: 0.9}, WrittenLate(of=("ssd",), trials=3, share=0.2)),
    ],
)
def test_nothing_is_not_worth_it_against_a_base_whose_jobs_ended_before_their_writes(shares, late):
    found = decision_of(written(terasort_run(3, ALIKE), shares))
    assert found.verdict is (Verdict.NOT_WORTH_IT if late is None else Verdict.NOT_KNOWN_YET)
    assert result(found, "ssd").verdict is found.verdict
    assert result(found, "hdd").verdict is None
    assert result(found, "hdd").written_share == shares["hdd"]
    assert [one for one in found.caveats if isinstance(one, WrittenLate)] == ([] if late is None else [late])
    assert found.more is None
    assert found.open_levels == []


@pytest.mark.parametrize(
    ("shares", "late"),
    [
        ({"hdd": 0.1, "ssd": 0.9, ZERO_DELAY: 0.1}, None),
        ({"hdd": 0.9, "ssd": 0.1, ZERO_DELAY: 0.9}, WrittenLate(of=("ssd",), trials=4, share=0.1)),
        ({"hdd": 0.1, "ssd": 0.2, ZERO_DELAY: 0.9}, WrittenLate(of=("ssd",), trials=4, share=0.2)),
    ],
)
def test_nothing_is_worth_it_whose_jobs_ended_before_their_writes(shares, late):
    found = decision_of(written(terasort_run(), shares, busy_s=20.0))
    assert result(found, "ssd").verdict is found.verdict
    assert found.verdict is (Verdict.WORTH_IT if late is None else Verdict.NOT_KNOWN_YET)
    assert [one for one in found.caveats if isinstance(one, WrittenLate)] == ([] if late is None else [late])
    assert found.open_levels == []


def test_one_placement_alone_is_not_called_fast_enough_by_late_writes():
    times = {name: ALIKE[name] for name in ("hdd", ZERO_DELAY)}
    assert decision_of(written(terasort_run(3, times), {"hdd": 0.9, ZERO_DELAY: 0.9})).verdict is Verdict.NOT_WORTH_IT
    found = decision_of(written(terasort_run(3, times), {"hdd": 0.1, ZERO_DELAY: 0.9}))
    assert found.verdict is Verdict.NOT_KNOWN_YET
    assert found.of_late_writes == ("hdd",)


def test_the_terasort_is_decided_and_its_shares_follow_from_the_times():
    found = decision_of(terasort_run())
    assert [one.placement for one in found.placements] == ["hdd", "ssd"]
    assert found.verdict is result(found, "ssd").verdict is Verdict.WORTH_IT
    hdd, ssd = found.placements
    assert hdd.elapsed_s.value == pytest.approx(45.03, abs=0.01)
    assert hdd.storage_share.value == pytest.approx(0.349, abs=0.002)
    assert hdd.storage_s.value == pytest.approx(hdd.storage_share.value * hdd.elapsed_s.value)
    assert ssd.saving.value == pytest.approx(0.347, abs=0.002)
    assert ssd.won_back.value == pytest.approx(ssd.saving.value / hdd.storage_share.value)
    assert found.best == "ssd"
    assert found.more is None


def test_a_decision_knows_how_many_parameters_of_its_emulated_drives_are_assumed():
    """Of each profile once; a profile without an assumption, a record without the fact and a real drive say nothing."""
    plan, records = terasort_run()
    hdd = {"medium.hdd.profile": "wd10ezex", "medium.hdd.assumed_parameters": 14, "medium.hdd.parameters": 19}
    ssd = {"medium.ssd.profile": "calibrated", "medium.ssd.assumed_parameters": 0, "medium.ssd.parameters": 18}
    told = [with_facts(record, {**hdd, **ssd}) for record in records]
    assumed = AssumedParameters(profile="wd10ezex", assumed=14, parameters=19)
    assert decision_of((plan, told)).caveats == (assumed,)
    assert decision_of((plan, records)).caveats == ()


@pytest.mark.parametrize("placement", ["hdd", "ssd"])
def test_intervals_hold_their_figures(placement):
    one = result(decision_of(terasort_run()), placement)
    for figure in (one.elapsed_s, one.storage_share, one.storage_s, one.saving, one.won_back):
        if figure is not None:
            assert figure.low < figure.value < figure.high


def test_drift_between_repetitions_widens_the_intervals_of_times_and_not_of_savings():
    steady = {"hdd": (40.0, 40.4, 39.7), "ssd": (30.2, 29.9, 30.0), ZERO_DELAY: (29.0, 29.2, 28.9)}
    slower = {name: tuple(time * (1, 1.5, 2)[at] for at, time in enumerate(own)) for name, own in steady.items()}
    before, after = (result(decision_of(terasort_run(3, times)), "ssd") for times in (steady, slower))
    assert after.saving.low == pytest.approx(before.saving.low, abs=1e-4)
    assert after.elapsed_s.high / after.elapsed_s.low > 1.5 > before.elapsed_s.high / before.elapsed_s.low


def test_the_times_interval_is_as_uncertain_as_the_tables():
    plan, of_two = terasort_run(2)
    (row,) = (one for one in rows_of(summaries(of_two), prior=plan.prior) if one.placement == "ssd")
    own = result(decision_of((plan, of_two)), "ssd").elapsed_s
    assert own.high / own.low == pytest.approx(row.elapsed.interval.high / row.elapsed.interval.low)


def test_a_mirrored_repetition_has_two_degrees_of_freedom_and_decides():
    found = decision_of(mirrored_run(MIRRORED))
    assert found.verdict is Verdict.WORTH_IT
    assert found.baseline.trials == 1
    assert found.placements[0].storage_share.low > 0


def test_the_baseline_is_never_compared_nor_best():
    found = decision_of(terasort_run(times={"hdd": (47.2, 46.9), "ssd": (46.0, 48.0), ZERO_DELAY: (20.0, 20.5)}))
    assert found.best != ZERO_DELAY
    assert found.baseline.saving is found.baseline.verdict is None
    assert ZERO_DELAY not in [one.placement for one in found.placements]


def test_equal_times_are_not_worth_it_once_the_interval_is_below_the_threshold():
    near = {"hdd": (40.0, 40.6, 39.8, 40.3), "ssd": (39.8, 40.3, 40.1, 39.9), ZERO_DELAY: (39.5, 40.0, 39.9, 39.7)}
    found = decision_of(terasort_run(times=near))
    assert found.verdict is Verdict.NOT_WORTH_IT
    ssd = result(found, "ssd")
    assert ssd.saving.high < 0.1
    assert ssd.won_back is None


def test_what_lies_about_the_threshold_is_not_known_yet_and_says_what_would_decide():
    near = {"hdd": (40.0, 41.0, 39.0), "ssd": (34.9, 35.4, 34.1), ZERO_DELAY: (33.0, 33.4, 32.0)}
    plan, records = terasort_run(3, near)
    found = decision_of((plan, records))
    assert found.verdict is Verdict.NOT_KNOWN_YET
    assert found.more.repetitions >= 1
    assert found.more.seconds == pytest.approx(found.more.repetitions * sum(record.took_s for record in records) / 3)


def test_the_threshold_is_the_readers_own():
    assert decision_of(terasort_run(worth=0.1)).verdict is Verdict.WORTH_IT
    assert decision_of(terasort_run(worth=0.6)).verdict is Verdict.NOT_WORTH_IT
    assert decision_of(terasort_run(worth=0.34)).verdict is Verdict.NOT_KNOWN_YET


def test_single_trials_decide_nothing_since_the_noise_is_only_assumed():
    found = decision_of(terasort_run(1))
    assert found.verdict is Verdict.NOT_KNOWN_YET
    assert result(found, "ssd").won_back is None
    assert [one.elapsed_s.low for one in found.placements] == [None, None]


def test_a_wrong_or_failed_trial_is_left_out_and_the_rest_decides():
    plan, records = terasort_run()
    wrong = records[1].model_copy(
        update={"verdicts": (records[1].verdicts[0].model_copy(update={"outcome": Outcome.FAIL}),)}
    )
    found = decision_of((plan, [records[0], wrong, *records[2:]]))
    assert result(found, "ssd").trials == 3
    assert found.verdict is Verdict.WORTH_IT


def test_several_decisions_are_corrected_together():
    """A difference that alone is just worth it is open among twenty of them."""
    times = {"hdd": (40.0, 42.0, 41.0), "ssd": (29.0, 30.5, 28.5)}
    plan, alone = terasort_run(3, times)
    assert decision_of((plan, alone)).verdict is Verdict.WORTH_IT
    many = twenty_of(alone)
    assert {one.verdict for one in decisions(plan, summaries(many))} == {Verdict.NOT_KNOWN_YET}


def test_without_a_baseline_the_busy_time_of_the_base_bounds_the_gain():
    plan, records = terasort_run(times={"disk": (73.0, 74.0)})

    def busy(record, seconds):
        amount = Amount(probe="disk", subject="disk", series="busy_s", part="run", value=seconds)
        return record.model_copy(update={"amounts": (amount,)})

    found = decision_of((plan, [busy(one, 4.0) for one in records]))
    assert found.busy_bound_s == 4.0
    assert found.verdict is Verdict.NOT_WORTH_IT
    assert decision_of((plan, [busy(one, 40.0) for one in records])).verdict is Verdict.NOT_KNOWN_YET
    assert decision_of((plan, records)).busy_bound_s is None


def test_a_drive_that_counts_less_than_the_tasks_waited_bounds_nothing():
    """The kernel's own limits hold requests back before the device counts them."""
    plan, records = terasort_run(times={"disk": (73.0, 74.0)})
    busy = Amount(probe="disk", subject="disk", series="busy_s", part="run", value=4.0)
    blocked = Amount(probe="blocked-time", subject="map", series="blocked_s", part="run", value=20.0)
    records = [record.model_copy(update={"amounts": (busy, blocked)}) for record in records]
    found = decision_of((plan, records))
    assert found.busy_bound_s is None
    assert found.verdict is Verdict.NOT_KNOWN_YET


def busy_run(times, busy_s, **plan):
    plan, records = terasort_run(times=times, **plan)
    return plan, [
        one.model_copy(
            update={"amounts": tuple(
                Amount(probe="disk", subject=medium.name, series="busy_s", part="run", value=busy_s)
                for medium in one.trial.media
            )}
        )
        for one in records
    ]  # fmt: skip


def test_a_bound_far_below_the_threshold_decides_where_placements_are_compared_too():
    found = decision_of(busy_run({"hdd": (73.0, 70.0), "ssd": (64.0, 70.0)}, 4.0))
    assert found.is_too_small(found.busy_bound_s, found.worth.least)
    assert (found.verdict, result(found, "ssd").verdict, found.more) == (
        Verdict.NOT_WORTH_IT,
        Verdict.NOT_WORTH_IT,
        None,
    )
    found = decision_of(busy_run({"hdd": (73.0, 70.0), "ssd": (60.0, 69.0)}, 7.0))
    assert found.verdict is Verdict.NOT_KNOWN_YET
    assert not found.is_too_small(found.busy_bound_s, found.worth.least)


@pytest.mark.parametrize("other", ["ssd", ZERO_DELAY])
@pytest.mark.parametrize("kind", ["real", "emulated"])
@pytest.mark.parametrize("saved", [(35.0,), (35.0, 65.0), (55.0, 66.0, 61.0)])
def test_a_saving_that_busy_time_can_not_explain_leaves_it_open_however_seldom_it_was_seen(saved, kind, other):
    """Drives that were busy for 4 s can't have cost 6 s of 73, half as many again being counted."""
    base = (73.0, 72.0, 73.5)[: len(saved)]
    run = busy_run({"hdd": base, other: saved}, 4.0, repetitions=len(saved))
    found = decision_of(emulated(run) if kind == "emulated" else run)
    assert Verdict.NOT_WORTH_IT not in {found.verdict, *(one.verdict for one in found.placements)}
    agreeing = busy_run({"hdd": base, other: tuple(time - 3 for time in base)}, 4.0, repetitions=len(saved))
    assert decision_of(emulated(agreeing) if kind == "emulated" else agreeing).verdict is Verdict.NOT_WORTH_IT


@pytest.mark.parametrize("busy_s", [1.0, 4.0, 4.7, 4.9, 6.9, 7.4, 20.0])
def test_the_bound_that_decides_is_the_one_that_is_told(busy_s):
    found = decision_of(busy_run({"hdd": (73.0, 73.0), "ssd": (72.0, 73.0)}, busy_s))
    assert found.is_too_small(busy_s, found.worth.share) is (found.most_share(None, busy_s) < found.worth.share)
    assert (result(found, "ssd").verdict is Verdict.NOT_WORTH_IT) is found.is_too_small(busy_s, found.worth.share)


def on_nodes(run, nodes, measured):
    """The same on so many nodes, of which some were read."""
    plan, records = run
    names = [f"w{number}" for number in range(measured)]
    split = [
        with_facts(record, {"nodes": nodes}).model_copy(
            update={
                "amounts": tuple(
                    amount.model_copy(update={"node": name}) for amount in record.amounts for name in names
                )
            }
        )
        for record in records
    ]
    return plan, split


def test_busy_time_of_some_nodes_bounds_nothing():
    run = busy_run({"hdd": (73.0, 74.0), "ssd": (70.0, 72.0)}, 1.0)
    assert decision_of(on_nodes(run, 3, 3)).busy_bound_s == 3.0
    for measured in (1, 2):
        found = decision_of(on_nodes(run, 3, measured))
        assert (found.busy_bound_s, found.verdict) == (None, Verdict.NOT_KNOWN_YET)


def emulated(run):
    """The same with drives that are emulated."""
    plan, records = run
    found = []
    for record in records:
        media = tuple(medium.model_copy(update={"kind": "emulated"}) for medium in record.trial.media)
        found.append(record.model_copy(update={"trial": record.trial.model_copy(update={"media": media})}))
    return plan, found


def busy_by_placement(run, busy):
    """The same with how long each drive was busy on each placement; a placement has the drives that it is given."""
    plan, records = emulated(run)
    told = []
    for record in records:
        drives = busy[record.trial.placement.name]
        medium = record.trial.media[0]
        media = tuple(medium.model_copy(update={"name": name}) for name in drives)
        reports = {name: {"run": {"busy_seconds": seconds}} for name, seconds in drives.items()}
        trial = record.trial.model_copy(update={"media": media})
        told.append(record.model_copy(update={"trial": trial, "devices": device_reports(reports)}))
    return plan.model_copy(update={"trials": tuple(record.trial for record in told)}), told


NOISY = {
    "hdd": (31.0, 40.0, 33.0),
    "mixed": (36.0, 31.0, 33.0),
    "nvme": (29.0, 36.0, 33.0),
    ZERO_DELAY: (25.0, 34.0, 30.0),
}


def test_beside_a_baseline_too_busy_time_bounds_the_saving_and_of_one_role_what_leaves_the_drive():
    busy = {"hdd": {"hdd": 4.2}, "mixed": {"hdd": 3.0, "nvme": 0.3}, "nvme": {"nvme": 0.9}, ZERO_DELAY: {"zero": 0.1}}
    found = decision_of(busy_by_placement(terasort_run(3, NOISY), busy))
    assert found.busy_bound_s == 4.2
    mixed, nvme = result(found, "mixed"), result(found, "nvme")
    assert (mixed.most_s, mixed.verdict) == (pytest.approx(1.2), Verdict.NOT_WORTH_IT)
    assert (nvme.most_s, nvme.verdict) == (4.2, Verdict.NOT_KNOWN_YET)
    assert found.placements[0].storage_share.high > 4.2 / found.placements[0].elapsed_s.value


def test_what_drives_are_still_busy_with_decides_only_where_the_times_agree():
    """In the second run the drive is busy for 4 s here too, and the time is 3 s less: it was busy at other times."""
    times = {"hdd": (40.0, 40.0), "mixed": (37.0, 37.0)}
    for still_s, most_s in ((0.5, 3.7), (3.8, 4.2)):
        busy = {"hdd": {"hdd": 4.2}, "mixed": {"hdd": still_s, "nvme": 0.3}}
        mixed = result(decision_of(busy_by_placement(terasort_run(2, times, worth=0.15), busy)), "mixed")
        assert mixed.most_s == pytest.approx(most_s)
        assert mixed.verdict is not Verdict.WORTH_IT


def test_what_drives_are_still_busy_with_bounds_nothing_where_more_was_saved():
    times = {"hdd": (60.0, 61.0, 60.5), "mixed": (30.0, 30.5, 31.0), ZERO_DELAY: (25.0, 25.5, 25.2)}
    busy = {"hdd": {"hdd": 50.0}, "mixed": {"hdd": 45.0, "nvme": 1.0}, ZERO_DELAY: {"zero": 0.1}}
    mixed = result(decision_of(busy_by_placement(terasort_run(3, times), busy)), "mixed")
    assert (mixed.most_s, mixed.verdict) == (50.0, Verdict.WORTH_IT)


def test_a_baseline_that_saves_more_than_drives_were_busy_for_refutes_their_counters():
    times = {"hdd": (60.0, 61.0, 60.5), ZERO_DELAY: (25.0, 25.5, 25.2)}
    assert (
        decision_of(
            busy_by_placement(terasort_run(3, times), {"hdd": {"hdd": 4.0}, ZERO_DELAY: {"zero": 0.0}})
        ).busy_bound_s
        is None
    )


def test_a_difference_beyond_what_drives_were_busy_for_is_not_theirs_and_decides_nothing():
    times = {"evo": (41.0, 42.0, 41.5), "mx100": (27.0, 26.5, 27.5)}
    found = decision_of(emulated(busy_run(times, 0.2, repetitions=3)))
    assert NotTheDrives(of=("mx100",), busy_s=0.2) in found.caveats
    assert result(found, "mx100").verdict is not Verdict.WORTH_IT
    assert found.verdict is not Verdict.WORTH_IT
    assert (found.more, found.of_other_cause) == (None, ("mx100",)), "repetitions would show the same difference"
    busy = decision_of(emulated(busy_run(times, 20.0, repetitions=3)))
    assert not busy.has(NotTheDrives)
    assert busy.verdict is Verdict.WORTH_IT
    real = decision_of(busy_run(times, 0.2, repetitions=3))
    assert not real.has(NotTheDrives), "a kernel may count too little of a device's time"


def test_a_difference_within_the_noise_needs_no_cause():
    found = decision_of(emulated(busy_run({"evo": (41.0, 42.0), "mx100": (40.0, 41.0)}, 0.2)))
    assert not found.has(NotTheDrives)


def test_a_baseline_slower_than_the_base_is_no_limit():
    slow = {"hdd": (59.0, 60.0), "ssd": (52.0, 53.0), ZERO_DELAY: (69.0, 66.0)}
    assert decision_of(terasort_run(times=slow)).baseline_slower
    assert not decision_of(terasort_run()).baseline_slower


def test_a_machine_that_other_programs_use_is_known_of_the_decision():
    plan, records = terasort_run()
    crowded = MACHINE_SHARED.doubt("other processes used 67 %", "hdd")
    assert not decision_of((plan, records)).has(MachineShared)
    records[0] = records[0].model_copy(update={"doubts": (crowded,)})
    assert decision_of((plan, records)).caveats == (MachineShared(trials=1),)


def test_a_bound_that_a_placement_exceeds_is_no_bound():
    found = decision_of(busy_run({"disk": (73.0, 74.0), "memory": (50.0, 51.0)}, 4.0))
    assert found.busy_bound_s is None
    assert found.verdict is Verdict.WORTH_IT


def test_a_saving_within_the_noise_leaves_the_bound():
    found = decision_of(busy_run({"disk": (16.1, 14.3), "memory": (15.5, 13.9)}, 0.4))
    assert found.busy_bound_s == 0.4


def test_drives_can_not_be_busy_for_longer_than_the_jobs_took():
    assert decision_of(busy_run({"disk": (73.0, 74.0)}, 150.0)).busy_bound_s == 74.0


def test_trials_of_another_machine_are_not_said_to_have_failed():
    plan, records = terasort_run(2, {"hdd": (47.2, 46.9), "ssd": (35.3, 29.0)})
    moved = [with_facts(one, {"kernel": "7"}) if one.trial.placement.name == "ssd" else one for one in records]
    first, second = decisions(plan, summaries(moved))
    assert first.caveats == (RanElsewhere(of=("ssd",)),)
    assert second.caveats == (RanElsewhere(of=("hdd",)),)


def test_from_single_trials_nothing_is_said_of_how_sure_it_is():
    found = decision_of(terasort_run(1))
    assert not found.repeated
    for one in found.placements:
        for figure in (one.saving, one.storage_share, one.storage_s):
            assert figure is None or (figure.low, figure.high) == (None, None)


def test_more_repetitions_decide_among_all_verdicts_together():
    times = {"hdd": (40.0, 42.0, 41.0), "ssd": (29.0, 30.5, 28.5)}
    plan, alone = terasort_run(3, times)
    many = twenty_of(alone)
    found = decisions(plan, summaries(many))
    assert {one.corrected for one in found} == {20}
    assert all(one.more is not None and one.more.repetitions >= 1 for one in found)
    more = found[0].more.repetitions
    plan, longer = terasort_run(3 + more, {name: own * 4 for name, own in times.items()})
    longer = twenty_of(longer)
    assert {one.verdict for one in decisions(plan, summaries(longer))} == {Verdict.WORTH_IT}


def test_parts_never_exceed_the_whole():
    plan, records = terasort_run(times={"hdd": (47.0, 47.0), ZERO_DELAY: (5.0, 5.0)})
    split = (
        decision_of((plan, [timed(one.trial, one.totals.elapsed_s, active=0.6) for one in records])).placements[0].split
    )
    assert split.computing_s + split.storage_s.value + split.start_up_s == pytest.approx(47.0)
    assert min(split.computing_s, split.start_up_s) >= 0


def test_the_parts_of_the_time_add_up():
    found = decision_of(terasort_run())
    split = found.placements[0].split
    jobs = split.computing_s + split.storage_s.value + split.start_up_s
    assert jobs == pytest.approx(45.075, abs=0.01)  # the arithmetic mean
    assert split.start_up_s == pytest.approx(4.5, abs=0.01)
    assert split.between_jobs_s == pytest.approx(1.0)


def test_jobs_that_ran_at_once_have_no_parts_that_add_up():
    """Of a single workload, such as a jar that submits the next job before the last has ended."""
    plan, records = terasort_run()
    at_once = [
        record.model_copy(update={"jobs": (*record.jobs, record.jobs[0].model_copy(update={"id": "job_1_0009"}))})
        for record in records
    ]
    assert decision_of((plan, records)).placements[0].split is not None
    assert decision_of((plan, at_once)).placements[0].split is None


def test_drives_go_by_their_models_and_kinds():
    plan, records = terasort_run()
    facts = {"medium.hdd.rotational": True, "medium.hdd.model": "WD10EZEX", "medium.hdd.drive": "Western Digital",
             "medium.ssd.rotational": False, "medium.ssd.drive": "Samsung 840"}  # fmt: skip
    found = decision_of((plan, [with_facts(record, facts) for record in records]))
    assert [(one.kind, one.drives) for one in found.placements] == [("hard disk", "WD10EZEX"), ("SSD", "Samsung 840")]


def test_no_verdict_rests_on_times_that_contradict_each_other():
    plan, records = terasort_run()
    odd = records[1].model_copy(update={"steps": (Step(name="run", started_ms=0, seconds=300.0),)})
    found = decision_of((plan, [records[0], odd, *records[2:]]))
    assert found.verdict is result(found, "ssd").verdict is Verdict.NOT_KNOWN_YET
    assert found.more is None, "no number of repetitions mends them"
    assert TimesApart(trials=(odd.trial.id,)) in found.caveats
    assert decision_of((plan, records)).verdict is Verdict.WORTH_IT


def test_nor_does_that_on_one_placement_alone():
    """Beside zero storage delay, whose equal times would say that no drive is worth it."""
    plan, records = terasort_run(times={"hdd": (47.2, 46.9, 47.0, 47.1), ZERO_DELAY: (46.9, 47.0, 47.1, 46.8)})
    assert decision_of((plan, records)).verdict is Verdict.NOT_WORTH_IT
    odd = records[1].model_copy(update={"steps": (Step(name="run", started_ms=0, seconds=300.0),)})
    assert decision_of((plan, [records[0], odd, *records[2:]])).verdict is Verdict.NOT_KNOWN_YET
