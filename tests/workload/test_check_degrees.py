"""Proves that the example of a user's own check passes right degrees and fails any that are wrong or there twice."""

import subprocess
import sys
from pathlib import Path

import pytest

CHECK = Path(__file__).parents[2] / "experiments" / "check-degrees.py"


@pytest.mark.parametrize(
    ("second", "passes"),
    [
        ("2\t1\n", True),
        ("2\t1\n2\t1\n", False),
        ("", False),
        ("2\t2\n", False),
        ("2\t1\n3\t1\n", False),
        ("2\n", False),
    ],
)
def test_degrees(tmp_path, second, passes):
    (tmp_path / "graph.txt").write_text("1\t2\n2\t3\n9\n")
    output = tmp_path / "output"
    output.mkdir()
    (output / "part-r-00000").write_text("0\t1\n1\t2\n")
    (output / "part-r-00001").write_text(second)
    done = subprocess.run([sys.executable, CHECK, tmp_path / "graph.txt", output], capture_output=True, check=False)
    assert done.returncode == (0 if passes else 1), done.stderr
