"""Proves that a plan holds every combination once, in a seeded order in which media take turns, and refuses mistakes."""

from itertools import product
from pathlib import Path

import pytest

from assay.model.errors import BadInputError
from assay.model.kerberos import KerberosSpec
from assay.model.registry import SERVICES
from assay.node.ssh import SshOptions
from assay.plan.settings import resolve, shipped_profiles
from assay.plan.source import Vocabulary
from tests.builders import make_plan

WORDS = Vocabulary(
    workloads={
        "triangles": ("paper",), "components": ("paper",), "testdfsio": ("write", "read"), "command": ("own",),
    },
    presets=["brightkite"],
    catalogue=["orkut"],
    profiles=["wd10ezex", "nvme"],
    own_input=["testdfsio", "command"], any_output=["command"],
    path_options={"command": {"jar": "", "input": "", "folder": "."}},
)  # fmt: skip
GOOD = """\
experiment: demo
workloads: [triangles, components]
datasets:
  - make: brightkite
media:
  disk: directory
  memory: memory
settings: [defaults, customs]
repetitions: 3
"""


def plan_of(tmp_path: Path, text: str, words: Vocabulary = WORDS):
    file = tmp_path / "demo.yaml"
    file.write_text(text)
    return make_plan(file, words)


def test_every_combination_comes_once_per_repetition(tmp_path):
    plan = plan_of(tmp_path, GOOD)
    combinations = {(t.workload.name, t.placement.name, t.settings.name, t.repetition) for t in plan.trials}
    expected = product(["triangles", "components"], ["disk", "memory"], ["defaults", "customs"], [1, 2, 3])
    assert combinations == set(expected)
    assert len(plan.trials) == len({trial.id for trial in plan.trials}) == 24


def test_media_of_one_combination_run_side_by_side(tmp_path):
    trials = plan_of(tmp_path, GOOD).trials
    for first, second in zip(trials[::2], trials[1::2], strict=True):
        assert {first.placement.name, second.placement.name} == {"disk", "memory"}
        assert (first.workload, first.settings, first.repetition) == (
            second.workload,
            second.settings,
            second.repetition,
        )


def test_the_order_depends_on_the_seed_alone(tmp_path):
    plan = plan_of(tmp_path, GOOD)
    assert plan == plan_of(tmp_path, GOOD)
    assert [t.id for t in plan.trials] != [t.id for t in plan_of(tmp_path, GOOD + "seed: 2\n").trials]


def test_profiles_inherit_and_hadoop_properties_win(tmp_path):
    text = GOOD.replace("[defaults, customs]", "mine") + (
        "profiles:\n  mine:\n    inherits: customs\n    properties: {io.file.buffer.size: '4096'}\n"
        "hadoop:\n  mapreduce.job.reduces: 2\n"
    )
    properties = plan_of(tmp_path, text).trials[0].settings.properties
    assert properties["mapreduce.task.io.sort.factor"] == "100"
    assert properties["io.file.buffer.size"] == "4096"
    assert properties["mapreduce.job.reduces"] == "2"


def test_a_profile_may_inherit_several_of_which_the_last_wins(tmp_path):
    text = GOOD.replace("[defaults, customs]", "mine") + (
        "profiles:\n  mine: {inherits: [customs, small]}\n  other: {properties: {mapreduce.map.memory.mb: 1}}\n"
    )
    properties = plan_of(tmp_path, text).trials[0].settings.properties
    assert properties["mapreduce.task.io.sort.factor"] == "100"
    assert properties["mapreduce.map.memory.mb"] == "480"
    swapped = plan_of(tmp_path, text.replace("[customs, small]", "[small, other]")).trials[0].settings.properties
    assert swapped["mapreduce.map.memory.mb"] == "1"


def test_services_bring_profiles_too():
    services = {name: profile for service in SERVICES.values() for name, profile in service.profiles.items()}
    assert services
    for name, profile in services.items():
        assert resolve(name, shipped_profiles()).properties.items() >= profile.properties.items()


def test_the_thesis_profiles_are_incremental():
    defaults, containers, customs = (
        resolve(n, shipped_profiles()).properties for n in ("defaults", "containers", "customs")
    )
    assert defaults.items() < containers.items() < customs.items()
    assert customs["mapreduce.reduce.shuffle.parallelcopies"] == "50"
    assert resolve("stock", shipped_profiles()).properties == {}


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("workloads:", "workload:", r"line 2: unknown key 'workload'; did you mean 'workloads'\?"),
        ("triangles,", "triangels,", r"line 2: unknown workload 'triangels'; did you mean 'triangles'\?"),
        ("make: brightkite", "make: britekite", r"line 4: unknown preset 'britekite'; did you mean 'brightkite'\?"),
        ("make: brightkite", "mke: brightkite", r"line 4: unknown key 'mke'; did you mean 'make'\?"),
        ("make: brightkite", "{make: brightkite, get: orkut}", r"line 4: a dataset needs exactly one of .* get and make are"),
        ("disk: directory", "disk: dirctory", r"line 6: unknown kind of medium or profile 'dirctory'; did you mean 'directory'"),
        ("[defaults, customs]", "[defaults, custom]", r"line 8: unknown settings profile 'custom'; did you mean 'customs' or 'customs-scaled'\?"),
        ("[defaults, customs]", "[defaults, defaults]", r"line 8: settings has 'defaults' twice"),
        ("repetitions: 3", "repetitions: 0", r"line 9: repetitions is 0, and must be 1 or more"),
        ("repetitions: 3", "repetitions: -1", r"line 9: repetitions is -1, and must be 1 or more"),
        ("repetitions: 3", "memory: -2GiB", r"line 9: memory is '-2GiB': must be a size such as 4GiB"),
        ("repetitions: 3", "memory: -1", r"line 9: memory is -1: must be a size"),
        ("repetitions: 3", "memory: 0", r"line 9: memory is 0: must be at least 1MiB; write the unit too"),
        ("repetitions: 3", "cpus: -1", r"line 9: cpus is -1, and must be above 0"),
        ("repetitions: 3", "cluster: {memory_mb: -5}", r"line 9: cluster.memory_mb is -5, and must be 1 or more"),
        ("memory: memory", "hdd: {profile: wd10ezex, size: -1GiB}", r"line 7: media\.hdd\.size is '-1GiB': must be a size"),
        ("make: brightkite", "{make: brightkite, seed: -1}", r"line 4: datasets.seed is -1, and must be 0 or more"),
        ("make: brightkite", "file: .", r"line 4: dataset file .* is a folder; give a file's path"),
        ("repetitions: 3", "repetitions: many", r"line 9: repetitions is 'many', and must be a whole number"),
        ("repetitions: 3", "cache: lukewarm", r"line 9: cache is 'lukewarm', and must be 'cold' or 'warm'"),
        ("repetitions: 3", "repetitions: 3\nseed: 1\nseed: 2", r'line 11: not readable as YAML: found duplicate key "seed"'),
        ("experiment: demo\n", "", r"'experiment' is missing"),
        ("experiment: demo", "experiment: [", r"line \d+: not readable as YAML: "),
        ("repetitions: 3", "cluster: {conf_dir: /etc/hadoop}", r"media can't be chosen on an existing cluster"),
        ("repetitions: 3", "hadoop: {dfs.datanode.data.dir: /x}", r"line 9: dfs\.datanode\.data\.dir can't be set"),
        ("repetitions: 3", "hadoop: {dfs.namenode.http-address: '0.0.0.0:1'}", r"line 9: dfs\.namenode\.http-address can't"),
        ("repetitions: 3", "hadoop: {mapreduce.output.fileoutputformat.compress: true}", r"line 9: mapreduce\.output\.fileoutputformat\.compress can't be true for triangles, whose verification .* \(mapreduce\.map\.output\.compress"),
        ("repetitions: 3", "hadoop: {mapred.output.compress: ' TRUE '}", r"line 9: mapred\.output\.compress can't be true"),
        ("repetitions: 3", "profiles: {mine: {properties: {mapred.output.compress: 'true'}}}", r"line 9: mapred\.output"),
        ("[triangles, components]", "[triangles, {name: components, hadoop: {mapred.output.compress: true}}]", r"line 2: mapred\.output\.compress can't be true for components"),
        ("repetitions: 3", "hadoop: {mapreduce.job.reduces: 0}", r"line 9: mapreduce\.job\.reduces can't be 0 for triangles, which is done by its reducers; give 1 or more"),
        ("repetitions: 3", "hadoop: {mapreduce.job.reduces: [2, 0]}", r"line 9: mapreduce\.job\.reduces can't be 0"),
        ("[triangles, components]", "[triangles, {name: components, hadoop: {mapreduce.job.reduces: ' 0 '}}]", r"line 2: mapreduce\.job\.reduces can't be 0 for components"),
        ("make: brightkite", "file: nothing.txt", r"line 4: dataset file .*nothing\.txt is not there"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_sentence_with_its_line(tmp_path, before, after, message):
    with pytest.raises(BadInputError, match=message) as caught:
        plan_of(tmp_path, GOOD.replace(before, after, 1))
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(BadInputError, match="there is no experiment file"):
        make_plan(tmp_path / "absent.yaml", WORDS)


def test_an_existing_cluster_has_one_medium_of_its_own(tmp_path):
    text = GOOD.replace("media:\n  disk: directory\n  memory: memory\n", "cluster: {conf_dir: conf}\n")
    with pytest.raises(BadInputError, match=r"conf_dir .*conf has no core-site\.xml"):
        plan_of(tmp_path, text)
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "core-site.xml").touch()
    plan = plan_of(tmp_path, text)
    assert {medium.kind for trial in plan.trials for medium in trial.media} == {"existing"}
    assert plan.trials[0].cluster.conf_dir == tmp_path / "conf"
    assert {(trial.cluster.nodes, trial.factors["nodes"]) for trial in plan.trials} == {(None, "existing")}


def test_how_the_nodes_of_an_existing_cluster_are_read_goes_with_each_trial(tmp_path):
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "core-site.xml").touch()
    ssh = "ssh: {user: me, port: 2222, key: id, hosts: [a, b]}"
    text = GOOD.replace("media:\n  disk: directory\n  memory: memory\n", f"cluster: {{conf_dir: conf, {ssh}}}\n")
    with pytest.raises(BadInputError, match=r"key .*/id is not there; name the file of a private key"):
        plan_of(tmp_path, text)
    (tmp_path / "id").touch()

    def sources(text):
        return {source.name: source.options for source in plan_of(tmp_path, text).trials[0].cluster.node_sources}

    assert SshOptions(**sources(text)["ssh"]) == SshOptions(hosts=["a", "b"], user="me", port=2222, key=tmp_path / "id")
    everywhere = text.replace("[a, b]", "from YARN")
    assert sources(everywhere)["ssh"]["hosts"] == []
    assert sources(text.replace("[a, b]", "a"))["ssh"]["hosts"] == ["a"]
    both = sources(text.replace("conf,", "conf, prometheus: 'http://prom:9090/',"))
    assert list(both) == ["ssh", "prometheus"]
    assert both["prometheus"] == "http://prom:9090"
    for login, found in (
        ("{keytab: my/keytab, principal: me}", KerberosSpec(keytab=tmp_path / "my/keytab", principal="me")),
        ("{ticket_cache: /tmp/mine}", KerberosSpec(ticket_cache="/tmp/mine")),
        ("{}", KerberosSpec()),
    ):
        assert plan_of(tmp_path, text.replace(ssh, f"kerberos: {login}")).trials[0].cluster.kerberos == found


MIXED = """\
experiment: demo
workloads: triangles
datasets:
  - make: brightkite
media:
  hdd: wd10ezex
  ssd: {profile: mine.yaml, size: 20GiB, file_system: xfs}
  ram: {kind: memory, size: 4GiB}
"""


def test_a_word_for_a_medium_is_a_kind_or_a_profile(tmp_path):
    media = {medium.name: medium for trial in plan_of(tmp_path, MIXED).trials for medium in trial.media}
    assert (media["hdd"].kind, media["hdd"].profile) == ("emulated", "wd10ezex")
    assert (media["ssd"].kind, media["ssd"].size_bytes, media["ssd"].file_system) == ("emulated", 20 << 30, "xfs")
    assert media["ssd"].profile == str(tmp_path / "mine.yaml")
    assert (media["ram"].kind, media["ram"].size_bytes) == ("memory", 4 << 30)


def test_placements_take_the_place_of_pure_media(tmp_path):
    text = (
        MIXED
        + """\
placement:
  - hdd
  - {input: hdd, intermediate: ssd, output: hdd}
  - {ssd: 0.25, hdd: 0.75}
"""
    )
    placements = {trial.placement.name: trial for trial in plan_of(tmp_path, text).trials}
    assert set(placements) == {"hdd", "input-hdd.intermediate-ssd.output-hdd", "ssd25-hdd75"}
    mixed = placements["input-hdd.intermediate-ssd.output-hdd"]
    assert [medium.name for medium in mixed.media] == ["hdd", "ssd"]
    assert dict(mixed.placement.of("intermediate")) == {"ssd": 1.0}
    assert dict(placements["ssd25-hdd75"].placement.of("output")) == {"ssd": 0.25, "hdd": 0.75}
    assert [medium.name for medium in placements["hdd"].media] == ["hdd"]


def test_limits_are_factors(tmp_path):
    plan = plan_of(tmp_path, MIXED + "placement: hdd\nmemory: [2GiB, 8GiB]\ncpus: 1\n")
    assert {trial.factors["memory"] for trial in plan.trials} == {"2GiB", "8GiB"}
    assert {trial.cluster.limit_cpus for trial in plan.trials} == {1.0}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("placement: sdd", "placement names the medium 'sdd', and media has hdd, ssd, ram"),
        ("placement: {input: hdd, output: hdd}", r"line 9: placement lacks the role 'intermediate' \(the spills"),
        (
            "placement: {input: hdd, intermediate: hdd, output: hdd, outptu: ssd}",
            "there is no role 'outptu'; did you mean 'output'",
        ),
        ("placement: {input: hdd, intermediate: sdd, output: hdd}", "placement: intermediate names the medium 'sdd'"),
        (
            "placement: {hdd: 0.5, ssd: 0.6}",
            r"the fractions \(hdd: 0.5, ssd: 0.6\) must be 0 or more and add up",
        ),
        ("placement: [hdd, hdd]", "placement has 'hdd' twice"),
        ("memory: lots", "memory"),
        ("cpus: 0", "cpus"),
    ],
)
def test_mistakes_in_placements_and_limits_are_said(tmp_path, line, words):
    with pytest.raises(BadInputError, match=words):
        plan_of(tmp_path, MIXED + line + "\n")


def test_an_unknown_profile_names_the_nearest(tmp_path):
    with pytest.raises(
        BadInputError, match="line 6: unknown kind of medium or profile 'wd10ezx'; did you mean 'wd10ezex'"
    ):
        plan_of(tmp_path, MIXED.replace("wd10ezex", "wd10ezx"))


def test_a_workload_that_makes_its_own_input_runs_once_whatever_the_datasets(tmp_path):
    plan = plan_of(tmp_path, GOOD.replace("workloads: [triangles, components]", "workloads: [triangles, testdfsio]"))
    found = {(trial.workload.name, trial.dataset.name) for trial in plan.trials}
    assert found == {("triangles", "brightkite-like"), ("testdfsio", "none")}
    assert len(plan.trials) == 24


OWN_INPUT = """\
experiment: files
workloads:
  - testdfsio
  - {name: testdfsio, variant: read, options: {files: 2}}
media: {disk: directory}
"""


def test_datasets_may_be_left_out_where_none_is_needed(tmp_path):
    plan = plan_of(tmp_path, OWN_INPUT)
    assert {trial.workload.variant for trial in plan.trials} == {"write", "read"}
    assert all(trial.dataset.is_none for trial in plan.trials)


def test_a_missing_dataset_is_said_with_who_needs_it(tmp_path):
    with pytest.raises(BadInputError, match=r"line 3: components needs a dataset, and 'datasets' is missing"):
        plan_of(tmp_path, OWN_INPUT.replace("  - testdfsio\n", "  - components\n"))


def test_an_unknown_variant_is_refused_with_the_nearest(tmp_path):
    with pytest.raises(BadInputError, match=r"line 4: unknown testdfsio variant 'reed'; did you mean 'read'\?"):
        plan_of(tmp_path, OWN_INPUT.replace("variant: read", "variant: reed"))


OWN_JOB = """\
experiment: mine
workloads:
  - {name: command, options: {jar: jobs/mine.jar, input: words.txt, arguments: "{input} {output}"}}
media: {disk: directory}
"""


def test_options_that_are_paths_count_from_the_experiments_folder(tmp_path):
    (trial,) = plan_of(tmp_path, OWN_JOB).trials
    assert dict(trial.workload.options) == {
        "jar": str(tmp_path / "jobs" / "mine.jar"), "input": str(tmp_path / "words.txt"), "folder": str(tmp_path),
        "arguments": "{input} {output}",
    }  # fmt: skip
    assert trial.dataset.is_none


COMPRESSED = "mapreduce.output.fileoutputformat.compress"


def test_outputs_may_be_compressed_and_not_reduced_where_a_command_of_the_users_judges_them(tmp_path):
    (trial,) = plan_of(tmp_path, OWN_JOB + f"hadoop: {{{COMPRESSED}: true}}\n").trials
    assert trial.settings.properties[COMPRESSED] == "true"
    plan_of(tmp_path, OWN_JOB + "hadoop: {mapreduce.job.reduces: 0}\n")
    with pytest.raises(BadInputError, match="can't be true for testdfsio"):
        plan_of(tmp_path, OWN_JOB.replace("media:", "  - testdfsio\nmedia:") + f"hadoop: {{{COMPRESSED}: true}}\n")
    plan_of(tmp_path, GOOD + f"hadoop: {{{COMPRESSED}: false, mapreduce.map.output.compress: true}}\n")


def test_compressed_outputs_are_refused_on_an_existing_cluster_too(tmp_path):
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "core-site.xml").touch()
    text = GOOD.replace("media:\n  disk: directory\n  memory: memory\n", "cluster: {conf_dir: conf}\n")
    with pytest.raises(BadInputError, match="can't be true for triangles"):
        plan_of(tmp_path, text + f"hadoop: {{{COMPRESSED}: true}}\n")


def test_an_input_may_be_the_dataset(tmp_path):
    text = OWN_JOB.replace("words.txt", "dataset")
    with pytest.raises(BadInputError, match=r"line 3: command needs a dataset, and 'datasets' is missing"):
        plan_of(tmp_path, text)
    (trial,) = plan_of(tmp_path, text + "datasets: [{make: brightkite}]\n").trials
    assert (trial.dataset.name, trial.workload.options["input"]) == ("brightkite-like", "dataset")


def test_a_file_may_be_called_dataset_where_it_is_no_input(tmp_path):
    text = OWN_JOB.replace("jobs/mine.jar", "dataset").replace("{jar", "{folder: dataset, jar")
    (trial,) = plan_of(tmp_path, text).trials
    assert trial.workload.options["jar"] == trial.workload.options["folder"] == str(tmp_path / "dataset")


def test_an_input_in_a_store_needs_an_existing_cluster(tmp_path):
    text = OWN_JOB.replace("words.txt", "'hdfs:/logs'")
    with pytest.raises(BadInputError, match=r"line 3: input is 'hdfs:/logs', and a cluster of Assay's own starts with"):
        plan_of(tmp_path, text)
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "core-site.xml").touch()
    existing = text.replace("media: {disk: directory}", "cluster: {conf_dir: conf}")
    assert plan_of(tmp_path, existing).trials[0].workload.options["input"] == "hdfs:/logs"


def test_clusters_of_all_sizes_run_at_the_dilation_of_the_largest_one(tmp_path):
    text = GOOD.replace("  disk: directory\n", "") + "cluster: {nodes: [3, 13]}\ncpus: [1, 2]\ndilation: auto\n"
    trials = plan_of(tmp_path, text).trials
    assert {trial.factors["dilation"] for trial in trials} == {"auto"}
    found = {(one.cluster.nodes, one.cluster.limit_cpus, one.cluster.auto_for) for one in trials}
    assert found == {(3, 1, (13, 2)), (13, 1, (13, 2)), (3, 2, (13, 2)), (13, 2, None)}


def test_a_number_and_clusters_of_one_size_are_left_as_they_are(tmp_path):
    text = GOOD.replace("  disk: directory\n", "") + "cluster: {nodes: NODES}\ndilation: DILATION\n"
    for nodes, dilation in (("[3, 13]", "4"), ("3", "auto")):
        trials = plan_of(tmp_path, text.replace("NODES", nodes).replace("DILATION", dilation)).trials
        assert {trial.cluster.auto_for for trial in trials} == {None}
