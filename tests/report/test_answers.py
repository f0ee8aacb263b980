"""Proves that a run's decisions, table and page say the same, and claim nothing that the figures don't."""

import re

import pytest

from assay.model.doubt import Outcome
from assay.model.record import Status
from assay.model.trial import MediumSpec, WorkloadSpec
from assay.report.analysis import analyse
from assay.report.first_screen import overview
from assay.stats.decision import Verdict
from assay.stats.run_doubts import doubts_of
from tests.builders import a_measured_run, a_plan, a_record, a_trial, summaries
from tests.report.made_runs import made_run, made_trials, page
from tests.stats.terasort import terasort_run


def analysis_of(**changes):
    noise, times = changes.pop("noise", 0.02), changes.pop("times", {"hdd": 60.0, "ssd": 40.0, "memory": 39.0})
    return analyse(a_measured_run(*made_run(made_trials(**changes), noise=noise, times=times)))


def test_one_repetition_decides_nothing():
    ((_, one, *_),) = analysis_of(repetitions=1).answers
    assert one.verdict == Verdict.NOT_KNOWN_YET


def test_the_first_placement_can_stay_the_best():
    ((_, one, *_),) = analysis_of(repetitions=5, times={"hdd": 30.0, "ssd": 60.0}).answers
    assert re.fullmatch(r"ssd is not worth it: (9|10)\d % more time than hdd", one.headline)
    assert " more time: not worth it" in one.lines[1].words


def test_each_combination_of_other_factors_has_its_own_answer_and_these_are_compared_beside():
    analysis = analysis_of(settings=("defaults", "customs"), repetitions=6)
    assert {one.words.subject for one in analysis.answers} == {
        "triangles on tiny, settings customs", "triangles on tiny, settings defaults",
    }  # fmt: skip
    assert {one.factor for one in analysis.others} == {"settings"}
    assert {one.factor for one in analysis.decisions} == {"placement"}


def test_without_several_placements_another_factor_is_the_question():
    analysis = analysis_of(media=("ssd",), settings=("defaults", "customs"), repetitions=6)
    ((_, one, *_),) = analysis.answers
    assert [line.where for line in one.lines] == ["With settings customs", "With settings defaults"]
    assert analysis.others == []


def test_more_work_is_never_compared_with_less():
    trials = [
        trial.model_copy(
            update={"workload": WorkloadSpec(name="sort", options={"size": size}), "id": f"{trial.id}-{size}"}
        )
        for trial in made_trials(("sort",), ("ssd",), repetitions=4)
        for size in ("1GB", "2GB")
    ]
    analysis = analyse(a_measured_run(*made_run(trials)))
    assert [len(one.placements) for one in analysis.decisions] == [1, 1]
    assert analysis.others == []


def test_each_workload_has_its_answer_and_the_page_begins_with_it():
    plan, records = made_run(made_trials(("triangles", "components"), repetitions=5))
    html = page(plan, records, [])
    answers = [one.words for one in analyse(a_measured_run(plan, records)).answers]
    assert {one.subject for one in answers} == {"components on tiny", "triangles on tiny"}
    for one in answers:
        assert one.subject in html
        assert html.index(f"{one.headline[1:]}.") < html.index('<h2 id="elapsed-time">')


def test_a_run_of_one_combination_says_that_nothing_is_compared():
    html = page(a_plan(), [a_record()], [])
    assert "on tiny: only disk ran: there is nothing to compare it with." in html.replace(
        "this machine&#39;s disk", "disk"
    )


def test_a_run_without_any_readable_trial_has_a_page():
    html = page(a_plan(), [], [])
    assert "No trial was read" in html
    assert "No trial finished, so there is no time to show." in html


def test_the_overview_says_what_to_believe(tmp_path):
    records = [
        a_record(a_trial(1)),
        a_record(a_trial(2, "memory"), outcome=Outcome.UNKNOWN),
        a_record(a_trial(3, "memory"), status=Status.FAILED),
    ]
    told = overview(
        a_plan(*(one.trial for one in records), a_trial(4)), summaries(records), [], doubts_of(summaries(records))
    )
    assert told.checked == "1 of 3 outputs are correct, 1 failed, 1 was not checked"
    assert told.missing == "1 of 4 planned trials are not in this report"
    assert told.outputs is Outcome.FAIL
    assert told.compared[0] == ("compared", "disk (a disk of the machine), memory (a disk of the machine)")


@pytest.mark.parametrize(("slowdown", "said"), [(1, "emulated wd10ezex"), (8, "emulated wd10ezex, 8 times slower")])
def test_the_overview_names_emulated_drives(slowdown, said):
    medium = MediumSpec(name="disk", kind="emulated", profile="wd10ezex", slowdown=slowdown)
    record = a_record(a_trial(1).model_copy(update={"media": (medium,)}))
    other = a_record(a_trial(2, "memory"))
    told = overview(a_plan(record.trial, other.trial), summaries([record, other]), [], ())
    assert told.compared[0][1].startswith(f"disk ({said}), ")


def test_the_overview_names_the_baseline_by_itself():
    plan, records = terasort_run(2)
    told = dict(overview(plan, summaries(records), [], ()).compared)
    assert told["baseline"].startswith("zero storage delay")
    assert told["compared"].startswith("hdd (")
    assert "zero" not in told["compared"]
