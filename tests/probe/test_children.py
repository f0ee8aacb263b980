"""Proves that a probe's child process is run with patience, and that its processor time and no other's is counted."""

import subprocess
import sys

import pytest

from assay.probe.own_cost import Children

SPIN = "import time\nwhile time.process_time() < 0.1: pass\n"


def test_what_a_child_takes_is_counted_and_no_others():
    children = Children()
    subprocess.run([sys.executable, "-c", SPIN], check=True)
    assert children.busy_s == 0
    children.run([sys.executable, "-c", SPIN], "", 10)
    assert 0.1 <= children.busy_s < 1


def test_input_output_and_code_are_the_childs():
    code = "import sys; print(sys.stdin.read().upper()); print('odd', file=sys.stderr); sys.exit(3)"
    assert Children().run([sys.executable, "-c", code], "text", 10) == (3, "TEXT\n", "odd\n")
    assert len(Children().run([sys.executable, "-c", "print('x' * 300_000)"], "", 10).printed) == 300_001


def test_one_that_hangs_is_ended(tmp_path):
    ended = tmp_path / "ended"
    with pytest.raises(TimeoutError, match="did not end within"):
        Children().run([sys.executable, "-c", f"import time; time.sleep(30); open({str(ended)!r}, 'w')"], "", 0.05)
    assert not ended.exists(), "it ended by itself"


def test_one_that_is_not_there_is_an_error():
    with pytest.raises(OSError, match="No such file"):
        Children().run(["/nowhere/nft"], "", 1)
