"""Proves that DAGs of Tez become the sums that triage needs, that stages follow the DAG, and that losses are told."""

import gzip
import json
import random
import time
import tracemalloc
from itertools import pairwise
from pathlib import Path

import pytest

from assay.engine.past.formats import FORMS, attempts_of, is_beside, is_history, read_history_of, suggestions
from assay.engine.past.job import Uncertain, distinct
from assay.engine.past.query_names import query_text, without_literals
from assay.engine.past.tez import NO_END, RECOVERED, PastDag, read_tez_history
from assay.model.engine import HADOOP_JOBS
from assay.triage.bounds import bound_of
from assay.triage.folder import in_folder
from tests.engine.made_tez import (
    BEGAN_MS,
    CODEC,
    MIB,
    MadeDag,
    MadeTask,
    MadeVertex,
    as_json,
    as_protobuf,
    sequence_file,
    write_in_two,
    write_json,
    write_protobuf,
)
from tests.triage.test_bounds import drives

CAPTURED = Path(__file__).parents[1] / "fixtures" / "tez" / "history.txt"
WRITTEN = CAPTURED.with_name("dag_1795597626963_0007_1_1")
OF_HIVE = CAPTURED.with_name("dag_1796005478516_0001_1_1")
SHUFFLED = ("Map 1", "Reducer 2", "SCATTER_GATHER")
MAPPED = {
    "HDFS_BYTES_READ": 100 * MIB, "FILE_BYTES_WRITTEN": 20 * MIB, "OUTPUT_BYTES_PHYSICAL": 10 * MIB,
    "OUTPUT_BYTES": 30 * MIB, "CPU_MILLISECONDS": 1000,
}  # fmt: skip
REDUCED = {
    "SHUFFLE_BYTES": 20 * MIB, "NUM_SHUFFLED_INPUTS": 2, "SHUFFLE_PHASE_TIME": 4000, "MERGE_PHASE_TIME": 5000,
    "FILE_BYTES_READ": 20 * MIB, "HDFS_BYTES_WRITTEN": 5 * MIB, "CPU_MILLISECONDS": 2000,
}  # fmt: skip
MAP = MadeVertex(
    "Map 1", (MadeTask(1, 11, "a", 2, counters=MAPPED), MadeTask(1, 21, "b", 3, counters=MAPPED)), reads=True
)
QUERY = MadeDag(
    (MAP, MadeVertex("Reducer 2", (MadeTask(15, 30, "a", 2, counters=REDUCED),))), (SHUFFLED,),
    query="SELECT count(*) FROM orders WHERE day = '2026-11-25' AND id IN (1, 2)", elapsed_s=31,
)  # fmt: skip


def vertex(name, begin_s, end_s, reads=False, **counters):
    """A vertex of one task that computes for a second."""
    return MadeVertex(name, (MadeTask(begin_s, end_s, counters={"CPU_MILLISECONDS": 1000, **counters}),), reads)


def read(tmp_path, *dags, settings=()):
    """The only DAG of a session, or all of them."""
    jobs = read_tez_history(write_json(tmp_path, *dags, settings=settings))
    return jobs[0] if len(dags) == 1 and len(jobs) == 1 else jobs


def stages(tmp_path, made):
    """The vertices of each stage: the name of the first, and how many are at once with it."""
    return [stage.name for stage in read(tmp_path, made).stages]


def test_sums_by_stage_and_node(tmp_path):
    job = read(tmp_path, QUERY, settings={"dfs.replication": "2", "other": "x"})
    assert isinstance(job, PastDag)
    assert (job.engine, job.id, job.user, job.queue, job.state) == (
        "tez",
        f"dag_{QUERY.id}",
        "hive",
        "root.etl",
        "SUCCEEDED",
    )
    assert (job.counts, job.missing, job.doubts, job.uncertain) == (True, (), (), ())
    assert (job.queued_s, job.elapsed_s, job.nodes, job.copies) == (1.0, 31.0, ("a", "b"), 2)
    assert job.settings == {"dfs.replication": "2"}
    maps, reduces = job.stages
    assert (maps.name, maps.whole.tasks, maps.elapsed_ms, maps.peak) == ("Map 1", 2, 20_000, 2)
    assert (reduces.name, reduces.elapsed_ms, reduces.early_ms) == ("Reducer 2", 9000, 6000)
    assert (maps.whole.store_read, maps.busiest.store_read) == (200 * MIB, 100 * MIB)
    assert (maps.whole.local_written, reduces.whole.local_read) == (40 * MIB, 20 * MIB)
    assert (reduces.whole.fetched, reduces.whole.fetches, reduces.whole.store_written) == (20 * MIB, 2, 5 * MIB)
    assert reduces.phases_ms == {"reduce": 9000}
    assert reduces.busiest.served == 10 * MIB
    assert FORMS[job.engine].program != HADOOP_JOBS


def test_both_forms_say_the_same(tmp_path):
    (job,) = read_tez_history(write_protobuf(tmp_path, QUERY))
    assert job._replace(source="") == read(tmp_path, QUERY)._replace(source="")


@pytest.mark.parametrize(("codec", "blocks"), [("", False), (CODEC, False), (CODEC, True)])
def test_sequence_files_of_all_compressions_say_the_same(tmp_path, codec, blocks):
    file = tmp_path / "mine"
    file.write_bytes(as_protobuf(QUERY, codec, blocks))
    (job,) = read_history_of(file)
    assert job._replace(source="") == read(tmp_path, QUERY)._replace(source="")


def test_a_dag_in_two_files_is_one(tmp_path):
    (tmp_path / "two").mkdir()
    (whole,) = read_tez_history(write_protobuf(tmp_path, QUERY))
    first, second = write_in_two(tmp_path / "two", QUERY)
    (job,) = read_tez_history(second)
    assert job._replace(source="") == whole._replace(source="")
    assert is_history(second.name)
    assert len(attempts_of(second)) == 3
    assert distinct(in_folder(tmp_path / "two", 0, lambda _: None).jobs) == [job]
    first.unlink()
    (late,) = read_tez_history(second)
    assert any(words.startswith("its start") for words in late.missing)


def test_what_tez_itself_wrote_is_read():
    (job,) = read_history_of(CAPTURED)
    assert (job.name, job.counts, job.missing) == ("word count", True, ())
    assert job.whole.tasks == 9
    assert job.whole.store_read == 1_003_070_799
    assert (job.whole.fetched, job.whole.map_output_on_disk) == (133_320, 133_320)
    assert len(attempts_of(CAPTURED)) == 9


def test_what_the_plug_in_of_tez_wrote_is_read(tmp_path):
    """Tez 0.10.5 wrote the same events, with ProtoHistoryLoggingService's converter and writer."""
    (job,) = read_history_of(WRITTEN)
    made = read(tmp_path, QUERY)
    assert (job.stages, job.nodes, job.user, job.state) == (made.stages, made.nodes, made.user, made.state)
    assert (job.submitted_ms, job.started_ms, job.finished_ms) == (made.submitted_ms, made.started_ms, made.finished_ms)
    assert (job.missing, job.doubts, job.uncertain) == ((), (), ())
    assert job.name == "SELECT count(*) FROM orders WHERE day = ? AND città IN (?)"
    assert [attempt.node for attempt in attempts_of(WRITTEN)] == ["a", "b", "a"]


def test_a_join_of_hive_is_read():
    """Hive 4.1.0 ran it on Tez 0.10.5 (`tests/it/test_hive.py`); the bytes are those that Tez told Hive."""
    (job,) = read_history_of(OF_HIVE)
    assert job.name == (
        "INSERT OVERWRITE DIRECTORY ? ROW FORMAT DELIMITED FIELDS TERMINATED BY ? SELECT orders.id, customers.city "
        "FROM orders JOIN customers ON orders.customer = customers.id WHERE orders.price > ?"
    )
    assert (job.missing, job.doubts, job.uncertain) == ((), (), ())
    maps, reducer = (stage.whole for stage in job.stages)
    assert (maps.tasks, maps.store_read, maps.map_output, maps.local_written) == (2, 243_576, 21_001, 11_505)
    assert (reducer.tasks, reducer.fetched, reducer.local_read, reducer.store_written) == (1, 11_441, 11_505, 22_737)


def test_stages_follow_the_edges_of_the_dag(tmp_path):
    join = MadeDag(
        (vertex("Map 1", 1, 10, reads=True), vertex("Map 3", 2, 20, reads=True), vertex("Reducer 2", 12, 30)),
        (SHUFFLED, ("Map 3", "Reducer 2", "SCATTER_GATHER")),
    )
    assert stages(tmp_path, join) == ["Map 1 and 1 at once with it", "Reducer 2"]
    chain = MadeDag(
        (vertex("Map 1", 1, 10, reads=True), vertex("Reducer 2", 5, 20), vertex("Reducer 3", 15, 30)),
        (SHUFFLED, ("Reducer 2", "Reducer 3", "SCATTER_GATHER")),
    )
    assert stages(tmp_path, chain) == ["Map 1", "Reducer 2", "Reducer 3"]
    assert [stage.early_ms for stage in read(tmp_path, chain).stages] == [0, 5000, 5000]
    assert sum(stage.elapsed_ms for stage in read(tmp_path, chain).stages) == 29_000


@pytest.mark.parametrize("way", ["ONE_TO_ONE", "CUSTOM"])
def test_vertices_whose_tasks_need_not_wait_for_all_are_one_stage(tmp_path, way):
    made = MadeDag((vertex("Map 1", 1, 10, reads=True), vertex("Reducer 2", 11, 20)), (("Map 1", "Reducer 2", way),))
    assert stages(tmp_path, made) == ["Map 1 and 1 at once with it"]


@pytest.mark.parametrize(
    "made",
    [
        # No plan tells who waits for whom.
        QUERY._replace(planned=False),
        # It ended before what it should have waited for.
        MadeDag((vertex("Map 1", 1, 20, reads=True), vertex("Reducer 2", 2, 10)), (SHUFFLED,)),
        # It may have read its own input while it waited.
        MadeDag((vertex("Map 1", 1, 10, reads=True), vertex("Reducer 2", 5, 20, reads=True)), (SHUFFLED,)),
    ],
)
def test_vertices_that_may_have_worked_side_by_side_are_one_stage(tmp_path, made):
    assert stages(tmp_path, made) == ["Map 1 and 1 at once with it"]


def test_what_began_before_the_stage_before_it_joins_the_two_before(tmp_path):
    made = MadeDag(
        (vertex("Map 1", 1, 10, reads=True), vertex("Reducer 2", 10, 20), vertex("Reducer 3", 5, 30)),
        (SHUFFLED, ("Map 1", "Reducer 3", "BROADCAST"), ("Reducer 2", "Reducer 3", "SCATTER_GATHER")),
    )
    assert stages(tmp_path, made) == ["Map 1 and 1 at once with it", "Reducer 3"]


def simulated(rng, *, waits):
    """A random DAG on as many slots as it wants, whose tasks wait for drives or not: vertices, edges and its length."""
    names = [f"V{number}" for number in range(rng.randint(2, 5))]
    edges = [
        (source, target, rng.choice(("SCATTER_GATHER", "SCATTER_GATHER", "BROADCAST", "ONE_TO_ONE")))
        for at, target in enumerate(names) for source in names[:at] if rng.random() < 0.6
    ]  # fmt: skip
    ends: dict[str, list[float]] = {}
    vertices = []
    for name in names:
        sources = [(source, way) for source, target, way in edges if target == name]
        reads = not sources or rng.random() < 0.3
        early = rng.random() < 0.7
        tasks, width = [], rng.randint(1, 4)
        for at in range(width):
            needed = [ends[of][at % len(ends[of])] if way == "ONE_TO_ONE" else max(ends[of]) for of, way in sources]
            released = (min if early else max)(
                [min(ends[of]) if early else max(ends[of]) for of, _ in sources], default=0
            )
            own, rest = ([rng.uniform(0, 5), rng.uniform(0, 20)] for _ in range(2))
            begin = released + 1
            ready = max([begin + (own[0] + waits * own[1] if reads else 0), *needed])
            end = ready + rest[0] + waits * rest[1]
            cpu_ms = int(1000 * (rest[0] + (own[0] if reads else 0)))
            tasks.append(
                MadeTask(begin, end, f"n{at}", at, counters={"CPU_MILLISECONDS": cpu_ms, "HDFS_BYTES_READ": 1})
            )
        ends[name] = [task.end_s for task in tasks]
        vertices.append(MadeVertex(name, tuple(tasks), reads))
    return MadeDag(tuple(vertices), tuple(edges), elapsed_s=max(map(max, ends.values())) + 1)


@pytest.mark.slow
def test_no_dag_becomes_shorter_by_more_than_its_stages_and_its_waits_for_containers_may(tmp_path):
    several = 0
    for seed in range(300):
        slow, fast = (simulated(random.Random(seed), waits=waits) for waits in (1, 0))
        job = read(tmp_path, slow)
        assert job.counts
        several += len(job.stages) > 1
        assert sum(stage.saved_ms for stage in job.stages) / 1000 + job.polls_s >= slow.elapsed_s - fast.elapsed_s, seed
    assert several > 50


def test_what_a_single_task_wrote_for_all_others_lies_on_one_node(tmp_path):
    small = MadeVertex(
        "Map 2", (MadeTask(1, 3, "a", counters={"OUTPUT_BYTES_PHYSICAL": MIB, "CPU_MILLISECONDS": 9}),), reads=True
    )
    others = {"CPU_MILLISECONDS": 9, "OUTPUT_BYTES_PHYSICAL": 1000 * MIB}
    wide = MadeVertex(
        "Map 3", tuple(MadeTask(1, 3, f"n{node}", node, counters=others) for node in range(10)), reads=True
    )
    fetched = {"SHUFFLE_BYTES": MIB, "CPU_MILLISECONDS": 9}
    reader = MadeVertex(
        "Map 1", tuple(MadeTask(4, 9, f"n{node}", node, counters=fetched) for node in range(10)), reads=True
    )
    job = read(
        tmp_path, MadeDag((small, wide, reader), (("Map 2", "Map 1", "BROADCAST"), ("Map 3", "Map 1", "CUSTOM")))
    )
    assert [stage.busiest.served for stage in job.stages] == [10 * MIB]
    apart = read(tmp_path, MadeDag((small, wide, reader), (("Map 3", "Map 1", "SCATTER_GATHER"),)))
    assert max(stage.busiest.served for stage in apart.stages) == MIB


def test_a_container_starts_once_however_many_tasks_it_has(tmp_path):
    tasks = tuple(MadeTask(at, at + 1, "a", 2 + at % 2, counters={"CPU_MILLISECONDS": 1}) for at in range(1, 9))
    job = read(tmp_path, MadeDag((MadeVertex("Map 1", tasks, reads=True),)))
    assert job.stages[0].busiest.accesses == 2 * 10 + 8 * 3
    uses = list(job.uses(job.stages[0]))
    assert [use.accesses for use in uses if use.accesses] == [44]


def test_the_bound_is_at_least_what_the_bytes_take_at_the_drives_usual_rates(tmp_path):
    by_role = drives()
    job = read(tmp_path, QUERY)
    bound = bound_of(job, by_role)
    hdd = by_role["input"]
    assert bound.seconds >= 100 * MIB / (hdd.usual * hdd.read_rate)
    assert bound.seconds <= job.elapsed_s
    joined = bound_of(read(tmp_path, QUERY._replace(planned=False)), by_role)
    assert joined.seconds >= bound.seconds


def test_a_session_is_as_many_jobs_as_it_has_dags(tmp_path):
    every = [QUERY._replace(number=number, began_ms=BEGAN_MS + 100_000 * number) for number in (1, 2, 3)]
    jobs = read(tmp_path, *every)
    assert [job.id for job in jobs] == [f"dag_{made.id}" for made in every]
    assert all(job.counts for job in jobs)
    assert len({job.stages[0].whole for job in jobs}) == 1
    assert all(before.finished_ms < after.submitted_ms for before, after in pairwise(jobs))


def missing(tmp_path, made):
    job = read(tmp_path, made)
    assert not job.counts
    return " ".join(job.missing)


def test_what_is_missing_is_said(tmp_path):
    assert missing(tmp_path, QUERY._replace(state="")) == NO_END
    assert missing(tmp_path, QUERY._replace(state="KILLED")).startswith("a good end: the DAG was killed")
    assert missing(tmp_path, QUERY._replace(stats={"numSucceededTasks": 5})).startswith("2 of its tasks: Tez leaves")
    bare = QUERY._replace(vertices=(MAP._replace(tasks=()),), edges=(), stats={"numSucceededTasks": 5})
    assert "tez.history.logging.log.level" in missing(tmp_path, bare)
    uncounted = MadeDag((MadeVertex("Map 1", (MadeTask(),), reads=True),))
    assert missing(tmp_path, uncounted).startswith("its tasks' counters")
    file = write_json(tmp_path, QUERY)
    file.write_bytes(file.read_bytes().replace(b"DAG_SUBMITTED", b"DAG_RECOVERED"))
    (job,) = read_tez_history(file)
    assert job.missing == (RECOVERED,)
    file.write_bytes(file.read_bytes().replace(b"DAG_RECOVERED", b"DAG_SOMETHING"))
    (job,) = read_tez_history(file)
    assert job.missing == ("its start: take the whole file",)


def test_attempts_that_nobody_counted_contradict_the_bound(tmp_path):
    failed = MadeTask(1, 9, state="FAILED", task=0)
    good = MadeTask(10, 20, counters=MAPPED, task=0, attempt=1)
    made = MadeDag((MadeVertex("Map 1", (failed, good), reads=True),))
    (uncertain,) = read(tmp_path, made).uncertain
    assert uncertain.clause.startswith("1 of its attempts that did not end well counted no byte")
    lost = read(tmp_path, made._replace(stats={"numKilledTaskAttempts": 2}))
    assert Uncertain("its history lacks 2 attempts that failed or were killed", float("inf")) in lost.uncertain
    running = made._replace(vertices=(MadeVertex("Map 1", (good, MadeTask(30, 40, state="")), reads=True),))
    (uncertain,) = read(tmp_path, running).uncertain
    assert (uncertain.seconds, "1 attempts" in uncertain.clause) == (30.0, True)


def test_an_attempt_that_never_ran_is_none(tmp_path):
    file = write_json(
        tmp_path,
        MadeDag(
            (
                MadeVertex(
                    "Map 1",
                    (MadeTask(1, 9, state="KILLED", task=0), MadeTask(1, 9, counters=MAPPED, task=0, attempt=1)),
                    reads=True,
                ),
            )
        ),
    )
    lines = file.read_bytes().splitlines(keepends=True)
    kept = [line for line in lines if not (b"000000_0" in line and b"ATTEMPT_STARTED" in line)]
    never = [
        line.replace(f'"startTime":{BEGAN_MS + 1000}'.encode(), b'"startTime":0') if b"KILLED" in line else line
        for line in kept
    ]
    assert never != kept != lines
    file.write_bytes(b"".join(never))
    (job,) = read_tez_history(file)
    assert (job.whole.tasks, job.doubts, job.uncertain, job.counts) == (1, (), (), True)


def test_odd_attempts_count_and_are_told(tmp_path):
    wrong = MadeVertex(
        "Map 1",
        (MadeTask(9, 5, counters=MAPPED), MadeTask(1, 9, counters={**MAPPED, "HDFS_BYTES_READ": -1})),
        reads=True,
    )
    file = write_json(tmp_path, MadeDag((wrong,)))
    content = file.read_bytes()
    ends = [line for line in content.splitlines(keepends=True) if b"ATTEMPT_FINISHED" in line]
    file.write_bytes(content.replace(ends[0], ends[0] * 2))
    (job,) = read_tez_history(file)
    assert (job.counts, job.whole.tasks, job.whole.store_read) == (True, 2, 100 * MIB)
    repeated, skewed, impossible = job.doubts
    assert repeated.startswith("1 ends of attempts are repeated")
    assert "starts after its end" in skewed
    assert "can't be right" in impossible
    assert len(job.uncertain) == 1


def test_daemons_count_neither_bytes_nor_processors(tmp_path):
    counters = {"org.apache.hadoop.hive.llap.counters.LlapIOCounters": {"CACHE_HIT_BYTES": 5}}
    made = MadeDag(
        (MadeVertex("Map 1", (MadeTask(1, 9, counters=MAPPED, extra=counters),), reads=True, scheduler="LLAP"),)
    )
    job = read(tmp_path, made)
    assert "LLAP" in job.uncounted
    assert "its cache" in job.doubts[0]
    assert (job.whole.cpu_ms, job.stages[0].saved_ms) == (0, 8000)
    uber = read(tmp_path, made._replace(vertices=(MAP._replace(scheduler="TezUber"),)))
    assert (uber.uncounted, uber.whole.cpu_ms) == ("", 0)


def test_a_query_is_its_text_without_literals(tmp_path):
    assert read(tmp_path, QUERY).name == "SELECT count(*) FROM orders WHERE day = ? AND id IN (?)"
    assert read(tmp_path, QUERY._replace(query="")).name == "made dag"
    of_caller = {"dagPlan": {"dagContext": {"context": "HIVE", "description": "SELECT 1"}}}
    assert query_text(of_caller) == "SELECT ?"
    nameless = read(
        tmp_path, QUERY._replace(query="", name="hive_20261125031500_0c8e5d5e-1111-2222-3333-444444444444:1")
    )
    assert "other queries count as its runs" in nameless.doubts[0]


@pytest.mark.parametrize(
    ("query", "plain"),
    [
        ("select 'it''s', \"a\\\"b\" -- no\nfrom t1 where x>=-1.5e3;", "select ?, ? from t1 where x>=?"),
        ("insert into db.t_2 values (1,'a'),(2,'b')", "insert into db.t_2 values (?)"),
        ("/* ' */ select `a 1` from t limit 10L", "select `a 1` from t limit ?"),
    ],
)
def test_literals_are_texts_numbers_and_lists_of_them(query, plain):
    assert without_literals(query) == plain


def test_cheaper_changes(tmp_path):
    spilled = {**MAPPED, "FILE_BYTES_WRITTEN": 500 * MIB}
    made = QUERY._replace(
        vertices=(
            MAP._replace(tasks=(MadeTask(1, 9, counters=spilled),)),
            vertex("Reducer 2", 10, 20, SHUFFLE_BYTES=100 * MIB),
        )
    )
    job = read(tmp_path, made, settings={"tez.runtime.compress": "false"})
    assert [suggestion.kind for suggestion in suggestions(job)] == ["spills", "compression"]
    assert suggestions(job)[1].patch[:2] == ("- tez.runtime.compress=false", "+ tez.runtime.compress=true")
    settings = {"tez.runtime.compress": "true", "tez.runtime.compress.codec": "com.hadoop.LzoCodec"}
    taken = FORMS["tez"].taken_over(read(tmp_path, made, settings=settings).settings)
    assert taken.properties == {"tez.runtime.compress": "true"}
    assert "LzoCodec" in taken.replaced


def test_files_are_known_by_name_and_content(tmp_path):
    assert is_history("history.txt.appattempt_1795597626963_0002_000001")
    assert is_history("dag_1795597626963_0002_1_1")
    for name in ("appattempt_1795597626963_0002_000001", "hive_0c8e5d5e-1111-2222-3333-444444444444"):
        assert is_beside(name)
        (tmp_path / name).write_bytes(sequence_file([b"\x0a\x01x"]))
    (tmp_path / "any").write_bytes(gzip.compress(as_json(QUERY)))
    (tmp_path / "other").write_bytes(sequence_file([b"x"], value_class="org.apache.hadoop.io.Text"))
    (tmp_path / "empty session").write_bytes(as_json(QUERY).splitlines(keepends=True)[0])
    write_protobuf(tmp_path, QUERY._replace(number=9))
    told = in_folder(tmp_path, 0, lambda _: None)
    assert sorted(job.id for job in told.jobs) == [f"dag_{QUERY.id}", f"dag_{QUERY._replace(number=9).id}"]
    reasons = {Path(unread.file).name: unread.reason for unread in told.unread}
    assert sorted(reasons) == ["empty session", "other"]
    assert "no DAG" in reasons["empty session"]
    assert "sequence file" in reasons["other"]


@pytest.mark.slow
def test_a_thousand_dags_of_a_hundred_tasks_take_a_minute_and_a_gibibyte(tmp_path):
    """A tenth of both; they are one session, whose file is the largest there can be."""
    counters = {**MAPPED, **{f"COUNTER_{number}": number + 1 for number in range(40)}}
    tasks = tuple(MadeTask(at, at + 1, f"n{at % 9}", at, counters=counters) for at in range(1, 101))
    dags = [MadeDag((MadeVertex("Map 1", tasks, reads=True),), number=number) for number in range(1, 101)]
    file = write_json(tmp_path, *dags)
    began_s = time.process_time()  # a busy machine lets other programs in between
    assert sum(job.whole.tasks for job in read_tez_history(file)) == 10_000
    assert time.process_time() - began_s < 6
    file = write_json(tmp_path, *dags[:20])
    tracemalloc.start()
    read_tez_history(file)
    assert tracemalloc.get_traced_memory()[1] < 20 << 20
    tracemalloc.stop()


def altered(content, at, by):
    """Content with other bytes at a share of its length."""
    place = round(len(content) * at)
    return content[:place] + by + content[place + len(by) :]


DAMAGES = {
    "cut in its first line": lambda content: content[:40],
    "cut in the middle": lambda content: content[: len(content) // 2],
    "cut before its last record": lambda content: content[: content.rindex(b"\x01\n", 0, -2) + 2] if b"\x01\n" in content else content[:-200],
    "cut in its last record": lambda content: content[:-30],
    "without its beginning": lambda content: content[len(content) // 3 :],
    "zeros in the middle": lambda content: altered(content, 0.5, bytes(300)),
    "zeros near its beginning": lambda content: altered(content, 0.1, bytes(300)),
    "zeros near its end": lambda content: altered(content, 0.9, bytes(100)),
    "other bytes in the middle": lambda content: altered(content, 0.5, bytes(range(256))),
    "a piece twice": lambda content: content[: len(content) // 2] + content[len(content) // 3 :],
    "a piece left out": lambda content: content[: len(content) // 3] + content[len(content) // 2 :],
    "ends in zeros": lambda content: content[: len(content) * 2 // 3] + bytes(500),
    "all zeros": lambda content: bytes(len(content)),
    "empty": lambda content: b"",
    "its own start behind it": lambda content: content + content[:100],
    "of text": lambda content: b"Ceci n'est pas une histoire\n",
    "of another order of bytes": lambda content: content[::-1],
    "without line ends": lambda content: content.replace(b"\n", b"") if b"\x01\n" in content else altered(content, 0.4, b"\xff" * 40),
    "packed and cut": lambda content: gzip.compress(content)[:-50],
    "a record of nothing": lambda content: content.replace(b'{"entity":"vertex', b'{}{"entity":"vertex', 1) if b"\x01\n" in content else altered(content, 0.3, b"\0\0\0\0\0\0\0\0"),
    "numbers that are none": lambda content: content.replace(b'"ts":1', b'"ts":"x', 1).replace(b'"counterValue":', b'"counterValue":null,"x":', 1) if b"\x01\n" in content else altered(content, 0.7, b"\x7f\xff\xff\xff"),
    "lists in place of maps": lambda content: content.replace(b'"otherinfo":{', b'"otherinfo":[1],"x":{') if b"\x01\n" in content else altered(content, 0.6, b"[]" * 20),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("make", [as_json, as_protobuf])
def test_no_damage_is_a_traceback_or_a_silent_loss(tmp_path, damage, make):
    content = make(QUERY)
    file = tmp_path / "dag_1795597626963_0007_1_1"
    file.write_bytes(DAMAGES[damage](content))
    jobs = read_history_of(file)
    whole = read(tmp_path, QUERY)
    for job in jobs:
        said = job.missing or job.uncertain or job.doubts
        assert said or job._replace(source="") == whole._replace(source="")
    assert jobs


def test_a_damaged_record_of_one_dag_damages_no_other(tmp_path):
    file = write_json(tmp_path, QUERY, QUERY._replace(number=2))
    lines = file.read_bytes().splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if b"attempt_1795597626963_0007_2" in line)
    lines[at] = lines[at][:-40] + b"\x01\n"
    lines.insert(3, b"INFO a logger's line\n")
    file.write_bytes(b"".join(lines))
    whole, damaged = read_tez_history(file)
    assert whole.counts
    assert whole.doubts[0].startswith("1 lines of its file are no records")
    assert damaged.missing[0] == "1 of its records, which can't be read; copy the file again"


def test_codecs_that_can_not_be_read_are_named(tmp_path):
    file = tmp_path / "dag_1795597626963_0007_1_1"
    file.write_bytes(as_protobuf(QUERY, "org.apache.hadoop.io.compress.SnappyCodec"))
    (job,) = read_history_of(file)
    assert "SnappyCodec" in job.missing[0]
    assert json.dumps(job.missing)
