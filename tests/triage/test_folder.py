"""Proves which histories of a folder are read: by the time in their names, in any depth, here or behind Hadoop's client."""

import gzip
import json
import os
import time
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest

from assay.engine.past import formats
from assay.engine.past.histories import finished_ms, merged
from assay.engine.past.job import distinct
from assay.engine.past.made_histories import MadeJob, history, write_history
from assay.engine.past.spark import read_event_log
from assay.model.errors import BadInputError
from assay.store.hadoop_fs import HadoopFs
from assay.triage import folder as folders
from assay.triage.folder import in_folder, in_hadoop
from assay_extras.testing.event_logs import MadeApplication, MadeStage, write_event_log

DAY_MS = 86_400_000
ENDED_MS = 1_790_000_000_000


def packed(codec):
    """What compresses bytes so."""

    def pack(content):
        sink = pa.BufferOutputStream()
        with pa.CompressedOutputStream(sink, codec) as stream:
            stream.write(content)
        return sink.getvalue().to_pybytes()

    return pack


def unheard(*_):
    """Nobody wants to know."""


def made(folder, *days):
    """A job on each of these days, one folder below another."""
    for number, day in enumerate(days, 1):
        place = folder / f"2026/11/{day:02d}/000000"
        place.mkdir(parents=True, exist_ok=True)
        job = MadeJob(number=number, name="a-b 1", submitted_ms=MadeJob().submitted_ms + day * DAY_MS, maps=1)
        write_history(place, job, settings={"dfs.replication": "1"})


def test_the_end_of_a_job_is_in_its_files_name():
    job = MadeJob(name="weird - name/5", queue="root.a-b")
    assert finished_ms(job.file_name) == job.finished_ms
    assert finished_ms("site-job_1_0002-5-user-n-77-1-0-SUCCEEDED-q.jhist") == 77
    assert finished_ms("job_1_0002.jhist") == finished_ms("notes.txt") == finished_ms("job_1_0002-a-b-c-d.jhist") == 0


def test_since_leaves_older_files_unread(tmp_path):
    made(tmp_path, 1, 2, 3)
    since = MadeJob().submitted_ms + 2 * DAY_MS
    found = in_folder(tmp_path, since, unheard)
    assert (found.total, found.older) == (2, 1)
    assert [job.name for job in found.jobs] == ["a-b 1", "a-b 1"]
    with pytest.raises(BadInputError, match="has 3 job histories, all from before --since"):
        in_folder(tmp_path, since + 9 * DAY_MS, unheard)


@pytest.mark.parametrize(
    "changed_ms",
    [ENDED_MS, ENDED_MS + 99 * DAY_MS, ENDED_MS - 2 * DAY_MS, 1_000_000],
    ids=["written", "copied since", "before it began", "as reproducible archives have it"],
)
@pytest.mark.parametrize("late", [False, True])
def test_since_goes_by_the_jobs_own_time_whatever_the_files(tmp_path, changed_ms, late):
    """Of logs and of a history whose name has no time; a running application's last event stands for its end."""
    since_ms = ENDED_MS - 5 * DAY_MS if late else ENDED_MS + 5 * DAY_MS
    stages = (MadeStage(),)
    application = MadeApplication(stages=stages, began_ms=ENDED_MS - 60_000)
    files = [
        write_history(tmp_path, MadeJob(submitted_ms=ENDED_MS - 60_000)).rename(
            tmp_path / "job_1795226383840_0001.jhist"
        ),
        write_event_log(tmp_path, application),
        write_event_log(tmp_path, application._replace(number=2, ends=False)),
    ]
    newest = write_event_log(tmp_path, application._replace(number=3, began_ms=ENDED_MS + 9 * DAY_MS))
    for file in files:
        os.utime(file, (changed_ms / 1000, changed_ms / 1000))
    found = in_folder(tmp_path, since_ms, unheard)
    assert len(list(found.jobs)) == (4 if late else 1)
    assert found.older == (0 if late else 3)
    newest.unlink()
    if not late:
        with pytest.raises(BadInputError, match="has 3 job histories, all from before --since"):
            list(in_folder(tmp_path, since_ms, unheard).jobs)


def test_logs_whose_files_and_first_lines_are_old_are_not_read(tmp_path, monkeypatch):
    log = write_event_log(tmp_path, MadeApplication(stages=(MadeStage(),), began_ms=ENDED_MS))
    os.utime(log, (ENDED_MS / 1000 + 60, ENDED_MS / 1000 + 60))
    monkeypatch.setattr(folders, "read_history_of", None)
    with pytest.raises(BadInputError, match="before --since"):
        in_folder(tmp_path, ENDED_MS + 2 * DAY_MS, unheard)


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("spark-application-1795", bytes), ("jr_5f2c", bytes), ("eventlog", bytes), ("EVENT_LOG_1", bytes),
        ("spark-5f2c0a.zst", packed("zstd")), ("log.gz", gzip.compress), ("log.lz4", packed("lz4")),
        ("application_1795226383840_0001.json", bytes), ("history", bytes),
    ],
)  # fmt: skip
def test_a_history_is_known_by_its_content_whatever_it_is_called(tmp_path, name, pack):
    log = write_event_log(tmp_path, MadeApplication(stages=(MadeStage(),)))
    (tmp_path / "in").mkdir()
    file = tmp_path / "in" / name
    file.write_bytes(pack(log.read_bytes() if name != "history" else history(MadeJob())))
    found = in_folder(tmp_path / "in", 0, unheard)
    assert [job.source for job in found.jobs] == [str(file)]
    assert found.unread == []


def test_what_is_not_read_is_named_with_its_reason(tmp_path):
    contents = {
        "application_1_0001": b"", "application_1_0002": b"{", "application_1_0003": b"\x28\xb5\x2f\xfd",
        "app.lzf": b"ZV\x01abc", "zeros": bytes(2000), "notes.txt": b"notes", "logs.zip": b"PK\x03\x04",
        "history.txt.appattempt_1_0001_000001": b'{"entity":"tez_application_1_0001"}', "old": b'Meta VERSION="1" .',
        "job_1_0001.jhist": b"Avro-Json\n",
        "job_1_0001_conf.xml": b"", ".x.crc": b"", "_SUCCESS": b"",
    }  # fmt: skip
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "eventlog_v2_application_1_0005").mkdir()
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    write_event_log(tmp_path, MadeApplication(stages=(MadeStage(),)))
    found = in_folder(tmp_path, 0, unheard)
    assert len(list(found.jobs)) == 1
    reasons = {Path(file).name: reason for file, reason in found.unread}
    assert set(reasons) == {*list(contents)[:-3], "eventlog_v2_application_1_0005", "gone"}
    assert reasons["application_1_0001"] == "it is empty"
    assert reasons["notes.txt"] == "it is no job history: it begins with `notes`"
    assert "lzf" in reasons["app.lzf"]
    assert "unpack it" in reasons["logs.zip"]
    assert "Tez" in reasons["history.txt.appattempt_1_0001_000001"]
    assert "Hadoop 1" in reasons["old"]
    assert "leads nowhere" in reasons["gone"]
    assert all(reasons.values())


def test_folders_in_which_nothing_can_be_read_are_refused_with_the_reasons(tmp_path):
    (tmp_path / "application_1_0001").write_bytes(b"")
    with pytest.raises(BadInputError, match="holds no job history.*application_1_0001: it is empty"):
        list(in_folder(tmp_path, 0, unheard).jobs)


def test_linked_folders_are_followed_once(tmp_path):
    made(tmp_path / "real", 1, 2)
    here = tmp_path / "here"
    here.mkdir()
    (here / "2026").symlink_to(tmp_path / "real", target_is_directory=True)
    (here / "again").symlink_to(tmp_path / "real", target_is_directory=True)
    (tmp_path / "real" / "loop").symlink_to(here, target_is_directory=True)
    (tmp_path / "real" / "itself").symlink_to(tmp_path / "real" / "itself")
    found = in_folder(here, 0, unheard)
    assert len(list(found.jobs)) == 2
    assert [Path(file).name for file, _ in found.unread] == ["itself"]


def test_a_rolled_log_is_known_by_its_files(tmp_path):
    rolled = tmp_path / "moved"
    rolled.mkdir()
    log = write_event_log(tmp_path, MadeApplication(stages=(MadeStage(), MadeStage(begin_s=50))))
    lines = log.read_text().splitlines(keepends=True)
    (rolled / "events_1_x").write_text("".join(lines[:8]))
    (rolled / "events_2_x").write_text("".join(lines[8:]))
    one, other = sorted(in_folder(tmp_path, 0, unheard).jobs, key=lambda job: job.source)
    assert one.stages == other.stages
    assert distinct([one, other]) in ([one], [other])


def test_several_places_are_one_batch(tmp_path):
    made(tmp_path / "mapreduce", 1, 2)
    (tmp_path / "spark").mkdir()
    write_event_log(tmp_path / "spark", MadeApplication(stages=(MadeStage(),)))
    (tmp_path / "spark" / "notes").write_text("notes")
    since_ms = MadeJob().submitted_ms + DAY_MS + DAY_MS // 2
    whole = merged(
        partial(in_folder, tmp_path / name, since, unheard) for name, since in (("mapreduce", since_ms), ("spark", 0))
    )
    assert sorted(job.engine for job in whole.jobs) == ["mapreduce", "spark"]
    assert (whole.older, [Path(file).name for file, _ in whole.unread]) == (1, ["notes"])


def test_a_place_without_any_job_ends_no_other(tmp_path):
    since_ms = MadeJob().submitted_ms + DAY_MS + DAY_MS // 2
    made(tmp_path / "new", 2)
    made(tmp_path / "old", 1)
    late = tmp_path / "late"
    late.mkdir()
    write_event_log(late, MadeApplication(stages=(MadeStage(),)))  # its own times are older than the file
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "notes").write_text("notes")
    whole = merged(partial(in_folder, tmp_path / name, since_ms, unheard) for name in ("none", "old", "late", "new"))
    assert [job.submitted_ms for job in whole.jobs] == [MadeJob().submitted_ms + 2 * DAY_MS]
    reasons = {Path(file).name: reason for file, reason in whole.unread}
    assert set(reasons) == {"old", "late", "notes"}
    assert reasons["old"] == reasons["late"] == "it has 1 job history from before --since; choose an earlier time"
    assert whole.older == 2
    for names in (("none", "old"), ("old", "late")):
        with pytest.raises(BadInputError, match=names[0] + " h.*" + names[-1] + " ha"):
            list(merged(partial(in_folder, tmp_path / name, since_ms, unheard) for name in names).jobs)


def test_what_no_reader_expects_in_one_file_ends_no_other(tmp_path, monkeypatch):
    made(tmp_path, 1, 2)
    form = formats.FORMS["mapreduce"]

    def odd(file):
        if "/2026/11/01/" in str(file):
            raise KeyError("Index")
        return form.read(file)

    monkeypatch.setitem(formats.FORMS._read(), "mapreduce", form._replace(read=odd))
    found = in_folder(tmp_path, 0, unheard)
    assert len(list(found.jobs)) == 1
    assert [reason for _, reason in found.unread] == ["it holds what no history holds (KeyError: 'Index')"]


@pytest.mark.parametrize("lacks", ["Index", "Attempt", "Launch Time"])
def test_events_of_tasks_without_a_field_that_all_have_are_damages(tmp_path, lacks):
    log = write_event_log(tmp_path, MadeApplication(stages=(MadeStage(),)))
    events = [json.loads(line) for line in log.read_text().splitlines()]
    for event in events:
        event.get("Task Info", {}).pop(lacks, None)
    log.write_text("".join(json.dumps(event) + "\n" for event in events))
    assert read_event_log(log).missing or read_event_log(log).doubts


def test_one_file_alone(tmp_path):
    file = write_history(tmp_path, MadeJob())
    assert [job.id for job in in_folder(file, 0, unheard).jobs] == [MadeJob().id]


def test_a_file_that_is_no_history_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("notes")
    with pytest.raises(BadInputError, match="notes.txt tells of no job: missing a whole file .*it is no job history"):
        in_folder(tmp_path / "notes.txt", 0, unheard)


def test_folders_without_histories_are_refused(tmp_path):
    with pytest.raises(BadInputError, match="can't be read: there is no such file; name the folder"):
        in_folder(tmp_path / "none", 0, unheard)
    (tmp_path / "notes.txt").write_text("")
    with pytest.raises(BadInputError, match="holds no job history among its 1 file;"):
        in_folder(tmp_path, 0, unheard)


def test_too_many_are_refused_with_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "MOST_HISTORIES", 2)
    made(tmp_path, 1, 2, 3)
    with pytest.raises(BadInputError, match="holds 3 job histories, and 2 are the most.*--since 7d"):
        in_folder(tmp_path, 0, unheard)


def test_a_folder_that_may_not_be_read_is_passed_over(tmp_path):
    made(tmp_path, 1)
    (tmp_path / "link").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "dangling.jhist").symlink_to(tmp_path / "gone")
    found = in_folder(tmp_path, 0, unheard)
    jobs = list(found.jobs)
    assert sorted(job.missing != () for job in jobs) in ([False, True], [False])


def test_many_are_read_by_two_processes_in_order(tmp_path):
    for number in range(1, 41):
        write_history(tmp_path, MadeJob(number=number, maps=1))
    assert [job.id for job in in_folder(tmp_path, 0, unheard).jobs] == sorted(
        MadeJob(number=n).id for n in range(1, 41)
    )


def test_a_folder_of_hadoops_is_copied_in_batches(tmp_path, monkeypatch):
    """The client here lists and copies a folder of this machine, as `hadoop fs` does one of a cluster."""
    monkeypatch.setattr(folders, "_BATCH", 2)
    made(tmp_path / "done", 1, 2, 3)
    rolled = tmp_path / "done" / "spark" / "eventlog_v2_application_1795226383840_0007"
    rolled.mkdir(parents=True)
    since_ms = MadeJob().submitted_ms + 2 * DAY_MS
    application = MadeApplication(number=7, stages=(MadeStage(), MadeStage(begin_s=50)), began_ms=since_ms)
    log = write_event_log(rolled, application)
    lines = log.read_text().splitlines(keepends=True)
    (rolled / "events_1_x").write_text("".join(lines[:8]))
    (rolled / "events_2_x").write_text("".join(lines[8:]))
    log.rename(tmp_path / "done" / "spark" / log.name)
    (tmp_path / "done" / "other cluster").mkdir()
    write_event_log(tmp_path / "done" / "other cluster", application._replace(name="another"))
    write_event_log(tmp_path / "done" / "other cluster", application._replace(number=8, began_ms=since_ms - 2 * DAY_MS))
    (tmp_path / "done" / "mine").write_text("")
    client = tmp_path / "hadoop"
    client.write_text(
        "#!/bin/sh\nshift\nif [ $1 = -ls ]; then cd /; find \"$3\" -type f -printf '-rw-r--r--   3 u g %s %TY-%Tm-%Td %TH:%TM %p\\n'; "
        'else shift; cp -r "$@"; fi\n'
    )
    client.chmod(0o755)
    found = in_hadoop(str(tmp_path / "done"), since_ms, HadoopFs(client), unheard)
    jobs = list(found.jobs)
    assert (len(jobs), len(distinct(jobs)), found.older) == (5, 4, 2)
    assert [job.state for job in jobs] == ["SUCCEEDED"] * 5
    assert all(str(tmp_path / "done") in job.source for job in jobs)
    assert [Path(file).name for file, _ in found.unread] == ["mine"]
    of_jobs, of_applications = ([job for job in jobs if job.engine == engine] for engine in ("mapreduce", "spark"))
    assert [job.settings for job in of_jobs] == [{"dfs.replication": "1"}] * 2
    assert of_applications[0].stages == of_applications[1].stages


def test_what_a_client_may_not_list_or_copy_is_named(tmp_path):
    """Event logs may be open to their owners alone, and the others are worth an answer."""
    made(tmp_path / "done", 1, 2)
    client = tmp_path / "hadoop"
    client.write_text(
        "#!/bin/sh\nshift\nif [ $1 = -ls ]; then cd /\n"
        "find \"$3\" -type f -printf '-rw-r--r--   3 u g %s %TY-%Tm-%Td %TH:%TM %p\\n'\n"
        "echo 'ls: Permission denied: inode=\"/done/of another\"' >&2; exit 1; fi\n"
        'shift; for last; do :; done; for file; do case "$file" in "$last") ;;\n'
        '*/11/02/*) echo "get: Permission denied: inode=\\"$file\\"" >&2;; *) cp "$file" "$last";; esac; done\n'
    )
    client.chmod(0o755)
    found = in_hadoop(str(tmp_path / "done"), 0, HadoopFs(client), unheard)
    assert len(list(found.jobs)) == 1
    assert [reason.partition(" inode=")[0] for _, reason in found.unread] == [
        "a folder below it can't be read: Permission denied:", "it can't be copied: Permission denied:"
    ]  # fmt: skip
    assert found.unread[1].file.startswith(f"{tmp_path}/done/2026/11/02/")


def test_both_files_of_a_dag_are_copied_together(monkeypatch):
    monkeypatch.setattr(folders, "_BATCH", 2)
    dags = [f"/d/dag_1_1_{number}_1" for number in (1, 2, 3)]
    files = [dags[0], dags[1], f"{dags[1]}_1", dags[2], f"{dags[2]}_1"]
    assert list(folders._batches(files)) == [files[:3], files[3:]]


def test_a_client_that_fails_is_told_in_its_words(tmp_path):
    client = tmp_path / "hadoop"
    client.write_text("#!/bin/sh\necho 'ls: No such file or directory' >&2\nexit 1\n")
    client.chmod(0o755)
    with pytest.raises(BadInputError, match="--history hdfs:/x can't be read: .*No such file"):
        in_hadoop("hdfs:/x", 0, HadoopFs(client), unheard)


@pytest.mark.slow
def test_a_thousand_jobs_take_a_minute_at_most(tmp_path):
    for number in range(1, 201):
        write_history(tmp_path, MadeJob(number=number, maps=90, reduces=10), "binary" if number % 2 else "json")
    began_s = time.perf_counter()
    assert sum(1 for _ in in_folder(Path(tmp_path), 0, unheard).jobs) == 200
    assert time.perf_counter() - began_s < 12
