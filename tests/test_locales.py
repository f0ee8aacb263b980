"""Proves that Assay works in any locale, in an empty environment, and in folders whose names are not ASCII."""

import json
import locale
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from assay.cli import _settle_locale
from assay.cli.context import find_installation
from assay.host.files import replace_text, whole
from assay.host.machine import user_name
from assay.model.errors import BadInputError
from tests.report.made_runs import made_run, made_trials, write_run

ROOT = Path(__file__).parents[1]
CHARACTERS = {"en_US": "ISO-8859-1", "ar_EG": "ISO-8859-6", "tr_TR": "ISO-8859-9", "de_DE": "UTF-8"}
EXPERIMENT = """\
experiment: two
workloads: [{name: k-means, options: {points: 1000, iterations: 1, k: 3}}]
media: {disk: {path: %s}, memory: memory}
settings: small
"""
LANGUAGES = ["C", "", *(f"{language}.{characters}" for language, characters in CHARACTERS.items())]
WITH_ALL_COMMANDS = "tr_TR.ISO-8859-9"  # where upper and lower case differ from English; in C they run below


@pytest.fixture(scope="module")
def locales(tmp_path_factory):
    """A folder with locales that most machines lack."""
    if shutil.which("localedef") is None or not Path("/usr/share/i18n/locales/tr_TR").exists():
        pytest.skip("no sources of locales: on Debian they are in the package locales")
    folder = tmp_path_factory.mktemp("locales")
    for language, characters in CHARACTERS.items():
        made = folder / f"{language}.{characters}"
        subprocess.run(["localedef", "-c", "-i", language, "-f", characters, made], check=False, capture_output=True)
        assert (made / "LC_CTYPE").exists()
    return folder


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """The entry script and all that it starts, but for set-up, which other tests are about."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in ("src", "extras", "experiments", "emulator", "jobs", "hadoop", ".assay"):
        (folder / name).symlink_to(ROOT / name)
    shutil.copy(ROOT / "assay", folder / "assay")
    (folder / "setup").mkdir()
    (folder / "setup" / "prepare").write_text("#!/bin/sh\n")
    (folder / "setup" / "prepare").chmod(0o755)
    return folder


@pytest.fixture
def place(tmp_path):
    """A working directory with a run and an experiment, and names that Latin-1 has and ASCII lacks."""
    place = tmp_path / "Größe"
    (place / "ä").mkdir(parents=True)
    plan, records = made_run(made_trials(repetitions=3))
    write_run(place / "run", plan.model_copy(update={"description": "größer · λ → 日"}), records)
    write_run(place / "other", plan, records)
    (place / "experiment.yaml").write_text(EXPERIMENT % (place / "ä"), encoding="utf-8")
    return place


def started(command, place, environment):
    done = subprocess.run(
        command, cwd=place, env=environment, check=False, capture_output=True, stdin=subprocess.DEVNULL
    )
    said = done.stdout + done.stderr
    assert b"Traceback" not in said, said.decode(errors="replace")
    assert done.returncode == 0, said.decode(errors="replace")
    return done.stdout


def test_a_pipe_is_written_to_itself():
    reader, writer = os.pipe()
    replace_text(Path(f"/dev/fd/{writer}"), "größer")
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        assert stream.read().decode() == "größer"


def test_where_there_is_no_c_utf_8_another_locale_of_utf_8_is_taken(monkeypatch):
    asked = []

    def setlocale(category, name):
        asked.append(name)
        if name == "C.UTF-8":
            raise locale.Error("unsupported locale setting")

    monkeypatch.setattr(locale, "setlocale", setlocale)
    monkeypatch.setenv("LC_ALL", "tr_TR")
    _settle_locale()
    assert asked == ["C.UTF-8", "en_US.UTF-8"]
    assert os.environ["LC_ALL"] == "en_US.UTF-8"


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_locale_will_do(locales, checkout, place, language):
    environment = {"LOCPATH": str(locales), "LC_ALL": language, "HOME": str(place), "PATH": os.environ["PATH"]}
    assay = str(checkout / "assay")
    shown = started([assay, "report", "run"], place, environment)
    assert "größer · λ → 日" in (place / "run" / "report.html").read_text(encoding="utf-8")
    shown.decode("utf-8" if language in {"C", ""} else language.partition(".")[2])
    if language != WITH_ALL_COMMANDS:
        return
    assert b"Usage" in started([assay, "--help"], place, environment)
    started([assay, "compare", "run", "other"], place, environment)
    started([assay, "run", "experiment.yaml", "--dry-run", "--out", "new"], place, environment)
    started([assay, "report", "run", "--format", "json", "--out", "it.json"], place, environment)
    assert json.loads((place / "it.json").read_text(encoding="utf-8"))["plan"]["description"] == "größer · λ → 日"


@pytest.mark.slow
def test_a_python_that_is_not_told_to_work_in_utf_8_writes_it_all_the_same(locales, place):
    """As the installed package is started."""
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT / "extras")])
    latin_1 = {"LOCPATH": str(locales), "LC_ALL": "en_US.ISO-8859-1", "HOME": str(place), "PYTHONPATH": path}
    shown = started([sys.executable, "-m", "assay", "report", "run"], place, latin_1)
    shown.decode("iso-8859-1")
    assert "größer · λ → 日" in (place / "run" / "report.html").read_text(encoding="utf-8")
    started([sys.executable, "-m", "assay", "report", "run", "--format", "md"], place, latin_1)


@pytest.mark.slow
def test_an_empty_environment_will_do(checkout, place):
    assay = str(checkout / "assay")
    for words in (["--help"], ["report", "run"], ["compare", "run", "other"], ["run", "experiment.yaml", "--dry-run"]):
        started(["env", "-i", assay, *words], place, {})


def test_a_user_without_a_home_is_told_to_name_one(monkeypatch):
    def unknown(_kind):
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", classmethod(unknown))
    with pytest.raises(BadInputError, match="HOME is no absolute path, nor does this machine know your home; set it"):
        find_installation()


def test_a_user_without_a_name_is_told_that_hadoop_needs_one(monkeypatch):
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", {}.__getitem__)
    with pytest.raises(BadInputError, match="Hadoop needs one; add them to /etc/passwd"):
        user_name()


def test_what_is_started_works_in_utf_8_and_english(monkeypatch):
    monkeypatch.setenv("LC_ALL", "tr_TR.ISO-8859-9")
    monkeypatch.setenv("LANGUAGE", "tr")
    _settle_locale()
    shown = subprocess.run(["ls", "/nowhere"], check=False, capture_output=True, text=True).stderr
    assert "No such file" in shown
    assert (os.environ["LC_ALL"], os.environ.get("LANGUAGE")) == ("C.UTF-8", None)


def test_a_file_that_cannot_be_written_whole_stays_as_it_was(tmp_path):
    file = tmp_path / "report.html"
    file.write_text("before")
    file.chmod(0o640)

    def pieces():
        yield "after"
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        replace_text(file, pieces())
    assert (file.read_text(), [one.name for one in tmp_path.iterdir()]) == ("before", ["report.html"])
    replace_text(file, "ä\udce4")
    assert file.read_bytes() == "ä\\udce4".encode()
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_a_link_and_a_device_stay_what_they_are(tmp_path):
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_text("before")
    link.symlink_to(file)
    replace_text(link, "after")
    assert (link.is_symlink(), file.read_text()) == (True, "after")
    replace_text(Path("/dev/null"), "nowhere")
    assert Path("/dev/null").is_char_device()
    with pytest.raises(FileNotFoundError) as raised:
        replace_text(tmp_path / "none" / "file", "text")
    assert raised.value.filename == str(tmp_path / "none" / "file")
    with pytest.raises(IsADirectoryError) as raised, whole(tmp_path) as partial:
        partial.write_text("text")
    assert raised.value.filename == str(tmp_path)


LIFE = """
import locale
from contextlib import contextmanager
from pathlib import Path
from assay.record.folder import RunFolder
from assay.run.loop import execute
from assay_extras.testing.fakes import Script, fake_setup
from tests.builders import a_plan, a_trial
from tests.watching import Watcher

assert locale.getencoding() not in ("UTF-8", "utf-8"), locale.getencoding()

@contextmanager
def parts(trial):
    yield fake_setup(Script(), trial)

plan = a_plan(a_trial().model_copy(update={"id": "0001-gr\\u00f6\\u00dfer"}))
folder = RunFolder(Path.cwd() / "l\\u00e4uft")
folder.create(plan)
execute(plan, folder, parts, Watcher())
records, damaged = folder.records()
print(ascii(([(record.trial.id, record.outcome.value) for record in records], damaged)))
"""


@pytest.mark.slow
def test_a_trial_lives_and_is_recorded_in_an_ascii_locale_and_a_folder_that_is_not(tmp_path):
    """As the entry script starts Python."""
    place = tmp_path / "ä"
    place.mkdir()
    path = os.pathsep.join(map(str, (ROOT / "src", ROOT / "extras", ROOT)))
    ascii_only = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "HOME": str(place), "PYTHONPATH": path}
    shown = started([sys.executable, "-X", "utf8", "-c", LIFE], place, ascii_only)
    assert shown == rb"([('0001-gr\xf6\xdfer', 'pass')], [])" + b"\n"
    assert (place / "läuft" / "plan.json").is_file()
