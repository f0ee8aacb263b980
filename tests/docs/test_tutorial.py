"""Proves that the tutorial's ways from histories can be walked, to one job tested, and to a decision, its doing and its check.

Its own commands are typed as they stand there.
"""

import json
import re
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
FROM_HISTORIES = ("triage", "run-job", "advise", "direct", "compare-histories")
COMMANDS = [
    shlex.split(line)[1:] for line in TEXT.splitlines()
    if line.startswith(tuple(f"./assay {command}" for command in FROM_HISTORIES))
]  # fmt: skip
MAKING = "\n".join(line for line in TEXT.splitlines() if "my-text" in line and not line.startswith("./assay"))
"""How the text is made whose words are counted."""


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    """The made history that the tutorial begins with; `--example` writes the same again."""
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
        return done.stdout

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


@pytest.mark.slow
def test_the_example_leads_to_a_decision_its_doing_and_its_check(walker, tmp_path):
    way = [words for words in COMMANDS if "--example" in words]
    assert [words[0] for words in way] == ["triage", "advise", "advise", "advise", "direct", "compare-histories"]
    printed = []
    for words in way:
        typed, _, file = " ".join(words).partition(" > ")
        printed.append(walker(typed.split()))
        if file:
            (tmp_path / file).write_text(printed[-1], encoding="utf-8")
    _, decision, kept, patch, chosen, check = (" ".join(text.split()) for text in printed)
    advice = json.loads(kept)
    first = advice["alternatives"][advice["first"]]
    assert f"The first candidate is {first['name']} (costs nothing)" in decision
    assert patch.startswith(f"# {first['name']}: review this")
    assert "+ mapreduce." in patch
    directed = {"nightly sort", "sessions", "join clicks"}
    assert set(advice["directed"]["jobs"]) == directed
    assert chosen.startswith("No job need be directed: ")
    assert " else direct 3 of 40 jobs to the SSD: " in chosen
    assert " and 32 more jobs: --json has all " in chosen
    planned = (tmp_path / "direct-plan.yaml").read_text(encoding="utf-8")
    assert all(job in planned for job in directed)
    assert re.match(r"\d+ jobs that the change may touch: helped\. (19|2[01]) % less time ", check)
    assert "7 nights before " in check
    assert "35 controls, which the change cannot touch, took " in check
    assert re.search(r"Advice had foretold of 1 SSD of .* Seen: (19|2[01]) %, within the interval\.", check)
    assert "Not compared, though a saving was foretold" not in check


def test_doctors_sample_counts_the_shipped_profiles():
    assert f"{len(profile_names(ROOT / 'emulator' / 'profiles'))} profiles" in TEXT
