"""Proves how much of what a cluster ran is said to be in histories, and that what is no such list is refused."""

import json

import pytest

from assay.engine.past.applications import Application, application_id, read_applications
from assay.engine.past.job import unread
from assay.model.errors import BadInputError
from assay.triage.coverage import coverage, coverage_words

HOUR = 3_600_000
OF_SESSION = "dag_1795226383840_0004_"


def entry(number=1, kind="MAPREDUCE", began_ms=HOUR, ended_ms=2 * HOUR, core_s=3600, **more):
    """An application as the ResourceManager of Hadoop 3 lists it, with the fields that count."""
    return {
        "id": f"application_1795226383840_{number:04}", "user": "etl", "name": "n", "state": "FINISHED",
        "applicationType": kind, "startedTime": began_ms, "finishedTime": ended_ms,
        "elapsedTime": (ended_ms or 4 * HOUR) - began_ms, "vcoreSeconds": core_s, **more,
    }  # fmt: skip


def read(name, started_ms=HOUR):
    """A job whose history lacks nothing, but for the start where that is 0."""
    return unread(name, "", "")._replace(missing=(), started_ms=started_ms, finished_ms=2 * HOUR)


@pytest.fixture
def listed(tmp_path):
    def write(*entries):
        file = tmp_path / "apps.json"
        file.write_text(json.dumps({"apps": {"app": list(entries)}}))
        return read_applications(file)

    return write


def test_what_histories_tell_of_and_what_they_do_not_by_kind(listed):
    applications = listed(
        entry(1, core_s=10 * 3600), entry(2, "SPARK", core_s=9 * 3600), entry(3, "Apache Flink", core_s=2 * 3600),
        entry(4, "TEZ", core_s=1800), entry(5, "Apache Flink", core_s=600),
    )  # fmt: skip
    jobs = [read("application_1795226383840_0002"), read("job_1795226383840_0001")]
    known = coverage(applications, jobs, 0, 10 * HOUR)
    assert coverage_words(known) == (
        "containers held a core for 21 h 40 min, of which 19 h 00 min are in histories (10 h 00 min of MapReduce, "
        "9 h 00 min of Spark); not read: 2 h 10 min of Apache Flink, 30:00 min of Tez"
    )
    assert known.core_s == known.read_s + sum(known.not_read_s.values())
    assert known.read_s == sum(known.read_by_kind_s.values())
    assert "not read" not in coverage_words(coverage(applications[:2], jobs, 0, 10 * HOUR))


def test_histories_that_lack_something_are_not_read(listed):
    applications = listed(entry(1, core_s=10 * 3600), entry(2, core_s=3600))
    for lacking in (unread("job_1795226383840_0002", "", "cut short"), read("job_1795226383840_0002", started_ms=0)):
        known = coverage(applications, [read("job_1795226383840_0001"), lacking], 0, 10 * HOUR)
        assert (known.read_s, known.lacking_s, known.not_read_s) == (36_000, 3600, {})
        assert coverage_words(known).endswith(
            "10 h 00 min are in histories (10 h 00 min of MapReduce); 1 h 00 min in histories that lack something or "
            "whose jobs did not end well"
        )
        # A whole copy of the same history tells all of it.
        copied = [lacking, read("job_1795226383840_0002"), lacking]
        assert coverage(applications[1:], copied, 0, 10 * HOUR).read_s == 3600


@pytest.mark.parametrize(
    ("numbers", "began_ms", "read_s", "not_read_s"),
    [
        ((1, 2, 3, 4), 0, 3600, 0), ((4,), 0, 900, 2700), ((1, 2), 0, 3600, 0), ((2, 4), 0, 1800, 1800),
        ((3, 4), HOUR + 1, 3600, 0), ((2, 4), HOUR + 1, 2400, 1200),
    ],
)  # fmt: skip
def test_a_session_is_read_as_far_as_its_dags_are(listed, numbers, began_ms, read_s, not_read_s):
    """Of a session that began before the histories do, its earlier DAGs are in none of them."""
    jobs = [read(f"{OF_SESSION}{number}") for number in numbers]
    known = coverage(listed(entry(4, "TEZ")), jobs, began_ms, 10 * HOUR)
    assert known.read_s == pytest.approx(read_s, rel=0.001)
    assert sum(known.not_read_s.values()) == pytest.approx(not_read_s, rel=0.001)
    assert known.core_s == pytest.approx(3600, rel=0.001)


def test_a_dag_that_lacks_something_is_no_part_of_what_was_read(listed):
    jobs = [read(f"{OF_SESSION}1"), unread(f"{OF_SESSION}2", "", ""), read(f"{OF_SESSION}4")]
    known = coverage(listed(entry(4, "TEZ")), jobs, 0, 10 * HOUR)
    assert (known.read_by_kind_s, known.lacking_s, known.not_read_s) == ({"Tez": 1800}, 900, {"Tez": 900})


def test_of_what_ran_beyond_the_histories_the_time_between_counts(listed):
    applications = listed(entry(1), entry(2, began_ms=0, ended_ms=10 * HOUR, core_s=1000, kind="SPARK"))
    assert coverage(applications, [], HOUR, 3 * HOUR).not_read_s == {"MapReduce": 3600, "Spark": 200}
    nothing = coverage(applications, [], 11 * HOUR, 12 * HOUR)
    assert coverage_words(nothing) == "the cluster's list names no application of these days"
    # One that still runs has no end, and what it held until now.
    (running,) = listed(entry(3, ended_ms=0))
    assert running.ended_ms == 4 * HOUR


def test_a_list_that_lacks_what_histories_tell_of_says_so(listed):
    """A ResourceManager forgets its oldest applications; what never ran on one is in no list."""
    names = ("job_1795226383840_0001", "job_1795226383840_0002", "job_1795226383840_0003", "local-17", "")
    jobs = [read(name) for name in names]
    known = coverage(listed(entry(3), entry(4, "TEZ")), jobs, 0, 10 * HOUR)
    assert (known.not_listed, known.read_s) == (2, 3600)
    assert "h 00 min of Tez. 2 applications of the histories are not in the list: " in coverage_words(known)
    nothing = coverage(listed(entry(3)), jobs[:1], 0, HOUR // 2)
    assert "names no application of these days. 1 application of the histories is not" in coverage_words(nothing)


def test_an_application_is_called_as_its_mapreduce_job_is():
    assert application_id(unread("job_1_0042", "", "")) == "application_1_0042"
    assert application_id(unread("local-17", "", "")) == "local-17"


def test_what_nobody_may_see_counts_for_nothing(listed):
    assert listed(entry(1, core_s=-1)) == [
        Application("application_1795226383840_0001", "MapReduce", HOUR, 2 * HOUR, 0.0)
    ]


def test_what_was_forgotten_while_the_list_was_made_is_passed_over(listed):
    zeros = dict.fromkeys(("startedTime", "finishedTime", "elapsedTime", "vcoreSeconds"), 0)
    assert listed(entry(1), zeros) == listed(entry(1))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<?xml version='1.0'?><apps/>", "vcoreSeconds as JSON, and begins with .<.xml .*; save it with `curl "),
        ("This is standby RM. The redirect url is: http://b:8088/\n", "'This is standby RM. The redirect url is: http"),
        ("Total number of applications (application-types: []): 1\n", "is no list of applications"),
        ('{"apps": null}', "lists no application"), ('{"apps": {"app": []}}', "lists no application"),
        ('{"nodes": {}}', "is no list of applications"), ("[]", "is no list of applications"),
        ('{"apps": {"app": [{"id": "application_1_1"}]}}', "is no list of applications"),
        ('{"apps": {"app": [7]}}', "is no list of applications"), ("", "is no list of applications"),
        ("\x00\xff", "is no list of applications"),
    ],
)  # fmt: skip
def test_what_is_no_such_list_is_refused_in_a_sentence(tmp_path, text, message):
    file = tmp_path / "apps"
    file.write_text(text, encoding="latin-1")
    with pytest.raises(BadInputError, match=message) as caught:
        read_applications(file)
    assert "\n" not in str(caught.value)
    with pytest.raises(BadInputError, match="there can't be read|can't be read"):
        read_applications(tmp_path / "none")


def test_all_dags_of_a_session_are_one_application_of_tez():
    assert {application_id(unread(f"dag_1_0042_{number}", "", "")) for number in (1, 2)} == {"application_1_0042"}
    assert application_id(unread("application_1_0042", "", "")) == "application_1_0042"
