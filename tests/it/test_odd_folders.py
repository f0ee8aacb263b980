"""In a working directory of any name, which is also the medium, a run works or is refused before anything starts.

All of it in the locale C, which knows no names but in ASCII.
"""

import json
import subprocess

import pytest

from assay.model.record import Status
from assay.record.folder import RunFolder
from tests.it.driving import IN_ONE_CONTAINER, PATIENCE_S, assay_command

pytestmark = pytest.mark.it


GRAPH = "graph [1] %20#,.txt"


def test_a_medium_in_a_folder_that_hadoop_would_read_as_another_is_refused_with_the_character(place):
    """Which characters: tests/media/test_odd_paths.py."""
    here = prepared(place, "ä b")
    refused = run(place, here, "{disk: directory}", "run")
    assert (refused.returncode, "Hadoop can't take a path with a blank" in refused.stderr) == (2, True), refused.stderr
    assert {path.name for path in place.home.iterdir()} <= {"ä b", "disk", "checkout", "cache", "state"}


@pytest.mark.long
def test_a_run_works_in_an_odd_folder(place):
    """Input and run folder lie there, and the medium in one that Hadoop takes, odd as it is."""
    name, medium = "ä b#%20[x],y", place.disk / "ä+b=c@d~e"
    here = prepared(place, name)
    medium.mkdir()
    done = run(place, here, json.dumps({"disk": {"kind": "directory", "path": str(medium)}}), "run 1")
    assert done.returncode == 0, done.stdout + done.stderr
    records, damaged = RunFolder(here / "run 1").records()
    assert ([record.status for record in records], list(damaged)) == ([Status.FINISHED], [])
    assert place.left_over() == []
    assert {path.name for path in place.home.iterdir()} <= {name, "disk", "checkout", "cache", "state"}


def prepared(place, name):
    here = place.home / name
    here.mkdir()
    (here / GRAPH).write_text("1 2\n2 3\n1 3\n3 4\n")
    return here


def run(place, here, media, out):
    experiment = f"experiment: odd\nworkloads: degree-distribution\ndatasets: {{file: '{GRAPH}'}}\n"
    (here / "odd.yaml").write_text(f"{experiment}hadoop: {IN_ONE_CONTAINER}\nmedia: {media}\n")
    return subprocess.run(
        assay_command("run", "odd.yaml", "--out", out), cwd=here, env={**place.environment, "LC_ALL": "C"},
        capture_output=True, encoding="utf-8", check=False, timeout=PATIENCE_S,
    )  # fmt: skip
