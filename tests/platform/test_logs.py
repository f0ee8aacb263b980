"""Proves that a failed trial's logs are packed by their place, with their ends, within a bound."""

import io
import os
import tarfile
from pathlib import Path

from assay.platform import base


def packed(content):
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        return {entry.name: archive.extractfile(entry).read() for entry in archive}


def test_logs_are_packed_by_their_place_and_nothing_else_is(tmp_path):
    container = tmp_path / "logs" / "containers" / "application_1" / "container_1"
    container.mkdir(parents=True)
    (container / "syslog").write_text("a task")
    (tmp_path / "logs" / "namenode.log").write_text("a daemon")
    (tmp_path / "logs" / "empty.log").touch()
    (tmp_path / "conf.xml").write_text("no log")
    (tmp_path / "logs" / "away.log").symlink_to("/etc/passwd")
    assert packed(base.archived(tmp_path)) == {
        "logs/namenode.log": b"a daemon",
        "logs/containers/application_1/container_1/syslog": b"a task",
    }


def test_of_long_logs_the_ends_are_kept_and_of_many_the_newest(tmp_path, monkeypatch):
    monkeypatch.setattr(base, "MOST_LOG_BYTES", 4)
    monkeypatch.setattr(base, "MOST_LOGS_BYTES", 10)
    for number in range(4):
        log = tmp_path / f"{number}.log"
        log.write_text(f"begin end{number}")
        os.utime(log, (number, number))
    assert packed(base.archived(tmp_path)) == {"3.log": b"end3", "2.log": b"end2", "1.log": b"d1"}


def test_a_log_that_goes_meanwhile_takes_no_other_with_it(tmp_path, monkeypatch):
    for name in ("gone.log", "kept.log"):
        (tmp_path / name).write_text(name)
    opened = Path.open

    def opens(file, *how):
        file.with_name("gone.log").unlink(missing_ok=True)
        return opened(file, *how)

    monkeypatch.setattr(Path, "open", opens)
    assert packed(base.archived(tmp_path)) == {"kept.log": b"kept.log"}


def test_where_nothing_was_written_there_are_none(tmp_path):
    assert base.archived(tmp_path) == b""
