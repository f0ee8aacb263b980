"""Proves that the how-to's job runs as written there, and what happens with another check, with none, and when it fails.

What is compiled, run and checked is taken from the page itself.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from assay.media.emulated.attachment import missing
from assay.model.doubt import Outcome
from assay.model.record import Status
from assay_extras.testing.event_logs import MadeApplication, MadeStage, write_event_log
from tests.it.driving import HADOOP, ROOT

pytestmark = pytest.mark.it

SPARK_JOBS = ROOT / ".assay" / "spark" / "lib" / "jobs" / "assay-jobs-spark.jar"

PAGE = (ROOT / "docs" / "how-to" / "run-your-own-job.md").read_text()
EXAMPLES = next((HADOOP / "extras").glob("hadoop-mapreduce-examples-*.jar"), HADOOP)


def block(language):
    """The page's one block of code in a language."""
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return found


AS_SHOWN = re.search(r"^  - name: command\n.*?(?=^media:)", block("yaml"), re.MULTILINE | re.DOTALL)[0]
# Hadoop's own examples: a manifest's class, which takes -D options behind the program's name, on the dataset; and a
# check that refuses what it has to find.
COUNTED = """\
  - name: command
    options:
      jar: {jar}
      arguments: "wordcount {{hadoop}} {{input}} {{output}}"
      input: dataset
      verify: "sh -c 'test -s $0/part-r-00001 && echo there are two parts && exit 1' {{output}}"
    hadoop: {{mapreduce.job.reduces: 2}}
"""
DATASETS = "datasets: [{make: brightkite, scale: 0.005}]\n"
EXPERIMENT = """\
experiment: own
workloads:
{entries}
{datasets}media: {media}
hadoop: {{mapreduce.map.maxattempts: 1}}
cache: warm
probes: none
"""


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


def the_records(place, own_job, *entries):
    """Of an experiment of these workloads, at least one of which fails or is refused."""
    datasets = DATASETS if any("input: dataset" in one for one in entries) else ""
    text = EXPERIMENT.format(entries="".join(entries), datasets=datasets, media=place.media)
    (own_job / "my-job.yaml").write_text(text)
    place.assay("run", "my-job/my-job.yaml", "--out", "run", code=1)
    assert place.left_over() == []
    return place.records("run")


@pytest.mark.long
def test_the_page_s_job_passes_and_says_why_it_fails(place, own_job):
    (own_job / "long.txt").write_text("all is well\n" * 3 + "x" * 81 + "\n")
    records = the_records(place, own_job, AS_SHOWN, AS_SHOWN.replace("../LICENSE", "long.txt"))
    by_status = {record.status: record for record in records}
    check_passed(by_status[Status.FINISHED])
    check_failed(by_status[Status.FAILED])


@pytest.mark.long
def test_without_a_check_the_outcome_is_unknown_and_a_check_that_refuses_fails(place, own_job):
    unjudged = re.sub(r" +verify: .*\n", "", AS_SHOWN)
    records = the_records(place, own_job, unjudged, COUNTED.format(jar=EXAMPLES))
    by_outcome = {record.outcome: record for record in records}
    (verdict,) = by_outcome[Outcome.UNKNOWN].verdicts
    assert "no command judges this output; add one" in verdict.detail
    check_refused(by_outcome[Outcome.FAIL])


def check_passed(record):
    assert record.outcome is Outcome.PASS, record.verdicts
    (verdict,) = record.verdicts
    assert re.fullmatch(r"exit code 0: \d+ words of \d+ lengths", verdict.detail)
    assert [job.name for job in record.jobs] == ["word-lengths.jar 1"]
    assert record.dataset is None
    assert record.outputs[0].bytes > 0
    assert record.landed


def check_refused(record):
    assert record.status is Status.FINISHED, record.error
    assert [verdict.detail for verdict in record.verdicts] == ["exit code 1: there are two parts"]
    assert [(job.name, job.stages[-1].tasks) for job in record.jobs] == [(f"{EXAMPLES.name} 1", 2)]
    assert record.dataset.edges > 0


def check_failed(record):
    first, *lines = record.error.splitlines()
    assert first == "word-lengths.jar failed: exit code 1; its last lines:"
    assert any("a word of 81 letters" in line for line in lines), record.error
    assert any("at WordLengths$Lengths.map(WordLengths.java:" in line for line in lines), record.error
    assert len(lines) <= 8
    assert not any("WARN" in line for line in lines), record.error


@pytest.mark.long
def test_one_command_takes_a_sample_and_its_experiment_runs(place, own_job):
    if lacking := missing(place.installation, "ext4"):
        pytest.skip("; ".join(lacking))
    words = (ROOT / "LICENSE").read_text() * 2000
    (place.home / "logs").mkdir()
    for number in range(4):
        (place.home / "logs" / f"{number}.txt").write_text(words)
    size = (place.home / "logs" / "0.txt").stat().st_size
    text = place.assay(
        "run-job", "my-job/word-lengths.jar", "--class", "WordLengths", "--input", "logs", "--sample", f"{3.5 * size:.0f}B",
        "--ratio", "1", "--verify", "sh -c 'test -s $0/part-r-00000' {output}", "--write", "mine.yaml",
    )  # fmt: skip
    assert "3 of 4 files" in text
    place.assay(
        "run", "mine.yaml", "--out", "run", "--only", "placement=intermediate-on-ssd", "--repetitions", "1",
        "--set", "order=interleaved",
    )  # fmt: skip
    (record,) = place.records("run")
    assert record.outcome is Outcome.PASS, record.error
    (landed,) = (landed for landed in record.landed if landed.role == "input" and landed.when == "staged")
    assert 3.4 * size < landed.bytes < 3.6 * size


@pytest.mark.long
def test_one_command_runs_an_application_of_spark_as_its_event_log_tells(place):
    """A word count of the jar of Assay's own applications, submitted as somebody else's."""
    if lacking := missing(place.installation, "ext4"):
        pytest.skip("; ".join(lacking))
    words = (ROOT / "LICENSE").read_text() * 4000
    (place.home / "logs").mkdir()
    (place.home / "logs" / "0.txt").write_text(words)
    (place.home / "history").mkdir()
    stages = (MadeStage(seconds=80, tasks=4, input_bytes=len(words), shuffle_write_bytes=1 << 20),)
    settings = {"spark.executor.memory": "1g", "spark.executor.cores": "2", "spark.io.compression.codec": "zstd"}
    write_event_log(place.home / "history", MadeApplication(name="words", stages=stages, settings=settings))
    (place.home / "check.py").write_text(
        "import collections, pathlib, sys\n"
        "lines = [line for part in pathlib.Path(sys.argv[1]).glob('part-*') for line in part.read_text().splitlines()]\n"
        "found = {word: int(count) for word, count in (line.split('\\t') for line in lines)}\n"
        "texts = [file.read_text() for file in pathlib.Path(sys.argv[2]).glob('*.txt')]\n"
        "sys.exit(found != collections.Counter(word for text in texts for word in text.split()))\n"
    )
    place.assay(
        "run-job", str(SPARK_JOBS), "--class", "org.assay.spark.Main", "--input", "logs", "--history", "history",
        "--ratio", "0.5", "--verify", "python3 check.py {output} {input}", "--write", "mine.yaml",
        "--", "word-count-rdd", "{input}", "{output}",
    )  # fmt: skip
    place.assay(
        "run", "mine.yaml", "--out", "run", "--only", "placement=hdd", "--only", "placement=intermediate-on-ssd",
        "--repetitions", "1", "--set", "order=interleaved",
    )  # fmt: skip
    records = place.records("run")
    assert {record.trial.placement.name for record in records} == {"intermediate-on-ssd", "hdd"}
    for record in records:
        assert record.outcome is Outcome.PASS, (record.error, record.verdicts)
        assert record.trial.engine == "spark"
        (job,) = record.jobs
        assert (job.name, job.state) == (f"{SPARK_JOBS.name} 1", "SUCCEEDED")
        assert job.counters["executors"] == {"added": 1, "lost": 0}
        assert record.settings["spark.executor.cores"] == "2"
        assert record.settings["spark.executor.memory"] == "1024m"
        assert record.settings["spark.io.compression.codec"] == "zstd"
    written = {sum(output.bytes for output in record.outputs) for record in records}
    assert len(written) == 1, "the drives do not change the output"
    assert place.left_over() == []
