"""Proves that a history becomes the sums that triage needs, in both forms, and that broken ones say what they lack."""

import gzip
import io
import json
import random
import re
import tracemalloc
from itertools import product

import pytest

from assay.engine.past.job import MAP, REDUCE
from assay.engine.past.made_histories import (
    MadeAttempt,
    MadeJob,
    attempt_events,
    events,
    history,
    job_events,
    write_history,
)
from assay.engine.past.mapreduce import CUT_SHORT, NO_COUNTERS, RESTARTED, read_file, read_job
from assay.engine.past.task_times import ReadSpan, computing_alone_ms, overlap, saved_of

MIB = 1 << 20
FORMS = pytest.mark.parametrize("form", ["json", "binary"])
JOB = MadeJob(
    name="ヒストリー nightly 7", maps=4, reduces=2, slots=2, nodes=2, map_ms=8000, reduce_ms=6000, cpu=0.25,
    read_bytes=400 * MIB, map_output_bytes=200 * MIB, written_bytes=20 * MIB, spills=2,
)  # fmt: skip


def read(content, settings=()):
    return read_job(io.BytesIO(content), dict(settings), "job_1_0001")


@FORMS
def test_sums_by_stage_and_node(form):
    job = read(history(JOB, form))
    assert (job.id, job.name, job.state, job.missing) == (JOB.id, JOB.name, "SUCCEEDED", ())
    assert (job.maps, job.reduces, job.nodes) == (4, 2, ("worker-0", "worker-1"))
    assert (job.queued_s, job.elapsed_s) == (3.0, 2 + 16 + 6 + 0.5)
    maps, reduces = job.stages
    assert (maps.name, maps.whole.tasks, maps.elapsed_ms, maps.peak) == (MAP, 4, 16_000, 2)
    assert (reduces.name, reduces.whole.tasks, reduces.elapsed_ms, reduces.early_ms) == (REDUCE, 2, 6000, 0)
    assert maps.whole.store_read == 400 * MIB
    assert maps.busiest.store_read == 200 * MIB
    assert maps.whole.spilled_records == 2 * maps.whole.output_records
    assert reduces.whole.fetched == 200 * MIB
    assert (reduces.whole.fetches, reduces.whole.store_written) == (8, 20 * MIB)
    assert maps.phases_ms == {"map": 4 * 7200, "spill and merge": 4 * 800}
    assert reduces.phases_ms == {"shuffle": 4000, "merge": 2000, "reduce": 6000}


@FORMS
def test_what_a_stage_could_save_is_the_time_in_which_its_tasks_did_not_compute(form):
    maps, reduces = read(history(JOB, form)).stages
    assert maps.saved_ms == 12_000
    assert reduces.saved_ms == 4500


def test_reducers_that_wait_for_maps_save_nothing_then():
    early = [
        (kind, {**event, "startTime": event["startTime"] - 10_000} if kind == "REDUCE_ATTEMPT_STARTED" else event)
        for kind, event in events(JOB)
    ]
    _, reduces = read(history(early)).stages
    assert (reduces.early_ms, reduces.elapsed_ms) == (20_000, 6000)
    assert reduces.saved_ms <= 6000


def test_a_straggler_counts_for_all_of_its_time():
    spans = [ReadSpan(0, 10, 10), ReadSpan(0, 10, 10), ReadSpan(0, 30, 10)]
    seen = overlap(spans)
    assert (seen.elapsed_ms, seen.peak, seen.waiting_ms) == (30, 3, 20)
    assert overlap([ReadSpan(0, 10, 5), ReadSpan(20, 30, 5)]) == (20, 1, 10)
    assert overlap([]) == (0, 0, 0)


def test_no_schedule_in_the_same_order_gets_shorter_by_more():
    """With each task as short as its computing, the same order on the same slots takes at least what the bound leaves."""
    draw = random.Random(1)
    for _ in range(200):
        slots, spans, short = draw.randint(1, 4), [], []
        free, free_short = [0] * slots, [0] * slots
        for number in range(draw.randint(1, 12)):
            slot = number % slots
            length = draw.randint(1, 50)
            computed = draw.randint(0, length)
            spans.append(ReadSpan(free[slot], free[slot] + length, computed))
            free[slot] += length
            free_short[slot] += computed
            short.append(computed)
        seen = overlap(spans)
        assert seen.elapsed_ms == max(free)
        assert max(free) - max(free_short) <= seen.waiting_ms + 1


def test_tasks_that_do_not_divide_among_the_slots_take_a_round_more():
    assert computing_alone_ms([10] * 4, 4) == 10
    assert computing_alone_ms([10] * 5, 4) == 20
    assert computing_alone_ms([10] * 9, 4) == 30
    assert computing_alone_ms([10, 10, 10, 10, 1], 4) == 11
    assert computing_alone_ms([30, 10, 10, 10, 10], 4) == 30
    assert computing_alone_ms([], 4) == computing_alone_ms([], 0) == 0


def test_no_order_and_no_slots_make_tasks_that_only_compute_end_earlier():
    draw = random.Random(2)
    for _ in range(300):
        slots, computed_ms = draw.randint(1, 3), [draw.randint(0, 30) for _ in range(draw.randint(0, 6))]
        ends_ms = {
            max(
                sum(length for length, on in zip(computed_ms, choice, strict=True) if on == slot)
                for slot in range(slots)
            )
            for choice in product(range(slots), repeat=len(computed_ms))
        }
        least_ms = computing_alone_ms(computed_ms, slots)
        assert max([*computed_ms, sum(computed_ms) // slots]) <= least_ms <= min(ends_ms)


def test_a_stage_saves_no_more_than_its_tasks_on_its_slots_could():
    """Five tasks of two at once, of which each waited for another share: no moment tells that all of them waited."""
    shares = (0.9, 0.1, 0.9, 0.1, 0.9)
    spans = [ReadSpan(100 * (at // 2), 100 * (at // 2) + 100, round(100 * share)) for at, share in enumerate(shares)]
    assert overlap(spans).waiting_ms == 190
    assert saved_of(spans).most_ms == 300 - 180


def test_no_schedule_without_needless_attempts_gets_shorter_by_more():
    """Attempts that fail, or are killed, need not run at all on other drives, whatever they computed."""
    draw = random.Random(3)
    for _ in range(300):
        slots, spans = draw.randint(1, 4), []
        free, free_short = [0] * slots, [0] * slots
        for number in range(draw.randint(1, 12)):
            slot, length, needless = number % slots, draw.randint(1, 50), draw.random() < 0.3
            computed = draw.randint(0, length)
            spans.append(ReadSpan(free[slot], free[slot] + length, computed, needless))
            free[slot] += length
            free_short[slot] += 0 if needless else computed
        saved = saved_of(spans)
        assert max(free) - max(free_short) <= saved.most_ms + 1
        as_computed = saved_of([span._replace(needless=False) for span in spans])
        assert saved.most_ms - saved.unverified_ms <= as_computed.most_ms <= saved.most_ms


def test_a_stage_saves_no_more_than_its_tasks_could_on_all_slots_that_its_job_had():
    shares = (0.9, 0.1, 0.9, 0.1, 0.9)
    spans = [ReadSpan(100 * (at // 2), 100 * (at // 2) + 100, round(100 * share)) for at, share in enumerate(shares)]
    assert saved_of(spans, 3).most_ms == 190  # on three slots they need 100
    assert saved_of(spans, 1) == saved_of(spans)
    maps = [made_attempt("MAP", number, 0, 10, 10) for number in range(3)]
    reduces = [
        made_attempt("REDUCE", at, 10 + 10 * (at // 2), 20 + 10 * (at // 2), 10 * share)
        for at, share in enumerate(shares)
    ]
    both, alone = of_attempts(*maps, *reduces).stages[1], of_attempts(*maps[:2], *reduces).stages[1]
    assert (both.peak, both.saved_ms, alone.saved_ms) == (2, 19_000, 12_000)


def made_attempt(stage, number, begin_s, end_s, cpu_s, again=0, state="SUCCEEDED"):
    """An attempt on one node; `number` is that of its task, and `again` its own."""
    began, ended = (JOB.started_ms + 1000 * at_s for at_s in (begin_s, end_s))
    ends = {"mapFinishTime": ended} if stage == "MAP" else {"shuffleFinishTime": began, "sortFinishTime": began}
    name = f"{JOB.id.replace('job', 'attempt')}_{stage[0].lower()}_{number:06d}_{again}"
    values = {"CPU_MILLISECONDS": round(1000 * cpu_s), "HDFS_BYTES_READ": MIB}
    return MadeAttempt(name, stage, "worker-0", began, ended, values, ends, state)


def of_attempts(*attempts):
    """The job that ran these."""
    made = (event for attempt in attempts for event in attempt_events(attempt))
    return read(history(list(job_events(JOB.head._replace(finished_ms=JOB.started_ms + 300_000), made))))


@pytest.mark.parametrize("state", ["KILLED", "FAILED"])
def test_what_attempts_computed_that_did_not_end_well_keeps_no_stage_from_ending_earlier(state):
    """A map that waits for its drive is started once more, in vain: with a faster drive it is not."""
    good = made_attempt("MAP", 0, 0, 100, 10), made_attempt("MAP", 1, 0, 20, 19)
    maps = of_attempts(*good, made_attempt("MAP", 0, 30, 90, 55, 1, state)).stages[0]
    assert maps.saved_ms == 100_000 - 19_000
    assert maps.unverified_ms == maps.saved_ms - (100_000 - 55_000)
    assert (maps.whole.cpu_ms, maps.whole.needed_cpu_ms) == (84_000, 29_000)
    assert maps.whole.tasks == 3
    plain = of_attempts(*good).stages[0]
    assert (plain.saved_ms, plain.unverified_ms, plain.whole.needless_cpu_ms) == (81_000, 0, 0)


def test_a_task_that_ends_well_twice_is_needed_once():
    """The output of the first attempt was lost with its node."""
    maps = of_attempts(made_attempt("MAP", 0, 0, 40, 40), made_attempt("MAP", 0, 50, 90, 40, 1)).stages[0]
    assert (maps.saved_ms, maps.unverified_ms) == (40_000, 40_000)
    assert (maps.whole.cpu_ms, maps.whole.needed_cpu_ms) == (80_000, 40_000)


@FORMS
def test_files_that_are_cut_short_say_so_and_never_fail(form):
    whole = history(JOB, form)
    for end in (len(whole) - 300, len(whole) // 2, 4000, 20, 0):
        job = read(whole[:end])
        assert job.missing, end
    assert any("whole file" in word or word == CUT_SHORT for word in read(whole[: len(whole) // 2]).missing)
    assert "it is no job history" in read(b"PK\x03\x04 a zip file").missing[0]


def test_a_garbled_event_is_left_out_and_said():
    lines = history(JOB).split(b"\n")
    place = next(number for number, line in enumerate(lines) if b'"type":"MAP_ATTEMPT_FINISHED"' in line)
    lines[place] = lines[place].replace(b'"hostname":"worker-0"', b'"hostname":"worker-0":80')
    job = read(b"\n".join(lines))
    assert job.missing == (f"1 of its events, which can't be read (line {place + 1}); copy the file again",)
    assert job.stages[0].whole.tasks == 3


def test_a_comment_before_the_form_is_passed_over():
    assert read(b"<!--\n  a licence\n-->\n" + history(JOB)).missing == ()


@FORMS
@pytest.mark.parametrize("state", ["FAILED", "KILLED"])
def test_jobs_without_a_good_end(form, state):
    job = read(history(JOB._replace(state=state), form))
    assert job.state == state
    assert f"the job was {state.lower()}" in job.missing[0]


@FORMS
def test_without_counters(form):
    assert read(history(JOB._replace(counters=False), form)).missing == (NO_COUNTERS,)


@FORMS
def test_map_only_and_without_any_task(form):
    only = read(history(JOB._replace(reduces=0), form))
    assert [stage.name for stage in only.stages] == [MAP]
    assert only.missing == ()
    assert only.stages[0].whole.store_written == 20 * MIB
    empty = [event for event in events(JOB) if event[0].startswith("JOB_")]
    empty[1] = (empty[1][0], {**empty[1][1], "totalMaps": 0, "totalReduces": 0})
    assert (read(history(empty)).stages, read(history(empty)).missing) == ((), ())


@FORMS
def test_an_uber_job_is_known_as_one(form):
    job = read(history(JOB._replace(uberized=True), form))
    assert (job.uberized, job.missing) == (True, ())


@pytest.mark.parametrize(("seconds", "lost_s"), [((-60, -2), 0), ((-2, 10), 10), ((-2, 5, 10), 10)])
def test_what_ran_before_an_application_master_was_started_again_is_missing_and_said(seconds, lost_s):
    """A later one takes over the job's start and its tasks that have ended, or begins anew."""

    def with_masters(*seconds):
        form, schema, *lines = history(JOB).split(b"\n")
        masters = [
            {"applicationAttemptId": f"appattempt_1_1_{number}", "startTime": JOB.started_ms + 1000 * at_s}
            for number, at_s in enumerate(seconds)
        ]
        events = [json.dumps({"type": "AM_STARTED", "event": {"AMStarted": of}}).encode() for of in masters]
        return read(b"\n".join([form, schema, *events, *lines]))

    assert with_masters(seconds[0]) == read(history(JOB))
    job = with_masters(*seconds)
    assert (job.doubts, job.missing) == ((RESTARTED,), ())
    assert sum(uncertain.seconds for uncertain in job.uncertain) == lost_s


@FORMS
def test_attempts_that_failed_or_were_killed_count_with_what_they_did(form):
    changed = []
    for kind, event in events(JOB):
        lost = {"status": "KILLED", "error": "outrun"}
        again = event.get("attemptId", "").endswith("m_000000_0") and kind == "MAP_ATTEMPT_FINISHED"
        changed.append(("MAP_ATTEMPT_KILLED", {**event, **lost}) if again else (kind, event))
    maps, _ = read(history(changed, form)).stages
    assert (maps.whole.tasks, maps.whole.store_read, maps.elapsed_ms) == (4, 400 * MIB, 16_000)


def test_a_history_of_hadoop_0_23():
    """A space before each event, no queue, no counters of attempts that were killed, and events that are new to us."""
    former = []
    for kind, event in events(JOB):
        if kind == "MAP_ATTEMPT_FINISHED" and event["attemptId"].endswith("m_000003_0"):
            known = {name: event[name] for name in ("taskid", "attemptId", "taskType", "finishTime", "hostname")}
            former.append(("MAP_ATTEMPT_KILLED", known))
        else:
            unknown = {"jobQueueName", "containerId"}
            former.append((kind, {name: value for name, value in event.items() if name not in unknown}))
    content = history(former).replace(b'\n{"type":"', b'\n {"type":"')
    job = read(content + b' {"type":"JOB_PRIORITY_CHANGED","event":{"x.JobPriorityChange":{"priority":"LOW"}}}\n')
    assert (job.name, job.queue, job.state, job.missing) == (JOB.name, "", "SUCCEEDED", ())
    assert job.stages[0].whole.store_read == 300 * MIB
    assert job.stages[0].whole.tasks == 4


def test_groups_of_counters_before_hadoop_2_are_known():
    old = history(JOB).replace(b"org.apache.hadoop.mapreduce.FileSystemCounter", b"FileSystemCounters")
    old = old.replace(b"org.apache.hadoop.mapreduce.TaskCounter", b"org.apache.hadoop.mapred.Task$Counter")
    assert read(old).stages == read(history(JOB)).stages


def test_clocks_that_disagree_make_no_negative_times():
    skewed = [
        (kind, {**event, "finishTime": event["finishTime"] - 60_000} if kind == "MAP_ATTEMPT_FINISHED" else event)
        for kind, event in events(JOB)
    ]
    job = read(history(skewed))
    assert all(stage.elapsed_ms >= 0 and stage.saved_ms >= 0 and stage.early_ms >= 0 for stage in job.stages)


def changed_maps(change):
    """The job's events, with those of each map's attempt as `change` makes them of kind, event and number."""
    number = -1
    for kind, event in events(JOB):
        number += kind == "MAP_ATTEMPT_STARTED"
        yield kind, (change(kind, dict(event), number) if kind.startswith("MAP_ATTEMPT") else event)


@FORMS
def test_an_attempt_that_ends_before_it_starts_keeps_its_bytes_and_may_have_waited_all_the_time(form):
    def skew(kind, event, number):
        return {**event, "startTime": event["startTime"] + 90_000} if "startTime" in event and number == 1 else event

    job, whole = read(history(list(changed_maps(skew)), form)), read(history(JOB, form))
    maps, as_made = job.stages[0], whole.stages[0]
    assert (maps.whole.store_read, maps.whole.tasks) == (as_made.whole.store_read, 4)
    assert maps.whole.task_ms == as_made.whole.task_ms * 3 // 4
    assert maps.elapsed_ms >= as_made.elapsed_ms
    assert maps.saved_ms > as_made.saved_ms
    assert job.counts
    assert job.doubts[0].startswith("1 attempt starts after its end")


def test_an_attempt_that_never_ran_is_none():
    killed = list(events(JOB))
    start = next(number for number, (kind, _) in enumerate(killed) if kind == "MAP_ATTEMPT_STARTED")
    _, event = next(pair for pair in killed if pair[0] == "MAP_ATTEMPT_FINISHED")
    unlaunched = {**event, "attemptId": "attempt_1_0001_m_000009_0", "counters": {"name": "", "groups": []}}
    killed.insert(start, ("MAP_ATTEMPT_KILLED", {**unlaunched, "status": "KILLED", "error": ""}))
    job = read(history(killed))
    assert (job.stages, job.doubts) == (read(history(JOB)).stages, ())


@FORMS
def test_ends_of_attempts_that_are_repeated_count_once(form):
    made = list(events(JOB))
    job = read(history([*made[:-1], *made], form))
    assert job.stages == read(history(JOB, form)).stages
    assert job.doubts == ("6 ends of attempts are repeated in it, and count once",)


def test_a_line_of_a_logger_among_events_is_left_out_and_said():
    lines = history(JOB).splitlines(keepends=True)
    job = read(b"".join([*lines[:8], b"26/11/27 03:15:00 WARN JobHistoryEventHandler: slow\n", *lines[8:]]))
    assert (job.stages, job.missing) == (read(history(JOB)).stages, ())
    assert job.doubts[0].startswith("1 of its lines are no events")


def with_file_counters(**values):
    """The job whose maps count this, too."""
    changed = list(events(JOB))
    for kind, event in changed:
        if kind == "MAP_ATTEMPT_FINISHED":
            counts = event["counters"]["groups"][0]["counts"]
            counts += [{"name": name, "displayName": name, "value": value} for name, value in values.items()]
    return read(history(changed))


def test_bytes_of_a_view_count_once_and_those_of_an_object_store_are_no_drives():
    job = with_file_counters(VIEWFS_BYTES_READ=100 * MIB, S3A_BYTES_READ=7 * MIB)
    maps, _ = job.stages
    assert (maps.whole.store_read, maps.whole.remote_read, job.unplaced) == (400 * MIB, 28 * MIB, ())


@pytest.mark.parametrize("scheme", ["ALLUXIO", "CEPH", "LUSTREFS", "NEVERHEARDOF"])
def test_bytes_of_a_file_system_that_is_not_known_may_lie_on_the_nodes_drives(scheme):
    job = with_file_counters(**{f"{scheme}_BYTES_READ": 9 * MIB, f"{scheme}_BYTES_WRITTEN": MIB, "OTHER_READ_OPS": 3})
    maps, _ = job.stages
    assert (maps.whole.unplaced_read, maps.whole.unplaced_written) == (36 * MIB, 4 * MIB)
    assert (maps.whole.remote_read, maps.whole.file_systems_read) == (0, 436 * MIB)
    assert job.unplaced == (scheme.lower(),)
    assert with_file_counters(**{f"{scheme}_BYTES_READ": 0}).unplaced == ()


def test_a_file_packed_or_not_with_its_configuration_beside_it(tmp_path):
    settings = {"io.sort.mb": "256", "dfs.replication": "2", "mapreduce.job.user.classpath.first": "x"}
    file = write_history(tmp_path, JOB, settings=settings)
    plain = read_file(file)
    assert plain.settings == {"mapreduce.task.io.sort.mb": "256", "dfs.replication": "2"}
    packed = file.with_name(file.name + ".gz")
    packed.write_bytes(gzip.compress(file.read_bytes()))
    assert read_file(packed)._replace(source="") == plain._replace(source="")
    (tmp_path / f"{JOB.id}_conf.xml").write_text("<configuration><property>")
    assert read_file(file).settings == {}
    assert read_file(tmp_path / "job_1_0001.jhist").missing == ("the whole history: there is no such file",)


def test_a_file_without_a_jobs_name_has_its_id_by_the_files_name():
    assert read(b"Avro-Json\n{}\n").id == "job_1_0001"


@pytest.mark.slow
@FORMS
def test_of_a_job_with_many_tasks_little_is_kept(form):
    big = JOB._replace(maps=3000, reduces=30, slots=400, nodes=100)
    content = history(big, form)
    tracemalloc.start()
    job = read(content)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert job.stages[0].whole.tasks == 3000
    assert most < 8 * MIB


def test_events_are_whatever_a_file_says():
    """Lines that are JSON and no events are garbled ones."""
    content = history(JOB) + json.dumps({"type": "JOB_FINISHED", "event": {"x": {}}}).encode() + b"\n"
    assert read(content).missing


@FORMS
def test_an_attempt_that_was_killed_and_counted_nothing_leaves_its_time_uncertain(form):
    made = list(events(JOB))
    start = next(event for kind, event in made if kind == "MAP_ATTEMPT_STARTED")
    end = next(event for kind, event in made if kind == "MAP_ATTEMPT_FINISHED")
    other = {"attemptId": "attempt_1_0001_m_000000_7"}
    silent = {**end, **other, "status": "KILLED", "error": "", "counters": {"name": "", "groups": []}}
    pair = [("MAP_ATTEMPT_STARTED", {**start, **other}), ("MAP_ATTEMPT_KILLED", silent)]
    job = read(history([*made[:-1], *pair, made[-1]], form))
    ((clause, seconds),) = job.uncertain
    assert clause.startswith("1 of its attempts that did not end well counted no byte")
    assert seconds == (end["finishTime"] - start["startTime"]) / 1000
    assert read(history(JOB, form)).uncertain == ()


@FORMS
def test_bytes_below_none_count_for_nothing_and_are_said(form):
    def change(kind, event, number):
        if kind != "MAP_ATTEMPT_FINISHED" or number != 1:
            return event
        changed = json.loads(re.sub(r'("HDFS_BYTES_READ"[^}]*"value": )', r"\1-", json.dumps(event)))
        assert changed != event
        return changed

    job, whole = read(history(list(changed_maps(change)), form)), read(history(JOB, form))
    assert job.whole.store_read == whole.whole.store_read * 3 // 4
    assert job.doubts[0].startswith("1 attempt has counters that can't be right")
    ((clause, seconds),) = job.uncertain
    assert clause.startswith("1 of its attempts have counters")
    assert seconds > 0


@pytest.mark.parametrize("launch", [-1, 1_795_226_400])
def test_a_start_that_can_not_be_right_is_that_of_the_first_task(launch):
    made = [(kind, {**event, "launchTime": launch} if kind == "JOB_INITED" else event) for kind, event in events(JOB)]
    job, whole = read(history(made)), read(history(JOB))
    first_ms = min(event["startTime"] for kind, event in events(JOB) if kind == "MAP_ATTEMPT_STARTED")
    assert (job.counts, job.started_ms, job.stages) == (True, first_ms, whole.stages)
    assert job.doubts == ("its start can't be right: it counts from the start of its first task",)


def test_names_of_one_node_are_one():
    names = ["Worker-1.Example.com", "worker-1", "worker-1.example.com.", "WORKER-1"]

    def change(kind, event, number):
        return {**event, "trackerName": names[number]} if kind.endswith("STARTED") else event

    job = read(history(list(changed_maps(change))))
    maps = job.stages[0]
    assert maps.busiest.store_read == maps.whole.store_read
    assert sum(name.lower().startswith("worker-1") for name in job.nodes) <= 1


def test_a_history_that_is_appended_to_itself_counts_once_and_one_of_two_jobs_not_at_all():
    content = history(JOB)
    twice = read(content + content)
    assert (twice.counts, twice.stages) == (True, read(content).stages)
    both = read(content + history(JOB._replace(number=9)))
    assert both.missing[0].startswith("a file of its own: this one holds several jobs")


@FORMS
def test_text_in_any_encoding_is_read_with_its_damaged_characters_replaced(form):
    made = history(JOB._replace(name="cafes"), form)
    job = read(made.replace(b"cafes", b"caf\xe9s"))
    assert (job.counts, job.stages) == (True, read(made).stages)
    assert job.name == "caf\N{REPLACEMENT CHARACTER}s"
