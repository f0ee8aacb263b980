"""Proves that whatever a job and its files are called, its experiment is one, and says the same."""

import pytest
from ruamel.yaml import YAML

from assay.plan.job_experiment import JobExperiment, experiment_name, quoted


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
