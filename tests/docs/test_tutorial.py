"""Proves that the tutorial's way from a history to one job tested can be walked: its own commands, as they are typed."""

import shlex
import subprocess
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from assay.cli import cli
from assay.cli.context import find_installation, vocabulary
from assay.engine.past.example import FOLDER, write_example
from assay.media import memory
from assay.media.emulated.profile import profile_names
from assay.plan.make import plan_and_more
from assay.plan.source import ExperimentSource

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
SCREEN = 30
"""Lines of the page's source, most of which take one of a screen."""
COMMANDS = [
    shlex.split(line)[1:] for line in TEXT.splitlines() if line.startswith(("./assay triage", "./assay run-job"))
]
MAKING = "\n".join(line for line in TEXT.splitlines() if "my-text" in line and not line.startswith("./assay"))
"""How the text is made whose words are counted."""


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    """The made history that the tutorial begins with; triage only reads it."""
    folder = tmp_path_factory.mktemp("tutorial") / FOLDER
    write_example(folder)
    return folder


@pytest.fixture
def walker(tmp_path, history, monkeypatch):
    """Who types commands: in a folder with the made history, a text, and stand-ins for the jars."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / FOLDER).symlink_to(history)
    monkeypatch.setattr(memory, "available_memory_bytes", lambda: 64 << 30)
    for name in ("HADOOP_HOME", "HADOOP_CONF_DIR"):
        monkeypatch.delenv(name, raising=False)

    def type_in(words):
        done = CliRunner().invoke(cli, words, standalone_mode=False)
        assert done.exception is None, done.exception
        assert done.return_value in {0, None}
        return done.output

    return type_in


def a_jar(file):
    file.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(file, "w") as jar:
        jar.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\nMain-Class: Stand\n")
        jar.writestr("Stand.class", "")


@pytest.mark.slow
def test_the_history_says_which_jobs_decide(walker):
    assert ["triage", "--example"] in COMMANDS
    first = walker(["triage", "--example"]).splitlines()[0]
    assert f"```\n{first}\n" in TEXT


def test_the_second_screen_has_the_first_result_and_the_third_a_test():
    lines = TEXT.splitlines()
    assert lines.index("<!-- result triage example head: begin -->") < 2 * SCREEN
    tests = [place for place, line in enumerate(lines) if line.startswith("./assay run-job")]
    assert max(tests) < 3 * SCREEN


@pytest.mark.slow
def test_both_jobs_become_an_experiment_that_can_decide(walker, tmp_path):
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    subprocess.run(["bash", "-ec", MAKING], cwd=tmp_path, check=True)
    jobs = [words for words in COMMANDS if words[0] == "run-job"]
    assert len(jobs) == 2
    for number, words in enumerate(jobs):
        a_jar(tmp_path / words[1])
        written = tmp_path / f"job-{number}.yaml"
        place = words.index("--input") + 1
        local = [*words[:place], "my-text", *words[place + 1 :]]  # no HDFS is here
        end = local.index("--") if "--" in local else len(local)
        walker([*local[:end], "--write", str(written), *local[end:]])
        plan = plan_and_more(ExperimentSource(written), vocabulary(find_installation()))[0]
        assert {trial.repetition for trial in plan.trials} == {1, 2}
        assert any(trial.zero_delay for trial in plan.trials)


def test_doctors_sample_counts_the_shipped_profiles():
    assert f"{len(profile_names(ROOT / 'emulator' / 'profiles'))} profiles" in TEXT
