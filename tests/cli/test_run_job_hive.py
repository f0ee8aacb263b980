"""Proves `assay run-job` of Hive's queries: by a Hive that is there, with a DAG's history, and what cannot run that way."""

import pytest
from click.testing import CliRunner

from assay.cli import cli
from assay.model.errors import BadInputError
from assay.plan.job_experiment import TRIALS
from tests.cli.test_run_job import GIB, plan_of, written
from tests.engine.made_tez import MadeDag, MadeTask, MadeVertex, write_json

TEXT = "INSERT OVERWRITE DIRECTORY '/sums' SELECT page, count(*) FROM visits WHERE day = 7 GROUP BY page"
NAME = "INSERT OVERWRITE DIRECTORY ? SELECT page, count(*) FROM visits WHERE day = ? GROUP BY page"


@pytest.fixture
def hive(home, monkeypatch):
    """A Hive, a query, and the history of the query's last run."""
    for folder in ("hive/bin", "hive/lib", "logs"):
        (home / folder).mkdir(parents=True)
    (home / "hive" / "bin" / "beeline").touch()
    (home / "hive" / "lib" / "hive-exec-4.1.0.jar").touch()
    monkeypatch.setenv("HIVE_HOME", str(home / "hive"))
    (home / "visits.sql").write_text(f"{TEXT};\n")
    write_json(
        home / "logs", a_dag(), settings={"tez.runtime.compress": "true", "tez.runtime.io.sort.factor": "64"}.items()
    )
    return home


def a_dag(scheduler="TezYarn", **changes):
    read = MadeTask(1, 50, counters={"HDFS_BYTES_READ": 4 * GIB, "CPU_MILLISECONDS": 30_000})
    return MadeDag((MadeVertex("Map 1", (read,) * 2, reads=True, scheduler=scheduler),), query=TEXT, **changes)


def run_job(file, *words):
    all_words = ["run-job", *file, "--input", "in", "--ratio", "1", "--write", "exp/mine.yaml", *words]
    return CliRunner().invoke(cli, all_words, standalone_mode=False, catch_exceptions=False)


def test_a_query_of_a_history_runs_on_tez_with_the_settings_there(hive):
    run_job(["visits.sql"], "--history", "logs", "--job", NAME)
    experiment = written(hive)
    assert experiment["engine"] == "tez"
    assert experiment["tez"] == {"tez.runtime.compress": "true", "tez.runtime.io.sort.factor": "64"}
    options = experiment["workloads"][0]["options"]
    assert (options["jar"], options["arguments"]) == (
        str(hive / "visits.sql"), "--hivevar input={input} --hivevar output={output}",
    )  # fmt: skip
    plan = plan_of(hive / "exp" / "mine.yaml")
    assert {(trial.engine, trial.workload.variant) for trial in plan.trials} == {("tez", "query")}
    assert len(plan.trials) == TRIALS


def test_without_a_history_a_query_runs_on_tez_with_the_arguments_that_are_said(hive):
    run_job(["visits.sql"], "--", "--hivevar", "to={output}")
    assert written(hive)["engine"] == "tez"
    assert {trial.workload.variant for trial in plan_of(hive / "exp" / "mine.yaml").trials} == {"query"}
    assert written(hive)["workloads"][0]["options"]["arguments"] == "--hivevar to={output}"


HISTORY = ("--history", "logs")


@pytest.mark.parametrize(
    ("file", "words", "message"),
    [
        (
            [],
            HISTORY,
            r"is not known: a query names tables, and no files; write it into a file that makes its tables on",
        ),
        (
            ["my job.jar"],
            HISTORY,
            r"my job\.jar can't be run as a DAG of Tez: run-job runs files ending in \.sql or \.hql",
        ),
        (["visits.sql"], ["--engine", "spark"], r"only variant query \(engine: tez\) runs \.sql files"),
        (
            ["visits.sql"],
            ["--", "-f", "other.sql", "{output}"],
            "-f is an option of what submits it: name the file in jar",
        ),
    ],
)
def test_what_cant_run_as_a_query_is_refused_before_anything_is_written(hive, file, words, message):
    with pytest.raises(BadInputError, match=message):
        run_job(file, *words)
    assert not (hive / "exp").exists()


def test_queries_of_llap_and_those_without_a_hive_are_refused(hive, monkeypatch):
    write_json(hive / "logs", a_dag(scheduler="LLAP", application=8, began_ms=MadeDag().began_ms + 86_400_000))
    with pytest.raises(BadInputError, match="on a sample: its tasks ran in LLAP's daemons, .* no such daemons; use `"):
        run_job(["visits.sql"], *HISTORY)
    monkeypatch.setenv("HIVE_HOME", str(hive))
    with pytest.raises(BadInputError, match="a query needs Hive, which Assay does not bring"):
        run_job(["visits.sql"])
