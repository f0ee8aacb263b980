"""Proves that deprecated Hadoop properties are refused with their new names, and unknown ones doubted."""

from pathlib import Path

import pytest

from assay.model.errors import BadInputError
from assay.model.installation import Installation
from assay.plan.make import plan_and_more
from assay.plan.properties import located, renamed
from assay.plan.settings import resolve, shipped_profiles
from assay.plan.source import Source
from assay.platform.distribution import known_properties
from assay.platform.limits import check_containers
from tests.builders import make_plan
from tests.plan.test_make import GOOD, WORDS, plan_of

ROOT = Path(__file__).parents[2]
KNOWN = WORDS._replace(
    properties={"mapreduce.task.io.sort.mb": "100", "mapreduce.task.timeout": "600000", "dfs.blocksize": "134217728"}
)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("hadoop: {dfs.block.size: 8m}", "line 10: dfs.block.size is deprecated; Hadoop calls it dfs.blocksize now"),
        (
            "hadoop: {io.sort.mb: [5, 10]}",
            "line 10: io.sort.mb is deprecated; Hadoop calls it mapreduce.task.io.sort.mb",
        ),
        ("profiles: {mine: {properties: {mapred.reduce.tasks: 2}}}", "line 10: mapred.reduce.tasks is deprecated"),
        ("hadoop: {mapred.child.java.opts: -Xmx1g}", None),
    ],
)
def test_a_deprecated_name_is_refused_with_the_new_one(tmp_path, line, words):
    if words is None:
        plan_of(tmp_path, GOOD + line + "\n")
        return
    with pytest.raises(BadInputError, match=words):
        plan_of(tmp_path, GOOD + line + "\n")


def test_hadoops_own_list_is_whole():
    assert len(renamed()) > 200
    assert all(name not in now.split(",") for name, now in renamed().items())
    assert not {
        name for profile in shipped_profiles() for name in resolve(profile, shipped_profiles()).properties
    } & set(renamed())


def test_an_unknown_property_is_doubted_with_the_nearest(tmp_path):
    file = tmp_path / "demo.yaml"
    file.write_text(GOOD + "hadoop:\n  mapreduce.task.io.sort.mbs: [5, 6]\n  dfs.blocksize: 8m\n  my.jobs.own: 3\n")
    (doubt,) = make_plan(file, KNOWN).doubts
    assert doubt.kind == "unknown-property"
    assert doubt.what == (
        "Hadoop has no property mapreduce.task.io.sort.mbs (line 11); did you mean 'mapreduce.task.io.sort.mb'?"
    )
    assert not make_plan(file, WORDS).doubts


def test_known_names_are_those_of_hadoops_jars():
    parts = ROOT / ".assay"
    known = known_properties(Installation(root=ROOT, parts=parts, jobs_jar=parts, cache=parts, state=parts))
    if not known:
        pytest.skip("Hadoop's jars are not here")
    profiles = [resolve(name, shipped_profiles()).properties for name in shipped_profiles()]
    assert {name for properties in profiles for name in properties} <= set(known)
    assert {"dfs.replication", "mapreduce.job.jvm.numtasks", "yarn.nodemanager.resource.memory-mb"} <= set(known)
    assert (known["dfs.replication"], known["mapreduce.task.io.sort.mb"]) == ("3", "100")
    assert "mapreduce.task.io.sort.mbs" not in known


def test_nothing_is_known_without_jars(tmp_path):
    nowhere = Installation(root=tmp_path, parts=tmp_path, jobs_jar=tmp_path, cache=tmp_path, state=tmp_path)
    assert known_properties(nowhere) == {}


@pytest.mark.parametrize("levels", ["[4m, 4194304]", "[4M, 4096k]", "[2, 2.0]", "[true, 'True ']"])
@pytest.mark.parametrize("place", ["hadoop: {{io.seqfile.compress.blocksize: {levels}}}\n", None])
def test_two_spellings_of_one_level_are_refused(tmp_path, levels, place):
    text = GOOD + place.format(levels=levels) if place else OWN.replace("LEVELS", levels)
    with pytest.raises(
        BadInputError, match=r"line \d+: io.seqfile.compress.blocksize has one level twice, as .* and .*; leave one out"
    ):
        plan_of(tmp_path, text)


OWN = """\
experiment: demo
workloads: {name: triangles, hadoop: {io.seqfile.compress.blocksize: LEVELS}}
datasets: {make: brightkite}
media: {disk: directory}
"""


@pytest.mark.parametrize("levels", ["[4m, 4g]", "[a, b]", "[0.05, 1]", "['1,2', '1,3']"])
def test_levels_that_differ_are_levels(tmp_path, levels):
    assert len(plan_of(tmp_path, OWN.replace("LEVELS", levels)).trials) == 2


def test_a_word_where_hadoop_has_a_number_is_doubted(tmp_path):
    file = tmp_path / "demo.yaml"
    file.write_text(GOOD + "hadoop:\n  mapreduce.task.timeout: [20, forty]\n  dfs.blocksize: [8m, 16M]\n")
    (doubt,) = make_plan(file, KNOWN).doubts
    assert doubt.kind == "not-a-number"
    assert doubt.what == ("mapreduce.task.timeout is 'forty' (line 11), and Hadoop's default, 600000, is a number")


@pytest.mark.parametrize(
    ("more", "line", "words"),
    [
        ("hadoop: {yarn.scheduler.maximum-allocation-mb: 512}", 10, "yarn.scheduler.minimum-allocation-mb is 1024 MiB"),
        ("hadoop:\n  mapreduce.job.reduces: 2\n  mapreduce.map.cpu.vcores: 9", 12, "mapreduce.map.cpu.vcores is 9"),
        ("profiles:\n  defaults:\n    properties:\n      mapreduce.map.memory.mb: 90000", 13, "the NodeManager offers"),
        ("memory: 1GiB", 10, "a memory limit of 1024 MiB is too small: the 3 daemons take about 384 MiB"),
    ],
)
def test_a_container_without_room_is_refused_with_the_line_of_what_asks_for_it(tmp_path, more, line, words):
    (tmp_path / "demo.yaml").write_text(GOOD + more + "\n")
    source = Source(tmp_path / "demo.yaml")
    trials = plan_and_more(source, WORDS)[0].trials
    trial = next(one for one in trials if one.settings.name == "defaults")
    with pytest.raises(BadInputError, match=rf"demo.yaml, line {line}: {words}"), located(source):
        check_containers(trial.cluster, trial.settings.properties, daemons=3)
