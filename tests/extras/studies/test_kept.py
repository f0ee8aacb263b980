"""Proves that a file of runs gives back what was measured, and that what is no such file is refused in one sentence."""

import json

import pytest

from assay.model.errors import BadInputError
from assay_extras.studies.kept import FILE, StudyRun, Values, keep, merged, read_kept, study_run
from assay_extras.studies.overview import overview
from assay_extras.studies.values import StudyPoint
from tests.builders import a_plan
from tests.extras.studies.builders import a_sort_trial
from tests.extras.studies.test_overview import a_run

A_VALUE = """{"runs": [{"experiment": "e", "measured_ms": 1, "machine": "", "trials": 1, "values":
    [{"point": {"workload": %s}, "repetitions": {"1": %s}}]}]}"""
POINT = StudyPoint("triangles", "closing", "customs", "YouTube", "hdd", "merge")


def a_study_run(experiment="thesis-table-9", measured_ms=0):
    values = (Values(point=POINT, repetitions={1: 2.5, 3: 2.0}),)
    return StudyRun(experiment=experiment, measured_ms=measured_ms, machine="m", trials=2, values=values)


def test_a_file_gives_back_every_value_of_every_repetition(tmp_path):
    plan = a_plan().model_copy(update={"experiment": "hybrid-figure-5a"})
    sorts = [a_sort_trial(turn, 10.0 + turn, share=share, repetition=turn) for turn in (1, 2) for share in (0.0, 0.25)]
    runs = [study_run(*a_run()), study_run(plan, sorts), a_study_run("thesis-table-10")]
    assert all(runs)
    keep(runs, tmp_path)
    assert list(read_kept(tmp_path)) == list(read_kept(tmp_path / FILE)) == runs
    assert overview(read_kept(tmp_path)) == overview(runs)
    assert [file.name for file in tmp_path.iterdir()] == [FILE]


def test_the_file_names_a_values_fields_and_leaves_out_those_that_do_not_apply(tmp_path):
    keep([a_study_run()], tmp_path)
    (run,) = json.loads((tmp_path / FILE).read_text())["runs"]
    assert run["values"] == [
        {
            "point": {
                "workload": "triangles", "job": "closing", "settings": "customs", "dataset": "YouTube",
                "medium": "hdd", "metric": "merge",
            },
            "repetitions": {"1": 2.5, "3": 2.0},
        }
    ]  # fmt: skip


def test_trials_that_do_not_count_are_neither_counted_nor_dated():
    plan, records = a_run()
    late = records[-1].model_copy(update={"totals": None})
    assert study_run(plan, [*records[:-1], late]).trials == 5
    assert study_run(plan, records).measured_ms == max(job.finished_ms for one in records for job in one.jobs)


def test_of_an_experiment_the_newest_source_counts_with_all_its_runs():
    old, new, also_new = a_study_run(measured_ms=1), a_study_run(measured_ms=3), a_study_run(measured_ms=2)
    other = a_study_run("hybrid-figure-3a", measured_ms=1)
    assert merged([[old], [new, also_new, other]]) == [other, new, also_new]
    assert merged([[new, also_new], [old, other]]) == [other, new, also_new]
    same = a_study_run(measured_ms=3).model_copy(update={"trials": 9})
    assert merged([[new], [same]]) == [new]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{", "Invalid JSON"),
        ("[]", "must be an object"),
        ('{"format": 2, "runs": []}', "format: Input should be 1"),
        ('{"comparisons": []}', "runs: is missing"),
        ('{"runs": [{"experiment": "e", "measured_ms": -1, "machine": "", "trials": 1, "values": []}]}', "measured_ms"),
        (A_VALUE % ('"w", "rotor": 1', "1.0"), "rotor"),
        (A_VALUE % ('"w"', "NaN"), "repetitions"),
    ],
)
def test_what_is_no_such_file_is_refused_with_its_place(tmp_path, content, reason):
    (tmp_path / FILE).write_text(content)
    with pytest.raises(BadInputError, match=f"{FILE} can't be read: .*{reason}.*; name a run folder, or a {FILE}"):
        read_kept(tmp_path)
    before = (tmp_path / FILE).read_text()
    with pytest.raises(BadInputError, match="can't be read"):
        keep([a_study_run()], tmp_path)
    assert (tmp_path / FILE).read_text() == before
