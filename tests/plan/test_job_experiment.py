"""Proves that whatever a job and its files are called, its experiment is one, and says the same."""

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


def test_nodes_with_several_drives_are_told_that_the_test_has_one():
    assert of_several(1) == []
    assert " ".join(of_several(12)).startswith(
        "Your nodes have 12 such drives for this, and the test has one, so it shows more than you would gain: take a "
        "sample of about 1/12 of"
    )
    assert "1/12 of what a node reads (--sample 1000MB)" in " ".join(of_several(12, read_bytes=12e9))
    assert "and would have 2 of the other; the test has one" in " ".join(of_several(12, 2))
    assert " ".join(of_several(1, 2)).startswith("Your nodes would have 2 of the other drive")
