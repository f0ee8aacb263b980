"""Proves that calibrations are reused as they should be, and that bad input is refused before anything starts."""

import pytest
from rich.console import Console

from assay.model.errors import BadInputError
from assay_extras.calibration import command
from assay_extras.calibration.command import Wish
from tests.builders import an_installation
from tests.extras.calibration.builders import FakeMeter, a_calibration


@pytest.fixture
def installation(tmp_path):
    profiles = tmp_path / "emulator" / "profiles"
    profiles.mkdir(parents=True)
    (profiles / "a-disk.yaml").write_text("name: a-disk\nkind: hdd\nfigures: {capacity_bytes: 1}\n")
    return an_installation(tmp_path, cache=tmp_path / "cache", state=tmp_path / "state")


@pytest.fixture
def measured(monkeypatch):
    """Every measurement that was really made."""
    made = []

    def calibrate(self, spec, facts):
        made.append(spec.name)
        return a_calibration(medium=spec.name, facts=facts, form=self.wish.form, budget_s=self.wish.seconds)

    monkeypatch.setattr(command.Calibrator, "calibrate", calibrate)
    monkeypatch.setattr(command, "find_fio", lambda _: FakeMeter())
    monkeypatch.setattr(command, "facts_of", lambda spec, _: {"place": str(spec.path)})
    return made


def shown(installation, *media, **wish):
    console = Console(width=80, force_terminal=False)
    with console.capture() as captured:
        command.calibrate_media(media, Wish(**wish), installation, console)
    return captured.get()


def test_a_calibration_is_made_shown_and_then_reused(installation, measured, tmp_path):
    place = str(tmp_path)
    assert "page: " in shown(installation, place)
    again = shown(installation, place)
    assert "--again measures anew" in again
    assert "random read" in again
    assert measured == [place]
    assert len(list((tmp_path / "cache" / "calibrations").glob("*.html"))) == 1


@pytest.mark.parametrize("wish", [{"again": True}, {"form": "full"}, {"seconds": 600.0}])
def test_a_coarser_or_shorter_one_is_not_enough(installation, measured, tmp_path, wish):
    shown(installation, str(tmp_path))
    shown(installation, str(tmp_path), **wish)
    assert len(measured) == 2


def test_a_damaged_one_is_said_and_measured_again(installation, measured, tmp_path):
    shown(installation, str(tmp_path))
    (file,) = (tmp_path / "cache" / "calibrations").glob("*.json")
    file.write_text("{")
    assert "is damaged; it is kept as" in " ".join(shown(installation, str(tmp_path)).split())
    assert len(measured) == 2


def test_a_profiles_name_is_an_emulated_drive_and_a_path_a_directory(installation, tmp_path):
    assert command.spec_of("a-disk", installation).kind == "emulated"
    assert command.spec_of(str(tmp_path), installation).kind == "directory"


@pytest.mark.parametrize(
    ("medium", "message"),
    [("/absent/disk", "is not a directory"), ("a-disc", "no drive profile 'a-disc'"), ("mine.yaml", "can't be read")],
)
def test_what_is_neither_is_refused(installation, measured, tmp_path, medium, message):
    with pytest.raises(BadInputError, match=message):
        shown(installation, str(tmp_path), medium)
    assert measured == []


def test_too_short_a_time_is_refused(installation, measured, tmp_path):
    with pytest.raises(BadInputError, match=r"--seconds 3 is too short"):
        shown(installation, str(tmp_path), seconds=3)


@pytest.mark.parametrize(
    ("file", "media", "message"),
    [
        ("there.yaml", 1, "already exists"),
        ("mine.txt", 1, "must be a new .yaml file"),
        ("absent/mine.yaml", 1, "must be a new .yaml file"),
        ("mine.yaml", 2, "of one medium, and 2 were given"),
    ],
)
def test_a_profile_that_can_not_be_written_is_refused_before_measuring(
    installation, measured, tmp_path, file, media, message
):
    (tmp_path / "there.yaml").touch()
    with pytest.raises(BadInputError, match=message):
        command.calibrate_media(
            (str(tmp_path),) * media, Wish(), installation, Console(quiet=True), profile_to=tmp_path / file
        )
    assert measured == []
