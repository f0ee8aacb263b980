"""Proves how advice's savings are judged: by rank and sum, beside simpler rules, and that the goal can be missed."""

import json
from math import isnan
from pathlib import Path

import pytest
from benchmarks.advise import (
    LEAST_JOBS,
    Case,
    Forecast,
    Measured,
    changed_roles,
    goal_text,
    groups,
    is_disk,
    markdown,
    rank_correlation,
    read_cases,
    rows,
)
from benchmarks.triage_truth import drives_of_trial

from assay.cli.context import find_installation, vocabulary
from assay.plan.job_experiment import ROLES
from assay.triage.drives import drives_by_role
from tests.advise.test_saving import BUY, DISKS, SITES, SSD, after, run_of
from tests.builders import make_plan

THREE_NODES = Path(__file__).parents[1] / "experiments" / "advise-three-nodes.yaml"
PROFILES = find_installation().profiles


def case(job, saved, likely, low=0.0, high=99.0, **more):
    forecast = Forecast(likely, low, high, 90.0, guess=likely is None)
    given = {
        "run": "run", "placement": "ssd", "nodes": 3, "roles": ROLES, "elapsed_s": 100.0, "shuffled_bytes": 1e9,
        "with_busy": None, **more,
    }  # fmt: skip
    return Case(job=job, saved_s=saved, forecast=forecast, **given)


def ten(factor=1.0, **more):
    return [case(f"job {number}", 5.0 * number, factor * 5.0 * number, **more) for number in range(1, 11)]


def test_a_goal_is_met_by_ten_jobs_in_the_right_order_whose_sum_is_right():
    assert goal_text("three", ten()).startswith(
        "Three, 10 cases of 10 jobs: rank correlation 1.00 (goal: 0.8), sum +0% (goal: within 25%): the goal is met."
    )
    assert "sum +30% (goal: within 25%): the goal is not met." in goal_text("three", ten(1.3))
    backwards = [of_job._replace(saved_s=55.0 - of_job.saved_s) for of_job in ten()]
    assert "rank correlation -1.00 (goal: 0.8), sum +0% (goal: within 25%): the goal is not met" in goal_text(
        "", backwards
    )
    assert "too few jobs for a test" in goal_text("three", ten()[:9])
    on_one_node = [of_job._replace(nodes=1) for of_job in ten()]
    assert ": the goal, which is for three nodes, would be met." in goal_text("one", on_one_node)


def test_what_is_not_known_counts_as_nothing_saved_and_is_told():
    some = [*ten(), case("open", 10.0, None)]
    assert goal_text("three", some).endswith("Good for an order alone (?): 0; not known: 1.")
    assert rows(some)[0][3:5] == ["275 s", "285 s"]


def test_rules_stand_beside_advice_on_the_same_cases():
    table = {row[0]: row[1:] for row in rows(ten())}
    assert table["advice"] == ["10", "1.00", "275 s", "275 s", "10 of 10"]
    assert table["at most"] == ["10", "-", "900 s", "275 s", ""]
    assert table["over 500 GB"] == ["10", "-", "0 s", "275 s", ""]
    assert table["all jobs alike"] == ["10", "-", "275 s", "275 s", ""]
    assert "advice, with busy drives" not in table
    busy = [
        of_job._replace(with_busy=Forecast(1.0, 0.0, 1.0, 90.0, guess=False)) for of_job in ten(shuffled_bytes=6e11)
    ]
    table = {row[0]: row[1:] for row in rows(busy)}
    assert table["advice, with busy drives"][4] == "0 of 10"
    assert table["over 500 GB"][2] == "275 s"


def test_ranks_of_what_is_all_the_same_are_no_number():
    assert isnan(rank_correlation([1, 1, 1], [1, 2, 3]))
    assert rank_correlation([1, 5, 9], [2, 3, 8]) == pytest.approx(1)


def test_nodes_roles_and_fitted_runs_are_apart():
    some = [
        case("a", 1, 1, nodes=1, run="engines"), case("b", 1, 1, nodes=1, roles=["intermediate"]), case("c", 1, 1),
        case("d", 1, 1, nodes=1),
    ]  # fmt: skip
    assert [*groups(some)] == [
        "3 nodes, all data", "one node, local directories", "one node, all data",
        "one node, all data, intervals fitted to them",
    ]  # fmt: skip
    assert markdown(some).count("| forecast |") == 4


def test_cases_are_read_as_they_were_kept(tmp_path):
    some = [case("a", 1.5, None), case("b", 1.0, 2.0, with_busy=Forecast(1.0, 0.5, 2.0, 9.0, guess=True))]
    file = tmp_path / "cases.json"
    file.write_text(json.dumps([of_job._asdict() for of_job in some]))
    assert [of_job._replace(roles=ROLES) for of_job in read_cases(file)] == some


def test_a_forecast_is_what_advice_says_of_the_job():
    site = SITES["page cache"]
    run = run_of(site)
    trial = Measured(run.job.elapsed_s, run.job, DISKS, site.cache_bytes, None, 2)
    for kind, roles in (("data-on-ssd", ROLES), ("local-directories-on-ssd", ["intermediate"])):
        changed, likely = after(kind, run, site, BUY._replace(ssd=SSD._replace(number=2)))
        told = trial.forecast(roles, SSD._replace(number=2))
        assert (told.seconds, told.low_s, told.high_s, told.most_s) == pytest.approx((*likely[:3], changed.most_s))


def test_an_ssd_for_all_data_or_for_local_directories_is_a_case_and_nothing_else():
    disk, ssd = (drives_by_role(text, PROFILES) for text in ("1xhdd", "1xssd"))
    local, output = (drives_by_role(f"1xhdd,{role}=1xssd", PROFILES) for role in ("intermediate", "output"))
    assert is_disk(disk, PROFILES)
    assert not any(is_disk(of, PROFILES) for of in (ssd, local, {}))
    assert [*changed_roles(disk, ssd)] == [*ROLES]
    assert [*changed_roles(disk, local)] == ["intermediate"]
    assert not any(changed_roles(*both) for both in ((disk, output), (ssd, disk), (disk, {}), (disk, disk)))


@pytest.mark.slow
def test_the_experiment_on_three_nodes_has_jobs_enough_and_each_is_a_case():
    jobs = {}
    for trial in make_plan(THREE_NODES, vocabulary(find_installation())).trials:
        assert (trial.cluster.nodes, trial.cluster.write_back) == (3, "node")
        job = (trial.workload.name, trial.workload.variant, trial.engine)
        jobs.setdefault(job, {}).setdefault(trial.placement.name, []).append(drives_of_trial(trial, PROFILES))
    assert len(jobs) >= LEAST_JOBS
    assert len({engine for _, _, engine in jobs}) == 3
    for disks, ssds in (placements.values() for placements in jobs.values()):
        first, other = sorted((disks[0], ssds[0]), key=lambda drives: not is_disk(drives, PROFILES))
        assert is_disk(first, PROFILES)
        assert [*changed_roles(first, other)] == ["intermediate"]
        assert len(disks) == len(ssds) <= 2
