"""Proves what is read of a JobHistoryServer, and what is said where it forgets a job, wants a login or is another."""

import json

import pytest

from assay.engine.past.server import PAGE, from_server
from assay.host.http import BoundedWeb, Bounds
from assay.model.errors import BadInputError
from tests.serving import serving

MIB = 1 << 20
JOB = {
    "id": "job_1_0001", "name": "nightly 1", "user": "u", "queue": "q", "state": "SUCCEEDED", "submitTime": 1_000_000,
    "startTime": 1_001_000, "finishTime": 1_031_000, "mapsTotal": 2, "mapsCompleted": 2, "reducesTotal": 1,
}  # fmt: skip


def counter(name, maps, reduces):
    return {"name": name, "totalCounterValue": maps + reduces, "mapCounterValue": maps, "reduceCounterValue": reduces}


COUNTERS = {"jobCounters": {"id": "job_1_0001", "counterGroup": [
    {"counterGroupName": "org.apache.hadoop.mapreduce.FileSystemCounter", "counter": [
        counter("HDFS_BYTES_READ", 100 * MIB, 0), counter("FILE_BYTES_WRITTEN", 50 * MIB, 40 * MIB),
    ]},
    {"counterGroupName": "org.apache.hadoop.mapreduce.TaskCounter", "counter": [
        counter("CPU_MILLISECONDS", 8000, 2500), counter("REDUCE_SHUFFLE_BYTES", 0, 50 * MIB),
        counter("SHUFFLED_MAPS", 0, 2),
    ]},
]}}  # fmt: skip


def task(number, stage, begin, end):
    return {"id": f"task_1_0001_{stage[0].lower()}_{number}", "type": stage, "startTime": begin, "finishTime": end}


TASKS = {"tasks": {"task": [
    task(0, "MAP", 1_002_000, 1_012_000), task(1, "MAP", 1_002_000, 1_022_000), task(0, "REDUCE", 1_010_000, 1_030_000),
]}}  # fmt: skip


def answers(**changed):
    base = f"{PAGE}/job_1_0001"
    attempts = {
        f"{base}/tasks/{one['id']}/attempts": {
            "taskAttempts": {"taskAttempt": [{"nodeHttpAddress": f"node{place % 2}:8042"}] * 2}
        }
        for place, one in enumerate(TASKS["tasks"]["task"])
    }
    return {
        PAGE: {"jobs": {"job": [JOB]}}, f"{base}/counters": COUNTERS, f"{base}/tasks": TASKS, **attempts,
        f"{base}/conf": {"conf": {"property": [{"name": "dfs.replication", "value": "2"}, {"name": "x", "value": "y"}]}},
        **{f"{base}/{page}": answer for page, answer in changed.items()},
    }  # fmt: skip


def read(pages, since_ms=0):
    with serving(pages) as server:
        web = BoundedWeb(bounds=Bounds(per_second=10_000))
        try:
            return list(from_server(server.url, since_ms, web.ask, lambda _: None).jobs), server.asked
        finally:
            web.close()


def test_a_job_by_its_stages():
    (job,), asked = read(answers(), since_ms=5)
    assert (job.name, job.user, job.queue, job.missing) == ("nightly 1", "u", "q", ())
    assert (job.elapsed_s, job.nodes, job.settings) == (30.0, ("node0", "node1"), {"dfs.replication": "2"})
    maps, reduces = job.stages
    assert (maps.whole.store_read, maps.whole.cpu_ms, maps.elapsed_ms) == (100 * MIB, 8000, 20_000)
    assert maps.busiest.store_read == 100 * MIB
    assert (reduces.elapsed_ms, reduces.early_ms) == (8000, 12_000)
    assert reduces.saved_ms == 7000
    assert asked[0] == (PAGE, {"finishedTimeBegin": "5"})


@pytest.mark.parametrize(("maps", "all_nodes"), [(8, ("node0",)), (9, ())])
def test_nodes_of_a_few_tasks_are_not_taken_for_all_nodes(maps, all_nodes):
    tasks = [task(number, "MAP", 1_002_000, 1_022_000) for number in range(maps)]
    attempts = {"taskAttempts": {"taskAttempt": [{"nodeHttpAddress": "node0:8042"}]}}
    pages = answers(tasks={"tasks": {"task": tasks}})
    pages |= {f"{PAGE}/job_1_0001/tasks/{one['id']}/attempts": attempts for one in tasks}
    (job,), _ = read(pages)
    assert (job.missing, job.nodes, job.all_nodes) == ((), ("node0",), all_nodes)


def test_a_job_that_the_server_forgot_meanwhile_is_missing_its_counters():
    (job,), _ = read(answers(counters=(404, {})))
    assert "the server has forgotten it" in job.missing[0]


def test_answers_that_are_garbled_or_without_counters():
    (job,), _ = read(answers(tasks={"tasks": [1]}))
    assert "cut short" in job.missing[0]
    (job,), _ = read(answers(counters={"jobCounters": {"id": "job_1_0001"}}))
    assert "lists none" in job.missing[0]


def test_a_job_that_failed_is_not_asked_for():
    pages = answers()
    pages[PAGE] = {"jobs": {"job": [{**JOB, "state": "KILLED"}]}}
    (job,), asked = read(pages)
    assert "the job was killed" in job.missing[0]
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ((401, {}), "wants a login: HTTP status 401.*--cluster and run `kinit`"), ((404, {}), "can't be asked: HTTP status 404"),
        ({"jobs": None}, "has no finished jobs since then"), ({"other": 1}, "is no JobHistoryServer"),
    ],
)  # fmt: skip
def test_servers_that_do_not_answer_are_refused(page, words):
    with pytest.raises(BadInputError, match=words):
        read({PAGE: page})


def test_tasks_that_the_server_does_not_list_are_missing():
    for tasks, count in (({"tasks": None}, 3), ({"tasks": {"task": TASKS["tasks"]["task"][1:]}}, 1)):
        (job,), _ = read(answers(tasks=tasks))
        assert job.missing[0].startswith(f"{count} of its 3 tasks, which the server does not list")


def test_a_job_of_a_query_is_called_by_the_text_in_its_configuration():
    listed = {PAGE: {"jobs": {"job": [JOB | {"name": "SELECT 1 (Stage-1)"}]}}}
    conf = {"conf": {"property": [{"name": "hive.query.string", "value": "SELECT+max%28id%29+FROM+t+WHERE+day%3D7"}]}}
    (job,), _ = read(answers(conf=conf) | listed)
    assert (job.query, job.settings) == ("SELECT max(id) FROM t WHERE day=?", {})


def test_a_job_without_its_configuration_is_judged_with_hadoops_own_values():
    (job,), _ = read(answers(conf=(404, {})))
    assert (job.missing, job.settings) == ((), {})
    assert job.stages == read(answers())[0][0].stages


def test_bytes_below_none_count_for_nothing_and_are_said():
    (job,), _ = read(answers(counters=json.loads(json.dumps(COUNTERS).replace(str(100 * MIB), "-1"))))
    assert job.whole.store_read == 0
    assert job.doubts[0].startswith("its counters can't be right")
    assert [seconds for _, seconds in job.uncertain] == [float("inf")]


def test_whichever_tasks_computed_no_stage_gets_shorter_by_more():
    """Two maps computed for 11 s together: the one that ran for 100 s may have waited for its drive most of them."""
    tasks = [task(0, "MAP", 1_002_000, 1_012_000), task(1, "MAP", 1_002_000, 1_102_000), TASKS["tasks"]["task"][2]]
    counters = json.loads(json.dumps(COUNTERS).replace('"mapCounterValue": 8000', '"mapCounterValue": 11000'))
    (job,), _ = read(answers(tasks={"tasks": {"task": tasks}}, counters=counters))
    maps = job.stages[0]
    assert maps.saved_ms == 100_000 - 5500
    assert all(100_000 - max(first_ms, 11_000 - first_ms) <= maps.saved_ms for first_ms in range(0, 10_001, 100))
    assert maps.saved_ms - maps.unverified_ms == 90_000  # by processor time that is spread over them by their time
