"""Proves the command from end to end: a folder of histories to one screen, a page, CSV, JSON, numbers and experiments."""

import csv
import json
import re
import shlex
import zipfile
from datetime import datetime
from itertools import pairwise
from pathlib import Path

import pytest
from click import UsageError
from ruamel.yaml import YAML

from assay.cli.context import find_installation, vocabulary
from assay.engine.past.made_histories import MadeJob, write_history
from assay.model.errors import BadInputError
from assay.plan.make import plan_and_more
from assay.plan.source import ExperimentSource
from assay_extras.testing.event_logs import MadeApplication, MadeStage, write_event_log
from tests.command import assay
from tests.engine.made_tez import MadeDag, MadeTask, MadeVertex, write_json

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


def test_one_screen_and_a_page(site, tmp_path):
    code, text = assay("triage", "--history", site)
    lines = text.splitlines()
    assert code == 0
    assert lines[0] == "1 job may matter, 3 cannot, 1 is not known."
    assert "5 jobs, 6 runs, " in lines[1]
    assert "Nine tenths of what may matter: nightly sort." in text
    assert "may matter " in text
    assert "(say what drives each node has: that tightens the bounds)" in text
    assert "mapreduce.task.io.sort.mb from 100 to " in text
    assert re.search(r"Not known: export \(job_\w+\): missing: a good end: the job was killed", text.replace("\n", " "))
    assert "Assumed: each node has one hard disk" in text.replace("\n", " ")
    assert len(lines) < 48
    page = (tmp_path / "triage.html").read_text()
    assert "&lt;b&gt;list&lt;/b&gt;" in page
    assert "<b>list" not in page
    assert page.count('<details id="job-') == 5
    assert "監査" in page


@pytest.mark.slow
def test_a_made_history_to_try_it_on_is_ranked_as_one_that_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ASSAY_COMMAND", raising=False)
    code, text = assay("triage", "--example")
    assert code == 0
    assert text.startswith("3 jobs may matter, 35 cannot, 2 are not known.\n")
    named = ("--history", "example-history", "--drives", "12xhdd", "--cores", "16")
    again = text.replace("page: triage.html", "page: triage.html (in place of the earlier one)")
    assert again != text
    assert assay("triage", "--example") == (0, again)
    # Its nodes keep no busy times: so the test is first.
    assert next_words(text)[0] == "run-job"
    of_named = assay("triage", *named)[1]
    assert of_named.partition("Next: ")[0] == text.partition("Next: ")[0]
    assert "Next: sadf -d " in of_named


@pytest.mark.parametrize("words", [(), ("--example", "--history", "done")])
def test_histories_are_named_or_made(words):
    with pytest.raises(UsageError, match="--history PLACE, or give --example"):
        assay("triage", *words)


def test_at_eighty_columns_the_role_and_what_is_likely_stay(site, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    _, text = assay("triage", "--history", site)
    (head,) = [line for line in text.splitlines() if line.startswith("  job ")]
    assert re.split(r"\s\s+", head.strip())[:5] == ["job", "verdict", "role", "likely", "at most"]
    assert re.search(r"nightly sort +may matter +intermediate +\d+ % \(0 to \d+\)", text)
    assert "Drives without delay would probably save " in text


def test_the_memory_that_nodes_leave_to_files_is_evidence(site):
    _, by_counters = assay("triage", "--history", site, "--drives", "2xhdd", "--json")
    memory = ("--node-memory", "128GiB", "--container-memory", "96GiB")
    _, by_cache = assay("triage", "--history", site, "--drives", "2xhdd", *memory, "--json")
    rows = [json.loads(text)["rows"][0] for text in (by_counters, by_cache)]
    assert [row["evidence"] for row in rows] == ["counters", "page cache"]
    assert rows[0]["likely_low_s"] == pytest.approx(0)
    assert rows[1]["likely_low_s"] > 1
    assert rows[0]["bound_s"] == rows[1]["bound_s"]
    test = json.loads(by_cache)["summary"]["next_commands"][-1]["command"]
    assert test.startswith("assay run-job JAR ")
    assert test.endswith(" --node-memory 131072MiB --container-memory 98304MiB")


def test_a_history_tells_what_containers_may_take_and_what_is_typed_counts_first(site):
    write_history(site, HEAVY, settings={"yarn.nodemanager.resource.memory-mb": "98304"})

    def memory(*words):
        _, text = assay("triage", "--history", site, "--drives", "2xhdd", *words, "--json")
        return re.findall(r"-memory (\S+)", json.loads(text)["summary"]["next_commands"][-1]["command"])

    assert memory("--node-memory", "128GiB") == ["131072MiB", "98304MiB"]
    assert memory("--node-memory", "128GiB", "--container-memory", "64GiB") == ["131072MiB", "65536MiB"]
    assert memory() == ["NODE_MEMORY", "98304MiB"]


def test_files_of_sar_are_evidence_and_are_named_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ASSAY_COMMAND", raising=False)
    job = HEAVY._replace(nodes=1, map_ms=60_000, reduce_ms=60_000)
    write_history(tmp_path, job)
    (tmp_path / "sar").mkdir()
    at_s = range(job.submitted_ms // 1000 - 300, job.submitted_ms // 1000 + 900, 20)
    rows = [f"worker-0;20;{moment};sda;9;20000;20000;8;1;1;60" for moment in at_s]
    text = "\n".join(["# hostname;interval;timestamp;DEV;tps;rkB/s;wkB/s;areq-sz;aqu-sz;await;%util", *rows])
    (tmp_path / "sar" / "worker-0.csv").write_text(text)
    words = ("triage", "--history", tmp_path, "--sar", "sar")
    _, answer = assay(*words, "--drives", "4xhdd", "--json")
    assert "and --sar sees 1 of one" in "".join(json.loads(answer)["summary"]["assumed"])
    _, answer = assay(*words, "--json")
    (row,) = json.loads(answer)["rows"]
    assert (row["evidence"], row["likely_low_s"], row["likely_high_s"]) == ("busy drives", 0, row["bound_s"])
    assert row["likely_unknown"].startswith("4 tasks at once shared a drive")
    checked = []
    monkeypatch.setattr("assay.triage.sar_files.check_drive_report", checked.append)
    assert next_words(assay(*words)[1])[1:5] == ["--history", str(tmp_path), "--sar", "sar"]
    assert [file.name for file in checked] == ["worker-0.csv"]
    again = next_words(assay("triage", "--history", tmp_path, "--drives", "1xhdd")[1], "Then")
    _, answer = assay(*("sar" if word == "SAR" else word for word in again))
    assert next_words(answer)[0] == "run-job"
    assert not re.search(r"^(Then|Or): ", answer, re.MULTILINE)
    with pytest.raises(UsageError, match="either --sar or --prometheus"):
        assay(*words, "--prometheus", "http://nowhere")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--node-memory", "128GiB"], "say with --container-memory"),
        (["--container-memory", "96GiB"], "say with --node-memory"),
        (["--node-memory", "96GiB", "--container-memory", "96GiB"], "leaves no memory for files"),
    ],
)  # fmt: skip
def test_memory_that_tells_nothing_is_refused(site, words, message):
    with pytest.raises(BadInputError, match=message):
        assay("triage", "--history", site, *words)


def next_words(text, when="Next"):
    """What the screen says is to be typed, as a shell takes it apart, without the program."""
    (line,) = [line for line in text.splitlines() if line.startswith(f"{when}: ")]
    program, *words = shlex.split(line.removeprefix(f"{when}: "))
    assert program == "assay"
    return words


def test_what_is_to_be_typed_first_tells_how_busy_the_drives_were(site):
    _, text = assay("triage", "--history", site, "--drives", "4xhdd", "--worth", "20%", "--cores", "8")
    began = f"{datetime.fromtimestamp(HEAVY.started_ms / 1000 - 86_400).astimezone():%d}"
    assert f"Next: sadf -d /var/log/sa/sa{began} -- -d -p > $(hostname)-{began}.csv" in text.splitlines()
    words = " ".join(text.split())
    assert "(on each node, for each day from " in words
    assert "that it keeps; gather the files in a folder SAR. How busy" in words
    assert f"/var/log/sysstat/sa{began})" in words
    again = next_words(text, "Then")
    assert again[0] == "triage"
    assert again[-2:] == ["--sar", "SAR"]
    assert {"--drives", "4xhdd", "--worth", "20%", "--cores", "8"} < {*again}
    commands = json.loads(assay("triage", "--history", site, "--json")[1])["summary"]["next_commands"]
    assert [command["when"] for command in commands] == ["Next", "Then", "Or"]
    assert commands[0]["command"].startswith("sadf -d /var/log/sa/sa")
    assert commands[1]["command"].endswith(" --drives 12xhdd --sar SAR")
    # Nothing is left to be told where no job is open.
    light = next(site.glob("*-report-*.jhist"))
    assert json.loads(assay("triage", "--history", light, "--json")[1])["summary"]["next_commands"] == []


def a_jar(file):
    with zipfile.ZipFile(file, "w") as jar:
        jar.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\nMain-Class: My\n")
        jar.writestr("My.class", "")


@pytest.mark.parametrize(
    ("drives", "now"), [("12xhdd", "12xhdd"), ("12xhdd,intermediate=2xssd", "2xssd"), ("2xwd10ezex", "2xwd10ezex")]
)
def test_what_is_to_be_typed_next_runs_as_it_is_printed(site, tmp_path, drives, now):
    write_history(site, HEAVY._replace(map_output_bytes=400 * GIB))
    _, text = assay("triage", "--history", site, "--drives", drives, "--worth", "5%", "--cores", "8")
    words = next_words(text, "Or")
    given = dict(pairwise(words))
    assert (given["--now"], given["--history"], given["--worth"], given["--cores"]) == (now, str(site), "5%", "8")
    a_jar(tmp_path / "my.jar")
    (tmp_path / "input").write_text("a b\n" * 1000)
    filled = {"JAR": "my.jar", "INPUT": "input", "NODE_MEMORY": "128GiB", "CONTAINER_MEMORY": "96GiB"}
    code, text = assay(*(filled.get(word, word) for word in words), "--dry-run")
    assert code == 0
    assert "drives: " in text
    assert "assay run-job JAR" in (tmp_path / "triage.html").read_text()


def test_without_drives_the_next_step_says_which_are_asked_for_and_repeats_all_else(site):
    _, text = assay("triage", "--history", site, "--since", "2001-01-01", "--cores", "64", "--worth", "20%")
    words = next_words(text, "Or")
    assert words[0] == "triage"
    assert words[-2:] == ["--drives", "12xhdd"]
    assert {"--since", "--cores", "--worth"} < {*words}
    assert next_words(text, "Then") == [*words, "--sar", "SAR"]
    _, again = assay(*words)
    assert "Or: assay run-job" in again


def test_of_an_application_of_spark_run_job_is_what_is_typed_next(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ASSAY_COMMAND", raising=False)
    stage = MadeStage(seconds=60, cpu=0.2, input_bytes=8 << 30, shuffle_write_bytes=600 << 30)
    write_event_log(tmp_path, MadeApplication(name="sessions 20261125", stages=(stage,)))
    _, text = assay("triage", "--history", tmp_path, "--drives", "4xhdd")
    words = next_words(text, "Or")
    assert words[:2] == ["run-job", "JAR"]
    a_jar(tmp_path / "my.jar")
    (tmp_path / "input").write_text("a b\n" * 1000)
    filled = {"JAR": "my.jar", "INPUT": "input", "NODE_MEMORY": "128GiB", "CONTAINER_MEMORY": "96GiB"}
    code, text = assay(*(filled.get(word, word) for word in words), "--input-size", "8GB", "--dry-run")
    assert code == 0
    assert "spark.executor.cores=1" in text


def test_a_dag_of_tez_is_no_job_that_run_job_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ASSAY_COMMAND", raising=False)
    logs = tmp_path / "my logs"
    logs.mkdir()
    counters = {"FILE_BYTES_WRITTEN": 600 << 30, "OUTPUT_BYTES_PHYSICAL": 300 << 30, "CPU_MILLISECONDS": 1000}
    vertex = MadeVertex("Map 1", (MadeTask(1, 90, counters=counters),), reads=True)
    write_json(logs, MadeDag((vertex,), name="sessions 20261125", elapsed_s=91))
    _, text = assay("triage", "--history", logs, "--history", logs, "--drives", "4xhdd")
    words = next_words(text, "Or")
    assert words[-2:] == ["--write-experiment", "my-jobs"]
    code, text = assay(*words)
    assert code == 0
    assert f"experiment: {Path('my-jobs', 'sessions.yaml')}" in text
    assert (tmp_path / "my-jobs" / "sessions.yaml").exists()
    a_jar(tmp_path / "my.jar")
    (tmp_path / "input").write_text("a b\n")
    for job in (["--job", "sessions"], []):
        with pytest.raises(
            BadInputError,
            match="run-job can't run sessions on a sample: its history has no text of a query; use `assay triage",
        ) as caught:
            assay("run-job", "my.jar", "--input", "input", "--history", logs, *job)
        (command,) = re.findall("`assay (.*?)`", str(caught.value))
        assert assay(*shlex.split(command))[0] == 0


@pytest.mark.parametrize("option", ["--cores", "--node-cores"])
def test_fewer_threads_than_a_job_computed_with_are_refused_with_both_numbers(site, option):
    write_history(site, HEAVY._replace(number=40, name="busy", maps=40, slots=80, cpu=0.9))
    with pytest.raises(
        BadInputError, match=r"--cores 2: a job computed for \d+ s on 2 nodes in 20.0 s, in which 2 hardware"
    ) as caught:
        assay("triage", "--history", site, option, "2")
    assert "80 s; count them as `nproc` does, or leave --cores out" in str(caught.value)
    assert assay("triage", "--history", site, option, "20")[0] == 0


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
    assert answer["rows"][0]["ran_s"] == answer["rows"][0]["elapsed_s"]
    assert {"contradictions", "doubts", "unexplained_s", "unplaced_bytes"} < {*answer["rows"][0]}
    assert answer["summary"]["next_commands"][-1]["command"].startswith("assay triage --history ")
    assert answer["summary"]["roles"] == answer["rows"][0]["roles"]
    assert "nothing but these jobs uses the drives" in answer["summary"]["assumed"][1]
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
    part = "# Your nodes have 4 of today's drive, and would have 1 of the other; the test has 1/4 of each."
    assert part in file.read_text()
    experiment = YAML(typ="safe").load(file)
    assert experiment["experiment"] == "nightly-sort"
    assert experiment["media"] == {
        "now": "seagate-constellation-es3-4tb",
        "ssd": {"profile": "intel-s4500-960gb", "shared_by": 4},
    }
    assert experiment["placement"][1] == {
        "name": "intermediate-on-ssd", "input": "now", "intermediate": "ssd", "output": "now",
    }  # fmt: skip


def test_an_experiment_is_one_that_runs_once_its_jar_and_sample_are_there(site, tmp_path):
    assay("triage", "--history", site, "--drives", "4xhdd", "--write-experiment", tmp_path)
    a_jar(tmp_path / "JOB.jar")
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
        (["--write-experiment", "taken"], "is a file; name a folder"), (["--sar", "empty"], "empty has no file in it"),
    ],
)  # fmt: skip
def test_what_can_t_be_written_is_said_before_anything_is_read(site, tmp_path, words, message):
    (tmp_path / "taken").write_text("")
    (tmp_path / "empty").mkdir()
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
    with pytest.raises(BadInputError, match="has 6 job histories, all from before --since"):
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
    assert "over 500 GB" not in text  # the screen has room for our own answer
    a_jar(tmp_path / "made" / "JOB.jar")
    (tmp_path / "made" / "SAMPLE").write_text("a b\n")
    source = ExperimentSource(tmp_path / "made" / "sessions.yaml")
    plan, _ = plan_and_more(source, vocabulary(find_installation()))[:2]
    assert {(trial.engine, trial.workload.variant) for trial in plan.trials} == {("spark", "submitted")}
    assert plan.trials[0].settings.properties["spark.shuffle.compress"] == "true"
    _, text_of_logs = assay("triage", "--history", logs, "--drives", "1xhdd", "--out", tmp_path / "logs.html")
    assert "Or: assay run-job JAR --input INPUT --history " in text_of_logs
    assert "the metrics Bytes Read" in (tmp_path / "triage.html").read_text()
    assert "over 500 GB: yes (600.0 GiB)" in (tmp_path / "triage.html").read_text()


def test_what_is_odd_in_a_history_is_said_on_the_screen_the_page_and_in_json(site, tmp_path):
    log = write_event_log(site, MadeApplication(number=4, name="odd one", stages=(MadeStage(seconds=90, cpu=1.0),)))
    log.write_text(log.read_text() * 2)
    _, text = assay("triage", "--history", site)
    row = next(
        row
        for row in json.loads(assay("triage", "--history", site, "--format", "json")[1])["rows"]
        if row["job"] == "odd one"
    )
    (doubt,) = row["doubts"]
    assert f"Odd: odd one: {doubt}." in " ".join(text.split())
    assert doubt[1:] in (tmp_path / "triage.html").read_text()
    assert (
        json.loads(assay("triage", "--history", site, "--format", "json", "--anonymous")[1])["rows"][0]["doubts"] == []
    )


def test_several_places_are_one_batch_whose_jobs_are_beside_one_another(site, tmp_path):
    """As a site has one folder of MapReduce's and one of Spark's: what each moves counts for the other."""
    logs = tmp_path / "logs"
    logs.mkdir()
    moving = MadeStage(seconds=60, cpu=0.1, input_bytes=40 * GIB)
    write_event_log(logs, MadeApplication(name="scan", stages=(moving,), began_ms=HEAVY.submitted_ms))
    both = json.loads(assay("triage", "--history", site, "--history", logs, "--json")[1])
    alone = json.loads(assay("triage", "--history", site, "--json")[1])
    assert both["summary"]["runs"] == alone["summary"]["runs"] + 1
    beside_s = [next(row["beside_s"] for row in of["rows"] if row["job"] == "nightly sort") for of in (both, alone)]
    assert beside_s[0] > beside_s[1] + 1
    _, text = assay("triage", "--history", site, "--history", logs, "--drives", "4xhdd")
    assert "--history done --history logs" in text.replace("\n", " ").replace(f"{tmp_path}/", "")


def test_what_is_not_read_is_said_on_the_screen_the_page_and_in_json(site, tmp_path):
    for number in range(5):
        (site / f"local-{number}").write_bytes(b"")
    (site / "notes.txt").write_text("top secret")
    _, text = assay("triage", "--history", site)
    words = " ".join(text.split())
    assert "Not read: 6 files: " in words
    assert "(it is empty)" in words
    assert "and 3 more" in words
    assert f"{site}/notes.txt: it is no job history" in (tmp_path / "triage.html").read_text()
    unread = json.loads(assay("triage", "--history", site, "--json")[1])["summary"]["unread"]
    assert sorted(Path(of_file["file"]).name for of_file in unread) == [*(f"local-{n}" for n in range(5)), "notes.txt"]
    _, nameless = assay("triage", "--history", site, "--anonymous")
    page = (tmp_path / "triage.html").read_text()
    for hidden in ("notes.txt", "local-1", "secret"):
        assert hidden not in nameless
        assert hidden not in page


def test_shared_sessions_and_reused_containers_are_said(tmp_path, monkeypatch):
    """Two DAGs of one session and one of another; one of the three starts a container for each of its tasks."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    tasks = tuple(MadeTask(1, 60, container=container, counters={"CPU_MILLISECONDS": 50_000}) for container in (2, 3))
    reusing = tuple(task._replace(container=2) for task in tasks)
    fresh, again = (MadeDag((MadeVertex("Map 1", of, reads=True),), elapsed_s=61) for of in (tasks, reusing))
    write_json(tmp_path, fresh, again._replace(number=2, name="b", began_ms=again.began_ms + 100_000))
    _, text = assay("triage", "--history", tmp_path)
    assert "2 runs shared 1 session; 1 run ran tasks in reused containers." in text
    write_json(tmp_path, again._replace(application=8, name="c"))
    summary = json.loads(assay("triage", "--history", tmp_path, "--json")[1])["summary"]
    assert [summary[name] for name in ("sessions", "in_sessions", "reused")] == [1, 2, 2]
    write_json(tmp_path, fresh)
    _, text = assay("triage", "--history", tmp_path)
    assert "session" not in text.partition("Likely: ")[0]


def test_how_much_of_what_the_cluster_ran_was_read_is_said_everywhere(site, tmp_path):
    id_of = HEAVY.id.replace("job", "application")
    times = {"startedTime": HEAVY.started_ms, "finishedTime": HEAVY.finished_ms, "elapsedTime": 1}
    listed = [
        {"id": name, "applicationType": kind, "vcoreSeconds": 3600, **times}
        for name, kind in ((id_of, "MAPREDUCE"), ("application_1_9", "Apache Flink"))
    ]
    (tmp_path / "apps.json").write_text(json.dumps({"apps": {"app": listed}}))
    words = ("triage", "--history", site, "--applications", "apps.json")
    said = (
        "Containers held a core for 2 h 00 min, of which 1 h 00 min are in histories (1 h 00 min of MapReduce); not read: "
        "1 h 00 min of Apache Flink."
    )
    _, text = assay(*words)
    assert said in " ".join(text.split())
    assert said in (tmp_path / "triage.html").read_text()
    assert next_words(text, "Or")[3:5] == ["--applications", "apps.json"]
    answer = json.loads(assay(*words, "--json")[1])
    assert answer["coverage"] == {
        "core_s": 7200, "read_s": 3600, "read_by_kind_s": {"MapReduce": 3600}, "lacking_s": 0,
        "not_read_s": {"Apache Flink": 3600}, "not_listed": 5,
    }  # fmt: skip
    assert json.loads(assay(*words[:3], "--json")[1])["coverage"] is None
    (tmp_path / "apps.json").write_text("<apps/>")
    with pytest.raises(BadInputError, match="--applications apps.json is no list of applications"):
        assay("triage", "--history", "none", "--applications", "apps.json")


def test_the_batch_window_is_on_the_screen_the_page_and_in_json(site, tmp_path):
    _, text = assay("triage", "--history", site)
    assert re.search(r"^Batch window: \d:\d\d min in the longest of 2 nights \(", text, re.MULTILINE)
    assert "<h2" in (tmp_path / "triage.html").read_text().partition("The batch window")[0]
    window = json.loads(assay("triage", "--history", site, "--json")[1])["window"]
    assert [night["runs"] for night in window["nights"]] == [5, 1]
    assert len(window["runs"]) == 5
    assert {"chain", "bound_s", "jobs_bound_s", "likely_s"} < {*window["nights"][0]}


def test_sessions_of_two_users_are_two_jobs(site):
    for number, user in enumerate(("e12345", "e12346")):
        log = MadeApplication(number=number, name="Spark shell", user=user, stages=(MadeStage(),))
        write_event_log(site, log)
    rows = json.loads(assay("triage", "--history", site, "--json")[1])["rows"]
    assert {"Spark shell (e12345)", "Spark shell (e12346)"} <= {row["job"] for row in rows}


def test_a_rolled_event_log_is_one_history_where_it_is_named_itself(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    application = MadeApplication(stages=(MadeStage(),))
    rolled = tmp_path / f"eventlog_v2_{application.id}"
    rolled.mkdir()
    write_event_log(tmp_path, application).rename(rolled / f"events_1_{application.id}")
    _, text = assay("triage", "--history", rolled, "--format", "csv")
    (row,) = csv.DictReader(text.splitlines())
    assert (row["job"], row["engine"]) == ("made application", "spark")
