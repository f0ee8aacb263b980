"""Proves that a kept summary is read only where it holds: of this code, of this record and of this plan."""

import json
import os
from zlib import crc32

import pytest

from assay.model.record import Amount
from assay.model.result import TrialResult
from assay.record.summaries import FILE, keep_summary, read_summaries
from assay.stats.trial_summary import summarise
from tests.builders import a_folder, a_plan, a_record, a_trial

FIRST, SECOND, THIRD = (a_trial(number) for number in (1, 2, 3))
SECONDS = {FIRST.id: 10.0, SECOND.id: 20.0, THIRD.id: 30.0}


@pytest.fixture
def folder(tmp_path):
    run = a_folder(tmp_path / "run", a_plan(SECOND, FIRST, THIRD))
    for trial in (FIRST, SECOND, THIRD):
        run.write(TrialResult(a_record(trial, SECONDS[trial.id]), [], []))
    return run


def read(folder, made=None):
    """The summaries; the names of the trials whose summaries were made go into `made`."""

    def make(record):
        if made is not None:
            made.append(record.trial.id)
        return summarise(record)

    summaries, damaged = read_summaries(folder, folder.plan(), make)
    assert not damaged
    return summaries


def made_again(folder):
    """The names of the trials whose summaries a reading makes; what it reads must be what the records say."""
    made = []
    summaries = read(folder, made)
    assert summaries == [summarise(folder.record(trial.id)) for trial in folder.plan().trials]
    return made


def test_summaries_are_made_once_and_stand_in_the_plans_order(folder):
    assert made_again(folder) == [SECOND.id, FIRST.id, THIRD.id]
    assert made_again(folder) == []
    assert [(one.id, one.elapsed_s) for one in read(folder)] == [
        (SECOND.id, 20.0), (FIRST.id, 10.0), (THIRD.id, 30.0),
    ]  # fmt: skip
    assert max(map(len, (folder.path / FILE).read_text().splitlines())) < 4096


def altered(change):
    """Alter the line of the second trial, with the checksum of the altered line."""

    def alter(line):
        content = json.loads(line)
        content.pop("crc")
        changed = change(content)
        rest = json.dumps(content if changed is None else changed)[1:]
        return f'{{"crc":{crc32(rest.encode())},{rest}\n'

    return alter


BAD_LINES = {
    "another figure under the old checksum": lambda line: line.replace('"elapsed_s":20.0', '"elapsed_s":11.0'),
    "no checksum": lambda line: "{" + line.partition(",")[2],
    "another version": altered(lambda line: line["of"].__setitem__(0, "0.0.9")),
    "another record, by its size": altered(lambda line: line["of"].__setitem__(1, 7)),
    "another record, by its time": altered(lambda line: line["of"].__setitem__(2, 7)),
    "another plan": altered(lambda line: line["of"].__setitem__(3, 7)),
    "no word of what it is of": altered(lambda line: line.pop("of") and None),
    "no summary": altered(lambda line: line.pop("summary") and None),
    "an unknown key": altered(lambda line: line["summary"].__setitem__("invented", 1)),
    "a figure that is none": altered(lambda line: line["summary"].__setitem__("elapsed_s", "long")),
    "a summary that is a list": altered(lambda line: line.__setitem__("summary", [])),
    "no trial": altered(lambda line: line.pop("trial") and None),
    "a trial that is none": altered(lambda line: line.__setitem__("trial", [])),
    "a trial that is not planned": altered(lambda line: line.__setitem__("trial", "0009-other")),
    "a list": altered(lambda line: [line]),
    "a number": altered(lambda _: 7),
    "half a line": lambda line: line[:100] + "\n",
    "half a line, and the next": lambda line: line[:100],
    "no text": lambda _: "\x00\udcff\n",
    "nothing": lambda _: "",
    "an empty line": lambda _: "\n",
    "the line twice, then another version of it": lambda line: (
        line + line + altered(lambda line: line["of"].__setitem__(0, "9"))(line)
    ),
}


@pytest.mark.parametrize("name", BAD_LINES)
def test_a_line_that_does_not_hold_is_made_again_and_the_others_stay(folder, name):
    read(folder)
    file = folder.path / FILE
    lines = file.read_text().splitlines(keepends=True)
    place = next(place for place, line in enumerate(lines) if SECOND.id in line)
    lines[place] = BAD_LINES[name](lines[place])
    file.write_text("".join(lines), errors="surrogateescape")
    expected = {SECOND.id, FIRST.id} if name.endswith("the next") else {SECOND.id}
    assert set(made_again(folder)) == expected
    assert made_again(folder) == []
    assert len(file.read_text().splitlines()) == 3, "lines that do not hold are gone"


def test_the_summary_of_a_record_that_is_another_is_made_again(folder):
    read(folder)
    place = folder.file(SECOND.id, "")
    for file in place.iterdir():
        file.unlink()
    place.rmdir()
    amounts = (Amount(probe="disk", subject="disk", series="busy_s", part="run", value=4.0),)
    folder.write(TrialResult(a_record(SECOND, 25.0, amounts=amounts), [], []))
    assert made_again(folder) == [SECOND.id]
    (other,) = (one for one in read(folder) if one.id == SECOND.id)
    assert (other.elapsed_s, other.busy_s) == (25.0, 4.0)


def test_a_summary_is_no_proof_that_the_plan_still_has_the_trial(folder):
    read(folder)
    folder.replace_plan(a_plan(FIRST, SECOND.model_copy(update={"cache": "warm"})))
    summaries, damaged = read_summaries(folder, folder.plan(), summarise)
    assert [one.id for one in summaries] == [FIRST.id]
    assert {one.folder.name: one.reason for one in damaged} == {
        SECOND.id: "its trial is not what the run's plan says: one of them was altered",
        THIRD.id: "the run's plan has no such trial",
    }


def test_a_record_that_is_gone_or_damaged_has_no_summary(folder):
    read(folder)
    folder.file(FIRST.id, "record.json").unlink()
    folder.file(SECOND.id, "record.json").write_text("{")
    summaries, damaged = read_summaries(folder, folder.plan(), summarise)
    assert [one.id for one in summaries] == [THIRD.id]
    assert {one.folder.name for one in damaged} == {FIRST.id, SECOND.id}


@pytest.mark.parametrize("kind", ["folder", "pipe", "link to nothing below a file"])
def test_where_no_summary_can_be_kept_a_run_is_read_as_elsewhere(folder, kind):
    file = folder.path / FILE
    if kind == "folder":
        file.mkdir()
    elif kind == "pipe":
        os.mkfifo(file)
    else:
        file.symlink_to(folder.path / "plan.json" / "nowhere")
    for _ in range(2):
        assert made_again(folder) == [SECOND.id, FIRST.id, THIRD.id]
    keep_summary(folder, summarise(folder.record(FIRST.id)))
    assert not file.is_file()


def test_the_summary_that_a_run_keeps_is_the_one_that_a_reading_would_make(folder):
    for trial in (THIRD, FIRST, SECOND):
        keep_summary(folder, summarise(folder.record(trial.id)))
    assert made_again(folder) == []
