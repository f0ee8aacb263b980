"""Proves what bounds what a drive could save: time, bytes at the lowest rates, jobs beside it, processors, busy drives."""

import io
from itertools import pairwise
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.cli.context import find_installation
from assay.engine.past.made_histories import MadeJob, events, history
from assay.engine.past.mapreduce import Attempt, read_job
from assay.model.errors import BadInputError
from assay.triage.bounds import Busy, Load, beside, bound_of, busy_at_once, computed, concurrency, drive_loads, parts_of
from assay.triage.drives import drives_by_role, drives_text
from assay.triage.reasons import idle_s

MIB, GIB = 1 << 20, 1 << 30
JOB = MadeJob(
    maps=4, reduces=2, slots=2, nodes=2, map_ms=8000, reduce_ms=6000, cpu=0.25, read_bytes=400 * MIB,
    map_output_bytes=200 * MIB, written_bytes=20 * MIB,
)  # fmt: skip


def made(job, **settings):
    return read_job(io.BytesIO(history(job)), {name.replace("_", "."): value for name, value in settings.items()})


def drives(text="1xhdd"):
    return drives_by_role(text, find_installation().profiles)


def test_a_drive_is_as_slow_as_its_profile_allows():
    (hdd,) = {*drives("4xwd10ezex").values()}
    assert (hdd.number, hdd.text) == (4, "4 x WD10EZEX")
    assert hdd.read_rate == pytest.approx(82e6 * 110 / 180)  # two streams on the inner tracks
    assert hdd.seconds("read", 82e6 * 110 / 180) == pytest.approx(1)
    small = hdd.seconds("read", 10 * MIB, 64 << 10)
    assert small == pytest.approx(10 * MIB / hdd.read_rate + 160 / 76)
    assert hdd.seconds("read", GIB, 1 << 30) == hdd.seconds("read", GIB)
    (ssd,) = {*drives("1xssd").values()}
    assert ssd.seconds("read", GIB) < hdd.seconds("read", GIB) / 5


def test_roles_may_have_drives_of_their_own():
    own = drives("12xhdd,intermediate=1xnvme")
    assert [own[role].number for role in ("input", "intermediate", "output")] == [12, 1, 12]
    assert drives("intermediate=1xnvme,12xhdd") == own
    assert (
        drives_text(own)
        == "12 x Constellation ES.3 for input, 1 x DC P4500 for intermediate, 12 x Constellation ES.3 for output"
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hdd", "is not understood at 'hdd'; write it as 4xhdd"), ("0xhdd", "is not understood"),
        ("4xtape", "names 'tape', and known are hdd, ssd, nvme"), ("spill=4xhdd", "is not understood at 'spill=4xhdd'"),
        ("input=4xhdd", "names no drives for intermediate and output"), ("1xnull", "says nothing of sequential_read"),
        ("", "is not understood at ''"), ("12xhdd,2xssd", "names drives twice for all that has no drives of its own"),
        ("12xhdd,input=1xssd,input=2xssd", "names drives twice for input"),
    ],
)  # fmt: skip
def test_drives_that_are_none_are_refused(text, words):
    with pytest.raises(BadInputError, match=words):
        drives(text)


def test_the_smaller_of_time_and_bytes_counts():
    bytes_first = bound_of(made(JOB), drives("4xssd"))
    assert bytes_first.basis == "bytes"
    assert all(stage.seconds == stage.bytes_s < stage.time_s for stage in bytes_first.stages)
    time_first = bound_of(made(JOB._replace(cpu=0.99)), drives("1xhdd"))
    assert time_first.basis == "time"
    assert time_first.seconds == pytest.approx(0.01 * 22, abs=0.05)


def test_more_bytes_fewer_drives_and_slower_ones_never_lower_the_bound_by_bytes():
    def bytes_s(job, text):
        return sum(part.seconds for stage in job.stages for part in parts_of(job, stage, drives(text)))

    small, large = made(JOB), made(JOB._replace(read_bytes=800 * MIB))
    assert bytes_s(small, "4xhdd") < bytes_s(large, "4xhdd")
    assert bytes_s(small, "4xssd") < bytes_s(small, "4xhdd") <= bytes_s(small, "2xhdd") <= bytes_s(small, "1xhdd")


def test_drives_at_once_are_those_that_tasks_can_wait_for():
    assert busy_at_once(4, 1) == 1
    assert busy_at_once(1, 8) == 1
    assert busy_at_once(4, 1e9) == pytest.approx(4)
    assert all(busy_at_once(12, few) < busy_at_once(12, many) for few, many in pairwise((1, 2, 4, 8, 64)))


def test_what_one_stage_writes_may_burden_the_next():
    job = made(JOB._replace(maps=2, reduces=2, map_ms=1000, reduce_ms=200_000, map_output_bytes=2 * GIB, cpu=0.0))
    maps, reduces = bound_of(job, drives("1xhdd")).stages
    assert maps.bytes_s == 1.0
    alone = sum(part.seconds for part in parts_of(job, job.stages[1], drives("1xhdd")))
    assert alone + 20 < reduces.bytes_s < 200


def test_what_reducers_do_beside_the_maps_may_lengthen_the_map_stage():
    late = JOB._replace(map_ms=100_000, reduce_ms=10_000, map_output_bytes=16 * GIB, cpu=0.5)
    early = [
        (kind, {**event, "startTime": event["startTime"] - 90_000} if kind == "REDUCE_ATTEMPT_STARTED" else event)
        for kind, event in events(late)
    ]
    alone, both = (read_job(io.BytesIO(history(made_events)), {}) for made_events in (events(late), early))
    assert both.stages[1].early_ms > 0 == alone.stages[1].early_ms
    without, beside_maps = (bound_of(job, drives("12xssd")).stages for job in (alone, both))
    moved_s = sum(part.seconds for part in parts_of(both, both.stages[1], drives("12xssd")))
    rest_s = moved_s - beside_maps[1].seconds
    assert rest_s > 1
    assert beside_maps[0].bytes_s == pytest.approx(min(100, without[0].bytes_s + rest_s), rel=0.05)


@pytest.mark.parametrize(("gc_ms", "waits_s"), [(200, 0.1), (1000, 7.1)])
def test_processor_time_may_be_that_of_collectors_which_stop_the_task(gc_ms, waits_s):
    attempt = Attempt(10**12, 10**12 + 10_000, 9_900, gc_ms)
    assert 10 - attempt.computed_ms / 1000 == pytest.approx(waits_s)


def test_outputs_have_copies_on_other_nodes():
    job = JOB._replace(written_bytes=2 * GIB)

    def output(settings):
        own = made(job, **settings)
        return sum(part.seconds for part in parts_of(own, own.stages[1], drives()) if part.role == "output")

    assert output({"dfs_replication": "3"}) == pytest.approx(3 * output({"dfs_replication": "1"}))
    assert output({}) == output({"dfs_replication": "3"}) == output({"dfs_replication": "many"})


@pytest.mark.slow
def test_small_pieces_of_a_shuffle_cost_a_positioning_each():
    job = JOB._replace(maps=400, reduces=100, slots=100, map_output_bytes=100 * MIB)
    _, shuffle = [part for part in parts_of(made(job), made(job).stages[1], drives()) if part.phase == "shuffle"]
    assert shuffle.seconds > 40_000 / 2 / 81 / busy_at_once(1, 50)
    assert "in pieces of 2.6 KiB" in shuffle.how


def test_an_uber_job_is_bound_by_its_bytes_alone():
    bound = bound_of(made(JOB._replace(uberized=True, cpu=0.99)), drives())
    assert all(stage.time_s is None and stage.seconds == stage.bytes_s for stage in bound.stages)


def test_processors_that_are_busy_leave_nothing_to_save():
    job = made(JOB._replace(cpu=0.5, slots=8, maps=8, nodes=2))
    free = bound_of(job, drives(), cores=64)
    busy = bound_of(job, drives(), cores=2)
    assert busy.processors_s == pytest.approx((8 * 4 + 2 * 3) / 2 / 2)
    assert busy.stages[0].seconds == 0  # four maps of each node keep its two threads busy
    assert busy.seconds == busy.stages[1].seconds <= job.tasks_s - busy.processors_s
    assert busy.seconds < free.seconds
    # Of nodes that nobody names, or a few tasks alone, no one knows how many there are.
    for some in (job._replace(nodes=()), job._replace(nodes_are_sampled=True)):
        bound = bound_of(some, drives(), cores=2)
        assert (bound.processors_s, [stage.cut_s for stage in bound.stages]) == (0, [0, 0])
    assert bound_of(job._replace(nodes_are_sampled=True), drives(), cores=2).seconds == free.seconds


def test_processor_time_of_attempts_that_other_drives_may_spare_bounds_nothing():
    job = made(JOB._replace(cpu=0.5, slots=8, maps=8, nodes=2))
    maps, reduces = job.stages
    half = maps.whole._replace(needless_cpu_ms=maps.whole.cpu_ms // 2)
    spared = bound_of(job._replace(stages=(maps._replace(whole=half), reduces)), drives(), cores=2)
    assert spared.processors_s == pytest.approx((8 * 4 / 2 + 2 * 3) / 2 / 2)
    free = bound_of(job, drives(), cores=64)
    assert spared.stages[0].seconds == free.stages[0].seconds > 0  # with all of it, the two threads of a node were busy
    assert computed(job).threads == pytest.approx(8 * 0.5 / 2)


def test_processors_that_are_busy_in_one_stage_leave_nothing_to_save_in_it_alone():
    """Maps keep both threads of each node busy, and the reducers one of four: the job as a whole tells less."""
    made_job = made(JOB._replace(cpu=0.95, slots=4, maps=4, reduces=2, nodes=2, read_bytes=4 * GIB))
    maps, reduces = made_job.stages
    waiting = made_job._replace(stages=(maps._replace(saved_ms=maps.elapsed_ms), reduces._replace(saved_ms=3000)))
    free, busy = (bound_of(waiting, drives(), cores=cores) for cores in (None, 2))
    idle_s = 8 - 4 * 0.95 * 8 / 2 / 2
    assert [stage.seconds for stage in free.stages] == [8.0, 3.0]
    assert [stage.seconds for stage in busy.stages] == pytest.approx([idle_s, 3.0])
    assert [stage.cut_s for stage in busy.stages] == pytest.approx([8 - idle_s, 0.0])
    assert busy.seconds == pytest.approx(idle_s + 3)
    assert busy.seconds < waiting.tasks_s - busy.processors_s
    assert busy.basis == free.basis
    # Of reducers that began beside the maps no one knows how much they computed then.
    early = waiting._replace(stages=(maps._replace(saved_ms=maps.elapsed_ms, early_ms=1), waiting.stages[1]))
    assert bound_of(early, drives(), cores=2).stages[0].cut_s == 0


def test_processors_that_are_busy_explain_waits():
    few = JOB._replace(cpu=0.45, slots=8, maps=8, nodes=2, read_bytes=MIB, map_output_bytes=MIB, written_bytes=MIB)
    free, busy = (bound_of(made(few), drives(), cores=cores).stages[0] for cores in (64, 2))
    assert busy.seconds == free.seconds
    assert free.unexplained_s > 3
    assert busy.unexplained_s == pytest.approx(8 - 8 * 0.45 * 8 / 2 / 2 - busy.seconds)


def test_a_history_tells_the_hardware_threads_that_a_node_must_have():
    job = made(JOB._replace(cpu=0.5, slots=8, maps=8, nodes=2))
    assert computed(job).threads == pytest.approx(8 * 0.5 / 2)  # of the maps, which all run at once
    assert computed(job._replace(nodes=())).threads == 0
    assert computed(job._replace(nodes_are_sampled=True)).threads == 0
    assert computed(job._replace(uberized=True)).threads == 0


def test_busy_drives_count_where_they_were_measured():
    bound = bound_of(made(JOB), drives(), busy=Busy({"map": 2.0, "reduce": 100.0}, 0.0))
    assert [stage.seconds for stage in bound.stages] == [3.0, 4.5]  # half as much again, and never above the time
    assert [stage.busy_s for stage in bound.stages] == [2.0, 6.0]
    assert bound.basis == "time"
    assert bound_of(made(JOB), drives(), busy=Busy({"map": 2.0, "reduce": 0.5}, 0.0)).basis == "busy drives"
    half = bound_of(made(JOB), drives(), busy=Busy({"map": 2.0}, 0.0))
    assert half.stages[1].busy_s is None


SHARES = st.floats(0, 1)


@pytest.mark.slow
@given(cpu=SHARES, read=st.integers(0, 4 * GIB), shuffled=st.integers(0, 4 * GIB), busy=st.tuples(SHARES, SHARES))
def test_what_is_measured_never_raises_a_bound(cpu, read, shuffled, busy):
    job = made(JOB._replace(cpu=cpu, read_bytes=read, map_output_bytes=shuffled))
    seconds = {stage.name: share * stage.elapsed_ms / 1000 for stage, share in zip(job.stages, busy, strict=True)}
    without = bound_of(job, drives("12xhdd"))
    bound = bound_of(job, drives("12xhdd"), busy=Busy(seconds, 0.0, seconds))
    assert bound.seconds <= without.seconds
    assert all(stage.seconds <= min(stage.bytes_s, stage.time_s) for stage in bound.stages)


def test_drives_that_work_much_more_than_is_counted_work_for_somebody_else_too():
    job = made(JOB._replace(read_bytes=MIB, map_output_bytes=MIB, written_bytes=MIB))
    quiet, foreign = (
        bound_of(job, drives("12xhdd"), busy=Busy({"map": 8.0, "reduce": 6.0}, 0.0, {"map": most_s, "reduce": 0.0}))
        for most_s in (0.1, 8.0)
    )
    assert [stage.foreign_s for stage in quiet.stages] == [0.0, 0.0]
    assert [stage.foreign_s for stage in foreign.stages] == [8.0, 0.0]
    assert foreign.seconds == quiet.seconds


def test_waits_that_no_counted_byte_explains_are_known():
    def unexplained_s(**changes):
        return sum(stage.unexplained_s for stage in bound_of(made(JOB._replace(**changes)), drives()).stages)

    few = {"read_bytes": MIB, "map_output_bytes": MIB, "written_bytes": MIB}
    assert unexplained_s(**few, cpu=0.05) > 0.5 * made(JOB).tasks_s
    assert unexplained_s(**few, cpu=0.95) < 0.1 * made(JOB).tasks_s
    assert unexplained_s(**few | {"read_bytes": 8 * GIB}, cpu=0.05) < unexplained_s(**few, cpu=0.05)
    assert (
        sum(
            stage.unexplained_s
            for stage in bound_of(
                made(JOB._replace(**few)), drives(), busy=Busy({"map": 0.1, "reduce": 0.1}, 0.0)
            ).stages
        )
        == 0
    )  # drives that did nothing kept nobody waiting
    # What a stage wrote to an object store or read from it explains waits, too.
    job = made(JOB._replace(**few, cpu=0.05))
    remote = job._replace(stages=tuple(
        stage._replace(whole=stage.whole._replace(remote_read=4 * GIB)) for stage in job.stages
    ))  # fmt: skip
    assert not any(stage.unexplained_s for stage in bound_of(remote, drives()).stages)


@pytest.mark.parametrize("kind", ["unplaced_read", "unplaced_written"])
def test_bytes_that_may_lie_on_the_drives_are_told_apart(kind):
    job = made(JOB._replace(cpu=0.0))
    stages = tuple(stage._replace(busiest=stage.busiest._replace(**{kind: GIB})) for stage in job.stages)
    bound, plain = (bound_of(of, drives("4xssd")) for of in (job._replace(stages=stages), job))
    assert bound.seconds == plain.seconds
    assert all(0 < stage.unplaced_s <= stage.time_s - stage.seconds for stage in bound.stages)
    assert not any(stage.unplaced_s for stage in plain.stages)


def test_output_to_object_stores_is_buffered_on_local_drives():
    job = made(JOB._replace(cpu=0.0, written_bytes=0))
    maps, reduces = job.stages
    sent = job._replace(stages=(maps, reduces._replace(busiest=reduces.busiest._replace(remote_written=GIB))))
    assert bound_of(sent, drives("4xssd")).seconds > bound_of(job, drives("4xssd")).seconds
    assert {part.role for part in bound_of(sent, drives("4xssd")).parts if part.phase == "upload"} == {"intermediate"}


def test_drives_that_work_for_other_jobs_too_keep_this_one_waiting():
    first, second = made(JOB), made(JOB._replace(number=2, submitted_ms=JOB.submitted_ms + 12_250))
    of_each = [drive_loads(job, drives("1xssd")) for job in (first, second)]
    loads = beside([first, second], of_each)
    assert loads[0] == pytest.approx(sum(
        load.seconds * max(0, first.finished_ms - load.begin_ms) / (load.end_ms - load.begin_ms)
        for load in of_each[1] if load.end_ms > first.finished_ms
    ) + sum(load.seconds for load in of_each[1] if load.end_ms <= first.finished_ms))  # fmt: skip
    assert 0 < loads[1] < sum(load.seconds for load in of_each[0])
    alone, shared = (bound_of(first, drives("1xssd"), beside_s=load) for load in (0.0, loads[0]))
    assert shared.seconds > alone.seconds
    assert beside([first], of_each[:1]) == pytest.approx([0.0])
    # A session's drives work while its jobs run, and not in the hours between them.
    hour_ms = 3_600_000
    session = first._replace(started_ms=first.started_ms - 20 * hour_ms, finished_ms=first.finished_ms + hour_ms)
    during, before = beside([session, second, second._replace(
        started_ms=second.started_ms - 10 * hour_ms, finished_ms=second.finished_ms - 10 * hour_ms
    )], [of_each[0], [], []])[1:]  # fmt: skip
    assert during == pytest.approx(loads[1])
    assert before == 0
    assert beside([], []) == []


def test_what_other_nodes_do_dilutes_no_load_of_a_jobs_own():
    first, second = made(JOB), made(JOB._replace(number=2, submitted_ms=JOB.submitted_ms + 3000))
    far = made(JOB._replace(number=3, nodes=20, slots=20, maps=20, submitted_ms=JOB.submitted_ms + 10**8))
    others = [f"other-{number}" for number in range(20)]
    loads = [drive_loads(job, drives("1xssd")) for job in (first, second, far)]
    alone = beside([first, second], loads[:2])
    assert alone[0] > 0
    assert beside([first, second, far._replace(nodes=tuple(others))], loads)[:2] == pytest.approx(alone)
    # Of the nodes of a job, the one with most of the others counts.
    half = second._replace(nodes=(first.nodes[0],))
    assert beside([first, half], loads[:2])[0] == pytest.approx(alone[0])
    apart = second._replace(nodes=("other-1", "other-2"))
    assert beside([first, apart], loads[:2])[0] == pytest.approx(alone[0] / 2)  # copies may lie anywhere
    assert 0 < beside([first, second._replace(nodes=())], loads[:2])[0] <= alone[0]


@pytest.mark.slow
def test_loads_of_ten_thousand_jobs_take_seconds():
    job = made(JOB._replace(nodes=2))
    loads = drive_loads(job, drives("1xssd"))
    jobs, of_each = [], []
    for number in range(10_000):
        later = 5000 * number
        nodes = tuple(f"w-{(7 * number + 3 * own) % 50}" for own in range(20))
        jobs.append(job._replace(nodes=nodes, started_ms=job.started_ms + later, finished_ms=job.finished_ms + later))
        of_each.append([Load(load.begin_ms + later, load.end_ms + later, load.seconds) for load in loads])
    began_s = process_time()
    assert min(beside(jobs, of_each)) > 0
    assert process_time() - began_s < 20


def test_how_many_ran_at_once():
    jobs = [made(JOB), made(JOB._replace(number=2, submitted_ms=JOB.submitted_ms + 12_250))]
    found = concurrency(jobs)
    assert (found.most, found.covered_s) == (2, 36.75)
    assert found.average == pytest.approx(2 * 24.5 / 36.75)
    assert concurrency([]) == (0.0, 0, 0.0)


def test_the_role_that_moves_most_matters_most():
    assert bound_of(made(JOB._replace(map_output_bytes=4 * GIB, cpu=0.0)), drives()).role == "intermediate"
    # Where time bounds a job, each of two roles could save all of that.
    tie = bound_of(made(JOB._replace(map_output_bytes=40 * GIB, read_bytes=20 * GIB, cpu=0.9)), drives())
    assert tie.role == "intermediate"
    assert tie.role_seconds()["input"] == tie.role_seconds()["intermediate"] == tie.seconds
    assert bound_of(made(JOB._replace(map_output_bytes=0, written_bytes=0, cpu=0.0)), drives()).role == "input"
    nothing = JOB._replace(map_output_bytes=0, written_bytes=0, read_bytes=0)
    starts = bound_of(made(nothing), drives())
    assert starts.role == "intermediate"  # starts, and what a task writes at least
    assert starts.seconds < 1


def test_tasks_that_ran_beyond_their_job_by_other_clocks_save_no_more_than_all_of_it():
    late = [
        (kind, {**event, "finishTime": event["finishTime"] + 3_600_000} if kind.endswith("ATTEMPT_FINISHED") else event)
        for kind, event in events(JOB._replace(cpu=0.0))
    ]
    job = read_job(io.BytesIO(history(late)), {})
    assert job.tasks_s > job.elapsed_s > 0
    assert idle_s(job) == 0
    assert 0 < bound_of(job, drives()).seconds <= job.elapsed_s
