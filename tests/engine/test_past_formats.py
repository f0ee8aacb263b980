"""Proves that a form of past jobs is one kind: what it says of its files and jobs is all that triage needs of it."""

import io

import pytest

from assay.engine.past.formats import (
    FORMS,
    PastForm,
    Suggestion,
    attempts_of,
    is_beside,
    is_history,
    read_history_of,
    suggestions,
    why_no_history,
)
from assay.engine.past.job import PastJob
from assay.engine.past.made_histories import MadeJob, history
from assay.engine.past.mapreduce import read_job
from assay.engine.past.taken_over import TakenOver
from assay.model.errors import AssayError
from assay.triage.folder import in_folder


class TapeJob(PastJob):
    """A job of an engine that nobody has."""

    @property
    def engine(self):
        return "tapes"


def read(file):
    job = TapeJob(*read_job(io.BytesIO(history(MadeJob())), {}))
    return [job._replace(source=str(file), settings={"tapes": "3"})]


def attempts(file):
    raise AssayError("tapes have no attempts")


TAPES = PastForm(
    noun="tape",
    program="tapes",
    place="the tapes",
    is_named=lambda name: name.endswith(".tape"),
    is_head=lambda head: head.startswith(b"TAPE"),
    read=read,
    attempts=attempts,
    amounts="Of tapes all is read.",
    idle="rewinding",
    waits="waits for reels",
    taken_over=lambda settings: TakenOver(dict(settings)),
    rules=(lambda job: iter([Suggestion("reels", "more reels", f"tapes {job.settings['tapes']}")]),),
    is_beside=lambda name: name.endswith(".label"),
)


@pytest.fixture
def tapes(monkeypatch):
    monkeypatch.setitem(FORMS._read(), "tapes", TAPES)
    monkeypatch.setitem(FORMS._places, "tapes", 9)


def test_its_files_are_known_by_name_and_by_content(tapes, tmp_path):
    for name, text in {"a.tape": "", "b": "TAPE 1", "a.label": "x"}.items():
        (tmp_path / name).write_text(text)
    assert is_history("a.tape")
    assert is_beside("a.label")
    assert why_no_history(tmp_path / "b") == ""
    found = in_folder(tmp_path, 0, lambda _: None)
    assert [job.engine for job in found.jobs] == ["tapes", "tapes"]
    assert found.unread == []


def test_what_is_said_of_its_jobs_is_its_own(tapes, tmp_path):
    (tmp_path / "a.tape").touch()
    (job,) = read_history_of(tmp_path / "a.tape")
    assert [suggestion.counter for suggestion in suggestions(job)] == ["tapes 3"]
    with pytest.raises(AssayError, match="a.tape: tapes have no attempts; copy the file again"):
        attempts_of(tmp_path / "a.tape")


def test_without_it_they_are_no_histories(tmp_path):
    (tmp_path / "b").write_text("TAPE 1")
    assert why_no_history(tmp_path / "b") == "it is no job history: it begins with `TAPE 1`"
