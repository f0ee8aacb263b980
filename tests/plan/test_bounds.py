"""Proves that a value which Hadoop can't use is refused wherever it is given, with its line, and that others are not."""

import json

import pytest

from assay.model.errors import BadInputError
from assay.plan.properties import bounds
from assay.plan.property_keys import by_key
from assay.plan.settings import resolve, shipped_profiles
from tests.plan.test_make import plan_of

HEAD = "experiment: demo\ndatasets: {make: brightkite}\nmedia: {disk: directory}\n"
PLACES = {
    "everywhere": HEAD + "workloads: triangles\nhadoop:\n  NAME: VALUE\n",
    "workload": HEAD + "workloads:\n  name: triangles\n  hadoop: {NAME: VALUE}\n",
    "profile": HEAD + "workloads: triangles\nprofiles: {p:\n  {properties: {NAME: VALUE}}}\n",
    "level": HEAD + "workloads: triangles\nhadoop:\n  NAME: [VALUE, 7m]\n",
}
IMPOSSIBLE = [
    ("mapreduce.job.reduces", "-1", "a whole number from 0 on"),
    ("mapreduce.job.reduces", "1.5", "a whole number from 0 on"),
    ("mapreduce.job.reduces", "many", "a whole number from 0 on"),
    ("mapreduce.job.reduces", "99999999999", "a whole number from 0 on"),
    ("mapreduce.job.reduces", "9" * 60, "a whole number from 0 on"),
    ("dfs.blocksize", "0", "a size in bytes .* from 1 on"),
    ("dfs.blocksize", "33", "1m or more, a multiple of 512 bytes"),
    ("dfs.blocksize", "1000000", "1m or more"),
    ("dfs.blocksize", "2000000", "1m or more, a multiple of 512"),
    ("dfs.blocksize", "big", "a size in bytes"),
    ("dfs.replication", "0", "a whole number from 1 to 512"),
    ("dfs.replication", "-1", "a whole number from 1 to 512"),
    ("dfs.replication", "513", "a whole number from 1 to 512"),
    ("io.file.buffer.size", "0", "a whole number from 1 on"),
    ("mapreduce.task.io.sort.mb", "4096", "a whole number from 1 to 2047"),
    ("mapreduce.task.io.sort.factor", "1", "a whole number from 2 on"),
    ("mapreduce.map.sort.spill.percent", "2", "a number from 0.001 to 1"),
    ("mapreduce.job.reduce.slowstart.completedmaps", "7", "a number from 0 to 1"),
    ("mapreduce.map.memory.mb", "-7", "a whole number from 1 on, or -1 for Hadoop's own choice"),
    ("mapreduce.map.maxattempts", "0", "a whole number from 1 on"),
]  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("name", "value", "must"), IMPOSSIBLE)
def test_an_impossible_value_is_refused_wherever_it_stands(tmp_path, place, name, value, must):
    text = PLACES[place].replace("NAME", name).replace("VALUE", f"'{value}'")
    with pytest.raises(BadInputError, match=rf"demo.yaml, line [56]: {name} is '{value}', and must be {must}"):
        plan_of(tmp_path, text)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("mapreduce.job.reduces", "8"), ("dfs.blocksize", "1m"), ("dfs.blocksize", "134217728"),
        ("dfs.replication", "3"), ("mapreduce.map.memory.mb", "-1"), ("mapreduce.task.io.sort.mb", "2047"),
        ("mapreduce.map.sort.spill.percent", "0.76"), ("mapreduce.map.sort.spill.percent", "0.90f"),
        ("mapreduce.job.reduce.slowstart.completedmaps", "1.0"), ("my.own.job", "-1"),
    ],
)  # fmt: skip
def test_a_possible_value_is_taken(tmp_path, name, value):
    assert plan_of(tmp_path, PLACES["everywhere"].replace("NAME", name).replace("VALUE", f"'{value}'")).trials


def test_smaller_blocks_are_possible_where_the_namenode_is_told(tmp_path):
    text = PLACES["everywhere"].replace(
        "NAME: VALUE", "dfs.blocksize: 64k\n  dfs.namenode.fs-limits.min-block-size: 4k"
    )
    assert plan_of(tmp_path, text).trials


def test_what_daemons_read_is_no_workloads_own(tmp_path):
    text = PLACES["workload"].replace("NAME", "yarn.scheduler.minimum-allocation-mb").replace("VALUE", "64")
    with pytest.raises(BadInputError, match="line 6: .* is read by the cluster's daemons, not by triangles's jobs"):
        plan_of(tmp_path, text)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("'a b'", "1", "'a b' is not the name of a property"),
        ("''", "1", "'' is not the name of a property"),
        ("a<b", "1", "'a<b' is not the name of a property"),
        ("my.name", '"x\\0y"', r"has the control character U\+0000"),
        ("my.name", '"x\\ey"', r"has the control character U\+001B"),
    ],
)
def test_names_and_values_that_no_file_of_hadoops_holds(tmp_path, name, value, words):
    with pytest.raises(BadInputError, match=words):
        plan_of(tmp_path, PLACES["everywhere"].replace("NAME", name).replace("VALUE", value))


def test_the_shipped_profiles_are_within_bounds(tmp_path):
    for profile in shipped_profiles():
        given = resolve(profile, shipped_profiles()).properties
        bounded = by_key({name: value for name, value in given.items() if name in bounds()})
        lines = [f"{key}: {json.dumps(properties)}\n" for key, properties in bounded.items()]
        if lines:
            assert plan_of(tmp_path, PLACES["everywhere"].replace("hadoop:\n  NAME: VALUE\n", "".join(lines))).trials
