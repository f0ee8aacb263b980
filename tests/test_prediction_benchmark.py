"""Proves how `benchmarks/prediction.py` judges predictions: which cases there are, what is true, what intervals come from."""

import sys
from functools import partial
from math import log

import pytest
from benchmarks.known_busy_times import Case, Measured, covered, interval_95, spread_of_errors
from benchmarks.prediction import (
    busy_text,
    case_rows,
    error_95,
    main,
    predictor_rows,
    ranges_seen,
    summary_rows,
    verdict_rows,
    worst_rows,
)
from benchmarks.replayed import (
    ALL_DATA,
    BUSY_KNOWN,
    NOT_WORTH,
    SHIPPED,
    SOME_ROLES,
    UNDECIDED,
    WORTH,
    Job,
    error_of_others,
    other_drive,
    replayed,
    tasks_between,
)

from assay.model.demand import DriveDemand, StageDemand
from assay.model.result import TrialResult
from assay.model.trial import MediumSpec, Placement
from assay.record.folder import RunFolder
from assay.stats.closed_network import network_time
from tests.builders import a_plan, a_record, a_trial, device_reports, pure

HDD = MediumSpec(name="hdd", kind="emulated", profile="wd10ezex")
SSD = MediumSpec(name="ssd", kind="emulated", profile="samsung-840-evo-120gb")
MIXED = Placement.of_roles("mixed", {"input": {"hdd": 1.0}, "intermediate": {"ssd": 1.0}, "output": {"hdd": 1.0}})
PLACEMENTS = {
    "hdd": (pure("hdd"), (HDD,)), "mixed": (MIXED, (HDD, SSD)), "ssd": (pure("ssd"), (SSD,)),
    "zero-delay": (pure("zero-delay"), (MediumSpec(name="zero-delay", kind="emulated", profile="null"),)),
}  # fmt: skip
TIMES_S = {"hdd": 20.0, "mixed": 15.0, "ssd": 11.0, "zero-delay": 10.0}
BUSY_S = {"hdd": (14.0,), "mixed": (6.0, 1.0), "ssd": (2.0,), "zero-delay": (0.0,)}

NOTHING = {"reads": {"bytes": 0}, "writes": {"bytes": 0}}


def write_run(path, times_s, repetitions=2):
    """A run of two workloads, or more, on all placements; `times_s` are means, which the repetitions surround."""
    folder, trials = RunFolder(path), []
    for workload, by_placement in times_s.items():
        for name, seconds in by_placement.items():
            placement, media = PLACEMENTS[name]
            for repetition in range(1, repetitions + 1):
                changes = {
                    "placement": placement, "media": media, "keep_requests": True, "zero_delay": name == "zero-delay",
                    "id": f"{len(trials) + 1:04d}-{workload}-{name}",
                }  # fmt: skip
                trial = a_trial(repetition=repetition, workload=workload).model_copy(update=changes)
                trials.append((trial, seconds * (1.02 if repetition % 2 else 0.98)))
    folder.create(a_plan(*(trial for trial, _ in trials)).model_copy(update={"placements": ("hdd", "ssd", "mixed")}))
    for trial, seconds in trials:
        reports = {medium.name: {"run": {**NOTHING, "busy_seconds": busy_s}}
                   for medium, busy_s in zip(trial.media, BUSY_S[trial.placement.name], strict=True)}  # fmt: skip
        folder.write(TrialResult(a_record(trial, seconds, devices=device_reports(reports))))
    return folder


def asked(folder, drive, placement, there_s=None):
    """What trials ask of a drive: as long as the placement of that name was busy, or another time."""
    target = "mixed" if drive.roles else drive.name
    return [
        DriveDemand(
            trial=trial.id, drive=drive, title=drive.name, replaced=("hdd",), depth=4.0, request_bytes=200_000.0,
            elapsed_s=elapsed_s,
            stages=(
                StageDemand(
                    stage="all", elapsed_s=elapsed_s, busy_s=BUSY_S[placement],
                    busy_there_s=BUSY_S[target] if there_s is None else (there_s,),
                ),
            ),
        )
        for trial in folder.plan().trials if trial.placement.name == placement
        for elapsed_s in [folder.record(trial.id).totals.elapsed_s]
    ]  # fmt: skip


@pytest.fixture
def judged(tmp_path, monkeypatch):
    def judge(times_s=TIMES_S, others=("sort",), demands=asked):
        monkeypatch.setattr("benchmarks.replayed._demands", demands)
        return replayed(write_run(tmp_path / "run", {"triangles": times_s, **dict.fromkeys(others, TIMES_S)}))

    return judge


def by_pair(cases, name="triangles"):
    return {(case.before, case.after): case for case in cases if case.job.name == name}


def test_every_job_is_predicted_from_each_placement_on_each_other_one(judged):
    cases, refused = judged()
    pairs = by_pair(cases)
    assert (len(cases), refused) == (12, [])
    assert {pair: case.kind for pair, case in pairs.items()} == {
        ("hdd", "ssd"): ALL_DATA, ("ssd", "hdd"): ALL_DATA, ("mixed", "hdd"): ALL_DATA, ("mixed", "ssd"): ALL_DATA,
        ("hdd", "mixed"): SOME_ROLES, ("ssd", "mixed"): SOME_ROLES,
    }  # fmt: skip
    assert {pair for pair, case in pairs.items() if case.to_faster} == {
        ("hdd", "ssd"),
        ("hdd", "mixed"),
        ("mixed", "ssd"),
    }
    assert pairs["hdd", "mixed"].run.demands[0].drive.roles == ("intermediate",)
    assert pairs["ssd", "mixed"].run.demands[0].drive.roles == ("input", "output")
    assert pairs["hdd", "ssd"].error() == pytest.approx(log(pairs["hdd", "ssd"].foretold_s[SHIPPED] / 11))


def test_no_drive_makes_one_placement_of_another_where_its_data_would_lie_beside_those_that_stay():
    hdd, mixed = (
        dict.fromkeys(("input", "intermediate", "output"), "hdd"),
        {"input": "hdd", "intermediate": "ssd", "output": "hdd"},
    )
    assert other_drive(mixed, hdd) == ("hdd", ())
    assert other_drive(hdd, mixed) == ("ssd", ("intermediate",))
    assert other_drive(mixed, {**mixed, "input": "ssd"}) is None
    assert other_drive(hdd, {**mixed, "input": "nvme"}) is None
    assert other_drive(mixed, mixed) is None


def test_each_predictor_has_the_same_cases_and_its_own_evidence(judged):
    cases, _ = judged(demands=partial(asked, there_s=5.0))
    case = by_pair(cases)["hdd", "ssd"]
    assert case.foretold_s["no change"] == pytest.approx(20)
    assert case.foretold_s["the time without delay"] == pytest.approx(10)
    assert case.foretold_s["the busiest drive's time exchanged"] == pytest.approx(20 - 14 + 5)
    assert case.busy_s == 5
    assert case.there.busy_s == 2  # that of the trials that ran there
    assert case.foretold_s[BUSY_KNOWN] < case.foretold_s[SHIPPED]
    names = {name for of_case in cases for name in of_case.foretold_s}
    assert [row[0] for row in predictor_rows(cases)] == list(case.foretold_s)
    assert all(names == set(of_case.foretold_s) for of_case in cases)


def test_the_tasks_at_once_are_those_that_give_the_measured_time():
    assert tasks_between(Measured(network_time([10, 5], 3), [5]), 10) == pytest.approx(3, rel=0.01)
    assert tasks_between(Measured(20, [5]), 10) == pytest.approx(1)
    assert tasks_between(Measured(9, [5]), 10) == pytest.approx(100)


def test_a_case_that_is_refused_counts_as_one_without_bound(judged):
    def demands(folder, drive, placement):
        return "too busy" if placement == "ssd" else asked(folder, drive, placement)

    cases, refused = judged(demands=demands)
    assert {(case.kind, case.reason) for case in refused} == {(ALL_DATA, "too busy"), (SOME_ROLES, "too busy")}
    assert len(cases) + len(refused) == 12
    of_all, of_some = summary_rows(cases, refused)
    assert of_all[1] == "8"
    assert of_some[1:5:3] == ["4", "no bound"]
    assert verdict_rows(cases, refused)[-1][1:] == ["refused", "-", "-", "4", "-", "-", "-"]


def test_the_ninetieth_percentile_is_the_least_that_nine_tenths_do_not_exceed():
    errors = [log(1 + share / 100) for share in range(1, 11)]
    assert spread_of_errors(errors) == ("10", "6 %", "9 %", "10 %")
    assert spread_of_errors(errors[:9]) == ("9", "5 %", "9 %", "9 %")


def test_the_error_of_an_interval_comes_from_other_workloads(judged):
    """A workload that is far off does not widen its own intervals."""
    cases, _ = judged({**TIMES_S, "ssd": 40.0})
    off, good = by_pair(cases)["hdd", "ssd"], by_pair(cases, "sort")["hdd", "ssd"]
    assert error_of_others(good, cases) > 1 > error_of_others(off, cases)
    assert not off.covers(error_of_others(off, cases))
    terasort, spark = Job("terasort", "stock", "mapreduce", 8), Job("terasort", "rdd", "spark", 4)
    paper, tuned = (Job("k-means", variant, "mapreduce", 2) for variant in ("paper", "tuned"))
    assert not terasort.is_other(spark)
    assert paper.is_other(tuned)
    assert paper.is_other(terasort)
    assert not paper.is_other(paper._replace(tasks=8))


def test_what_is_true_is_decided_by_the_noise_of_all_trials(judged):
    cases, _ = judged({**TIMES_S, "hdd": 12.5})
    truths = {pair: case.truth for pair, case in by_pair(cases).items()}
    assert truths["hdd", "ssd"] == UNDECIDED  # 12 % +- 6 %
    assert truths["ssd", "hdd"] == NOT_WORTH
    assert truths["mixed", "ssd"] == WORTH


def test_verdicts_stand_beside_always_yes_and_always_no(judged):
    cases, _ = judged()
    rows = {(row[0], row[1]): [*map(int, row[2:])] for row in verdict_rows(cases, [])}
    assert rows["always yes", WORTH] == rows["always no", NOT_WORTH] == [6, 6, 0, 6, 0, 0]
    said = [
        sum(counts) for counts in zip(*(row for (rule, _), row in rows.items() if rule == "assay predict"), strict=True)
    ]
    assert said == rows["always yes", WORTH]
    assert rows["assay predict", WORTH][1] == 0


def test_tables_have_all_cases_and_the_worst_ones(judged):
    cases, _ = judged({**TIMES_S, "ssd": 40.0})
    assert len(case_rows(cases)) == 12
    first, *_ = worst = worst_rows(cases, 3)
    assert len(worst) == 3
    assert first[0].startswith("triangles")
    assert "ssd" in first[1:3]
    assert busy_text(cases).startswith(
        "On hdd the drive was busy for a third of the time or more in 2 of 2 jobs, so that it is no test"
    )
    assert "70 % of triangles" in busy_text(cases)


def test_the_parameters_are_the_greater_error_rounded_up_and_the_ranges_of_what_was_seen(judged):
    cases, _ = judged({**TIMES_S, "ssd": 40.0})
    made = error_95([], cases)
    assert made >= max(abs(case.error()) for case in cases) > made - 0.01
    before, on = Measured(20, [10]), Measured(5, [1])
    assert error_95([Case("x", "sort", "hdd", "ssd", before, on)], []) > 0.5
    assert ranges_seen(cases) == [(2, 8), (100_000, 400_000)]


def test_no_interval_follows_from_a_single_run():
    case = Case("x", "sort", "hdd", "ssd", Measured(20, [10]), Measured(5, [1]))
    assert covered([case]) == 0
    assert covered([case, case._replace(run="y")]) == 2
    with pytest.raises(ValueError, match="no interval follows from no errors"):
        interval_95([])


def printed(monkeypatch, capsys, folder):
    monkeypatch.setattr(sys, "argv", ["prediction.py", str(folder.path)])
    main()
    return capsys.readouterr().out


def test_runs_without_two_placements_are_refused_with_a_sentence(tmp_path, monkeypatch, capsys):
    folder = write_run(tmp_path / "run", {"triangles": {"hdd": 20.0}})
    with pytest.raises(SystemExit):
        printed(monkeypatch, capsys, folder)
    assert "no job of these runs ran on two placements of emulated drives" in capsys.readouterr().err


def test_a_run_all_of_whose_cases_are_refused_says_why(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("benchmarks.replayed._demands", lambda *_: "too busy")
    folder = write_run(tmp_path / "run", {"triangles": TIMES_S})
    assert "hdd to ssd is refused: too busy" in printed(monkeypatch, capsys, folder)
