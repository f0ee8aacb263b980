"""Proves that the ratios of one node's tasks become gains of jobs and of the night by what the other nodes would save."""

import io

import pytest

from assay.engine.past.made_histories import MadeJob, history
from assay.engine.past.mapreduce import read_job
from assay.stats.noise import ConfidenceInterval
from assay.stats.one_node import NodePart
from assay.triage.like_one_node import like_one_node

JOB = MadeJob(name="sort", maps=16, reduces=4, slots=4, nodes=4, map_ms=60_000, reduce_ms=90_000)
MAPS_S, REDUCES_S = 240, 90
"""How long either stage takes: four rounds of maps, and one of reducers."""
DAY_MS = 86_400_000


def job(**changes):
    return read_job(io.BytesIO(history(JOB._replace(**changes))), {})


def part(stage="map", ratio=0.8, interval=(0.7, 0.9), phase=""):
    """A quarter of the tasks are the node's."""
    ends = interval and ConfidenceInterval(low=interval[0], high=interval[1])
    return NodePart(
        stage=stage, phase=phase, jobs=1, tasks=10, other_tasks=30, others=3, ratio=ratio, interval=ends, spread=0.1
    )


def test_a_stage_saves_what_its_tasks_on_other_nodes_would():
    gains = like_one_node([job()], [part(), part("map", 0.1, phase="spill"), part("reduce", 0.5, (0.4, 0.6))])
    maps_s, reduces_s = 0.75 * MAPS_S, 0.75 * REDUCES_S
    assert gains.all_jobs.saved_s == pytest.approx(0.2 * maps_s + 0.5 * reduces_s)
    assert gains.all_jobs.interval_s.low == pytest.approx(0.1 * maps_s + 0.4 * reduces_s)
    assert gains.all_jobs.interval_s.high == pytest.approx(0.3 * maps_s + 0.6 * reduces_s)
    assert gains.all_jobs.of_s == job().elapsed_s > MAPS_S + REDUCES_S
    assert gains.uncompared_s == 0
    (row,) = gains.jobs
    assert (row.job, row.runs, row.gain) == ("sort", 1, gains.all_jobs)
    assert gains.night.gain.saved_s == pytest.approx(gains.all_jobs.saved_s)


def test_stages_that_were_not_compared_count_as_unchanged():
    gains = like_one_node([job()], [part()])
    assert gains.all_jobs.saved_s == pytest.approx(0.75 * 0.2 * MAPS_S)
    assert gains.uncompared_s == REDUCES_S
    assert like_one_node([job()], [part(phase="spill")]) is None
    assert like_one_node([job(state="KILLED")], [part()]) is None


def test_stages_that_count_as_one_go_by_the_first_of_them():
    maps, reduces = job().stages
    joined = job()._replace(stages=(maps._replace(name="Map 1 and 2 at once with it"), reduces))
    assert like_one_node([joined], [part("Map 1")]).all_jobs.saved_s == pytest.approx(0.75 * 0.2 * MAPS_S)


def test_a_slower_node_costs_time_and_without_an_interval_there_is_none():
    gains = like_one_node([job()], [part(ratio=1.2, interval=(1.1, 1.3))])
    assert gains.all_jobs.saved_s == pytest.approx(-0.75 * 0.2 * MAPS_S)
    assert gains.all_jobs.interval_s.low < gains.all_jobs.saved_s < gains.all_jobs.interval_s.high < 0
    assert gains.night.gain.saved_s == pytest.approx(gains.all_jobs.saved_s)
    unsure = like_one_node([job()], [part(), part("reduce", interval=None)])
    assert unsure.all_jobs.interval_s is unsure.night.gain.interval_s is None


def test_a_night_ends_earlier_by_what_its_chain_saves():
    """Two jobs one after the other, and a short one beside the first; of two nights the second is longer."""
    first = job()
    night = [
        first,
        job(number=2, name="load", submitted_ms=first.finished_ms + 1000),
        job(number=3, name="tiny", maps=4),
    ]
    earlier = job(number=9, submitted_ms=JOB.submitted_ms - DAY_MS)
    gains = like_one_node([earlier, *night], [part(), part("reduce", 1.0, (0.9, 1.1))])
    assert gains.night.nights == 2
    assert gains.night.began_ms == first.started_ms
    assert gains.night.gain.saved_s == pytest.approx(2 * 0.75 * 0.2 * MAPS_S)
    assert gains.all_jobs.saved_s == pytest.approx(3.25 * 0.75 * 0.2 * MAPS_S)
    assert [(row.job, row.runs) for row in gains.jobs] == [("sort", 2), ("load", 1), ("tiny", 1)]
    low_s, high_s = gains.night.gain.interval_s.low, gains.night.gain.interval_s.high
    assert low_s < gains.night.gain.saved_s < high_s


def test_a_run_of_a_day_is_no_part_of_the_night():
    long = job(number=2, maps=4, map_ms=2 * DAY_MS)
    assert like_one_node([long], [part()]).night is None
    assert like_one_node([long, job()], [part()]).night.gain.of_s == job().elapsed_s
