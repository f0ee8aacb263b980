"""Proves how FerretDB is started and built, what it promises, that it is never called MongoDB, and what is refused."""

import os
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from assay.model.cluster import EmbeddedSpec
from assay.model.errors import BadInputError
from assay.model.installed import stack_of
from assay.model.layout import Directory, Layout
from assay.model.medium import Doubtful
from assay.model.registry import STORES
from assay.model.service import NodeContext
from assay.model.store import Files
from assay.platform.daemon import _PORT_TAKEN, last_words
from assay.store import documents_server
from assay.store.documents import DATABASE, SERVERS, DocumentTables

ROOT = Path(__file__).parents[2]
PREPARE = ROOT / "programs" / "documents" / "prepare"
STACK = stack_of("documents")
(SERVICE,) = (service for service in STACK.services if service.name == "documents")
(DAEMON,) = SERVICE.daemons
KIND = STORES["documents"]


def a_node(home):
    directories = tuple(
        Directory(path=home / medium, medium=medium, roles=(role,)) for medium, role in (("ssd", "input"), ("hdd", "output"))
    )  # fmt: skip
    programs = home / "programs"
    (programs / "documents" / "lib").mkdir(parents=True)
    (programs / "documents" / "lib" / "ferretdb-1.24.2-indexed").touch()
    layout = Layout(neutral=home / "neutral", directories=directories)
    return NodeContext(
        EmbeddedSpec(), layout, "localhost", "localhost", {"documents.address": "localhost:1001"}, programs=programs
    )


def test_a_server_listens_at_a_port_that_was_free_and_keeps_databases_on_their_media(tmp_path):
    node = a_node(tmp_path)
    assert SERVICE.properties(node)[SERVERS] == "localhost:1001"
    assert DAEMON.program(node) == [
        sys.executable, documents_server.__file__, f"{tmp_path}/programs/documents/lib/ferretdb-1.24.2-indexed",
        "localhost:1001", f"{tmp_path}/neutral/documents",
        f"assay_input={tmp_path}/ssd/documents/assay_input", f"assay_output={tmp_path}/hdd/documents/assay_output",
    ]  # fmt: skip


def test_a_database_is_made_where_its_role_is_and_linked_to(tmp_path):
    documents_server.link(tmp_path / "storage", {"assay_input": tmp_path / "ssd" / "of input"})
    with closing(sqlite3.connect(tmp_path / "storage" / "assay_input.sqlite")) as database:
        assert database.execute("SELECT name, table_name, settings FROM _ferretdb_collections").fetchall() == []
    assert (tmp_path / "ssd" / "of input" / "assay_input.sqlite").is_file()


def test_a_server_tells_nobody_about_itself():
    command = documents_server.command("ferretdb", "localhost:1", Path("/a folder"))
    assert "--telemetry=disable" in command
    (url,) = (part for part in command if part.startswith("--sqlite-url="))
    assert url == "--sqlite-url=file:/a%20folder/?_pragma=busy_timeout(60000)"
    servers = ROOT / "jobs/documents/src/main/java/org/assay/documents/Servers.java"
    assert "PATIENCE_S = 60;" in servers.read_text()


def test_documents_are_on_drives_when_they_are_put_and_have_one_copy():
    for promise in (KIND.promise({}, 3), KIND.promised_while_staging({}, 3)):
        assert (promise.copies, promise.reach) == (1, "drives")
    assert not KIND.copies_property


def test_short_lines_need_most_room():
    factors = [KIND.space_factor({}, line_bytes) for line_bytes in (400, 100, 12, None)]
    assert factors == sorted(factors)
    assert factors[-1] == factors[-2]


def test_a_trial_says_that_its_store_is_not_mongodb():
    store = DocumentTables(Path("hadoop"), {})
    assert isinstance(store, Doubtful)
    (doubt,) = store.doubts()
    assert "FerretDB on SQLite" in doubt.what
    assert doubt.severity > 0
    assert "MongoDB's protocol" in SERVICE.settings([])["documents.server"]
    about = subprocess.run([PREPARE, "--about"], capture_output=True, text=True, check=True).stdout
    assert about.startswith("FerretDB 1.24.2 (MongoDB's protocol")


def test_it_holds_tables_and_its_jobs_name_its_formats():
    assert not issubclass(DocumentTables, Files)
    assert DocumentTables(Path("hadoop"), {}).location("/run/input") == "documents:/run/input"
    assert STACK.trial_properties["mapreduce.job.inputformat.class"] == "org.assay.documents.LinesInputFormat"


def test_a_property_that_is_none_is_refused():
    SERVICE.check(EmbeddedSpec(), {"documents.assay.tasks": "3", DATABASE: "assay_output"}, ())
    with pytest.raises(BadInputError, match=r"documents\.assay\.task is no property of tables; did you mean"):
        SERVICE.check(EmbeddedSpec(), {"documents.assay.task": "1"}, ())


def test_a_server_that_ends_says_why_and_a_port_that_is_taken_is_another_try(tmp_path):
    log = tmp_path / "documents.log"
    reason = 'Failed to construct listener\t{"error":"listen tcp 127.0.0.1:1: bind: address already in use"}'
    log.write_text(
        f"2026-11-30T01:00:00Z\tINFO\tmain.go:1\tStarting\n2026-11-30T01:00:01Z\tERROR+4\tmain.go:2\t{reason}\n"
    )
    words = last_words(log, kind=DAEMON)
    assert reason in words
    assert _PORT_TAKEN.search(words)


def tools(folder, go):
    """A PATH with what the script uses, and a `go` that says this of itself; none for None."""
    folder.mkdir()
    for name in ("bash", "dirname", "head", "mkdir", "mktemp", "rm", "sed", "sort"):
        (folder / name).symlink_to(shutil.which(name))
    for name, says in {"mvn": "", **({"go": go} if go else {})}.items():
        (folder / name).write_text(f"#!/bin/bash\necho {says}\n")
        (folder / name).chmod(0o755)
    return str(folder)


@pytest.mark.parametrize(
    ("go", "sentence"),
    [
        (None, r"error: FerretDB [\d.]+ is built from its source, and there is no Go: install Go 1.24 or newer"),
        ("go1.19.8", r"error: FerretDB [\d.]+ needs Go 1.24, and \S+/go is 1.19.8: install Go 1.24 or newer"),
        ("go1.26", r"error: FerretDB's module is another than the pinned one"),
    ],
)
def test_a_go_that_can_not_build_it_is_refused_with_what_to_install(tmp_path, go, sentence):
    path = tools(tmp_path / "bin", go)
    done = subprocess.run(
        [PREPARE, tmp_path / "target"], env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert re.search(sentence, done.stderr)
    assert list((tmp_path / "target").iterdir()) == []


def test_one_version_of_the_driver_is_compiled_against_and_fetched():
    versions = {
        re.search("<driver.version>(.+)</driver.version>", (ROOT / folder / "documents" / "pom.xml").read_text())[1]
        for folder in ("jobs", "programs")
    }
    assert len(versions) == 1
