"""In a working directory of any name, which is also the medium, a run works or is refused before anything starts."""

import json
import subprocess

import pytest

from assay.model.record import Status
from assay.record.folder import RunFolder
from tests.it.driving import IN_ONE_CONTAINER, PATIENCE_S, assay_command

pytestmark = pytest.mark.it


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("ä b", "a blank"), ("a#b", "'#'"), ("a%20b", "'%'"), ("[x]", "'['"), ("a,b", "','"),
        ("ä+b=c@d~e", None),
    ],
)  # fmt: skip
def test_a_run_in_an_odd_folder(place, name, why):
    """Input and run folder lie there too, and may in all of them."""
    here = place.home / name
    here.mkdir()
    (here / "graph [1] %20#,.txt").write_text("1 2\n2 3\n1 3\n3 4\n")
    experiment = "experiment: odd\nworkloads: triangles\ndatasets: {file: 'graph [1] %20#,.txt'}\n"
    experiment += f"hadoop: {IN_ONE_CONTAINER}\n"

    def run(media, out):
        (here / "odd.yaml").write_text(f"{experiment}media: {media}\n")
        return subprocess.run(
            assay_command("run", "odd.yaml", "--out", out), cwd=here, env=place.environment, capture_output=True,
            text=True, check=False, timeout=PATIENCE_S,
        )  # fmt: skip

    own = run("{disk: directory}", "run")
    if why is not None:
        assert (own.returncode, f"Hadoop can't take a path with {why}" in own.stderr) == (2, True), own.stderr
        other = run(json.dumps({"disk": {"kind": "directory", "path": str(place.disk)}}), "run elsewhere")
        assert other.returncode == 0, other.stdout + other.stderr
    else:
        assert own.returncode == 0, own.stdout + own.stderr
    records, damaged = RunFolder(here / ("run" if why is None else "run elsewhere")).records()
    assert ([record.status for record in records], list(damaged)) == ([Status.FINISHED], [])
    assert place.left_over() == []
    assert {path.name for path in place.home.iterdir()} <= {name, "disk", "checkout", "cache", "state"}
