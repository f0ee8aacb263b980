"""Proves that DAGs and jobs of queries are named by their texts, which Hive's own hook tells of DAGs; all else stays."""

from urllib.parse import quote_plus

import pytest

from assay.engine.past.formats import FORMS, tells_names
from assay.engine.past.hive_queries import texts_in
from assay.engine.past.made_histories import MadeJob, write_history
from assay.engine.past.query_names import QUERY_TEXT, query_of_job
from assay.engine.past.tez import NO_TEXT
from assay.engine.protobuf import message_in
from assay.engine.sequence_files import SequenceFile
from assay.store.hadoop_fs import HadoopFs
from assay.triage.bounds import bound_of
from assay.triage.folder import in_folder, in_hadoop
from assay.triage.names import run_name
from tests.engine.made_hive import MadeQuery, events, write_query_data
from tests.engine.made_tez import MIB, MadeDag, MadeTask, MadeVertex, proto_message, sequence_file, write_protobuf
from tests.engine.test_past_tez import OF_HIVE
from tests.triage.test_bounds import drives

COUNT = MadeQuery("SELECT count(*) FROM orders WHERE day = '2026-11-24'", 1)
AGAIN = MadeQuery("SELECT count(*)\n  FROM orders WHERE day = '2026-11-25' -- of today", 2)
INSERT = MadeQuery("INSERT OVERWRITE TABLE sums SELECT customer, sum(price) FROM orders GROUP BY customer", 3)
JOIN = MadeQuery('SELECT * FROM orders JOIN days ON orders.day = days.day LIMIT 10 /* "x" */', 4, ends=False)
QUERIES = (COUNT, AGAIN, INSERT, JOIN)
NAMES = {
    "SELECT count(*) FROM orders WHERE day = ?",
    "INSERT OVERWRITE TABLE sums SELECT customer, sum(price) FROM orders GROUP BY customer",
    "SELECT * FROM orders JOIN days ON orders.day = days.day LIMIT ?",
}


def dag(query, *, says_text=False):
    """A DAG of a query: its only task runs for ten seconds, and computes for as many as the query's number."""
    counters = {"CPU_MILLISECONDS": 1000 * query.number, "HDFS_BYTES_READ": 10_000 * MIB}
    vertex = MadeVertex("Map 1", (MadeTask(1, 11, counters=counters),), reads=True)
    text = query.text if says_text else ""
    return MadeDag((vertex,), number=query.number, name=f"{query.id}:1", query=text, elapsed_s=12)


@pytest.fixture
def site(tmp_path):
    """Tez' and Hive's folders of a day."""
    for query in QUERIES:
        folder = tmp_path / "sys.db" / "dag_data" / "date=2026-11-25"
        folder.mkdir(parents=True, exist_ok=True)
        write_protobuf(folder, dag(query))
    write_query_data(tmp_path / "sys.db" / "query_data" / "date=2026-11-25", *QUERIES)
    return tmp_path / "sys.db"


def jobs_of(folder):
    found = in_folder(folder, 0, lambda _: None)
    return list(found.jobs), found.unread


def test_three_queries_are_listed_with_the_bounds_of_their_dags(site, tmp_path):
    jobs, unread = jobs_of(site)
    assert {run_name(job) for job in jobs} == NAMES
    assert (len(jobs), unread) == (4, [])
    assert not any(job.doubts or job.missing for job in jobs)
    of_plans = tmp_path / "plans"
    of_plans.mkdir()
    for query in QUERIES:
        write_protobuf(of_plans, dag(query, says_text=True))
    # Where a DAG's own history has the text, all is as without Hive's files.
    assert sorted(job._replace(source="") for job in jobs_of(of_plans)[0]) == sorted(
        job._replace(source="") for job in jobs
    )
    for job in jobs:
        computed_s = int(job.id.rpartition("_")[2])
        assert bound_of(job, drives()).seconds == pytest.approx(10 - computed_s), "the rest of its only task's time"


def test_a_folder_of_hadoops_client_is_named_alike(site, tmp_path):
    write_query_data(site / "query_data" / "date=2026-11-26", MadeQuery("SELECT 1", 9))
    client = tmp_path / "hadoop"
    client.write_text(
        '#!/bin/sh\nshift\nif [ $1 = -ls ]; then cd /; find "$3" -type f -printf '
        "'-rw-r--r--   3 u g %s %TY-%Tm-%Td %TH:%TM %p\\n'; else shift; cp -r \"$@\"; fi\n"
    )
    client.chmod(0o755)
    jobs = list(in_hadoop(str(site), 0, HadoopFs(client), lambda _: None).jobs)
    assert {run_name(job) for job in jobs} == NAMES
    assert all(str(site) in job.source for job in jobs)


def test_without_hives_files_the_answer_says_where_the_texts_are(site):
    jobs, _ = jobs_of(site / "dag_data")
    assert {job.doubts for job in jobs} == {(NO_TEXT,)}
    assert {job.name for job in jobs} == {f"{query.id}:1" for query in QUERIES}


def test_of_queries_that_are_not_told_the_doubt_stays(site):
    (file,) = (site / "query_data").rglob("hive_*")
    file.unlink()
    write_query_data(file.parent, COUNT)
    jobs, _ = jobs_of(site)
    assert [bool(job.doubts) for job in sorted(jobs, key=lambda job: job.id)] == [False, True, True, True]


def test_hives_own_command_calls_queries_after_its_user(tmp_path):
    query = MadeQuery(COUNT.text, user="etl-user_1")
    write_protobuf(tmp_path, dag(query))
    assert [job.doubts for job in jobs_of(tmp_path)[0]] == [(NO_TEXT,)]
    write_query_data(tmp_path / "query_data", query)
    (job,) = jobs_of(tmp_path)[0]
    assert (run_name(job), job.doubts) == ("SELECT count(*) FROM orders WHERE day = ?", ())


class OfHive4(MadeQuery):
    """A query by the id that the caller of the captured DAG has, but for the user behind it."""

    id = "root_20261130022519_8a967a5e-23b1-4b4b-bce7-eab1bea0aa9e"


def test_a_dag_that_hive_4_named_is_known_by_its_caller(tmp_path):
    """Its captured history, whose texts are taken out: it has a shortened text for a name, which `query_data` mends."""
    with OF_HIVE.open("rb") as opened:
        messages = [message_in(content) for content in SequenceFile(opened)]
    (tmp_path / OF_HIVE.name).write_bytes(
        sequence_file([message.replace(b"description", b"no-such-key") for message in messages])
    )
    shortened = "INSERT OVERWRITE DIRE......rders.price > 899 (Stage-1)"
    assert [(job.name, job.doubts) for job in jobs_of(tmp_path)[0]] == [(shortened, ())]
    write_query_data(tmp_path / "query_data", OfHive4("SELECT id FROM orders WHERE price > 899"))
    (job,) = jobs_of(tmp_path)[0]
    assert (job.name, job.name_id, job.doubts) == ("SELECT id FROM orders WHERE price > ?", "", ())


@pytest.mark.parametrize(
    ("name", "text", "query"),
    [
        ("SELECT count(*) FROM......day='2026-11-24' (Stage-1)", COUNT.text, "SELECT count(*) FROM orders WHERE day = ?"),
        ("SELECT count(*) FROM......day='2026-11-25'(Stage-12)", quote_plus(AGAIN.text), "SELECT count(*) FROM orders WHERE day = ?"),
        ("SELECT count(*) FROM......day='2026-11-24' (Stage-1)", "", "SELECT count(*) FROM......day=?"),
        ("nightly load", COUNT.text, ""), ("copy (Stage-1) of a", "", ""), ("(Stage-1)", "", ""), ("", "", ""),
    ],
)  # fmt: skip
def test_a_job_of_mapreduce_that_hive_named_is_of_the_query_in_its_configuration_or_its_name(name, text, query):
    assert query_of_job(name, text) == query


def test_all_jobs_of_a_query_and_its_runs_with_other_literals_are_called_alike(tmp_path):
    """Of two nights, with two stages each; the last history has no configuration beside it."""
    for number, (query, stage) in enumerate([(COUNT, 1), (COUNT, 2), (AGAIN, 1), (AGAIN, 2)], 1):
        name = f"{query.text[:19]}......{query.text[-16:]} (Stage-{stage})"
        write_history(tmp_path, MadeJob(number=number, name=name), "json", {QUERY_TEXT: quote_plus(query.text)})
    write_history(tmp_path, MadeJob(number=9, name="INSERT INTO sums SEL......FROM orders (Stage-3)"))
    jobs, _ = jobs_of(tmp_path)
    assert [run_name(job) for job in jobs] == [
        *["SELECT count(*) FROM orders WHERE day = ?"] * 4, "INSERT INTO sums SEL......FROM orders"
    ]  # fmt: skip
    assert {name for job in jobs for name in job.settings} == set(), "its text would tell runs apart"


def test_damaged_events_are_left_out_and_files_that_cant_be_read_are_named(tmp_path):
    (submitted, _), *_ = [tuple(events(query)) for query in (COUNT,)]
    damaged = [
        b"\x0a\xffx", submitted[:-15], b"", proto_message({1: "QUERY_SUBMITTED", 2: 7, 50: ["x"]}),
        proto_message({1: "QUERY_SUBMITTED", 2: "hive", 50: [proto_message({1: "QUERY", 2: "{"})]}),
        proto_message({1: "QUERY_SUBMITTED", 2: "hive", 50: [proto_message({1: "QUERY", 2: "[]"})]}),
        proto_message({1: "QUERY_SUBMITTED", 2: "hive", 50: [proto_message({1: "QUERY", 2: '{"queryText":null}'})]}),
        proto_message({1: "QUERY_SUBMITTED", 2: "hive", 50: 5}),
    ]  # fmt: skip
    file = tmp_path / "hive_0c8e5d5e-1111-2222-3333-444444444444_1"
    file.write_bytes(sequence_file([*damaged, submitted]))
    assert texts_in(file) == {COUNT.id: "SELECT count(*) FROM orders WHERE day = ?"}
    file.write_bytes(file.read_bytes()[:-10])
    assert texts_in(file) == {}
    file.write_bytes(b"")
    assert texts_in(file) == {}
    file.write_bytes(sequence_file([submitted], "org.apache.hadoop.io.compress.SnappyCodec"))
    with pytest.raises(ValueError, match="is compressed with SnappyCodec"):
        texts_in(file)
    write_protobuf(tmp_path, dag(COUNT))
    jobs, unread = jobs_of(tmp_path)
    assert [job.doubts for job in jobs] == [(NO_TEXT,)]
    assert [(entry.file, entry.reason[:3]) for entry in unread] == [(str(file), "it ")]


def test_files_are_known_by_their_names(tmp_path):
    assert tells_names("hive_0c8e5d5e-1111-2222-3333-444444444444")
    assert tells_names("hive_0c8e5d5e-1111-2222-3333-444444444444_12")
    assert not tells_names("hive_20261125031500_0c8e5d5e-1111-2222-3333-444444444444")
    assert [name for name, form in FORMS.items() if form.names is not None] == ["tez"]
