"""Proves that what a newcomer may get wrong is said in one sentence: what, in which line, and how to mend it."""

import os

import pytest

from assay.model.errors import BadInputError, SeveralMistakesError
from assay.plan.source import ExperimentSource
from tests.builders import make_plan
from tests.plan.test_make import WORDS, plan_of

PLAIN = """\
experiment: mine
workloads: [triangles, components]
datasets: {make: brightkite}
media:
  hdd: wd10ezex
  ssd: nvme
"""


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("memory: []", "line 7: memory is empty; give it a value, or leave it out"),
        ("settings:", "line 7: settings is empty; give it a value, or leave it out"),
        ("exclude: [{}]", "line 7: exclude is empty"),
        ("exclude: [{placement: []}]", "line 7: exclude.placement is empty"),
        ("memory: [2GiB, 2048MiB]", "line 7: memory has '2GiB' twice; leave one out"),
        ("cpus: [1, 1.0]", "line 7: cpus has '1' twice; leave one out"),
        ("cpus: two", "line 7: cpus is 'two', and must be a number"),
        ("memory: [2GiB, all, all]", "line 7: memory has 'all' twice; leave one out"),
        ("memory:", "line 7: memory is empty; give it a value, or leave it out"),
        ("page_cache: 0", "line 7: page_cache is 0: no cluster runs without a page cache; give a small one, such as 64MiB, or all"),
        ("page_cache: 64", "line 7: page_cache is 64: must be at least 1MiB; write the unit too"),
        ("page_cache: none", "line 7: page_cache is 'none': must be a size such as 4GiB"),
        ("cluster:\n  network: 1GB", "line 8: cluster.network is '1GB': 1GB counts bytes, and a link's rate counts bits; write 8Gbit"),
        ("cluster:\n  network: {rate, latency: 5}", "line 8: cluster.network is {rate: null, latency: 5}: rate is empty; write rate: 1Gbit"),
        ("cluster:\n  network: {control: x}", "line 8: cluster.network is {control: 'x'}: data is missing; two networks are such as"),
        ("repetitions: 2.5", "line 7: repetitions is 2.5, and must be a whole number"),
        ("warm_up: 1001", "line 7: warm_up is 1001, and must be 1000 or less"),
        ("hadoop: dfs.blocksize=8m", "line 7: hadoop is 'dfs.blocksize=8m', and must be a map such as {key: value}"),
        ("zip: memory", "line 7: zip is 'memory', and must be a list such as"),
        ("replication: 2\nhadoop: {dfs.replication: [1, 2]}", "line 7: replication and dfs.replication .* are the same; keep one"),
        ("profiles: {mine: {properties: {io.file.buffer.size: [1, 2]}}}", "must be a single text or number; a list of levels belongs under `hadoop`"),
        ("profiles: {mine: {inherits: custom}}", "line 7: unknown settings profile 'custom'; did you mean 'customs'"),
        ("profiles: {mine: {inherits: [small, custom]}}", "line 7: unknown settings profile 'custom'; did you mean 'customs'"),
        ("profiles:\n  mine: {inherits: other}\n  other: {inherits: mine}", "line 8: settings profile 'mine' inherits itself through mine -> other -> mine"),
        ("cluster: {limit_cpus: 2}", "line 7: unknown key 'limit_cpus'; possible are kind, nodes, network"),
        ("store: kudu", "line 7: Kudu is not supported; store may be hdfs or hbase or hbase-to-hdfs or hdfs-to-hbase or cassandra or documents or redis"),
        ("engine: Flink", "line 7: Flink is not supported; engine may be mapreduce or tez or spark or mapreduce-levitated"),
        ("store: hdsf", "line 7: store has no level 'hdsf'; did you mean 'hdfs'"),
        ("store: [hdfs, hdsf]", "line 7: store has no level 'hdsf'; did you mean 'hdfs'"),
        ("store: [hdfs, hdfs]", "line 7: store has 'hdfs' twice; leave one out"),
        ("engine: mapreduce2", "line 7: engine has no level 'mapreduce2'; did you mean 'mapreduce'"),
        ("engine: []", "line 7: engine is empty; give it a value, or leave it out"),
        ("cluster:\n  nodes: 0", "line 8: cluster.nodes is 0, and must be 1 or more"),
        ("cluster:\n  nodes: two", "line 8: cluster.nodes is 'two', and must be a whole number"),
        ("cluster:\n  network: [none, gigabyte]", "; did you mean 'gigabit'"),
        ("cluster:\n  network: {rate: fast}", "cluster.network is"),
        ("cluster:\n  network: {rate: 900Gbit}", "rates are 1Mbit to 100Gbit"),
        ("cluster: {nodes: 3}\ndilation: 0", "line 8: dilation"),
        ("cluster: {nodes: 3}\ndilation: 65", "line 8: dilation"),
        ("cluster: {nodes: 3}\ndilation: soon", "line 8: dilation"),
        ("cluster: {nodes: 3}\ndilation: [2, 2]", "line 8: dilation has '2' twice"),
        ("dilation: auto", "line 7: dilation needs nodes of their own"),
        ("cluster: {nodes: [1, 3]}\ndilation: 2", "line 8: dilation needs nodes of their own"),
        ("placement: {hdd: 1, sdd: 0}", "line 7: placement names the medium 'sdd'"),
        ("placement: {hdd: 50%, ssd: 0.5}", "line 7: placement.hdd is '50%', and must be a number"),
        ("cluster: {ssh: {}}", "line 7: cluster: ssh belongs to an existing cluster, which `conf_dir` names, and this one is Assay's own; leave ssh out"),
        ("cluster:\n  ssh: {}", "line 8: cluster: ssh belongs to an existing cluster"),
        ("cluster: {ssh: {hosts: [-oProxyCommand=x]}}", "cluster.ssh.hosts is '-oProxyCommand=x'"),
        ("cluster: {ssh: {port: 99999}}", "cluster.ssh.port is 99999, and must be 65535 or less"),
        ("cluster: {ssh: {options: [BatchMode]}}", "cluster.ssh.options is 'BatchMode'"),
        ("cluster: {ssh: {password: secret}}", "unknown key 'password'; possible are hosts, user, port"),
        ("cluster: {kerberos: {}}", "line 7: cluster: kerberos belongs to an existing cluster"),
        ("cluster: {kerberos: {keytab: a, ticket_cache: b}}", "must have keytab or ticket_cache, not both"),
        ("cluster: {kerberos: {principal: me}}", "must have `keytab` with `principal`"),
        ("cluster: {kerberos: {keytab: a, principal: a b}}", "cluster.kerberos.principal is 'a b': must be a name such as me@"),
        ("cluster: {kerberos: {password: secret}}", "unknown key 'password'; possible are keytab, principal, ticket_cache"),
        ("name: other", "line 7: unknown key 'name'; possible are experiment, question, description"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_line(tmp_path, line, words):
    with pytest.raises(BadInputError, match=words) as caught:
        plan_of(tmp_path, PLAIN + line + "\n")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("[triangles, components]", "[]", "line 2: workloads is empty; give it a value$"),
        ("[triangles, components]", "[triangles, triangles]", "line 2: workloads has 'triangles paper' twice; leave one out, or give it another variant"),
        ("[triangles, components]", "5", "line 2: workloads is 5, and must be a map"),
        ("{make: brightkite}", "orkut", "line 3: dataset file .*orkut is not there; for the published graph say {get: orkut}, for a generated one"),
        ("{make: brightkite}", "[{make: brightkite}, {make: brightkite, seed: 2}]", "line 3: datasets has 'brightkite-like' twice; .* another name"),
        ("hdd: wd10ezex", "hdd: /mnt/disk", "line 5: medium hdd is '/mnt/disk', no profile's name; for a directory say {path: /mnt/disk}"),
        ("hdd: wd10ezex", "hdd: {profile: wd10ezex, slowdown: 0}", "line 5: media.hdd.slowdown is 0, and must be 1 or more"),
        ("hdd: wd10ezex", "hdd: {kind: memory, slowdown: 2}", "line 5: .*slowdown belongs to a medium of kind emulated, and this one is memory"),
        ("hdd: wd10ezex", "my disk: wd10ezex", "line 5: media.my disk is 'my disk', and must be made of letters"),
        ("media:\n  hdd: wd10ezex\n  ssd: nvme", "cluster: existing", "an existing cluster needs conf_dir"),
        ("media:", "media: {", "line 6: not readable as YAML: "),
        ("media:", "placement: [hdd, {name: mixed, input: hdd, intermediate: sdd, output: hdd}]\nmedia:", "line 4: placement: intermediate names the medium 'sdd', and media has hdd, ssd; did you mean 'ssd'"),
    ],
)  # fmt: skip
def test_a_mistake_elsewhere(tmp_path, before, after, words):
    assert before in PLAIN
    with pytest.raises(BadInputError, match=words) as caught:
        plan_of(tmp_path, PLAIN.replace(before, after))
    assert "\n" not in str(caught.value)


def test_a_misspelt_role_is_one_mistake(tmp_path):
    """The role that it stands for is not said to be missing, too."""
    placement = "placement:\n  - hdd\n  - {name: mixed, input: hdd, intermediat: ssd, output: hdd}\nmedia:"
    with pytest.raises(
        BadInputError, match="line 6: there is no role 'intermediat'; did you mean 'intermediate'"
    ) as caught:
        plan_of(tmp_path, PLAIN.replace("media:", placement))
    assert "lacks the role" not in str(caught.value)


def test_a_folder_is_no_experiment(tmp_path):
    with pytest.raises(BadInputError, match="can.t be read: it is a folder, and a regular file is needed"):
        ExperimentSource(tmp_path)


THIRTY = ", ".join(f"m{number}" for number in range(30))
MANY_MEDIA = f"media: {{{THIRTY.replace(',', ': directory,')}: directory}}"


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("{make: brightkite}", "{make: brightkite, scale: .nan}", "line 3: scale is nan, and must be a finite number"),
        ("{make: brightkite}", "{make: brightkite, scale: 1e400}", "line 3: scale is inf, and must be a finite number"),
        ("{make: brightkite}", "{make: brightkite, scale: 'nan'}", "line 3: datasets.scale is 'nan', and must be a number"),
        ("{make: brightkite}", "{make: brightkite, scale: true}", "line 3: datasets.scale is true, and must be a number"),
        ("{make: brightkite}", "{make: brightkite, seed: true}", "line 3: datasets.seed is true, and must be a whole number"),
        ("{make: brightkite}", "{make: brightkite, seed: 9999999999}", "line 3: datasets.seed is 9999999999, and must be 2147483647 or less"),
        ("{make: brightkite}", "{make: brightkite, format: csv}", "line 3: format belongs to `file`, and this dataset has `make`; leave format out"),
        ("{make: brightkite}", "{make: brightkite, header_lines: 1}", "line 3: header_lines belongs to `file`"),
        ("{make: brightkite}", "{get: orkut, scale: 0.5}", "line 3: scale belongs to `make`, and this dataset has `get`"),
        ("{make: brightkite}", "{file: demo.yaml, seed: 2}", "line 3: seed belongs to `make`, and this dataset has `file`"),
        ("{make: brightkite}", "{file: '~nosuchuser/g.txt'}", "line 3: ~nosuchuser/g.txt can't be used: this machine has no user 'nosuchuser'"),
        ("{make: brightkite}", '{file: "a\\0b"}', "line 3: .*a.*b can't be used: its name has a NUL"),
        ("{make: brightkite}", "{file: circle}", "line 3: circle can't be used: its symbolic links lead in a circle"),
        ("{make: brightkite}", f"{{file: {'x' * 300}}}", "line 3: .*x+ can't be used: its name is too long"),
        ("{make: brightkite}", "{file: ''}", "line 3: datasets.file is '': must be a path"),
        ("{make: brightkite}", "{file: pipe}", r"line 3: dataset file .*pipe is a pipe \(FIFO\); give a file's path"),
        ("{make: brightkite}", "{file: /dev/zero}", "line 3: dataset file /dev/zero is a device"),
        ("{make: brightkite}", '{make: brightkite, name: "a\\e[31m"}', r"line 3: datasets.name .* has the control character U\+001B"),
        ("{make: brightkite}", f"{{make: brightkite, name: {'n' * 151}}}", "line 3: datasets.name is 'n+..., and must be of at most 150 characters"),
        ("hdd: wd10ezex", f"{'m' * 151}: wd10ezex", "line 5: media.m+ is 'm+..., and must be of at most 150 characters"),
        ("hdd: wd10ezex", "hdd: {path: circle}", "line 5: circle can't be used: its symbolic links lead in a circle"),
        ("hdd: wd10ezex", "hdd: {path: pipe}", "line 5: medium 'hdd': .*pipe is not a directory; make it or name another"),
        ("hdd: wd10ezex", "hdd: {profile: wd10ezex, path: pipe}", "line 5: medium 'hdd': .*pipe is not a directory"),
        ("hdd: wd10ezex", "hdd: {path: ''}", "line 5: media.hdd.path is '': must be a path"),
        ("hdd: wd10ezex", "hdd: {profile: '~nosuchuser.yaml'}", "line 5: .*this machine has no user"),
        ("hdd: wd10ezex", "hdd: {kind: memory, file_system: xfs}", "line 5: .*file_system belongs to a medium of kind emulated"),
        ("hdd: wd10ezex", "hdd: {kind: memory, size: 3GiB; rm}", "line 5: media.hdd.size is '3GiB; rm': must be a size such as 4GiB"),
        ("hdd: wd10ezex", "hdd: {kind: memory, size: 0x10}", "line 5: media.hdd.size is 16: must be at least 1MiB"),
        ("hdd: wd10ezex", "hdd: {kind: memory, size: 1023KiB}", "line 5: media.hdd.size is '1023KiB': must be at least 1MiB"),
        ("hdd: wd10ezex", "hdd: {kind: memory, size: '3,5GiB'}", "line 5: media.hdd.size is '3,5GiB': must be a size"),
        ("experiment: mine", "experiment: 123", "line 1: experiment is 123, and must be text; put it into quotes"),
        ("experiment: mine", "experiment: übung", "line 1: experiment is 'übung', and must be made of letters from a to z"),
        ("experiment: mine", f"experiment: {'e' * 200}", "line 1: experiment is 'e+..., and must be of at most 150 characters"),
        ("experiment: mine", 'experiment: mine\ndescription: "a\\e[2J"', r"line 2: description .* has the control character U\+001B"),
        ("experiment: mine", "experiment: mine\ncluster: {vcores: true}", "line 2: cluster.vcores is true, and must be a whole number"),
        ("experiment: mine", "experiment: mine\ncluster: {memory_mb: 9999999999}", "line 2: cluster.memory_mb is 9999999999, and must be 2147483647 or less"),
        ("experiment: mine", "experiment: mine\nplacement: {hdd: .nan, ssd: 0.5}", "line 2: hdd is nan, and must be a finite number"),
        ("experiment: mine", "experiment: mine\nplacement: {hdd: 'nan', ssd: 0.5}", "line 2: placement.hdd is 'nan', and must be a number"),
        ("media:\n  hdd: wd10ezex\n  ssd: nvme", f"{MANY_MEDIA}\nplacement: {{{THIRTY.replace(',', f': {1 / 30},')}: {1 / 30}}}", "line 5: a placement names 30 media, and a role has at most 20 directories; name fewer"),
        ("media:\n  hdd: wd10ezex\n  ssd: nvme", f"media: {{{'a' * 99}: directory, {'b' * 99}: directory}}\nplacement: {{{'a' * 99}: 0.5, {'b' * 99}: 0.5}}", "line 5: the placement of 2 media would be called a+50-b+50, which is too long for a folder's name; give it a `name`"),
        ("media:\n  hdd: wd10ezex\n  ssd: nvme", "cluster: {conf_dir: ., starts: stock}", "line 4: cluster: starts belongs to a cluster of Assay's own"),
        ("media:\n  hdd: wd10ezex\n  ssd: nvme", "cluster: {conf_dir: .}\nplacement_check: error", "line 5: placement_check belongs to a cluster of Assay's own"),
        ("media:\n  hdd: wd10ezex\n  ssd: nvme", "cluster: {conf_dir: ., prometheus: 'prom:9090'}", "line 4: cluster.prometheus is 'prom:9090'.* must be an http or https address"),
        ("media:\n  hdd: wd10ezex\n  ssd: nvme", "cluster: {conf_dir: ., prometheus: 'http://u:p@prom'}", "line 4: cluster.prometheus .* must be an address without user, password or query"),
        ("media:\n  hdd: wd10ezex\n  ssd: nvme", "cluster: {conf_dir: ., history: done}", "line 4: cluster.history is 'done'.* must be an absolute path, or an address"),
        ("experiment: mine", "experiment: mine\ncluster: {prometheus: 'http://prom'}", "line 2: cluster: prometheus belongs to an existing cluster, which `conf_dir` names, and this one is Assay's own"),
        ("media:\n  hdd: wd10ezex\n  ssd: nvme", "cluster: {conf_dir: ~nosuchuser}", "line 4: ~nosuchuser can't be used: this machine has no user"),
        ("[triangles, components]", "testdfsio", "line 3: 'datasets' has no effect: all workloads generate their own input"),
        ("[triangles, components]", "[triangles, {name: command, options: {jar: ~nosuchuser/x.jar}}]", "line 2: ~nosuchuser/x.jar can't be used: this machine has no user"),
        ("[triangles, components]", '{name: triangles, options: {x: "a\\0b"}}', r"line 2: workloads.options.x .* has the control character U\+0000"),
    ],
)  # fmt: skip
def test_what_cannot_be_or_has_no_use_is_refused(tmp_path, before, after, words):
    (tmp_path / "circle").symlink_to("circle")
    os.mkfifo(tmp_path / "pipe")
    assert before in PLAIN
    with pytest.raises(BadInputError, match=words):
        plan_of(tmp_path, PLAIN.replace(before, after))


def test_a_scale_and_options_are_checked_where_they_stand(tmp_path):
    def refuse(spec):
        raise BadInputError(f"no {spec.name} here")

    file = tmp_path / "demo.yaml"
    file.write_text(PLAIN.replace("{make: brightkite}", "\n  - make: brightkite\n    scale: 1000"))
    with pytest.raises(BadInputError, match=r"demo.yaml, line 5: no brightkite-like-x1000 here"):
        make_plan(file, WORDS._replace(check_dataset=refuse))
    with pytest.raises(BadInputError, match=r"demo.yaml, line 2: no triangles here"):
        make_plan(file, WORDS._replace(check_workload=refuse))


def test_all_mistakes_of_a_file_are_said_at_once_the_gravest_first(tmp_path):
    text = "experimen: demo\nworth: 10\nworkloads: kafka\nengine: flink\nmemory: lots\n"
    with pytest.raises(SeveralMistakesError) as caught:
        plan_of(tmp_path, text)
    said = [sentence.partition("demo.yaml, ")[2] for sentence in caught.value.sentences]
    assert said == [
        "line 3: Kafka is not supported; `assay workloads list` has what can run",
        "line 4: Flink is not supported; engine may be mapreduce or tez or spark or mapreduce-levitated",
        "line 1: unknown key 'experimen'; did you mean 'experiment'?",
        "line 2: worth is 10: must be a percentage between 0 and 90, such as 10%",
        "line 5: memory is 'lots': must be a size such as 4GiB (1024s) or 4GB (1000s); 4G may mean either",
    ]


def test_words_that_kinds_do_not_know_are_said_at_once_too(tmp_path):
    text = PLAIN.replace("[triangles, components]", "[triangels, components]").replace("hdd: wd10ezex", "hdd: wd10")
    with pytest.raises(SeveralMistakesError) as caught:
        plan_of(tmp_path, f"{text}settings: defalts\n")
    lines = [sentence.partition("line ")[2].partition(":")[0] for sentence in caught.value.sentences]
    assert lines == ["2", "5", "7"]


def lines_of(tmp_path, text):
    """The lines of a file's mistakes, in the order in which they are said."""
    with pytest.raises(SeveralMistakesError) as caught:
        plan_of(tmp_path, text)
    return [int(sentence.partition("line ")[2].partition(":")[0]) for sentence in caught.value.sentences]


def test_mistakes_of_the_schema_and_of_kinds_are_said_together(tmp_path):
    text = """\
experiment: mine
workloads: [triangels, components]
datasets: {make: brightkit}
media:
  hdd: {profile: wd10ezex, slowdown: 0}
  ssd: nvmee
worth: 10
hadoop:
  dfs.blocksize: x
  mapreduce.job.reduces: -1
settings: smal
placement: {hdd: 1, sdd: 0}
replicatoin: 1
"""
    assert lines_of(tmp_path, text) == [13, 5, 7, 12, 2, 6, 3, 11, 9, 10]


def test_what_follows_from_another_mistake_is_not_said(tmp_path):
    text = PLAIN.replace("datasets", "dataset").replace("hdd: wd10ezex", "hdd: {kind: disk}")
    assert lines_of(tmp_path, f"{text}placement: [hdd, ssd]\nprofiles: {{mine: 5}}\nsettings: mine\n") == [3, 5, 8]
    no_cluster = PLAIN.replace("media:\n  hdd: wd10ezex\n  ssd: nvme\n", "cluster: 5\nworth: 10\n")
    assert lines_of(tmp_path, no_cluster) == [4, 5]
    misspelt = PLAIN.replace("media:", "medai:") + "worth: 10\n"
    assert lines_of(tmp_path, misspelt) == [4, 7]
