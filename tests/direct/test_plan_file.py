"""Proves that a plan's file is read back as it was written, and that bad tags, places and files are refused in one sentence."""

import re

import pytest

from assay.direct.choice import Choice, ChosenJob
from assay.direct.plan_file import check_jar, check_tags, plan_text, read_plan
from assay.engine.past.formats import FORMS
from assay.model.errors import BadInputError
from assay.triage.names import recurring

GB = 10**9


def a_job(name, engine="mapreduce", *, directed=True):
    return ChosenJob(
        job=name, engine=engine, directed=directed, reason="" if directed else "drives cannot matter", peak_bytes=GB,
        likely_hours=3.0, low_hours=1.0, high_hours=4.0, unknown="",
    )  # fmt: skip


def a_choice(*jobs):
    return Choice(
        ssd_bytes=100 * GB, room_bytes=80 * GB, peak_bytes=GB, all_peak_bytes=90 * GB, unknown_runs=0, likely_hours=3.0, low_hours=1.0,
        high_hours=4.0, nights=7, jobs=jobs,
    )  # fmt: skip


def written(folder, text):
    (folder / "plan.yaml").write_text(text)
    return folder / "plan.yaml"


ODD = 'sort: "all" #1 [x]'


def test_a_plan_is_read_back_as_it_was_written(tmp_path):
    choice = a_choice(a_job(ODD), a_job("ranks", "spark"), a_job("query", "tez"), a_job("light", directed=False))
    text = "\n".join(plan_text(choice, "ssd", "disk", "/apps/direct.jar", "[SSD]/s,[DISK]/d"))
    plan = read_plan(written(tmp_path, text))
    assert (plan.tier, plan.jar, plan.policies) == ("ssd", "/apps/direct.jar", {})
    assert plan.jobs == {
        ODD: {
            "mapreduce.job.map.output.collector.class": "org.assay.direct.MapOutput",
            "mapreduce.job.reduce.shuffle.consumer.plugin.class": "org.assay.direct.ReduceShuffle",
            "mapreduce.job.cache.files": "/apps/direct.jar#direct.jar",
            "assay.direct.tier": "ssd",
            "assay.direct.local.dirs": "[SSD]/s,[DISK]/d",
        },
        "ranks": {"spark.executorEnv.ASSAY_DIRECT_TIER": "ssd"},
        "query": {"tez.task.launch.env": "ASSAY_DIRECT_TIER=ssd", "tez.runtime.optimize.local.fetch": "false"},
    }
    assert plan.others == {
        engine: FORMS[engine].directing.properties("disk", "/apps/direct.jar", "[SSD]/s,[DISK]/d") for engine in FORMS
    }
    assert text.count("# needs org.assay.direct.TierExecutor in each NodeManager") == 2 + 2
    assert text.count("NodeManager, and a session that opens with these properties") == 1 + 1
    assert (
        "# A job that sets mapreduce.job.cache.files or tez.task.launch.env itself names both: ITS_OWN,VALUE." in text
    )
    submitted, listed = re.search(r"`([^`]+)` is `([^`]+)`", text).groups()
    assert recurring(submitted) == listed != submitted
    assert "probably saves 3.0 h (1.0 to 4.0) a month" in text
    assert "light" not in text


def test_a_plan_without_jobs_is_one_too(tmp_path):
    plan = read_plan(written(tmp_path, "\n".join(plan_text(a_choice(), "ssd", "disk", "/apps/direct.jar"))))
    assert plan.jobs == {}


@pytest.mark.parametrize(
    ("tags", "tier", "said"),
    [
        ("/ssd/local", "ssd", "'/ssd/local' is no tagged directory"),
        ("[SSD]ssd", "ssd", "is no tagged directory"),
        ("[SSD]/s,,[DISK]/d", "ssd", "'' is no tagged directory"),
        ("[SSD]/s,[DISK]/s", "ssd", "names /s twice"),
        ("[DISK]/d", "ssd", "tags no directory with [SSD], which --tier names"),
        ("[SSD]/s", "ssd", "tags no directory with [DISK], which --others names"),
        ("", "s d", "'s d' is no tag"),
        ("", "Disk", "are both Disk"),
    ],
)
def test_tags_that_no_node_could_read_are_refused(tags, tier, said):
    with pytest.raises(BadInputError) as refused:
        check_tags(tags, tier, "disk")
    assert said in str(refused.value)


@pytest.mark.parametrize("tags", ["", "[SSD]/s,[DISK]/d", "[ssd]/s, [disk]/d"])
def test_tags_are_named_in_any_case_or_not_at_all(tags):
    check_tags(tags, "ssd", "disk")


@pytest.mark.parametrize("place", ["direct.jar", "/apps/", "/apps/direct", "/a b.jar", "/a#b.jar", "hdfs:direct.jar"])
def test_a_place_that_no_file_system_has_is_refused(place):
    with pytest.raises(BadInputError, match="is no place in the cluster's file system"):
        check_jar(place)


@pytest.mark.parametrize("place", ["/direct.jar", "/apps/direct.jar", "hdfs:///apps/direct.jar", "file:/shared/d.jar"])
def test_places_of_any_file_system_are_taken(place):
    check_jar(place)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- a\n", "is no plan; write one with `assay direct plan"),
        ("tier: ssd\njar: /a.jar\njobs: {}\npolicy: {}\n", "policy"),
        ("tier: ssd\njar: /a.jar\njobs: {}\npolicies: {clicks: ALL_SSD}\n", "policies name 'clicks'"),
        ("tier: ssd\njar: /a.jar\njobs: {}\npolicies: {/d: ALL_SSD, /d/e: HOT}\n", "/d/e and /d, in which it lies"),
        ("tier: ssd\njar: a.jar\njobs: {}\n", "'a.jar' is no place"),
    ],
)
def test_a_file_that_is_no_plan_is_refused_in_one_sentence(tmp_path, text, said):
    with pytest.raises(BadInputError) as refused:
        read_plan(written(tmp_path, text))
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
