"""Proves which jobs get the SSD: those that save most for what they hold at once, and never more than fits on any node."""

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.advise import few_jobs
from assay.advise.sizes import FREE_SHARE, peak_at_once
from assay.direct.choice import choose
from assay.engine.past.formats import FORMS
from assay.engine.past.job import Work
from assay.triage.likely import Likely
from assay.triage.names import run_name
from assay.triage.ranking import TriageVerdict, triage
from tests.advise.test_saving import SITES, SSD, run_of

GB = 10**9
HOUR_MS = 3_600_000
SITE = SITES["counters"]
ROOMY = round(100 * GB / (1 - FREE_SHARE))
"""Room for 100 GB."""


@pytest.fixture(scope="module")
def run():
    """A run that may matter."""
    return run_of(SITE)


def named(run, name, peak, begins=0, hours=1, nodes=("a",), seconds=100.0, night=0):
    """A run of that name, which saves so much."""
    began = run.job.started_ms + (24 * night + begins) * HOUR_MS
    first, *others = (stage._replace(busiest=Work()) for stage in run.job.stages)
    first = first._replace(busiest=Work(map_output_on_disk=int(peak * GB)))
    job = run.job._replace(
        id=f"{name}-{began}", name=name, started_ms=began, finished_ms=began + hours * HOUR_MS, nodes=nodes,
        stages=(first, *others),
    )  # fmt: skip
    return run._replace(job=job, likely=Likely(seconds, seconds / 2, 2 * seconds, "counters"))


@pytest.fixture
def chosen(monkeypatch):
    """The choice for runs with room for 100 GB on each node."""
    monkeypatch.setattr(few_jobs, "on_ssd", lambda *_: None)
    monkeypatch.setattr(few_jobs, "likely_after", lambda run, *_: run.likely)

    def choose_of(runs, size=ROOMY):
        answer = triage([of.job for of in runs], SITE, 0.1, "", 0, (), bounded=runs)
        rows = tuple(
            row.model_copy(update={"verdict": TriageVerdict.MAY_MATTER, "bound_s": 1.0}) for row in answer.rows
        )
        return choose([of.job for of in runs], answer.model_copy(update={"rows": rows}), runs, SITE, SSD, size)

    return choose_of


def names(choice):
    return [job.job for job in choice.directed]


def test_jobs_are_taken_by_what_they_save_for_each_byte(chosen, run):
    runs = [
        named(run, "large", 90, seconds=100), named(run, "small", 50, seconds=90), named(run, "other", 50, seconds=80),
    ]  # fmt: skip
    choice = chosen(runs)
    assert names(choice) == ["small", "other"]
    assert (choice.peak_bytes, choice.all_peak_bytes, choice.holds_all) == (100 * GB, 190 * GB, False)
    (left,) = [job for job in choice.jobs if not job.directed]
    assert left.reason.startswith("no room beside the others: together 177.0 GiB")


def test_a_job_that_saves_more_than_many_small_ones_is_not_crowded_out(chosen, run):
    runs = [named(run, "tiny", 1, seconds=40), named(run, "large", 100, seconds=100)]
    assert names(chosen(runs)) == ["large"]


def test_jobs_that_do_not_run_at_once_or_not_on_one_node_share_the_room(chosen, run):
    runs = [named(run, "first", 80), named(run, "second", 80, begins=2), named(run, "elsewhere", 80, nodes=("b",))]
    assert sorted(names(chosen(runs))) == ["elsewhere", "first", "second"]
    runs.append(named(run, "first", 80, begins=2, night=0))
    assert len(names(chosen(runs))) == 2


@pytest.mark.parametrize(("peak", "fits"), [(60, True), (61, False)])
def test_where_all_jobs_fit_none_need_be_directed(chosen, run, peak, fits):
    assert chosen([named(run, "gains", 40), named(run, "nothing", peak, seconds=0.0)]).holds_all is fits


def test_a_job_whose_nodes_are_not_known_is_counted_on_each(chosen, run):
    runs = [named(run, "anywhere", 60, nodes=()), named(run, "here", 60, seconds=200)]
    assert names(chosen(runs)) == ["here"]


def test_what_saves_next_to_nothing_or_is_not_known_or_too_large_is_left_out_with_its_reason(chosen, run):
    unknown = named(run, "unknown", 1)._replace(likely="nobody timed it")
    gainless = [named(run, "nothing", 1, seconds=0.0), named(run, "little", 1, seconds=35.0)]
    runs = [*gainless, named(run, "huge", 101), unknown]
    choice = chosen(runs)
    assert not choice.directed
    reasons = {job.job: job.reason for job in choice.jobs}
    assert reasons == {
        "nothing": "an SSD for intermediate data saves less than 1 % of its time",
        "little": "an SSD for intermediate data saves less than 1 % of its time",
        "huge": "too large: 94.1 GiB on a node",
        "unknown": "not known: nobody timed it",
    }
    assert (choice.likely_hours, choice.peak_bytes) == (0, 0)


def test_hours_are_those_of_a_month_of_all_runs_of_a_job(chosen, run):
    runs = [named(run, "nightly", 10, night=night, seconds=360) for night in range(5)]
    choice = chosen(runs)
    (job,) = choice.directed
    assert job.likely_hours == pytest.approx(5 * 360 / 3600 * 30 / choice.nights)
    assert (job.low_hours, job.high_hours) == pytest.approx((job.likely_hours / 2, 2 * job.likely_hours))
    assert choice.likely_hours == job.likely_hours


def test_a_job_that_cannot_matter_is_not_directed(run):
    job = run.job._replace(name="light")
    answer = triage([job], SITE, 0.99, "", 0, (), bounded=[run._replace(job=job)])
    row = answer.rows[0].model_copy(update={"verdict": TriageVerdict.CANNOT_MATTER})
    choice = choose([job], answer.model_copy(update={"rows": (row,)}), [run._replace(job=job)], SITE, SSD, ROOMY)
    assert [of.reason for of in choice.jobs] == ["drives cannot matter"]


sizes_and_savings = st.lists(st.tuples(st.integers(1, 120), st.integers(37, 1000)), min_size=1, max_size=7)


@settings(max_examples=30, deadline=None)
@given(given_jobs=sizes_and_savings)
def test_what_was_taken_fits_and_saves_at_least_half_of_the_best_where_all_run_at_once(run, given_jobs):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(few_jobs, "on_ssd", lambda *_: None)
        patch.setattr(few_jobs, "likely_after", lambda of, *_: of.likely)
        runs = [named(run, f"job {'abcdefg'[n]}", peak, seconds=saved) for n, (peak, saved) in enumerate(given_jobs)]
        answer = triage([of.job for of in runs], SITE, 0.1, "", 0, (), bounded=runs)
        rows = tuple(
            row.model_copy(update={"verdict": TriageVerdict.MAY_MATTER, "bound_s": 1.0}) for row in answer.rows
        )
        choice = choose([of.job for of in runs], answer.model_copy(update={"rows": rows}), runs, SITE, SSD, ROOMY)
    taken = [of for of in runs if run_name(of.job) in names(choice)]
    assert not taken or peak_at_once([of.job for of in taken]) <= choice.room_bytes
    best = max(
        sum(saved for _, saved in part)
        for size in range(len(given_jobs) + 1)
        for part in combinations(given_jobs, size)
        if sum(peak for peak, _ in part) * GB <= choice.room_bytes
    )
    assert 2 * sum(of.likely.seconds for of in taken) >= best


def test_every_form_of_past_jobs_says_how_its_jobs_are_directed():
    for engine, form in FORMS.items():
        properties = form.directing.properties("fast", "/apps/direct.jar", "[FAST]/f")
        assert any("fast" in value for value in properties.values()), engine
        assert all(isinstance(value, str) for value in properties.values())
