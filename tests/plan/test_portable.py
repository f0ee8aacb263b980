"""Proves that an experiment's kept file makes the same plan from another folder, and reads as it was written."""

import pytest

from assay.model.errors import BadInputError
from assay.plan.source import ExperimentSource
from tests.builders import make_plan
from tests.plan.test_make import GOOD, WORDS

RELATIVE = """\
# Two media, and a job of my own.
experiment: demo
workloads:
  - triangles
  - {name: command, variant: own, options: {jar: jobs/mine.jar, command: "a: b"}}  # mine
datasets: graph.txt
media:
  disk: {path: media/disk}
  drive: drives/old.yaml
  other: {profile: drives/old.yaml, size: 1GiB}
"""
FLOW = "--- # all in one map\n  {experiment: demo, workloads: triangles, datasets: graph.txt,\n   media: {disk: {path: media}}}\n"
INDENTED = "  experiment: demo\n  workloads: triangles\n  datasets: graph.txt\n  media: {disk: {path: media}}\n"


def kept_elsewhere(tmp_path, text):
    """Its plan, the plan of its kept file in another folder, and that file's text."""
    home, away = tmp_path / "it's home", tmp_path / "away"
    for folder in (home / "jobs", tmp_path / "media" / "disk", home / "drives", away):
        folder.mkdir(parents=True)
    (home / "media").symlink_to(tmp_path / "media")  # no medium may lie at a path with a blank
    (home / "graph.txt").write_text("1 2\n")
    (home / "demo.yaml").write_text(text)
    (away / "experiment.yaml").write_text(kept := ExperimentSource(home / "demo.yaml").portable())
    return make_plan(home / "demo.yaml", WORDS), make_plan(away / "experiment.yaml", WORDS), kept


@pytest.mark.parametrize("text", [RELATIVE, FLOW, INDENTED, GOOD, GOOD.replace("\n", "\r\n")])
def test_the_kept_file_makes_the_same_plan_and_is_kept_as_it_is(tmp_path, text):
    here, there, kept = kept_elsewhere(tmp_path, text)
    assert there == here
    assert ExperimentSource(tmp_path / "away" / "experiment.yaml").portable() == kept


def test_only_the_folder_is_added(tmp_path):
    _, _, kept = kept_elsewhere(tmp_path, RELATIVE)
    home = str(tmp_path / "it's home").replace("'", "''")
    assert kept == RELATIVE.replace("experiment: demo\n", f"folder: '{home}'\nexperiment: demo\n")


def test_the_folder_is_an_absolute_path(tmp_path):
    (tmp_path / "demo.yaml").write_text("folder: media\n" + GOOD)
    with pytest.raises(BadInputError, match="line 1: folder is 'media': must be an absolute path"):
        ExperimentSource(tmp_path / "demo.yaml")


def test_the_kept_copy_states_the_defaults_of_emulated_drives_and_an_older_one_has_none(tmp_path):
    text = "experiment: demo\nworkloads: terasort\nmedia: {hdd: wd10ezex}\nmemory: 2GiB\n"
    (tmp_path / "demo.yaml").write_text(text)
    kept = ExperimentSource(tmp_path / "demo.yaml").portable()
    assert 'zero_delay_baseline: true\norder: "mirrored"\nrepetitions: 2\nwrite_back: ["node"]\n' in kept
    (tmp_path / "kept.yaml").write_text(kept)
    now, again = (ExperimentSource(tmp_path / name).experiment for name in ("demo.yaml", "kept.yaml"))
    chosen = ("zero_delay_baseline", "order", "repetitions", "write_back")
    assert [getattr(now, name) for name in chosen] == [getattr(again, name) for name in chosen]
    (tmp_path / "old.yaml").write_text(f"folder: {tmp_path}\n{text}")
    old = ExperimentSource(tmp_path / "old.yaml").experiment
    assert (old.repetitions, old.write_back) == (1, [])
