"""Proves that the how-to's job runs as written there, and what happens with another check, with none, and when it fails.

What is compiled, run and checked is taken from the page itself.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from assay.model.doubt import Outcome
from assay.model.record import Status
from tests.it.driving import HADOOP, IN_ONE_CONTAINER, ROOT

pytestmark = pytest.mark.it

PAGE = (ROOT / "docs" / "how-to" / "run-your-own-job.md").read_text()
QUICK = f"hadoop: {IN_ONE_CONTAINER}\ncache: warm\nprobes: none\n"
EXAMPLES = next((HADOOP / "extras").glob("hadoop-mapreduce-examples-*.jar"), HADOOP)


def block(language):
    """The page's one block of code in a language."""
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return found


# Hadoop's own examples: a manifest's class, which takes -D options behind the program's name, on the dataset.
COUNTED = """\
  - name: command
    options:
      jar: {jar}
      arguments: "wordcount {{hadoop}} {{input}} {{output}}"
      input: dataset
      verify: "test -s {{output}}/part-r-00001"
    hadoop: {{mapreduce.job.reduces: 2}}
"""
DATASET = "datasets: [{make: brightkite, scale: 0.005}]\n"


@pytest.fixture
def own_job(place):
    """The page's files in a folder of the place, the jar made."""
    home = os.environ.get("JAVA_HOME")
    tools = Path(home, "bin") if home else Path(shutil.which("javac") or "/nowhere").parent
    if not (tools / "javac").exists():
        pytest.skip("no javac here: JAVA_HOME names none, and none is on the PATH")
    folder = place.home / "my-job"
    folder.mkdir()
    (place.home / "LICENSE").write_text((ROOT / "LICENSE").read_text())
    (folder / "WordLengths.java").write_text(block("java"))
    (folder / "check.py").write_text(block("python"))
    compile_it = ["javac", "--release", "11", "-cp", f"{HADOOP}/lib/*", "-d", "classes", "WordLengths.java"]
    pack_it = ["jar", "--create", "--file", "word-lengths.jar", "-C", "classes", "."]
    for tool, *arguments in (compile_it, pack_it):
        subprocess.run([str(tools / tool), *arguments], cwd=folder, check=True)
    return folder


def test_the_page_s_job_passes_and_is_judged_by_its_check_alone(place, own_job):
    experiment = (
        block("yaml")
        .replace("  memory: memory\n", "")
        .replace("disk: directory", f"disk: {{kind: directory, path: {place.disk}}}")
    )
    as_written = experiment.split("media:\n")[0].split("workloads:\n")[1]
    (own_job / "long.txt").write_text("all is well\n" * 3 + "x" * 81 + "\n")
    entries = [
        as_written,
        re.sub(r" +verify: .*\n", "", as_written),
        as_written.replace("python3 check.py {output} {input}", "python3 check.py {output} check.py"),
        as_written.replace("../LICENSE", "long.txt"),
        COUNTED.format(jar=EXAMPLES),
    ]
    (own_job / "my-job.yaml").write_text(experiment.replace(as_written, "".join(entries)) + QUICK + DATASET)
    place.assay("run", "my-job/my-job.yaml", "--out", "run", code=1)
    records = place.records("run")
    assert len(records) == 5
    failed = [record for record in records if record.status is Status.FAILED]
    check_failed(*failed)
    counted, passed, refused, unjudged = sorted(
        (record for record in records if record.status is Status.FINISHED), key=lambda one: one.verdicts[0].detail
    )
    assert counted.outcome is Outcome.PASS, counted.verdicts
    assert [(job.name, job.reduces) for job in counted.jobs] == [(f"{EXAMPLES.name} 1", 2)]
    assert counted.dataset is not None
    assert passed.outcome is Outcome.PASS, passed.verdicts
    assert re.fullmatch(r"exit code 0: \d+ words of \d+ lengths", passed.verdicts[0].detail)
    assert [job.name for job in passed.jobs] == ["word-lengths.jar 1"]
    assert passed.outputs[0].bytes > 0
    assert refused.outcome is Outcome.FAIL
    assert "exit code 1: found {" in refused.verdicts[0].detail
    assert unjudged.outcome is Outcome.UNKNOWN
    assert "no command judges this output" in unjudged.verdicts[0].detail
    assert place.left_over() == []


def check_failed(record):
    first, *lines = record.error.splitlines()
    assert first == "word-lengths.jar failed: exit code 1; its last lines:"
    assert any("a word of 81 letters" in line for line in lines), record.error
    assert any("at WordLengths$Lengths.map(WordLengths.java:" in line for line in lines), record.error
    assert len(lines) <= 8
