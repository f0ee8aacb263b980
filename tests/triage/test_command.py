"""Proves the command from end to end: a folder of histories to one screen, a page, CSV, JSON, numbers and experiments."""

import csv
import json
import zipfile

import pytest
from click.testing import CliRunner
from ruamel.yaml import YAML

from assay.cli import cli
from assay.cli.context import find_installation, vocabulary
from assay.model.errors import BadInputError
from assay.plan.make import plan_and_more
from assay.plan.source import ExperimentSource
from assay_extras.testing.event_logs import MadeApplication, MadeStage, write_event_log
from assay_extras.testing.job_histories import MadeJob, write_history

MIB, GIB = 1 << 20, 1 << 30
HEAVY = MadeJob(
    name="nightly sort 20261125", user="alice", queue="etl", maps=8, reduces=2, slots=4, cpu=0.1, map_ms=20_000,
    reduce_ms=40_000, read_bytes=4 * GIB, map_output_bytes=4 * GIB, written_bytes=4 * GIB, spills=2,
)  # fmt: skip


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder `done` with a heavy job that ran twice, three light ones and one that was killed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.delenv("ASSAY_COMMAND", raising=False)
    done = tmp_path / "done"
    done.mkdir()
    write_history(done, HEAVY, settings={"mapreduce.task.io.sort.mb": "100", "mapreduce.job.reduces": "2"})
    write_history(
        done,
        HEAVY._replace(number=2, name="nightly sort 20261126", submitted_ms=HEAVY.submitted_ms + 86_400_000),
        "binary",
    )
    for number, name in enumerate(("report", "<b>list</b>", "監査"), 3):
        write_history(
            done,
            MadeJob(number=number, name=name, map_ms=60_000, reduce_ms=40_000, cpu=0.95, read_bytes=10 * MIB),
        )
    write_history(done, MadeJob(number=9, name="export", state="KILLED"))
    return done


def assay(*words):
    done = CliRunner().invoke(cli, [str(word) for word in words], standalone_mode=False, catch_exceptions=False)
    return done.return_value, done.output


def test_one_screen_and_a_page(site, tmp_path):
    code, text = assay("triage", "--history", site)
    lines = text.splitlines()
    assert code == 0
    assert lines[0] == "1 job is worth a test, 3 cannot matter, 1 is not known."
    assert "5 jobs, 6 runs, " in lines[1]
    assert "Nine tenths of what may matter: nightly sort." in text
    assert "may matter " in text
    assert "Next: say what drives a node has" in text
    assert "mapreduce.task.io.sort.mb from 100 to " in text
    assert "Not known: export: missing: a good end: the job was killed" in text.replace("\n", " ")
    assert "Assumed: each node has one hard disk" in text.replace("\n", " ")
    assert len(lines) < 40
    page = (tmp_path / "triage.html").read_text()
    assert "&lt;b&gt;list&lt;/b&gt;" in page
    assert "<b>list" not in page
    assert page.count('<details id="job-') == 5
    assert "監査" in page


def test_at_eighty_columns_the_role_and_the_amount_stay(site, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    _, text = assay("triage", "--history", site)
    (head,) = [line.split() for line in text.splitlines() if line.startswith("  job ")]
    assert head == ["job", "verdict", "role", "at", "most", "that", "is", "all", "runs", "runs"]


def test_where_the_drives_are_known_the_next_step_tests_the_job_that_could_save_most(site, tmp_path):
    _, text = assay("triage", "--history", site, "--drives", "4xhdd")
    assert f"Next: assay run-job JAR --input INPUT --history {site} --job 'nightly sort'" in text.splitlines()
    assert "assay run-job JAR" in (tmp_path / "triage.html").read_text()


def test_csv_and_json_have_all_digits(site):
    _, text = assay("triage", "--history", site, "--format", "csv")
    rows = list(csv.DictReader(text.splitlines()))
    assert rows[0]["job"] == "nightly sort"
    assert float(rows[0]["bound_s"]) > 0
    assert rows[0]["advice"] == "sort buffer; compression"
    _, text = assay("triage", "--history", site, "--json", "--quiet")
    answer = json.loads(text)
    assert answer["rows"][0]["runs"] == 2
    assert answer["rows"][0]["parts"][1]["how"].startswith("input read: ")
    assert answer["summary"]["verdicts"] == {"may matter: test it": 1, "not known": 1, "cannot matter": 3}
    assert json.loads(assay("triage", "--history", site, "--format", "json")[1]) == answer


def test_no_name_is_left_where_none_is_wanted(site, tmp_path):
    _, text = assay("triage", "--history", site, "--anonymous")
    _, as_json = assay("triage", "--history", site, "--anonymous", "--json", "--quiet")
    page = (tmp_path / "triage.html").read_text()
    for name in ("nightly", "alice", "etl", "export", "job_17", "worker", str(tmp_path)):
        assert name not in text
        assert name not in page
        assert name not in as_json
    assert "Nine tenths of what may matter: job 1." in text


def test_an_experiment_for_each_job_that_may_matter(site, tmp_path):
    _, text = assay("triage", "--history", site, "--drives", "4xhdd", "--write-experiment", tmp_path / "next")
    (file,) = (tmp_path / "next").iterdir()
    assert f"experiment: {file}" in text
    assert (
        "# Your nodes have 4 of today's drive, and would have 1 of the other; the test has one of each."
        in file.read_text()
    )
    experiment = YAML(typ="safe").load(file)
    assert experiment["experiment"] == "nightly-sort"
    assert experiment["media"] == {"now": "seagate-constellation-es3-4tb", "ssd": "intel-s4500-960gb"}
    assert experiment["placement"][1] == {
        "name": "intermediate-on-ssd", "input": "now", "intermediate": "ssd", "output": "now",
    }  # fmt: skip


def test_an_experiment_is_one_that_runs_once_its_jar_and_sample_are_there(site, tmp_path):
    assay("triage", "--history", site, "--drives", "4xhdd", "--write-experiment", tmp_path)
    with zipfile.ZipFile(tmp_path / "JOB.jar", "w") as jar:
        jar.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\nMain-Class: My\n")
        jar.writestr("My.class", "")
    (tmp_path / "SAMPLE").write_text("a b\n")
    plan, _ = plan_and_more(ExperimentSource(tmp_path / "nightly-sort.yaml"), vocabulary(find_installation()))[:2]
    assert {trial.placement.name for trial in plan.trials} == {"now", "ssd", "intermediate-on-ssd", "zero-delay"}


def test_names_in_any_script_and_with_signs_of_terminals(site, tmp_path):
    names = ["تقرير يومي", "отчёт", "évènement", "\x1b[31mred\x1b[0m", "[bold]x[/bold]", "=1+1", "a\u202eb"]
    for number, name in enumerate(names, 20):
        write_history(site, HEAVY._replace(number=number, name=name))
    code, text = assay("triage", "--history", site, "--verbose")
    assert code == 0
    assert all(name in text for name in ("تقرير يومي", "отчёт", "évènement", "[bold]x[/bold]"))
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\x1b" not in (tmp_path / "triage.html").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--out", "none/x.html"], "there is no folder none; make it"), (["--out", "done"], "is a folder; name a file"),
        (["--write-experiment", "taken"], "is a file; name a folder"),
    ],
)  # fmt: skip
def test_what_can_t_be_written_is_said_before_anything_is_read(site, tmp_path, words, message):
    (tmp_path / "taken").write_text("")
    with pytest.raises(BadInputError, match=message):
        assay("triage", "--history", site / "none", *words)


@pytest.mark.parametrize("words", [["--since", "yesterday"], ["--drives", "four"], ["--worth", "much"]])
def test_options_that_are_none_are_refused(site, words):
    import click

    with pytest.raises((BadInputError, click.UsageError)):
        assay("triage", "--history", site, *words)


def test_a_cluster_without_its_client_is_said(site, monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("HADOOP_HOME", raising=False)
    with pytest.raises(BadInputError, match="--history hdfs:/x needs Hadoop's client"):
        assay("triage", "--history", "hdfs:/x")


def test_since_counts_back_from_now_or_from_a_date(site):
    with pytest.raises(BadInputError, match="all 6 job histories .* are from before --since"):
        assay("triage", "--history", site, "--since", "2099-01-01")
    assert assay("triage", "--history", site, "--since", "2001-01-01", "--format", "csv")[0] == 0


def test_event_logs_are_ranked_beside_job_histories(site, tmp_path):
    shuffled = MadeStage(
        seconds=60, cpu=0.2, shuffle_write_bytes=600 << 30, fetched_bytes=600 << 30, fetched_blocks=600_000,
        fetch_wait=0.6,
    )  # fmt: skip
    logs = site / "spark" / "2026"
    logs.mkdir(parents=True)
    settings = {"spark.shuffle.compress": "true"}
    first = MadeApplication(name="sessions 20261125", user="carol", stages=(shuffled,), settings=settings)
    write_event_log(logs, first)
    write_event_log(logs, MadeApplication(number=2, name="busy", stages=(MadeStage(seconds=90, cpu=1.0),)))
    rolled = logs / "eventlog_v2_application_1795226383840_0003"
    rolled.mkdir()
    again = first._replace(number=3, name="sessions 20261126")
    write_event_log(tmp_path, again).rename(rolled / f"events_1_{again.id}")
    code, text = assay("triage", "--history", site, "--drives", "1xhdd", "--format", "json")
    assert code == 0
    rows = {row["job"]: row for row in json.loads(text)["rows"]}
    assert (rows["nightly sort"]["engine"], rows["nightly sort"]["other_rules"]) == ("mapreduce", [])
    row = rows["sessions"]
    assert (row["engine"], row["runs"], row["counted"], row["user"]) == ("spark", 2, 2, "carol")
    assert (row["verdict"], row["role"]) == ("may matter: test it", "intermediate")
    assert row["shuffled_bytes"] == 2 * 600 << 30
    assert [(rule["rule"], rule["asks"]) for rule in row["other_rules"]] == [
        ("over 500 GB", True), ("waits over 50 %", True),
    ]  # fmt: skip
    assert rows["busy"]["verdict"] == "cannot matter"
    _, text = assay("triage", "--history", site, "--drives", "1xhdd", "--write-experiment", tmp_path / "made")
    assert "over 500 GB" in text
    with zipfile.ZipFile(tmp_path / "made" / "JOB.jar", "w") as jar:
        jar.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\nMain-Class: My\n")
        jar.writestr("My.class", "")
    (tmp_path / "made" / "SAMPLE").write_text("a b\n")
    source = ExperimentSource(tmp_path / "made" / "sessions.yaml")
    plan, _ = plan_and_more(source, vocabulary(find_installation()))[:2]
    assert {(trial.engine, trial.workload.variant) for trial in plan.trials} == {("spark", "submitted")}
    assert plan.trials[0].settings.properties["spark.shuffle.compress"] == "true"
    _, text_of_logs = assay("triage", "--history", logs, "--drives", "1xhdd", "--out", tmp_path / "logs.html")
    assert "run this again with --write-experiment DIR, and fill in the jar of sessions there" in text_of_logs
    assert "the metrics Bytes Read" in (tmp_path / "triage.html").read_text()
    assert "over 500 GB: yes (600.0 GiB)" in (tmp_path / "triage.html").read_text()


def test_a_rolled_event_log_is_one_history_where_it_is_named_itself(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    application = MadeApplication(stages=(MadeStage(),))
    rolled = tmp_path / f"eventlog_v2_{application.id}"
    rolled.mkdir()
    write_event_log(tmp_path, application).rename(rolled / f"events_1_{application.id}")
    _, text = assay("triage", "--history", rolled, "--format", "csv")
    (row,) = csv.DictReader(text.splitlines())
    assert (row["job"], row["engine"]) == ("made application", "spark")
