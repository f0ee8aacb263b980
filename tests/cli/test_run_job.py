"""Proves `assay run-job`: sample and experiment from a folder and from HDFS, and its ratio from options, history, cluster."""

import json
import os
import re
import zipfile
from shutil import rmtree

import click
import pytest
from click.testing import CliRunner
from ruamel.yaml import YAML

from assay.cli import cli
from assay.cli.context import find_installation, vocabulary
from assay.cli.past_jobs import find_histories
from assay.engine.past.made_histories import MadeJob, write_history
from assay.host.machine import usable_processors
from assay.input.sample import MANIFEST
from assay.media import memory
from assay.model.errors import BadInputError
from assay.model.result import TrialResult
from assay.model.trial import SiteShape
from assay.plan.job_experiment import TRIALS
from assay.plan.make import plan_and_more
from assay.plan.shares import share_of
from assay.plan.source import ExperimentSource
from assay_extras.testing.event_logs import MadeApplication, MadeStage, write_event_log
from tests.builders import a_folder, a_job, a_record, totals
from tests.serving import serving

MIB, GIB = 1 << 20, 1 << 30
COUNTERS, FILE_SYSTEM = "org.apache.hadoop.mapreduce.TaskCounter", "org.apache.hadoop.mapreduce.FileSystemCounter"


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """Ten files of 10 MB, which no test changes."""
    folder = tmp_path_factory.mktemp("parts")
    for number in range(10):
        (folder / f"part-{number}").write_text("0123456789abcde\n" * 625_000)
    return [*folder.iterdir()]


@pytest.fixture
def home(tmp_path, parts, monkeypatch):
    """A folder to work in, with a jar that names its class and an input of ten files of 10 MB; memory is ample."""
    monkeypatch.setattr(memory, "available_memory_bytes", lambda: 64 << 30)

    monkeypatch.chdir(tmp_path)
    for name in ("HADOOP_HOME", "HADOOP_CONF_DIR"):
        monkeypatch.delenv(name, raising=False)
    with zipfile.ZipFile(tmp_path / "my job.jar", "w") as jar:
        jar.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\nMain-Class: My\n")
        jar.writestr("My.class", "")
    (tmp_path / "in").mkdir()
    for part in parts:
        (tmp_path / "in" / part.name).hardlink_to(part)
    return tmp_path


def run_job(*words, file="exp/mine.yaml"):
    all_words = ["run-job", "my job.jar", "--write", file, *map(str, words)]
    done = CliRunner().invoke(cli, all_words, standalone_mode=False, catch_exceptions=False)
    return (done.return_value, done.output) if done.exception is None else pytest.fail(str(done.exception))


def written(home, file="exp/mine.yaml"):
    return YAML(typ="safe").load(home / file)


def plan_of(file):
    return plan_and_more(ExperimentSource(file), vocabulary(find_installation()))[0]


@pytest.mark.slow
def test_a_sample_and_an_experiment_that_can_run(home):
    code, text = run_job(
        "--input", "in", "--sample", "35MB", "--ratio", "0.5", "--", "sort", "-k", "two words", "{output}"
    )
    assert code == 0
    assert "3 of 10 files, chosen by their names' digests, and the first 4.8 MiB of part-" in text.replace("\n", " ")
    experiment = written(home)
    assert experiment["page_cache"] == "66MiB"
    assert experiment["zero_delay_baseline"] is True
    assert (experiment["order"], experiment["repetitions"], experiment["worth"]) == ("mirrored", 2, "10%")
    assert experiment["media"] == {
        "hdd": {"profile": "seagate-constellation-es3-4tb", "path": "/dev/shm"},
        "ssd": {"profile": "intel-s4500-960gb", "path": "/dev/shm"},
    }
    assert experiment["workloads"][0]["options"] == {
        "jar": str(home / "my job.jar"), "arguments": "sort -k 'two words' {output}",
        "input": str(home / "exp" / "mine-sample"), "folder": str(home),
    }  # fmt: skip
    plan = plan_of(home / "exp" / "mine.yaml")
    assert plan.experiment == "my-job"
    assert [trial.placement.name for trial in plan.trials[:7]] == [
        "hdd", "intermediate-on-ssd", "ssd", "zero-delay", "ssd", "intermediate-on-ssd", "hdd",
    ]  # fmt: skip
    assert len(plan.trials) == 14


def test_an_input_that_is_small_is_read_where_it_lies(home):
    run_job("--input", "in", "--ratio", "1.4", "--against", "nvme", "--role", "output", "--worth", "12.5%")
    experiment = written(home)
    assert experiment["workloads"][0]["options"]["input"] == str(home / "in")
    assert not (home / "exp" / "mine-sample").exists()
    assert experiment["placement"][1] == {
        "name": "output-on-nvme",
        "input": "hdd",
        "intermediate": "hdd",
        "output": "nvme",
    }
    assert experiment["worth"] == "12.5%"


def test_memory_may_be_bounded_as_it_is_said(home):
    run_job("--input", "in", "--memory", "1400MiB")
    assert written(home)["memory"] == 1400 * MIB
    assert "page_cache" not in written(home)


def test_the_ratio_and_the_settings_of_a_past_run(home):
    job = MadeJob(name="nightly sort 20261125", maps=8, reduces=6, nodes=2, read_bytes=8 * GIB)
    settings = {
        "yarn.nodemanager.resource.memory-mb": "6144", "mapreduce.task.io.sort.mb": "256",
        "mapreduce.map.output.compress": "true", "mapreduce.job.reduces": "6",
    }  # fmt: skip
    (home / "done").mkdir()
    write_history(home / "done", job, settings=settings)
    write_history(home / "done", MadeJob(number=2, name="another", read_bytes=GIB))
    with pytest.raises(BadInputError, match="has 2 jobs; say which it is, such as --job 'nightly sort'"):
        run_job("--input", "in", "--history", "done", "--node-memory", "10GiB")
    with pytest.raises(BadInputError, match="has no job 'nightly'"):
        run_job("--input", "in", "--history", "done", "--job", "nightly", "--node-memory", "10GiB")
    _, text = run_job("--input", "in", "--history", "done", "--job", "nightly sort", "--node-memory", "10GiB")
    text = text.replace("\n", " ")
    assert "a node reads 1 times what it has left for files: a node reads 4.0 GiB of the input" in text
    assert "(assumed" not in text
    experiment = written(home)
    assert experiment["page_cache"] == "95MiB"
    # Two tasks at once on each of two nodes, and a master.
    assert experiment["hadoop"].pop("yarn.nodemanager.resource.memory-mb") == str(2048 + 2 * 1024)
    # 100 MB of 8 GiB need a tenth of a reducer, and there is no less than one.
    assert experiment["hadoop"] == {
        "mapreduce.map.output.compress": "true", "mapreduce.task.io.sort.mb": "256", "mapreduce.job.reduces": "1",
        "mapreduce.job.reduce.slowstart.completedmaps": "0.05",
    }  # fmt: skip


def test_the_ratio_of_a_cluster_that_answers_and_of_one_that_does_not(home):
    conf = home / "conf"
    conf.mkdir()
    with serving({}) as server:
        site = {
            "yarn.resourcemanager.webapp.address": f"127.0.0.1:{server.server_port}",
            "yarn.nodemanager.resource.memory-mb": "2048",
        }
        properties = "".join(
            f"<property><name>{name}</name><value>{value}</value></property>" for name, value in site.items()
        )
        (conf / "core-site.xml").write_text("<configuration/>")
        (conf / "yarn-site.xml").write_text(f"<configuration>{properties}</configuration>")
        node = {
            "state": "RUNNING", "nodeHostName": "worker", "nodeHTTPAddress": f"127.0.0.1:{server.server_port}",
            "availMemoryMB": 4096, "usedMemoryMB": 0,
        }  # fmt: skip
        server.answers["/ws/v1/cluster/nodes"] = {"nodes": {"node": [node]}}
        server.answers["/jmx"] = {"beans": [{"TotalMemorySize": 4096 * MIB + 100_000_000}]}
        run_job("--input", "in", "--cluster", "conf")
        server.answers["/jmx"]["beans"][0]["AvailableProcessors"] = 16
        sized = ["--nodes", "1", "--node-memory", 2048 * MIB + 100_000_000, "--container-memory", 2048 * MIB]
        _, text = run_job("--input", "in", "--cluster", "conf", *sized, file="exp/three.yaml")
        assert "16 processors share a drive on your nodes (as the cluster tells)" in " ".join(text.split())
    assert written(home)["page_cache"] == "95MiB"
    with pytest.raises(BadInputError, match=r"not known; say how much memory a node has .* and how many nodes"):
        run_job("--input", "in", "--cluster", "conf")
    _, text = run_job(
        "--input",
        "in",
        "--cluster",
        "conf",
        "--nodes",
        "1",
        "--node-memory",
        2048 * MIB + 80_000_000,
        file="exp/two.yaml",
    )
    assert "the cluster of conf could not be reached, so its files are used" in text
    assert written(home, "exp/two.yaml")["page_cache"] == "76MiB"


def test_an_input_in_hdfs_is_read_by_hadoop_s_client(home, monkeypatch):
    client = home / "hadoop" / "bin" / "hadoop"
    client.parent.mkdir(parents=True)
    client.write_text(
        f"""#!/bin/sh
shift
case $1 in
-ls) cd {home}/in; find . -type f -printf '-rw-r--r--   3 u g %s %TY-%Tm-%Td %TH:%TM hdfs://nn:8020/logs/%P\\n';;
-get) shift; for last; do :; done; for file; do [ "$file" = "$last" ] || cp {home}/in/$(basename $file) "$last"; done;;
-cat) cat {home}/in/$(basename $2);;
esac
"""
    )
    client.chmod(0o755)
    monkeypatch.setenv("HADOOP_HOME", str(home / "hadoop"))
    run_job("--input", "hdfs:/logs", "--sample", "35MB", "--ratio", "0.5")
    folder = home / "exp" / "mine-sample"
    files = sorted(file for file in folder.iterdir() if file.name != MANIFEST)
    assert sum(file.stat().st_size for file in files) == 35_000_000
    assert not any(file.is_symlink() for file in files)
    run_job("--input", "in", "--sample", "35MB", "--ratio", "0.5", file="exp/local.yaml")
    assert [file.name for file in files] == sorted(
        file.name for file in (home / "exp" / "local-sample").iterdir() if file.name != MANIFEST
    )


def test_drives_whose_bytes_do_not_fit_into_memory_lie_on_disk(home, monkeypatch):
    monkeypatch.setattr(memory, "available_memory_bytes", lambda: 3 << 30)
    run_job("--input", "in", "--ratio", "1.2")
    assert written(home)["media"]["hdd"] == "seagate-constellation-es3-4tb"


def test_an_experiment_is_written_anew_until_somebody_edits_it(home):
    run_job("--input", "in", "--ratio", "1")
    run_job("--input", "in", "--ratio", "1.2", "--hadoop", "dfs.blocksize=64m")
    assert written(home)["page_cache"] == "79MiB"
    assert written(home)["hadoop"] == {"dfs.blocksize": "64m"}
    file = home / "exp" / "mine.yaml"
    file.write_text(file.read_text().replace("repetitions: 2", "repetitions: 5"))
    with pytest.raises(BadInputError, match=r"exp/mine.yaml was edited, .* another --write FILE"):
        run_job("--input", "in", "--ratio", "1")
    assert written(home)["repetitions"] == 5


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--input", "nowhere", "--ratio", "1"], "input is '.*/nowhere', and must be a file or folder that is there"),
        (["--input", "in", "--ratio", "1", "--class", "Their"], "class is 'Their'"),
        (["--input", "in", "--ratio", "1", "--", "{input}"], r"must be a text with \{output\}"),
        (["--input", "in", "--ratio", "1", "--against", "disc"], "--against disc: .*short names are hdd, ssd, nvme"),
        (["--input", "in", "--ratio", "1", "--now", "ssd"], "--now ssd and --against ssd are the same drive; .* nvme"),
        (["--input", "in"], "not known; say how much memory a node has"),
        (["--input", "in", "--ratio", "9"], "name a place with at least 576 MiB$"),
        (["--input", "in", "--sample", "50MB", "--ratio", "1"], "take at least --sample 64MiB"),
        (["--input", "in", "--input-size", "50MB"], "--input-size 47.7 MiB is less than the 95.4 MiB of"),
        (["--input", "in", "--ratio", "1", "--hadoop", "dfs.blocksize"], "--hadoop dfs.blocksize: write a property"),
        (["--input", "hdfs:/logs", "--ratio", "1"], "--input hdfs:/logs needs Hadoop's client"),
    ],
)
def test_what_can_t_be_is_refused_before_anything_is_written(home, monkeypatch, words, message):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(BadInputError, match=message):
        run_job(*words)
    assert not (home / "exp").exists()


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
    assert "an argument with blanks is several here; if there was one, type all with JAR" in text
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
        ("--class My gone.jar /in /out", {}, "nightly ran gone.jar, which is not on this machine; copy it here, and name "
         r"the copy: assay run-job gone.jar \.\.\."),
        ("--class My hdfs:/apps/job.jar /in /out", {}, "ran hdfs:/apps/job.jar, which is not on this machine"),
        ("pyspark-shell", {}, "which program nightly ran is not known: its command names no jar and no Python file, as that "
         r"of a shell, a notebook or a server; name it: assay run-job JAR \.\.\."),
        ("--class My job.jar", {}, "nightly ran with no arguments, which do not tell its input and its output; type JAR "
         r"and all arguments, .*job.jar \.\.\. -- \{input\} \{output\}"),
        ("--class My job.jar /a /b /c", {}, "nightly ran with /a /b /c, which do not tell its input"),
        ("--class My job.jar logs out", {}, "nightly ran with logs out, which do not tell its input"),
        ("--class My job.jar /in /out", {"spark_jars": "hdfs:/a.jar,b.jar"}, "nightly ran with "
         "spark.jars=hdfs:/a.jar,b.jar, and this machine has no such files; name copies of all that it needs with "
         "--hadoop spark.jars=FILE,FILE, or none with --hadoop spark.jars="),
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


def test_a_ratio_and_memory_contradict_each_other(home):
    with pytest.raises(click.UsageError, match="contradict"):
        run_job("--input", "in", "--ratio", "1", "--memory", "2GiB")
    with pytest.raises(click.UsageError, match="--ratio and --input-size contradict"):
        run_job("--input", "in", "--ratio", "1", "--input-size", "600GB")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--worth", "95%"], "'95%' is more than 90 %"),
        (["--sample", "2"], "'2' is 2 bytes; did you mean 2GB?"),
        (["--sample", "500"], "did you mean 500MB?"),
        (["--nodes", "many"], "'many' is no number; write a number such as 4"),
        (["--nodes", "1.5"], "'1.5' is no whole number"),
        (["--ratio", "nan"], "'nan' is no number; write a number such as 4"),
    ],
)
def test_values_that_no_experiment_has_are_refused_at_once(home, words, message):
    with pytest.raises(click.BadParameter) as refused:
        run_job("--input", "in", *words)
    assert message in refused.value.message
    assert not (home / "exp").exists()


def test_a_dry_run_prints_what_it_would_do_and_writes_nothing(home):
    done = CliRunner().invoke(
        cli, ["run-job", "my job.jar", "--input", "in", "--sample", "80MB", "--ratio", "1", "--dry-run"]
    )
    text = " ".join(done.output.split())
    assert "sample: 76.3 MiB of the 95.4 MiB" in text
    assert "time: unknown for a jar that has not run here; by a guess at least 7 minutes for 14 trials" in text
    assert "; the trials run with page_cache: 76MiB" in text
    assert "drives: seagate-constellation-es3-4tb today, intel-s4500-960gb against it" in text
    assert "settings: all as in the profile `defaults`" in text
    assert {path.name for path in home.iterdir()} == {"my job.jar", "in"}


def test_what_was_written_says_how_to_run_it(home, monkeypatch):
    monkeypatch.setenv("ASSAY_COMMAND", "./assay")
    _, text = run_job("--input", "in", "--ratio", "1")
    assert "run it with: ./assay run exp/mine.yaml" in text
    assert len(plan_of(home / "exp" / "mine.yaml").trials) == TRIALS


def test_of_nodes_with_several_drives_the_test_has_an_equal_part_of_both(home):
    _, text = run_job("--input", "in", "--ratio", "1", "--now", "12xhdd")
    part = "Your nodes have 12 of today's drive, and would have 1 of the other; the test has 1/12 of each."
    assert part in " ".join(text.split())
    assert "so that drive may do better than the test shows" in " ".join(text.split())
    assert f"# {part}\n" in (home / "exp" / "mine.yaml").read_text()
    media = written(home)["media"]
    assert media["hdd"] == {"profile": "seagate-constellation-es3-4tb", "path": "/dev/shm"}
    assert media["ssd"] == {"profile": "intel-s4500-960gb", "path": "/dev/shm", "shared_by": 12}
    run_job("--input", "in", "--ratio", "1", "--now", "2xhdd", "--against", "6xssd", "--node-cores", "12")
    media = written(home)["media"]
    here = usable_processors()
    assert media["hdd"].get("slowdown", 1) == round(3 * max(1, 2 / here))
    assert "shared_by" not in media["ssd"]
    assert "shared_by" not in media["hdd"]
    assert len(plan_of(home / "exp" / "mine.yaml").trials) == TRIALS
    _, text = run_job("--input", "in", "--ratio", "1", "--now", "12xhdd", "--against", "12xssd")
    assert "may do better" not in text


def a_past_sort(home, **changes):
    """A history of a job of which 32 GB take 2,064 s of a processor, 24 of its tasks of 10 s at once on two nodes."""
    (home / "done").mkdir()
    job = MadeJob(
        name="sort", maps=192, reduces=1, map_ms=10_000, reduce_ms=1440_000, nodes=2, slots=24, read_bytes=32 * 10**9,
        **changes,
    )  # fmt: skip
    write_history(home / "done", job, settings={"yarn.nodemanager.resource.memory-mb": "6144"})
    return ["--input", "in", "--history", "done", "--ratio", "1"]


def test_nodes_of_a_few_tasks_do_not_tell_what_each_node_had_to_do(home, monkeypatch):
    def sampled(*given):
        histories = find_histories(*given)
        histories.jobs = (job._replace(nodes_are_sampled=True) for job in histories.jobs)
        return histories

    words = a_past_sort(home)
    monkeypatch.setattr("assay.cli.job_site.find_histories", sampled)
    _, text = run_job(*words)
    text = " ".join(text.split())
    assert "a GB that the job reads takes " in text
    assert "so many tasks ran at once on each" not in text


def test_a_history_tells_how_much_a_node_computes_for_its_drives(home, monkeypatch):
    monkeypatch.setattr("assay.cli.run_job.usable_processors", lambda: 2.0)
    words = a_past_sort(home)
    _, text = run_job(*words)
    text = " ".join(text.split())
    of_gb = (0.5 * (192 * 10 + 1440) + 193) / 32
    assert (
        f"a GB that the job reads takes {of_gb:.3g} s of a processor on your nodes, and is assumed to take as" in text
    )
    assert "12 processors share a drive on your nodes (so many tasks ran at once on each), and 2 here" in text
    assert "so the drives are 6 times slower" in text
    assert [medium["slowdown"] for medium in written(home)["media"].values()] == [6, 6]
    assert "# Computing: so the drives are 6 times slower.\n" in (home / "exp" / "mine.yaml").read_text()
    _, text = run_job(*words, "--cores", "3")
    assert "so the drives are 2 times slower" in " ".join(text.split())
    _, text = run_job(*words, "--node-cores", "1")
    assert "so the test uses 1 of the 2 processors here, and the drives have their own speed" in " ".join(text.split())
    assert written(home)["cpus"] == 1
    assert "slowdown" not in written(home)["media"]["hdd"]


def test_as_many_tasks_share_the_tests_drive_as_share_one_on_a_node(home, monkeypatch):
    monkeypatch.setattr("assay.cli.run_job.machine_bytes", lambda: 64 * GIB)
    offered = "yarn.nodemanager.resource.memory-mb"
    words = a_past_sort(home)
    _, text = run_job(*words)
    assert "settings: 12 tasks at once share one of today's drives on your nodes" in " ".join(text.split())
    assert "# 12 tasks at once share one of today's drives on your nodes\n" in (home / "exp" / "mine.yaml").read_text()
    assert written(home)["hadoop"][offered] == str(2048 + 12 * 1024)
    plan = plan_of(home / "exp" / "mine.yaml")
    assert {share_of(trial).tasks for trial in plan.trials} == {12}
    _, text = run_job(*words, "--tasks", "48", "--now", "12xhdd")
    assert "settings: 4 tasks at once share" in " ".join(text.split())
    assert written(home)["hadoop"][offered] == str(2048 + 4 * 1024)
    run_job(*words, "--against", "6xssd")
    assert written(home)["hadoop"][offered] == str(2048 + 12 * 1024), "all of a node's tasks share its only disk"
    run_job(*words, "--hadoop", f"{offered}=5120")
    assert written(home)["hadoop"][offered] == "5120"
    monkeypatch.setattr("assay.cli.run_job.machine_bytes", lambda: 8 * GIB)
    _, text = run_job(*words)
    assert "share one of today's drives on your nodes, of which this machine has memory for 6" in " ".join(text.split())
    assert written(home)["hadoop"][offered] == "8192"
    _, text = run_job("--input", "in", "--ratio", "1")
    assert "how many tasks share a drive on your nodes is not known; --tasks says how" in " ".join(text.split())
    assert "hadoop" not in written(home)


def test_a_run_first_measures_what_the_sample_computes_and_keeps_it(home, monkeypatch):
    monkeypatch.setattr("assay.cli.run_job.usable_processors", lambda: 2.0)
    ran = []

    def run_trial(experiment, out, *_, **options):
        ran.append(experiment.name)
        if experiment.stem.endswith("-computing"):
            (trial,) = plan_of(experiment).trials
            assert [medium.model_extra["profile"] for medium in trial.media] == ["null"]
            folder = a_folder(out, plan_of(experiment))
            # Three tasks, 6 s with their starts, for 0.06 GB: 100 s a GB.
            counters = {COUNTERS: {"CPU_MILLISECONDS": 3000}, FILE_SYSTEM: {"HDFS_BYTES_READ": 60_000_000}}
            job = a_job().model_copy(update={"counters": counters})
            folder.write(TrialResult(a_record(trial).model_copy(update={"jobs": (job,), "totals": totals((job,), ())})))
        return 0

    monkeypatch.setattr("assay.cli.run_job.run_experiment", run_trial)
    monkeypatch.setattr("assay.cli.computing_trial.run_experiment", run_trial)
    words = ["run-job", "my job.jar", *a_past_sort(home)]
    for _ in range(2):
        done = CliRunner().invoke(cli, words, catch_exceptions=False)
        text = " ".join(done.output.split())
        assert f"a GB that the job reads takes {1873 / 32:.3g} s of a processor on your nodes, and 100 s here" in text
        assert "so the drives are 10 times slower" in text
        assert "this sample is too small: the starts of its 3 tasks take about 100% of the processor time" in text
    assert ran == ["my-job-computing.yaml", "my-job.yaml", "my-job.yaml"]
    assert written(home, "my-jobs/my-job.yaml")["media"]["ssd"]["slowdown"] == 10
    assert re.fullmatch(r"[0-9]+ms", written(home, "my-jobs/my-job.yaml")["write_back_age"])
    plan_of(home / "my-jobs" / "my-job.yaml")
    assert "data wait in the page cache for at most" in text
    done = CliRunner().invoke(cli, [*words[:-1], "0.0001"], catch_exceptions=False)
    assert "100 s here" in done.output.replace("\n", " ")
    assert "data wait in the page cache" not in done.output.replace("\n", " ")
    assert written(home, "my-jobs/my-job.yaml")["page_cache"] == "all"
    assert "write_back_age" not in written(home, "my-jobs/my-job.yaml")
    plan_of(home / "my-jobs" / "my-job.yaml")
    ran.clear()
    for changed in (["--sample", "70MB"], ["--sample", "80MB"]):
        rmtree(home / "my-jobs" / "my-job-sample", ignore_errors=True)
        CliRunner().invoke(cli, [*words, *changed], catch_exceptions=False)
    assert ran == ["my-job-computing.yaml", "my-job.yaml"] * 2, "another sample computes something else"
    os.utime(home / "my job.jar", (1, 1))
    CliRunner().invoke(cli, [*words, "--sample", "80MB"], catch_exceptions=False)
    assert ran == ["my-job-computing.yaml", "my-job.yaml"] * 3, "so may another jar"


def test_drives_that_would_be_too_slow_are_refused_before_a_trial(home, monkeypatch):
    monkeypatch.setattr("assay.cli.run_job.usable_processors", lambda: 2.0)
    monkeypatch.setattr("assay.cli.computing_trial.run_experiment", lambda *_, **__: pytest.fail("a trial ran"))
    words = ["run-job", "my job.jar", *a_past_sort(home), "--node-cores", "240", "--against", "24xnvme"]
    with pytest.raises(BadInputError, match="today's drive would have to be 120 times slower"):
        CliRunner().invoke(cli, words, standalone_mode=False, catch_exceptions=False)


def test_without_a_history_it_says_what_it_assumes(home):
    _, text = run_job("--input", "in", "--ratio", "1")
    text = " ".join(text.split())
    assert "a byte is assumed to take as much computing on your nodes as here; --history tells" in text
    assert "as many processors are assumed to share a drive on your nodes as here" in text
    assert "so the drives have their own speed" in text


def test_nothing_is_promised_of_drives_where_nodes_hold_the_input_in_memory(home):
    sized = ["--nodes", "1", "--node-memory", "400GiB", "--container-memory", "100GiB"]
    _, text = run_job("--input", "in", "--sample", "20MB", *sized)
    for said in (" ".join(text.split()), (home / "exp" / "mine.yaml").read_text()):
        assert "a node has 3,221 times its part of the input left for files" in said
        assert "may never reach its drives, so it may show less than you would gain" in said
        assert "no gain" not in said
    assert written(home)["page_cache"] == "all"


def test_a_small_part_of_a_large_input_stands_for_all_of_it(home):
    sized = ["--input", "in", "--nodes", "12", "--node-memory", "64GiB", "--container-memory", "48GiB"]
    _, text = run_job(*sized)
    _, several = run_job(*sized, "--now", "10xhdd")
    assert "Your nodes have 10 of today's drive" in several
    assert "--sample" not in several
    assert "in is not the whole input, say how much that is with --input-size 600GB" in " ".join(text.split())
    _, text = run_job(*sized, "--input-size", "240GB")
    text = " ".join(text.split())
    assert "may never reach its drives" not in text
    assert "which stand for 223.5 GiB" in text
    assert "a node reads 1.16 times what it has left for files: a node reads 18.6 GiB of the input" in text
    assert written(home)["page_cache"] == "81MiB"
    _, text = run_job(*sized, "--input-size", "240GB", "--now", "10xhdd")
    text = " ".join(text.split())
    assert "So its sample should be about 1/10 of what a node reads (--sample 2000MB)" in text
    assert "By the same guess such a sample takes at least 35 minutes." in text  # 14 x (24 + 5 x 2000 / 80) s


def test_of_a_history_a_whole_input_s_size_takes_the_part_that_a_node_read(home):
    (home / "done").mkdir()
    job = MadeJob(name="sort", maps=8, nodes=2, read_bytes=8 * GIB)
    write_history(home / "done", job, settings={"yarn.nodemanager.resource.memory-mb": "6144"})
    sized = ["--input", "in", "--history", "done", "--node-memory", "10GiB", "--input-size", "9GiB"]
    _, text = run_job(*sized)
    assert "a node reads 4.5 GiB of the input" in " ".join(text.split())
    _, text = run_job(*sized, "--nodes", "3")
    assert "a node reads 3.0 GiB of the input" in " ".join(text.split())


def test_a_dry_run_is_one_json_document_where_that_is_asked_for(home):
    options = ["--input", "in", "--ratio", "1", "--now", "12xhdd", "--against", "2xssd", "--dry-run", "--json"]
    done = CliRunner().invoke(cli, ["run-job", "my job.jar", *options])
    facts = json.loads(done.stdout)
    assert (facts["sample_bytes"], facts["ratio"], facts["memory"]) == (100_000_000, 1.0, "page_cache: 95MiB")
    assert (facts["trials"], facts["experiment"]) == (TRIALS, None)
    assert facts["slowdown"] == [1, 1]
    assert facts["notes"][0].startswith("Your nodes have 12 of today's drive, and would have 2 of the other;")


def test_what_containers_may_take_is_said_to_be_assumed(home):
    (home / "done").mkdir()
    write_history(home / "done", MadeJob(name="sort", read_bytes=8 * GIB), settings={"mapreduce.job.reduces": "6"})
    _, text = run_job("--input", "in", "--history", "done", "--node-memory", "16GiB")
    assert "containers may take 8.0 GiB (assumed: Hadoop's default" in " ".join(text.split())


def test_a_codec_that_the_bundled_hadoop_lacks_is_said_to_be_replaced(home):
    (home / "done").mkdir()
    compressed = {
        "mapreduce.map.output.compress": "true",
        "mapreduce.map.output.compress.codec": "com.hadoop.compression.lzo.LzoCodec",
    }
    write_history(home / "done", MadeJob(name="sort", read_bytes=GIB), settings=compressed)
    options = ["--input", "in", "--ratio", "1", "--history", "done"]
    done = CliRunner().invoke(cli, ["run-job", "my job.jar", *options, "--dry-run"])
    said = "settings: the bundled Hadoop lacks com.hadoop.compression.lzo.LzoCodec, so SnappyCodec compresses"
    assert said in " ".join(done.output.split())
    run_job(*options)
    assert written(home)["hadoop"]["mapreduce.map.output.compress.codec"].endswith(".SnappyCodec")
    assert "# the bundled Hadoop lacks com.hadoop" in (home / "exp" / "mine.yaml").read_text()


def test_the_plan_holds_what_its_drives_and_input_stand_for(home):
    run_job("--input", "in", "--ratio", "1.25", "--now", "4xhdd")
    shape = plan_of(home / "exp" / "mine.yaml").stands_for
    assert shape == SiteShape(ratio=1.25, drives=4, shared=True)
    run_job("--input", "in", "--memory", "2GiB", file="exp/two.yaml")
    assert plan_of(home / "exp" / "two.yaml").stands_for is None
