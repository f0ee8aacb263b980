"""Proves the command: a folder of histories, or a run, to a sentence and a table, and what it refuses."""

import gzip
import json
import shutil
from datetime import datetime

import click
import pytest

from assay.cli.compare_nodes import next_step, sentence
from assay.engine.past.made_histories import MadeJob, events, history, write_history
from assay.engine.tasks import MapReduceAttempt
from assay.model.errors import BadInputError
from assay.model.result import TrialResult
from assay.record.folder import RunFolder
from assay.stats.noise import ConfidenceInterval
from assay.stats.one_node import NodePart
from tests.builders import a_folder, a_plan, a_record, a_trial
from tests.command import assay


@pytest.fixture
def done(tmp_path, monkeypatch):
    """Histories of six jobs on four nodes, whose tasks all take the same time."""
    monkeypatch.setenv("COLUMNS", "120")
    folder = tmp_path / "done"
    folder.mkdir()
    for number in range(1, 7):
        job = MadeJob(number=number, name=f"nightly {number}", maps=16, reduces=4, nodes=4, slots=4)
        write_history(folder, job, "binary" if number % 2 else "json")
    return folder


def compare_nodes(*words):
    return assay("compare-nodes", *words)[1]


def test_a_sentence_for_each_stage_and_a_table(done):
    text = compare_nodes("worker-1", "--history", done)
    assert text.startswith("Map tasks on worker-1 took as long as on the 3 others: no difference found.\n")
    lines = [line.split() for line in text.splitlines()]
    header = next(line for line in text.splitlines() if line.split()[:1] == ["stage"])
    assert " ".join(header.split()) == "stage jobs tasks on worker-1 on others other nodes ratio interval"
    assert ["map", "6", "24", "72", "3", "1.00", "1.00", "to", "1.00"] in lines
    assert ["shuffle", "6", "6", "18", "3", "1.00", "1.00", "to", "1.00"] in lines


def test_numbers_have_all_digits(done):
    found = json.loads(compare_nodes("worker-1", "--history", done, "--json"))
    assert found["node"] == "worker-1"
    assert found["parts"][0]["stage"] == "map"
    assert found["parts"][0]["interval"].keys() == {"low", "high"}
    assert found["left_out"] == []


@pytest.fixture
def faster(tmp_path, monkeypatch):
    """Histories of six jobs of six nights on four nodes, on the second of which tasks take half as long."""
    monkeypatch.setenv("COLUMNS", "120")
    folder = tmp_path / "done"
    folder.mkdir()
    for number in range(1, 7):
        job = MadeJob(
            number=number, name=f"nightly {chr(96 + number)}", maps=16, reduces=4, nodes=4, slots=4,
            submitted_ms=MadeJob().submitted_ms + number * 86_400_000,
        )  # fmt: skip
        made = list(events(job))
        starts_ms = {
            event["attemptId"]: event["startTime"] for kind, event in made if kind.endswith("_ATTEMPT_STARTED")
        }
        for _, event in made:
            if event.get("hostname") == "worker-1":
                start_ms = starts_ms[event["attemptId"]]
                ends_ms = {name: value for name, value in event.items() if name.lower().endswith("finishtime")}
                event |= {name: start_ms + (end_ms - start_ms) // 2 for name, end_ms in ends_ms.items()}
        (folder / job.file_name).write_bytes(history(made))
    return folder


def test_what_jobs_and_the_night_would_gain_is_said(faster):
    """Tasks of the other nodes, three quarters of all, would take half as long."""
    found = json.loads(compare_nodes("worker-1", "--history", faster, "--json"))
    gains = found["if_all_nodes"]
    job = MadeJob(maps=16, reduces=4, nodes=4, slots=4)
    stages_s = (4 * job.map_ms + job.reduce_ms) / 1000
    took_s = (job.finished_ms - job.started_ms) / 1000
    assert gains["all_jobs"]["of_s"] == pytest.approx(6 * took_s)
    assert gains["all_jobs"]["saved_s"] == pytest.approx(6 * 0.75 * 0.5 * stages_s)
    assert gains["night"]["gain"]["saved_s"] == pytest.approx(0.75 * 0.5 * stages_s)
    assert gains["uncompared_s"] == 0
    assert len(gains["jobs"]) == 6
    text = joined(compare_nodes("worker-1", "--history", faster))
    share = round(100 * 0.75 * 0.5 * stages_s / took_s)
    assert f"If all nodes were like worker-1, all 6 jobs would take {share} % less time (95 % interval " in text
    assert "The longest of 6 nights, from " in text
    assert " would end 14 s earlier (95 % interval 14 s to 14 s earlier)." in text
    assert "and 1 more job: --json has all" in text
    since = datetime.fromtimestamp((MadeJob().submitted_ms + 4 * 86_400_000) / 1000).astimezone().isoformat()
    found = json.loads(compare_nodes("worker-1", "--history", faster, "--since", since, "--json"))
    assert found["if_all_nodes"]["night"]["nights"] == 3


def test_of_a_run_of_assays_no_night_is_told(tmp_path):
    run = a_folder(tmp_path / "run", a_plan(a_trial(1)))
    attempts = [
        MapReduceAttempt(
            job="job_1_0001", attempt=f"attempt_{at}", stage="map", node=f"node-{at % 3}", state="SUCCEEDED",
            started_ms=1000, finished_ms=5000,
        )
        for at in range(18)
    ]  # fmt: skip
    run.write(TrialResult(a_record(a_trial(1)), attempts, []))
    assert json.loads(compare_nodes("node-0", "--run", run.path, "--json"))["if_all_nodes"] is None


def test_several_folders_are_one_and_ids_that_two_clusters_gave_are_two_jobs(done, tmp_path):
    """The second folder has a copy of each job, another cluster's jobs of the same ids, and what is no history."""
    again = shutil.copytree(done, tmp_path / "again")
    other = MadeJob(
        number=1, name="other", maps=16, reduces=4, nodes=4, slots=4, submitted_ms=MadeJob().submitted_ms + 7
    )
    write_history(again, other)
    (again / "notes.txt").write_text("notes")
    found = json.loads(compare_nodes("worker-1", "--history", done, "--history", again, "--json"))
    maps = found["parts"][0]
    assert (maps["stage"], maps["jobs"], maps["tasks"]) == ("map", 7, 28)
    assert found["left_out"] == [f"{again}/notes.txt: it is no job history: it begins with `notes`"]


def test_since_goes_by_the_end_of_the_job(done):
    """The files' names have no time here, and the files have been copied."""
    late = MadeJob(number=9, maps=32, nodes=4, slots=4, submitted_ms=MadeJob().submitted_ms + 86_400_000)
    write_history(done, late)
    for file in done.glob("*.jhist"):
        file.rename(done / f"{file.name.partition('-')[0]}.jhist")
    found = json.loads(compare_nodes("worker-1", "--history", done, "--since", _date(late), "--json"))
    assert found["parts"][0]["jobs"] == 1


def _date(job):
    return datetime.fromtimestamp(job.submitted_ms / 1000).astimezone().isoformat()


def test_histories_that_are_not_whole_are_left_out_and_said(done):
    file = next(iter(done.glob("*.jhist")))
    file.write_bytes(file.read_bytes()[:2000])
    text = compare_nodes("worker-1", "--history", done)
    assert f"left out: {file}: it is cut short or garbled" in joined(text)


def joined(text):
    """The text without the ends of its lines, which cut long paths anywhere."""
    return " ".join(text.split())


@pytest.fixture
def own_form(tmp_path):
    """A folder for a history that is damaged, and the whole history of a job as JSON."""
    folder = tmp_path / "own"
    folder.mkdir()
    return write_history(folder, MadeJob(maps=32, reduces=4, nodes=4, slots=4), "json")


def reason(file):
    with pytest.raises(
        BadInputError, match="has no task that ended well and whose node is known; left out: "
    ) as raised:
        compare_nodes("worker-1", "--history", file.parent)
    text = str(raised.value)
    assert "Error" not in text, "no names of Python's classes"
    return text.partition("left out: ")[2]


def test_a_damaged_gzip_file_is_left_out(own_form):
    packed = bytearray(gzip.compress(own_form.read_bytes()))
    own_form.write_bytes(packed[: len(packed) // 2])
    assert reason(own_form).startswith(f"{own_form}: it is cut short or garbled (Compressed file ended")
    for at in range(len(packed) // 3, len(packed) // 3 + 40):
        packed[at] ^= 0xFF
    own_form.write_bytes(packed)
    assert reason(own_form).startswith(f"{own_form}: ")
    own_form.write_bytes(packed[:10] + b"\xff" * 100)
    assert reason(own_form) == f"{own_form}: its compressed content is damaged; copy the file again"


def test_a_broken_line_is_named(own_form):
    lines = own_form.read_bytes().splitlines(keepends=True)
    at = next(at for at, line in enumerate(lines) if at > 1 and b"MAP_ATTEMPT_FINISHED" in line)
    own_form.write_bytes(b"".join([*lines[:at], lines[at][:60] + b"\n", *lines[at + 1 :]]))
    assert f"(line {at + 1} can't be read: " in reason(own_form)
    own_form.write_bytes(b"".join([*lines[:at], lines[at][:60]]))
    assert f"(line {at + 1} is cut short: " in reason(own_form)
    own_form.write_bytes(b"".join([lines[0], b"no schema\n", *lines[2:]]))
    assert "(its second line is not the schema of its events)" in reason(own_form)


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (b"JOB_FINISHED", "(the end of the job is missing)"),
        (b"JOB_SUBMITTED", "(the beginning of the job is missing)"),
        (b"JOB_INITED", "(it lacks times or states that Hadoop writes)"),
    ],
)
def test_a_history_without_an_event_of_its_job_is_left_out(own_form, event, message):
    form, schema, *events = own_form.read_bytes().splitlines(keepends=True)
    own_form.write_bytes(b"".join([form, schema, *(line for line in events if event not in line)]))
    assert message in reason(own_form)


def test_a_damaged_binary_file_says_which_event(tmp_path):
    file = write_history(tmp_path, MadeJob(maps=16, reduces=4, nodes=4, slots=4), "binary")
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])
    assert "(it ends in its event " in reason(file)
    file.write_bytes(content[: len(content) // 2] + b"\xff" * 2000)
    assert "its event " in reason(file)
    file.write_bytes(b'Avro-Binary\n{"type": "record"}\n' + content[-3000:])
    assert "(its second line is not the schema of its events)" in reason(file)


@pytest.mark.parametrize("name", ["nightly.jhist", "job_1_0001.jhist"])
def test_a_renamed_file_tells_of_the_job_in_it(own_form, name):
    own_form = own_form.rename(own_form.with_name(name))
    assert "Map tasks on worker-1 took" in compare_nodes("worker-1", "--history", own_form)


def test_of_very_many_reasons_the_first_are_named(done):
    for file in done.glob("*.jhist"):
        file.write_bytes(file.read_bytes()[:2000])
    text = reason(next(iter(done.glob("*.jhist"))))
    assert text.count("left out: ") == 3
    assert text.endswith("left out: 3 more histories")


def test_copies_count_once(done):
    text = compare_nodes("worker-1", "--history", done)
    shutil.copytree(done, done / "done_intermediate" / "somebody")
    assert compare_nodes("worker-1", "--history", done) == text


@pytest.mark.parametrize(
    ("ratio", "interval", "text", "next_text"),
    [
        (0.8, (0.7, 0.9), "took 20 % less time than on the 3 others (95 % interval 10 to 30 % less).", "assay triage"),
        (
            1.2,
            (1.1, 1.3),
            "took 20 % more time than on the 3 others (95 % interval 10 to 30 % more).",
            "look what slows",
        ),
        (1.2, (0.9, 1.6), "(95 % interval -10 to 60 % more, so it may be chance).", "a second node"),
        (1.0, (0.98, 1.02), "no difference found (95 % interval -2 to 2 % less).", "leave the other nodes as they are"),
        (1.0, (0.8, 1.25), "no difference found (95 % interval -25 to 20 % less).", "with --changed DATE"),
        (0.8, None, "can't be told with fewer than 2 other nodes.", "at least 2 other nodes"),
    ],
)
def test_what_each_answer_says_and_what_to_do_with_it(ratio, interval, text, next_text):
    bounds = interval and ConfidenceInterval(low=interval[0], high=interval[1])
    part = NodePart(
        stage="map", phase="", jobs=4, tasks=20, other_tasks=60, others=3, ratio=ratio, interval=bounds, spread=0.1
    )
    assert sentence(part, "worker-1", changed=False).endswith(text)
    assert next_text in next_step([part], "worker-1", changed=False)


def test_the_last_line_says_what_to_do(done):
    last = compare_nodes("worker-1", "--history", done).rpartition("Next: ")[2]
    assert (
        joined(last)
        == "leave the other nodes as they are: what differs on worker-1 saves less than 5 % of tasks' time."
    )


@pytest.mark.slow
def test_jobs_that_share_no_node_can_t_be_compared(tmp_path):
    trials = [a_trial(1), a_trial(2)]
    run = a_folder(tmp_path / "run", a_plan(*trials))
    for number, trial in enumerate(trials):
        attempts = [
            MapReduceAttempt(
                job="job_1_0001", attempt=f"attempt_{at}", stage="map", node=f"node-{number}", state="SUCCEEDED",
                started_ms=1000, finished_ms=5000,
            )
            for at in range(12)
        ]  # fmt: skip
        run.write(TrialResult(a_record(trial), attempts, []))
    with pytest.raises(BadInputError, match="no job ran on node-0 and on another node too"):
        compare_nodes("node-0", "--run", run.path)


def test_a_run_s_trials_are_jobs_of_their_own(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    run = RunFolder(tmp_path / "run")
    trials = [a_trial(1), a_trial(2)]
    run.create(a_plan(*trials))
    with pytest.raises(BadInputError, match="has no task that ended well"):
        compare_nodes("node-0", "--run", run.path)
    for number, trial in enumerate(trials, 1):
        attempts = [
            MapReduceAttempt(
                job="job_1_0001", attempt=f"attempt_{at}", stage="map", node=f"node-{at % 3}", state="SUCCEEDED",
                started_ms=1000, finished_ms=1000 + 4000 * number - (0 if at % 3 else 2000 * number),
            )
            for at in range(12)
        ]  # fmt: skip
        run.write(TrialResult(a_record(trial), attempts, []))
    text = compare_nodes("node-0", "--run", run.path)
    assert text.startswith(
        "Map tasks on node-0 took 50 % less time than on the 2 others (95 % interval 50 to 50 % less)."
    )
    assert ["map", "2", "8", "16", "2", "0.50", "0.50", "to", "0.50"] in [line.split() for line in text.splitlines()]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["worker-7"], "no task of these jobs ran on a node 'worker-7'; did you mean"),
        (["worker-1", "--since", "2099-01-01"], "has 6 job histories, all from before --since"),
        (["worker-1", "--changed", "2020-01-01"], "the change lies before all jobs"),
        (["worker-1", "--changed", "2099-01-01"], "the change lies after all jobs"),
    ],
)
def test_what_can_t_be_compared_is_said(done, words, message):
    with pytest.raises(BadInputError, match=message):
        compare_nodes(*words, "--history", done)


def test_jobs_come_from_one_place(done):
    with pytest.raises(click.UsageError, match="either --history FOLDER or --run RUN"):
        compare_nodes("worker-1")
    with pytest.raises(click.UsageError, match="either"):
        compare_nodes("worker-1", "--history", done, "--run", "x")


@pytest.mark.parametrize("place", ["hdfs:/history/done", "hdfs://nn:8020/history/done", "http://history:19888"])
def test_a_place_that_is_not_of_this_machine_is_refused_with_what_to_do(place):
    with pytest.raises(BadInputError, match=f"--history {place} is .* copy the histories .*here with `hadoop fs -get"):
        compare_nodes("worker-1", "--history", place)


def test_since_chooses_among_the_files_of_a_folder_alone(done):
    file = next(iter(done.glob("*.jhist")))
    assert "Map tasks" in compare_nodes("worker-1", "--history", f"file:{done}")
    for place in (["--history", file], ["--run", "x"]):
        with pytest.raises(click.UsageError, match="--since chooses among the histories of a folder"):
            compare_nodes("worker-1", *place, "--since", "7d")
