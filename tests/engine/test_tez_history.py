"""A history file as Tez 0.10.5 wrote it of a word count: eight maps and one reducer, on one node."""

from pathlib import Path

import pytest

from assay.engine.tez_history import file_prefix, is_whole, read_history
from assay.engine.tez_tasks import STAGES
from assay.model.engine import JobReference
from assay.model.errors import AssayError
from tests.engine.made_tez import MadeDag, MadeTask, MadeVertex, as_json

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


def test_all_dags_of_a_session_of_hive_are_one_job_whose_vertices_are_stages_by_their_names():
    def fetched(shuffle_ms, merge_ms=0):
        return MadeTask(5, 9, counters={"SHUFFLE_PHASE_TIME": shuffle_ms, "MERGE_PHASE_TIME": merge_ms})

    read, edges = (
        {"HDFS_BYTES_READ": 7},
        (("Map 1", "Reducer 2", "SCATTER_GATHER"), ("Map 3", "Reducer 2", "BROADCAST")),
    )
    maps = [
        MadeVertex(name, (MadeTask(1, 4, counters=read), MadeTask(1, 4, state="FAILED"))) for name in ("Map 1", "Map 3")
    ]
    joined = MadeDag(vertices=(*maps, MadeVertex("Reducer 2", (fetched(2000, 4000),))), edges=edges, counters=read)
    sorted_later = joined._replace(number=2, began_ms=joined.began_ms + 60_000, elapsed_s=30)
    job = JobReference(name="query", id="job_1795597626963_0007")
    history = read_history(as_json(joined, sorted_later).decode(), job)
    stages = [(stage.name, stage.tasks, stage.failed_attempts) for stage in history.job.stages]
    assert stages == [("initialmap", 8, 4), ("finalreduce", 2, 0)]
    assert history.job.finished_ms - joined.began_ms == 90_000
    assert history.counted["store_read_bytes"] == 14
    # Two inputs have both added their times.
    (_, fetched_ms), (_, merged_ms), _ = history.attempts[-1].phase_ends()
    assert (fetched_ms - history.attempts[-1].started_ms, merged_ms - fetched_ms) == (1000, 1000)
    failed = read_history(as_json(joined, sorted_later._replace(state="FAILED")).decode(), job)
    assert failed.job.state == "FAILED"
