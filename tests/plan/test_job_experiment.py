"""Proves that whatever a job and its files are called, its experiment is one, and says the same."""

import itertools
import re

import pytest
from ruamel.yaml import YAML

from assay.plan.job_experiment import JobExperiment, experiment_name, of_several, quoted


@pytest.mark.parametrize("text", ["on", "1e3", "a: b", "#", "'\"", "監査", "- x", "{input} {output}", "", "/a/b.jar"])
def test_a_text_is_read_as_it_was(text):
    assert YAML(typ="safe").load(f"key: {quoted(text)}") == {"key": text}


@pytest.mark.parametrize(
    ("job", "name"),
    [("nightly sort", "nightly-sort"), ("監査", "job"), ("../../x", "x"), ("_a_", "a"), ("x" * 99, "x" * 80)],
)
def test_the_name_of_a_job_s_experiment(job, name):
    assert experiment_name(job) == name


def test_the_drive_is_in_the_role_alone_and_in_all():
    experiment = JobExperiment(
        name="x", description="what: is it?", comments=["Yes."], options={"jar": "a b.jar"}, now="wd10ezex",
        other=("nvme", "intel-p4500-1tb"), role="input", worth="5%", memory=["page_cache: all"],
    )  # fmt: skip
    assert experiment.text.startswith("# Yes.\nexperiment: x\n")
    assert YAML(typ="safe").load(experiment.text)["placement"] == [
        "now", {"name": "input-on-nvme", "input": "nvme", "intermediate": "now", "output": "now"}, "nvme",
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["2024", "1e5", "true", "null", "1.5", "2024-11-25"])
def test_a_name_that_yaml_reads_as_another_type_is_quoted(name):
    experiment = JobExperiment(
        name=name, description="x", comments=[], options={"jar": "a.jar"}, now="wd10ezex",
        other=(name, "intel-p4500-1tb"), role="input", worth="5%", memory=[],
    )  # fmt: skip
    tree = YAML(typ="safe").load(experiment.text)
    assert tree["experiment"] == name
    assert list(tree["media"]) == ["now", name]
    assert tree["placement"][1]["input"] == tree["placement"][2] == name


FAST = re.compile(r"the other drive is ([\d.]+) times too fast, .* unless you buy (\d+) of it for each node")
SLOW = re.compile(r"The other drive is then ([\d.]+) times too slow: the test may show less than you would gain")


def test_a_test_on_one_drive_of_each_says_which_way_it_errs_for_nodes_with_several():
    assert of_several(1) == []
    for count, other_count in itertools.product((1, 2, 4, 12), repeat=2):
        if count == other_count == 1:
            continue
        text = " ".join(of_several(count, other_count))
        fast, slow = FAST.search(text), SLOW.search(text)
        assert (bool(fast), bool(slow)) == (count > other_count, count < other_count)
        if fast:
            assert float(fast[1]) == pytest.approx(count / other_count, rel=0.01)
            assert int(fast[2]) == count
        if slow:
            assert float(slow[1]) == pytest.approx(other_count / count, rel=0.01)
        assert ("shows more than you would gain unless its sample is about" in text) == (count > 1)
    assert "1/12 of what a node reads (--sample 1000MB)" in " ".join(of_several(12, read_bytes=12e9))
