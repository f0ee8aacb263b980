"""Proves that trials on emulated drives within bounded memory write back as such a node does, and others as the host."""

import pytest

from assay.model.cluster import EmbeddedSpec
from assay.model.errors import BadInputError
from assay.model.trial import Plan
from tests.plan.test_make import plan_of

HEAD = "experiment: demo\nworkloads: testdfsio\n"
DRIVES = HEAD + "media: {hdd: wd10ezex, ssd: nvme}\n"
MIB = 1 << 20


def conditions(plan):
    """Each level with its age and limit."""
    clusters = [trial.cluster for trial in plan.trials]
    return {(one.write_back, one.write_back_age_s, one.dirty_limit_bytes) for one in clusters}


@pytest.mark.parametrize(
    ("bound", "limit"),
    [("memory: 1GiB", MIB * 1024 // 5), ("page_cache: 100MiB", 20 * MIB),
     ("memory: 1GiB\npage_cache: 100MiB", 20 * MIB)],
)  # fmt: skip
def test_a_bound_of_memory_makes_drives_write_back_as_such_a_node_does(tmp_path, bound, limit):
    assert conditions(plan_of(tmp_path, f"{DRIVES}{bound}\n")) == {("node", 1.0, limit)}


@pytest.mark.parametrize(
    "text",
    [
        DRIVES, DRIVES + "memory: all\n", HEAD + "media: {disk: directory}\nmemory: 1GiB\n",
        HEAD + "media: {disk: directory, hdd: wd10ezex}\nmemory: 1GiB\n", DRIVES + "memory: 1GiB\nwrite_back: host\n",
        f"folder: /tmp\n{DRIVES}memory: 1GiB\n",
    ],
)  # fmt: skip
def test_else_this_machine_s_limits_hold(tmp_path, text):
    assert conditions(plan_of(tmp_path, text)) == {("host", None, None)}


def test_where_one_of_several_bounds_is_all_of_the_memory_the_age_alone_holds_within_it(tmp_path):
    plan = plan_of(tmp_path, DRIVES + "memory: [1GiB, all]\nwrite_back_age: 500ms\n")
    assert conditions(plan) == {("node", 0.5, MIB * 1024 // 5), ("node", 0.5, None)}


def test_it_is_a_factor(tmp_path):
    plan = plan_of(tmp_path, DRIVES + "memory: 1GiB\nwrite_back: [node, host]\n")
    assert {trial.factors["write_back"] for trial in plan.trials} == {"node", "host"}
    assert conditions(plan) == {("node", 1.0, MIB * 1024 // 5), ("host", None, None)}


def test_a_plan_without_the_key_means_this_machine_s(tmp_path):
    plan = plan_of(tmp_path, DRIVES + "memory: 1GiB\n")
    older = plan.model_dump_json().replace('"write_back":"node",', "").replace('"write_back_age_s":1.0,', "")
    assert conditions(Plan.model_validate_json(older)) == {("host", None, None)}
    assert "write_back" not in EmbeddedSpec().model_dump_json()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + "media: {disk: directory}\nwrite_back: node\n", "line 4: write_back: node needs emulated drives"),
        (DRIVES + "write_back: mine\n", "line 4: write_back is 'mine', and must be 'node' or 'host'"),
        (DRIVES + "write_back_age: 1\n", "line 4: write_back_age is 1: must be a time from 100ms to 30s, such as 1s"),
        (DRIVES + "write_back_age: 31s\n", "must be a time from 100ms to 30s"),
        (DRIVES + "write_back_age: 5min\n", "must be a time from 100ms to 30s"),
        (DRIVES + "write_back: [node, node]\n", "write_back has 'node' twice"),
        (DRIVES + "write_back_age: 330ms\npage_cache: all\n",
         "line 4: write_back_age has no effect without `write_back: node`, .* add that, or leave write_back_age out"),
        (DRIVES + "memory: 1GiB\nwrite_back: host\nwrite_back_age: 1s\n", "line 6: write_back_age has no effect"),
        (HEAD + "media: {disk: directory}\nmemory: 1GiB\nwrite_back_age: 1s\n", "write_back_age has no effect"),
    ],
)  # fmt: skip
def test_what_can_not_be_is_refused(tmp_path, text, message):
    with pytest.raises(BadInputError, match=message):
        plan_of(tmp_path, text)
