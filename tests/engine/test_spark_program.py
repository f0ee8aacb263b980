"""The program of a past application: client and cluster mode, values with blanks, shells, secrets, and further files."""

import json

import pytest

from assay.engine.past.job import PastProgram
from assay.engine.past.spark import read_event_log
from assay.engine.past.spark_program import program_of
from assay_extras.testing.event_logs import MadeApplication, MadeStage, write_event_log

SUBMIT, MASTER = "org.apache.spark.deploy.SparkSubmit", "org.apache.spark.deploy.yarn.ApplicationMaster"
CONF = "--properties-file /yarn/c_01/__spark_conf__/__spark_conf__.properties --dist-cache-conf /yarn/c_01/cache"


def of(command, **settings):
    settings = {name.replace("_", "."): value for name, value in settings.items()}
    return program_of(settings, {"sun.java.command": command, "user.dir": "/home/ann"})


@pytest.mark.parametrize(
    ("command", "file", "main_class", "arguments"),
    [
        ("--master yarn --class org.a.Sort sort.jar hdfs:/in hdfs:/out", "sort.jar", "org.a.Sort", ["hdfs:/in", "hdfs:/out"]),
        ("--class=org.a.Sort --jars /lib/a.jar,/lib/b.jar --verbose /opt/sort.jar", "/opt/sort.jar", "org.a.Sort", []),
        ("--conf spark.jars=/lib/a.jar -c spark.x=/lib/b.jar -v sort.jar 7", "sort.jar", "", ["7"]),
        # Values with blanks, of which one looks like an option and another like a jar.
        ("--name nightly sort --class org.a.Sort sort.jar 7", "sort.jar", "org.a.Sort", ["7"]),
        ("--conf spark.driver.extraJavaOptions=-Da=b --add-opens x=y -javaagent:/l/agent.jar sort.jar 7", "sort.jar", "", ["7"]),
        # Lists with blanks beside their commas; those behind the jar are arguments.
        ("--jars a.jar, b.jar --class org.a.Sort sort.jar x, y.jar", "sort.jar", "org.a.Sort", ["x,", "y.jar"]),
        ("--jars=a.jar,  b.jar , c.jar ,d.jar --conf spark.files=e.py, f.py sort.jar", "sort.jar", "", []),
        # Options behind the jar are the application's own.
        ("--class org.a.Sort sort.jar --class other --jar x.jar", "sort.jar", "org.a.Sort", ["--class", "other", "--jar", "x.jar"]),
        ("--py-files deps.zip,more.py s3a://code/etl.py 2026-11-01", "s3a://code/etl.py", "", ["2026-11-01"]),
        # An empty argument.
        ("sort.jar a  b", "sort.jar", "", ["a", "", "b"]),
    ],
)  # fmt: skip
def test_in_client_mode_the_file_ends_the_options_of_spark_submit(command, file, main_class, arguments):
    expected = PastProgram(file, main_class, tuple(arguments), joined=True, folder="/home/ann")
    assert of(f"{SUBMIT} {command}") == expected


@pytest.mark.parametrize(
    ("command", "file", "main_class", "arguments"),
    [
        ("--class org.a.Sort --jar file:/opt/sort.jar --arg hdfs:/in --arg hdfs:/out", "file:/opt/sort.jar", "org.a.Sort",
         ["hdfs:/in", "hdfs:/out"]),
        ("--class org.a.Sort --jar hdfs:/apps/sort.jar --arg two  words --arg --class --arg  --arg 7", "hdfs:/apps/sort.jar",
         "org.a.Sort", ["two  words", "--class", "", "7"]),
        ("--class org.a.Sort --jar /opt/sort.jar", "/opt/sort.jar", "org.a.Sort", []),
        ("--class org.apache.spark.deploy.PythonRunner --primary-py-file etl.py --arg 7", "etl.py", "", ["7"]),
    ],
)  # fmt: skip
def test_in_cluster_mode_arguments_keep_their_blanks(command, file, main_class, arguments):
    expected = PastProgram(file, main_class, tuple(arguments), folder="/home/ann")
    assert of(f"{MASTER} {command} {CONF}") == expected
    of_spark_2 = "--executor-memory 6144m --executor-cores 4"
    assert of(f"{MASTER} {command} {of_spark_2} {CONF}") == expected


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (f"{SUBMIT} --name PySparkShell pyspark-shell", "names no jar and no Python file"),
        (f"{SUBMIT} --class org.a.Server spark-internal -i jobs.jar", "names no jar and no Python file"),
        (f"{SUBMIT} --class", "names no jar and no Python file"),
        (SUBMIT, "names no jar and no Python file"),
        (f"{MASTER} --class org.apache.spark.deploy.RRunner --primary-r-file model.R {CONF}", "names no jar"),
        (f"{MASTER} stray words", "names no jar"),
        ("*********(redacted)", "took its command for a secret"),
        ("org.apache.livy.Server x", "started by org.apache.livy.Server, whose command Assay does not read"),
    ],
)
def test_where_nobody_can_tell_the_program_it_is_said_why(command, why):
    program = of(command)
    assert program.file == ""
    assert why in program.unknown


def test_of_further_files_each_counts_once_and_the_program_not_at_all():
    program = of(
        f"{SUBMIT} --class org.a.Sort /opt/sort.jar", spark_jars="file:///lib/a.jar,file:///opt/sort.jar",
        spark_yarn_dist_jars="hdfs:/lib/a.jar, hdfs:/lib/b.jar", spark_yarn_dist_archives="env.zip#env", spark_files="",
    )  # fmt: skip
    assert program.properties == {"spark.jars": "hdfs:/lib/a.jar,hdfs:/lib/b.jar", "spark.archives": "env.zip#env"}
    settings = {"spark.yarn.dist.pyFiles": "deps.zip", "spark.submit.pyFiles": "/tmp/spark-7/deps.zip"}
    system = {"sun.java.command": f"{SUBMIT} etl.py", "user.dir": "/home/ann"}
    assert program_of(settings, system).properties == {"spark.submit.pyFiles": "deps.zip"}


def test_an_event_log_tells_its_program_and_one_without_a_command_none(tmp_path):
    application = MadeApplication(
        stages=(MadeStage(),), settings={"spark.yarn.dist.jars": "/lib/a.jar"},
        system={"sun.java.command": f"{SUBMIT} --class org.a.Sort sort.jar /in /out", "user.dir": "/home/ann"},
    )  # fmt: skip
    log = write_event_log(tmp_path, application)
    assert read_event_log(log).program == PastProgram(
        "sort.jar",
        "org.a.Sort",
        ("/in", "/out"),
        joined=True,
        folder="/home/ann",
        properties={"spark.jars": "/lib/a.jar"},
    )
    assert read_event_log(write_event_log(tmp_path, application._replace(number=2, system={}))).program is None


@pytest.mark.parametrize("system", [None, [], {"sun.java.command": ""}, {"sun.java.command": 7}, {"user.dir": "/"}])
def test_odd_properties_of_the_driver_cost_nothing_else(tmp_path, system):
    log = write_event_log(tmp_path, MadeApplication(stages=(MadeStage(),)))
    events = [json.loads(line) for line in log.read_text().splitlines()]
    for event in events:
        if "System Properties" in event:
            event["System Properties"] = system
    log.write_text("".join(json.dumps(event, separators=(",", ":")) + "\n" for event in events))
    past = read_event_log(log)
    assert past.counts
    assert past.program is None or past.program.file == ""
