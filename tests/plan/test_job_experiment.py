"""Proves that whatever a job and its files are called, its experiment is one, and says the same."""

import itertools

import pytest
from ruamel.yaml import YAML

from assay.model.trial import SiteShape
from assay.plan.job_experiment import JobExperiment, experiment_name, of_several, quoted, speed_of


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


def test_the_trial_that_only_computes_is_one_without_delays_or_bounds():
    experiment = JobExperiment(
        name="x", description="x", comments=["Yes."], options={"jar": "a.jar"}, now="wd10ezex",
        other=("ssd", "intel-p4500-1tb"), role="input", worth="5%", memory=["page_cache: 64MiB"],
        properties={"dfs.blocksize": "64m"}, backing="/dev/shm",
    )  # fmt: skip
    assert YAML(typ="safe").load(experiment.without_delays) == {
        "experiment": "x", "description": "x", "workloads": [{"name": "command", "options": {"jar": "a.jar"}}],
        "media": {"without-delays": {"profile": "null", "path": "/dev/shm"}}, "zero_delay_baseline": False,
        "order": "interleaved", "repetitions": 1,        "hadoop": {"dfs.blocksize": "64m"}, "seed": 1,
    }  # fmt: skip


def test_a_part_of_a_hard_disk_is_slower_in_all_and_a_part_of_an_ssd_has_lower_rates():
    assert speed_of("hdd", 2, 6) == {"slowdown": 12}
    assert speed_of("ssd", 2, 6) == {"slowdown": 2, "shared_by": 6}
    assert (speed_of("hdd", 1.45, 6), speed_of("ssd", 1.45, 6)) == ({"slowdown": 9}, {"shared_by": 6})
    assert speed_of("ssd", 1, 1) == speed_of("hdd", 1, 1) == {}


def test_a_test_on_a_part_of_a_node_says_what_it_has_and_how_that_errs():
    assert of_several(SiteShape()) == []
    for count, other_count in itertools.product((1, 2, 4, 12), repeat=2):
        if count == other_count == 1:
            continue
        text = " ".join(of_several(SiteShape(drives=count, new_drives=other_count, shared=True)))
        assert f"the test has 1/{max(count, other_count)} of each" in text
        assert ("that drive may do better than the test shows" in text) == (count != other_count)
    twelve = SiteShape(drives=12, read_bytes=12_000_000_000, shared=True)
    assert "1/12 of what a node reads (--sample 1000MB)" in " ".join(of_several(twelve))


def test_an_experiment_that_gives_no_parts_has_one_drive_of_each():
    assert of_several(SiteShape(drives=12, new_drives=2)) == [
        (
            "Your nodes have 12 of today's drive, and would have 2 of the other; the test has one of each, so that the "
            "other is 6 times too fast."
        )
    ]
    assert of_several(SiteShape(drives=2, new_drives=2))[0].endswith("the test has one of each.")
