"""A history file as Tez 0.10.5 wrote it of a word count: eight maps and one reducer, on one node."""

from pathlib import Path

import pytest

from assay.engine.tez_history import file_prefix, is_whole, read_history
from assay.engine.tez_tasks import STAGES
from assay.model.engine import JobReference
from assay.model.errors import AssayError

JOB = JobReference(name="count", id="job_1795597626963_0002")
TEXT = (Path(__file__).parents[1] / "fixtures" / "tez" / "history.txt").read_text(encoding="utf-8")


def test_a_file_is_named_after_its_application():
    assert file_prefix(JOB.id) == "history.txt.appattempt_1795597626963_0002_"


def test_vertices_are_stages_and_their_tasks_are_counted():
    history = read_history(TEXT, JOB)
    assert [(stage.name, stage.tasks) for stage in history.job.stages] == [("initialmap", 8), ("finalreduce", 1)]
    assert history.job.state == "SUCCEEDED"
    assert history.job.submitted_ms < history.job.started_ms < history.job.finished_ms
    assert len(history.attempts) == 9
    assert {attempt.state for attempt in history.attempts} == {"SUCCEEDED"}
    assert {attempt.node for attempt in history.attempts} == {"localhost"}
    assert history.doubts == ()


def test_amounts_are_those_of_the_vertex_that_they_are_meant_of():
    counted = read_history(TEXT, JOB).counted
    assert counted["input_records"] == 1_526_429
    assert counted["emitted_records"] == 93_848_741
    assert counted["output_records"] == 1000
    assert counted["shuffled_bytes"] == 133_320


def test_phases_of_a_reducer_follow_one_another():
    (reducer,) = [attempt for attempt in read_history(TEXT, JOB).attempts if attempt.stage == "finalreduce"]
    names, ends = zip(*reducer.phase_ends(), strict=True)
    assert names == ("shuffle", "merge", "reduce")
    assert reducer.started_ms < ends[0] <= ends[1] <= ends[2] == reducer.finished_ms
    assert [step.waits_for for step in reducer.steps(None) if step.kind == "shuffle"] == ["initialmap"]


def test_a_container_may_have_several_tasks():
    attempts = read_history(TEXT, JOB).attempts
    assert len({attempt.container for attempt in attempts}) == 8


@pytest.mark.parametrize("at", ["DAG_FINISHED", "VERTEX_INITIALIZED"])
def test_a_file_that_is_cut_short_is_refused(at):
    cut = TEXT[: TEXT.index(f'"{at}"')]
    assert not is_whole(cut)
    with pytest.raises(AssayError, match="is incomplete or malformed"):
        read_history(cut, JOB)


def test_what_comes_after_the_last_end_of_a_record_is_not_read():
    assert is_whole(TEXT)
    assert read_history(TEXT + '{"entity": "att', JOB) == read_history(TEXT, JOB)


def test_a_job_without_reducers_lacks_the_second_stage():
    (of_maps, of_reducers) = STAGES
    assert of_maps.absent_with == {}
    assert of_reducers.absent_with == {"mapreduce.job.reduces": "0"}
