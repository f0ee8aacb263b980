"""Proves which histories of a folder are read: by the time in their names, in any depth, here or behind Hadoop's client."""

import os
import time
from pathlib import Path

import pytest

from assay.engine.past.histories import finished_ms
from assay.model.errors import BadInputError
from assay.store.hadoop_fs import HadoopFs
from assay.triage import folder as folders
from assay.triage.folder import in_folder, in_hadoop
from assay_extras.testing.event_logs import MadeApplication, MadeStage, write_event_log
from assay_extras.testing.job_histories import MadeJob, write_history

DAY_MS = 86_400_000


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
    with pytest.raises(BadInputError, match="all 3 job histories in .* are from before --since"):
        in_folder(tmp_path, since + 9 * DAY_MS, unheard)


def test_a_file_that_does_not_say_its_time_goes_by_that_of_its_change(tmp_path):
    file = write_history(tmp_path, MadeJob()).rename(tmp_path / "job_1795226383840_0001.jhist")
    os.utime(file, (1000, 1000))
    with pytest.raises(BadInputError, match="before --since"):
        in_folder(tmp_path, 2_000_000, unheard)
    assert in_folder(tmp_path, 500_000, unheard).total == 1


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
    with pytest.raises(BadInputError, match="holds no job history among its 1 files"):
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
    log = write_event_log(rolled, MadeApplication(number=7, stages=(MadeStage(), MadeStage(begin_s=50))))
    lines = log.read_text().splitlines(keepends=True)
    (rolled / "events_1_x").write_text("".join(lines[:8]))
    (rolled / "events_2_x").write_text("".join(lines[8:]))
    log.rename(tmp_path / "done" / "spark" / log.name)
    client = tmp_path / "hadoop"
    client.write_text(
        "#!/bin/sh\nshift\nif [ $1 = -ls ]; then cd /; find \"$3\" -type f -printf '-rw-r--r--   3 u g %s %TY-%Tm-%Td %TH:%TM %p\\n'; "
        'else shift; cp -r "$@"; fi\n'
    )
    client.chmod(0o755)
    found = in_hadoop(str(tmp_path / "done"), MadeJob().submitted_ms + 2 * DAY_MS, HadoopFs(client), unheard)
    jobs = list(found.jobs)
    assert (found.total, found.older) == (4, 1)
    assert [job.state for job in jobs] == ["SUCCEEDED"] * 4
    of_jobs, of_applications = ([job for job in jobs if job.engine == engine] for engine in ("mapreduce", "spark"))
    assert [job.settings for job in of_jobs] == [{"dfs.replication": "1"}] * 2
    assert of_applications[0].stages == of_applications[1].stages


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
