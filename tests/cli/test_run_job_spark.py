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
        (["--engine", "tez"], "my job.jar can't be run as a DAG of Tez: run-job runs files ending in .sql or .hql so"),
        (["--engine", "spark", "--class", "Their"], "class is 'Their', and must be a class in my job.jar"),
        (["--engine", "spark", "--", "--deploy-mode", "cluster", "{input}", "{output}"],
         "--deploy-mode is an option of what submits it: the driver runs in the client"),
        (["--history", "nowhere"], "nowhere can't be read"),
        # Before histories are read.
        (["--history", "nowhere", "--", "{input}"], r"must be a text with \{output\}"),
        (["--history", "nowhere", "--verify", "gone {output}"], "gone is not"),
    ],
)  # fmt: skip
def test_an_application_that_cant_be_run_is_refused_before_anything_is_written(home, words, message):
    with pytest.raises(BadInputError, match=message):
        run_job("--input", "in", "--ratio", "1", *words)
    assert not (home / "exp").exists()


def test_a_class_that_no_jar_names_may_be_told_by_a_history(home):
    with zipfile.ZipFile(home / "my job.jar", "w") as jar:
        jar.writestr("My.class", "")
    with pytest.raises(BadInputError, match="names no main class in its manifest"):
        run_job("--input", "in", "--ratio", "1")
    with pytest.raises(BadInputError, match="nowhere can't be read"):
        run_job("--input", "in", "--ratio", "1", "--history", "nowhere")


SUBMIT = "org.apache.spark.deploy.SparkSubmit"


def submitted(home, command, *words, **settings):
    """Run a job without JAR, whose event log has a command of spark-submit, in the folder where it was submitted."""
    (home / "logs").mkdir(exist_ok=True)
    system = {"sun.java.command": f"{SUBMIT} {command}", "user.dir": str(home)}
    stage = MadeStage(seconds=80, tasks=48, input_bytes=32 * 10**9)
    settings = {name.replace("_", "."): value for name, value in settings.items()}
    write_event_log(home / "logs", MadeApplication(name="nightly", stages=(stage,), settings=settings, system=system))
    options = ["--input", "in", "--history", "logs", "--ratio", "1", "--write", "exp/mine.yaml"]
    done = CliRunner().invoke(cli, ["run-job", *options, *words], standalone_mode=False, catch_exceptions=False)
    return " ".join(done.output.split())


def test_what_the_user_leaves_out_is_of_the_application_s_event_log(home):
    (home / "my job.jar").rename(home / "job.jar")
    (home / "lib.jar").touch()
    command = "--class My --executor-memory 6g job.jar --from=hdfs://nn:8020/logs/* 7 hdfs://nn:8020/out"
    text = submitted(
        home, command, spark_yarn_dist_jars="lib.jar", spark_jars=f"file://{home}/lib.jar,file://{home}/job.jar"
    )
    options = written(home)["workloads"][0]["options"]
    assert options == {
        "jar": str(home / "job.jar"), "arguments": "--from={input} 7 {output}", "input": str(home / "in"),
        "folder": str(home), "class": "My",
    }  # fmt: skip
    assert written(home)["experiment"] == "job"
    assert written(home)["spark"]["spark.jars"] == str(home / "lib.jar")
    assert f"from the history: program {home}/job.jar from the history: class My" in text
    assert "arguments --from={input} 7 {output}, which were --from=hdfs://nn:8020/logs/* 7 hdfs://nn:8020/out" in text
    assert "words without quotes; if an argument had blanks, type JAR and all arguments" in text
    assert f"from the history: spark.jars={home}/lib.jar" in text
    assert text.index("from the history") < text.index("sample:")
    assert len(plan_of(home / "exp" / "mine.yaml").trials) == TRIALS


def test_what_the_user_types_is_not_of_the_event_log(home):
    command = "--class Their old.jar /logs /out"
    words = ["--class", "My", "--hadoop", "spark.jars=", "my job.jar", "--", "{output}", "{input}"]
    text = submitted(home, command, *words, spark_jars="gone.jar")
    assert "from the history" not in text
    assert written(home)["workloads"][0]["options"]["arguments"] == "{output} {input}"
    assert written(home)["workloads"][0]["options"]["class"] == "My"
    assert written(home)["spark"]["spark.jars"] == ""
    (home / "exp" / "mine.yaml").unlink()
    # Arguments of another sort of program say nothing of this one.
    text = submitted(home, "etl.py a b c", "my job.jar")
    assert "from the history" not in text
    assert written(home)["workloads"][0]["options"]["arguments"] == "{input} {output}"


@pytest.mark.parametrize(
    ("arguments", "marked"),
    [
        ("7 {home}/in /out", "7 {input} {output}"),
        ("/out file:{home}/in/ 7", "{output} {input} 7"),
        ("{home}/in --again={home}/in -o=s3a://bucket/out", "{input} --again={input} -o={output}"),
        ("/logs /out jdbc:mysql://db/x https://x/y", "{input} {output} jdbc:mysql://db/x https://x/y"),
    ],
)
def test_the_paths_of_input_and_output_among_the_arguments_are_marked(home, arguments, marked):
    (home / "my job.jar").rename(home / "job.jar")
    submitted(home, f"--class My job.jar {arguments.replace('{home}', str(home))}")
    assert written(home)["workloads"][0]["options"]["arguments"] == marked


@pytest.mark.parametrize(
    ("command", "settings", "message"),
    [
        ("--class My gone.jar /in /out", {}, ("nightly ran gone.jar, which is not on this machine; copy it here, and name "
         r"the copy: assay run-job gone.jar \.\.\.")),
        ("--class My hdfs:/apps/job.jar /in /out", {}, "ran hdfs:/apps/job.jar, which is not on this machine"),
        ("pyspark-shell", {}, ("which program nightly ran is not known: its command names no jar and no Python file, like that "
         r"of a shell, a notebook or a server; name it: assay run-job JAR \.\.\.")),
        ("--class My job.jar", {}, ("nightly ran with no arguments, which do not tell its input and its output; type JAR "
         r"and all arguments, .*job.jar \.\.\. -- \{input\} \{output\}")),
        ("--class My job.jar /a /b /c", {}, "nightly ran with /a /b /c, which do not tell its input"),
        ("--class My job.jar logs out", {}, "nightly ran with logs out, which do not tell its input"),
        ("--class My job.jar /in /out", {"spark_jars": "hdfs:/a.jar,b.jar"}, ("nightly ran with "
         "spark.jars=hdfs:/a.jar,b.jar, and this machine has no such files; name copies of all that it needs with "
         "--hadoop spark.jars=FILE,FILE, or none with --hadoop spark.jars=")),
        ("--class Their job.jar /in /out", {}, "class is 'Their', and must be a class in job.jar"),
    ],
)  # fmt: skip
def test_an_event_log_that_does_not_tell_all_is_refused_before_anything_is_written(home, command, settings, message):
    (home / "my job.jar").rename(home / "job.jar")
    with pytest.raises(BadInputError, match=message):
        submitted(home, command, **settings)
    assert not (home / "exp").exists()


def test_without_a_jar_and_a_history_that_tells_it_nothing_can_run(home):
    words = ["run-job", "--input", "in", "--ratio", "1", "--write", "exp/mine.yaml"]
    with pytest.raises(BadInputError, match="without JAR nobody knows what to run; name it: assay run-job JAR"):
        CliRunner().invoke(cli, words, standalone_mode=False, catch_exceptions=False)
    with pytest.raises(BadInputError, match="is not known: its history tells of none; name it"):
        CliRunner().invoke(cli, [*words, *an_application(home)], standalone_mode=False, catch_exceptions=False)
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
