"""Proves that scratch directories vanish, also those of killed processes, and that nobody's living one is touched."""

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from assay.input.staging import PREFIX, scratch_directory
from assay.model.errors import AssayError

HOLD = """\
import sys
from assay.input.staging import scratch_directory
with scratch_directory() as directory:
    (directory / "file").write_text("x")
    print(directory, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def holding():
    """Another process with a directory, and the directory."""
    process = subprocess.Popen([sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    return process, Path(process.stdout.readline().strip())


def test_it_is_gone_afterwards_whatever_happens(place):
    with scratch_directory() as directory:
        (directory / "file").write_text("x")
        assert directory.parent == place
        assert directory.name.startswith(PREFIX)
    assert not directory.exists()
    with pytest.raises(KeyError), scratch_directory() as directory:
        raise KeyError
    assert list(place.iterdir()) == []


@pytest.mark.slow
def test_what_a_killed_process_left_is_removed_by_the_next_and_a_living_ones_stays(place, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "src")
    (killed, left), (living, held) = holding(), holding()
    killed.kill()
    killed.communicate()
    others = [place / "somebody-elses", place / f"{PREFIX}file"]
    others[0].mkdir()
    others[1].write_text("x")
    (place / f"{PREFIX}link").symlink_to(others[0])
    assert (left / "file").exists()
    with scratch_directory():
        assert not left.exists()
        assert (held / "file").exists()
        assert all(other.exists() for other in others)
    living.communicate("")
    assert living.returncode == 0
    assert not held.exists()


def test_too_little_room_is_told_before_anything_is_made(place):
    told = rf"{1 << 60} bytes are made in {place} .* name another directory in TMPDIR"
    with pytest.raises(AssayError, match=told), scratch_directory(1 << 60):
        pytest.fail("there is room")
    assert list(place.iterdir()) == []
