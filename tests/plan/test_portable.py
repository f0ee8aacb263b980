"""Proves that an experiment's kept file makes the same plan from another folder, and reads as it was written."""

from assay.plan.make import make_plan
from assay.plan.portable import portable
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


def moved(tmp_path, text):
    """Its plan, the plan of its kept file in another folder, and that file's text."""
    home, away = tmp_path / "home", tmp_path / "away"
    for folder in (home / "jobs", home / "media" / "disk", home / "drives", away):
        folder.mkdir(parents=True)
    (home / "graph.txt").write_text("1 2\n")
    (home / "demo.yaml").write_text(text)
    (away / "experiment.yaml").write_text(kept := portable(home / "demo.yaml", WORDS))
    return make_plan(home / "demo.yaml", WORDS), make_plan(away / "experiment.yaml", WORDS), kept


def test_relative_paths_are_made_absolute_and_the_rest_stays(tmp_path):
    here, there, kept = moved(tmp_path, RELATIVE)
    assert there == here
    assert kept.startswith("# Two media, and a job of my own.\nexperiment: demo\n")
    assert "# mine" in kept
    assert str(tmp_path / "home" / "jobs" / "mine.jar") in kept
    assert portable(tmp_path / "away" / "experiment.yaml", WORDS) == kept


def test_a_file_without_paths_is_kept_as_it_is(tmp_path):
    here, there, kept = moved(tmp_path, GOOD)
    assert there == here
    assert kept == GOOD
