"""Proves what `assay media list`, `show` and `detach` say, without attaching anything."""

import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from assay.cli import cli
from assay.cli.media import detach_drives, print_media, print_profile, profile_json
from assay.media.emulated.profile import profile_names
from assay.model.errors import BadInputError
from tests.builders import an_installation

ROOT = Path(__file__).parents[2]
BUILT = ROOT / ".assay" / "emulator"

OWN = """
name: my-own
kind: hdd
figures:
  capacity_bytes: 500000000000
expected:
  sequential_read_mb_s: {value: 123, basis: review, source: a magazine}
"""


@pytest.fixture
def installation(tmp_path):
    (tmp_path / "emulator").symlink_to(ROOT / "emulator")
    (tmp_path / "own.yaml").write_text(OWN)
    return an_installation(tmp_path, tmp_path / "parts", cache=tmp_path / "cache", state=tmp_path / "state")


@pytest.fixture
def console():
    return Console(file=io.StringIO(), width=120)


@pytest.mark.slow
def test_shipped_profiles_and_a_file_of_ones_own(installation, console, tmp_path):
    print_media((str(tmp_path / "own.yaml"),), installation, console)
    said = console.file.getvalue()
    for name in (*profile_names(installation.profiles), "my-own"):
        assert name in said
    assert "500 GB" in said
    assert "123" in said


@pytest.mark.slow
@pytest.mark.parametrize("width", [40, 80])
def test_no_cell_is_cut_on_a_narrow_terminal(installation, width):
    """Names, values and sources are there whole; what has no room stands below or is left out."""
    narrow = Console(file=io.StringIO(), width=width)
    print_media((), installation, narrow)
    print_profile("wd10ezex", installation, narrow)
    said = narrow.file.getvalue()
    assert "…" not in said
    for name in (*profile_names(installation.profiles), "seek_track_to_track_ms", "1,000,204,886,016"):
        assert name in said
    assert "WD Blue desktop data sheet" in " ".join(said.split())


@pytest.mark.slow
def test_a_note_explains_only_what_is_shown_and_short_names_are_told(installation):
    wide, narrow = (Console(file=io.StringIO(), width=width) for width in (200, 80))
    for shown in (wide, narrow):
        print_media((), installation, shown)
        assert "short names: hdd for seagate-constellation-es3-4tb, ssd for" in shown.file.getvalue().replace("\n", " ")
    assert wide.file.getvalue().count("assumed") == 2
    assert "assumed" not in narrow.file.getvalue()


def test_a_short_name_shows_its_drive(installation, monkeypatch):
    monkeypatch.setattr("assay.cli.media.find_installation", lambda: installation)
    answer = CliRunner().invoke(cli, ["media", "show", "hdd", "--json"], catch_exceptions=False)
    assert json.loads(answer.output)["name"] == "seagate-constellation-es3-4tb"


def test_the_same_as_data(installation, tmp_path, monkeypatch):
    monkeypatch.setattr("assay.cli.media.find_installation", lambda: installation)
    answer = CliRunner().invoke(cli, ["media", "list", str(tmp_path / "own.yaml"), "--json"])
    shown = json.loads(answer.output)
    (own,) = [profile for profile in shown["profiles"] if profile["name"] == "my-own"]
    assert own["expected"]["sequential_read_mb_s"] == {"value": 123, "basis": "review", "source": "a magazine"}


def test_every_figure_with_its_source(installation, console, tmp_path):
    print_profile(str(tmp_path / "own.yaml"), installation, console)
    said = console.file.getvalue()
    assert "500,000,000,000" in said
    assert "not stated" in said
    assert "1 of 1 figures are assumed" in said
    assert "published (review): a magazine" in said
    (figure,) = profile_json(str(tmp_path / "own.yaml"), installation)["figures"]
    assert (figure["name"], figure["unit"], figure["evidence"]) == ("capacity_bytes", "", "assumed")


@pytest.mark.skipif(not BUILT.is_dir(), reason="the emulator is not built")
def test_a_profile_that_is_shown_is_checked(installation, console, tmp_path):
    installation.parts.mkdir()
    (installation.parts / "emulator").symlink_to(BUILT)
    print_profile("wd10ezex", installation, console)
    shown = next(row for row in profile_json("wd10ezex", installation)["figures"] if row["name"] == "rotation_rpm")
    assert shown["least"] < shown["value"] < shown["most"]
    assert f"{shown['most']:,.0f}" in console.file.getvalue()
    text = (installation.profiles / "wd10ezex.yaml").read_text()
    for right, wrong, message in [
        ("rotation_rpm", "rotation_rmp", r"no figure 'rotation_rmp'; did you mean 'rotation_rpm'\?"),
        ("rotation_rpm: {value: ", "rotation_rpm: {value: 99", "rotation_rpm .*write a value from"),
    ]:
        assert right in text
        (tmp_path / "wrong.yaml").write_text(text.replace(right, wrong))
        with pytest.raises(BadInputError, match=message):
            print_profile(str(tmp_path / "wrong.yaml"), installation, console)


def test_what_to_detach_must_be_said_and_be_there(installation, console):
    with pytest.raises(BadInputError, match="name the drives to detach, or give --all"):
        detach_drives((), installation, console, everything=False)
    with pytest.raises(BadInputError, match="no drive 'hdd' is attached"):
        detach_drives(("hdd",), installation, console, everything=False)
