"""Proves that a command sets any key of an experiment as if the file said so, and that mistakes name the option."""

import pytest
from ruamel.yaml import YAML

from assay.model.errors import BadInputError
from assay.plan.overrides import Override, lies_within, override_of
from assay.plan.source import ExperimentSource

EXPERIMENT = """\
# What is asked.
experiment: demo
workloads:
  - {name: terasort, options: {size: 1MB}}
  - k-core
datasets: {make: brightkite}
media:
  hdd: &disk {kind: directory, path: /data}
  s.s.d: *disk
hadoop:
  mapreduce.task.io.sort.mb: 40
repetitions: 2
"""


@pytest.fixture
def read(tmp_path):
    file = tmp_path / "demo.yaml"
    file.write_text(EXPERIMENT)

    def source(*texts):
        return ExperimentSource(file, [override_of(text) for text in texts])

    return source


def test_a_key_gets_a_value_as_yaml_has_it(read):
    source = read("repetitions=5", "worth=20%", "settings=[defaults, small]", "cluster={nodes: 3}", "order=mirrored")
    experiment = source.experiment
    assert (experiment.repetitions, experiment.worth, experiment.settings) == (5, 0.2, ["defaults", "small"])
    assert (experiment.cluster.nodes, experiment.order) == ([3], "mirrored")


def test_a_path_leads_into_maps_and_lists_and_makes_what_is_missing(read):
    experiment = read("cluster.nodes=4", "workloads.0.options.size=2MB", "workloads.1=components").experiment
    assert experiment.cluster.nodes == [4]
    assert [(one.name, dict(one.options)) for one in experiment.workloads] == [
        ("terasort", {"size": "2MB"}),
        ("components", {}),
    ]


def test_a_property_of_hadoop_has_dots_and_so_may_a_medium(read):
    experiment = read(
        "hadoop.mapreduce.task.io.sort.mb=[40, 80]", "hadoop.dfs.blocksize=1048576", "media.s.s.d.path=/other"
    ).experiment
    assert experiment.hadoop == {"mapreduce.task.io.sort.mb": ["40", "80"], "dfs.blocksize": ["1048576"]}
    assert str(experiment.media["s.s.d"].options.path) == "/other"
    assert str(experiment.media["hdd"].options.path) == "/data", "the alias of it stays as it was"


@pytest.mark.parametrize("kept", ["", "exclude: {settings: small}\n", "exclude: [{settings: small}]\n"])
def test_a_factor_that_is_excluded_may_have_dots(tmp_path, kept):
    file = tmp_path / "demo.yaml"
    file.write_text(EXPERIMENT + kept)
    source = ExperimentSource(file, [override_of("exclude.spark.executor.memory=2g")])
    assert source.experiment.exclude[0]["spark.executor.memory"] == ["2g"]


def test_an_only_item_of_a_list_needs_no_number(tmp_path):
    file = tmp_path / "demo.yaml"
    file.write_text("experiment: demo\nworkloads: [{name: terasort}]\nmedia: {hdd: directory}\n")
    source = ExperimentSource(file, [override_of("workloads.options.size=3MB")])
    assert source.experiment.workloads[0].options == {"size": "3MB"}


def test_the_last_of_several_values_counts(read):
    assert read("repetitions=3", "repetitions=7").experiment.repetitions == 7


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("repetition=3", "--set repetition: unknown key 'repetition'; did you mean 'repetitions'?"),
        ("repetitions=many", "--set repetitions: repetitions is 'many', and must be a whole number"),
        ("repetitions=", "--set repetitions: repetitions is empty; give it a value, or leave it out"),
        ("cluster.nodez=3", "--set cluster.nodez: unknown key 'nodez'; did you mean 'nodes'?"),
        ("media.hd.path=/x", "--set media.hd.path: media has no 'hd'; did you mean 'hdd'?"),
        ("media.hdd.pth=/x", "--set media.hdd.pth: unknown key 'pth'; did you mean 'path'?"),
        (
            "workloads.2=k-core",
            "--set workloads.2: workloads is a list of 2, counted from 0; name one, such as workloads.0",
        ),
        (
            "workloads.name=x",
            "--set workloads.name: workloads is a list of 2, counted from 0; name one, such as workloads.0",
        ),
        (
            "workloads.1.options.x=1",
            "--set workloads.1.options.x: workloads.1 is 'k-core', which has no keys; set the whole of it, such as --set 'w",
        ),
        ("worth=[", "--set worth, line 1: not readable as YAML: "),
        ("repetitions", "--set repetitions: it must be KEY=VALUE, such as --set repetitions=5"),
        ("=3", "--set =3: it must be KEY=VALUE"),
        ("cluster..nodes=3", "--set cluster..nodes=3: it must be KEY=VALUE"),
        ("x=!!python/name:a b", "--set x, line 1: the tag "),
    ],
)
def test_a_mistake_names_the_option_and_the_cure(read, text, says):
    with pytest.raises(BadInputError) as refused:
        read(text)
    assert str(refused.value).startswith(says)


def test_a_mistake_in_one_of_several_pairs_names_its_own():
    several = Override("media", {"hdd": "wd10ezex", "ssd": "nothing"}, ("--media", "hdd=wd10ezex,ssd=nothing"))
    assert several.option_at(["ssd"]) == "--media ssd"
    assert several.option_at([]) == "--media hdd"


def test_a_mistake_around_what_was_set_names_the_file_too(read):
    error = read("media.hdd.path=/x").error_at(["media"], "odd")
    assert str(error).endswith("demo.yaml, line 7: with --set media.hdd.path, odd")


def test_a_mistake_elsewhere_names_the_file_s_line_as_ever(read):
    error = read("media.hdd.path=/x", "cluster.nodes=3").error_at(["repetitions"], "odd")
    assert str(error).endswith("demo.yaml, line 12: odd")


def test_the_kept_file_has_what_was_set_and_the_comments(read, tmp_path):
    kept = read("repetitions=5", "media.hdd.path=/x y").portable()
    assert kept.startswith("# What is asked.\n")
    tree = YAML(typ="safe").load(kept)
    assert (tree["repetitions"], tree["media"]["hdd"]["path"], tree["media"]["s.s.d"]["path"]) == (5, "/x y", "/data")
    assert tree["folder"] == str(tmp_path)


def test_a_place_lies_within_another():
    assert lies_within(("workloads", 0, "name"), ("workloads", "name"))
    assert lies_within(("cluster", "nodes", 0), ("cluster", "nodes"))
    assert not lies_within(("workloads", 1, "name"), ("workloads", 0))
    assert not lies_within(("cluster",), ("cluster", "nodes"))
