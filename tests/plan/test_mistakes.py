"""Proves that what a newcomer may get wrong is said in one sentence: what, in which line, and how to mend it."""

import pytest

from assay.model.errors import BadInputError
from assay.plan.load import load
from tests.plan.test_make import plan_of

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
        ("repetitions: 2.5", "line 7: repetitions is 2.5, and must be a whole number"),
        ("warm_up: 1001", "line 7: warm_up is 1001, and must be 1000 or less"),
        ("hadoop: dfs.blocksize=8m", "line 7: hadoop is 'dfs.blocksize=8m', and must be a map such as {key: value}"),
        ("zip: memory", "line 7: zip is 'memory', and must be a list such as"),
        ("replication: 2\nhadoop: {dfs.replication: [1, 2]}", "line 7: replication and dfs.replication .* are the same; keep one"),
        ("profiles: {mine: {properties: {io.file.buffer.size: [1, 2]}}}", "must be a single text or number; a list of levels belongs under `hadoop`"),
        ("profiles: {mine: {inherits: custom}}", "line 7: unknown settings profile 'custom'; did you mean 'customs'"),
        ("profiles:\n  mine: {inherits: other}\n  other: {inherits: mine}", "line 8: settings profile 'mine' inherits itself through mine -> other -> mine"),
        ("cluster: {limit_cpus: 2}", "line 7: cluster has no limit_cpus; bounds are the experiment's own `memory` and `cpus`"),
        ("placement: {hdd: 1, sdd: 0}", "line 7: placement: input names the medium 'sdd'"),
        ("placement: {hdd: 50%, ssd: 50%}", "line 7: placement.input.hdd is '50%', and must be a number"),
        ("name: other", "line 7: unknown key 'name'; possible are experiment, description"),
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
        ("hdd: wd10ezex", "hdd: {kind: memory, slowdown: 2}", "line 5: .*slowdown belongs to an emulated medium, and this one is of kind memory"),
        ("hdd: wd10ezex", "my disk: wd10ezex", "line 5: media.my disk is 'my disk', and must be made of letters"),
        ("media:\n  hdd: wd10ezex\n  ssd: nvme", "cluster: existing", "an existing cluster needs conf_dir"),
        ("media:", "media: {", "line 6: not readable as YAML: "),
    ],
)  # fmt: skip
def test_a_mistake_elsewhere(tmp_path, before, after, words):
    assert before in PLAIN
    with pytest.raises(BadInputError, match=words) as caught:
        plan_of(tmp_path, PLAIN.replace(before, after))
    assert "\n" not in str(caught.value)


def test_a_folder_is_no_experiment(tmp_path):
    with pytest.raises(BadInputError, match="can't be read: .*Is a directory"):
        load(tmp_path)
