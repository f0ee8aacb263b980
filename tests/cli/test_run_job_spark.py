"""Proves `assay run-job` of Spark applications: from event logs, from Python files, and what cannot run that way."""

import re
import zipfile

import pytest
from click.testing import CliRunner

from assay.cli import cli
from assay.engine.past.made_histories import MadeJob, write_history
from assay.model.errors import BadInputError
from assay.plan.job_experiment import TRIALS
from assay.plan.shares import share_of
from assay_extras.testing.event_logs import MadeApplication, MadeStage, write_event_log
from tests.cli.test_run_job import GIB, plan_of, run_job, written


def an_application(home, **changes):
    """The log of an application of which 32 GB take 1,920 s of a processor, 24 of its tasks at once on two nodes."""
    (home / "logs").mkdir()
    stage = MadeStage(seconds=80, tasks=48, input_bytes=32 * 10**9, shuffle_write_bytes=16 * 10**9)
    settings = {"spark.executor.memory": "6g", "spark.executor.cores": "4", "spark.io.compression.codec": "zstd"}
    write_event_log(home / "logs", MadeApplication(stages=(stage,), settings=settings, **changes))
    return ["--input", "in", "--history", "logs", "--ratio", "1"]


def test_an_application_of_a_history_runs_on_spark_with_executors_as_there(home, monkeypatch):
    monkeypatch.setattr("assay.cli.run_job.machine_bytes", lambda: 64 * GIB)
    monkeypatch.setattr("assay.cli.run_job.usable_processors", lambda: 2.0)
    _, text = run_job(*an_application(home), "--now", "6xhdd", "--class", "My", "--", "{input}", "2", "{output}")
    text = " ".join(text.split())
    experiment = written(home)
    assert experiment["engine"] == "spark"
    assert experiment["workloads"][0]["options"]["class"] == "My"
    assert experiment["spark"] == {
        "spark.io.compression.codec": "zstd", "spark.sql.shuffle.partitions": "1", "spark.executor.instances": "1",
        "spark.executor.cores": "4", "spark.executor.memory": "6144m",
    }  # fmt: skip
    assert experiment["hadoop"]["yarn.nodemanager.resource.memory-mb"] == str(1024 + 7 * 1024)
    assert "4 tasks at once share one of today's drives on your nodes; an executor of 6144 MiB runs them" in text
    # Its tasks are threads: a second for the start of each is not added to their 1,920 s.
    assert "a GB that the job reads takes 60 s of a processor on your nodes" in text
    plan = plan_of(home / "exp" / "mine.yaml")
    assert {(trial.engine, trial.workload.variant) for trial in plan.trials} == {("spark", "submitted")}
    assert len(plan.trials) == TRIALS
    assert {share_of(trial).tasks for trial in plan.trials} == {4}


def test_an_engine_that_is_said_chooses_among_the_jobs_of_a_history(home):
    words = an_application(home, name="sort")
    write_history(home / "logs", MadeJob(name="sort", submitted_ms=1_000_000_000_000, read_bytes=8 * GIB))
    run_job(*words, "--job", "sort", "--engine", "mapreduce")
    assert "engine" not in written(home)
    run_job(*words, "--job", "sort")
    assert written(home)["engine"] == "spark", "the newer one of both"
    write_history(home / "logs", MadeJob(number=2, name="other", read_bytes=8 * GIB))
    with pytest.raises(
        BadInputError,
        match="other is a MapReduce job, and the program that you name is run as one of the Spark applications; name "
        "another --job, or that job's own jar with --engine mapreduce",
    ):
        run_job(*words, "--job", "other", "--engine", "spark")


def test_a_python_file_is_an_application_of_spark(home, monkeypatch):
    lib = home / "spark" / "python" / "lib"
    lib.mkdir(parents=True)
    (lib / "py4j-0.10.9.7-src.zip").touch()
    with zipfile.ZipFile(lib / "pyspark.zip", "w") as archive:
        archive.writestr("pyspark/version.py", '__version__: str = "3.5.1"\n')
    (home / "my job.py").write_text("pass\n")
    words = ["run-job", "my job.py", "--input", "in", "--ratio", "1", "--tasks", "2", "--write", "exp/mine.yaml"]
    monkeypatch.delenv("SPARK_HOME", raising=False)
    with pytest.raises(BadInputError, match="a Python file needs PySpark, and SPARK_HOME is not set"):
        CliRunner().invoke(cli, words, standalone_mode=False, catch_exceptions=False)
    monkeypatch.setenv("SPARK_HOME", str(home / "spark"))
    done = CliRunner().invoke(cli, words, standalone_mode=False, catch_exceptions=False)
    assert "so that each has as much memory as there (assumed: Spark's default)" in " ".join(done.output.split())
    assert written(home)["engine"] == "spark"
    assert written(home)["spark"]["spark.executor.cores"] == "2"
    assert len(plan_of(home / "exp" / "mine.yaml").trials) == TRIALS
    with pytest.raises(BadInputError, match=r"only variant submitted \(engine: spark\) runs \.py files"):
        CliRunner().invoke(cli, [*words, "--engine", "mapreduce"], standalone_mode=False, catch_exceptions=False)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--engine", "sparc"], "--engine sparc is none that run-job knows; did you mean 'spark'"),
        (["--engine", "tez"], "--engine tez is none that run-job knows; possible are mapreduce, spark"),
        (["--engine", "spark", "--class", "Their"], "class is 'Their', and must be a class in my job.jar"),
        (["--engine", "spark", "--", "--deploy-mode", "cluster", "{input}", "{output}"],
         "--deploy-mode is an option of what submits it: the driver runs in the client"),
        (["--history", "nowhere"], "nowhere can't be read"),
    ],
)  # fmt: skip
def test_an_application_that_cant_be_run_is_refused_before_anything_is_written(home, words, message):
    with pytest.raises(BadInputError, match=message):
        run_job("--input", "in", "--ratio", "1", *words)
    assert not (home / "exp").exists()


def test_pods_do_not_tell_what_a_node_read(home):
    words = an_application(home)[:-2]
    log = next((home / "logs").iterdir())
    text = log.read_text().replace('"spark.master":"yarn"', '"spark.master":"k8s://x"')
    log.write_text(re.sub(r"worker-(\d)", r"10.0.0.\1", text))
    sized = ["--node-memory", "10GiB", "--container-memory", "6GiB"]
    with pytest.raises(BadInputError, match="how many nodes share the input"):
        run_job(*words, *sized)
    _, text = run_job(*words, *sized, "--nodes", "1", "--input-size", "5GB")
    assert "a node reads 4.7 GiB of the input" in " ".join(text.split())
