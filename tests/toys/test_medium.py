"""Proves that a kind of medium is one file: a toy from outside the package is planned, attached, watched and reported."""

import json

import pytest

from tests.toys import lifecycle

pytestmark = pytest.mark.slow
EXPERIMENT = """\
experiment: toys
workloads: triangles
datasets: {make: brightkite}
media:
  archive: {kind: tape, reels: 3}
  disk: directory
repetitions: 2
"""


@pytest.fixture(scope="module")
def outside(tmp_path_factory):
    python = lifecycle.outside(tmp_path_factory.mktemp("outside"), "medium", EXPERIMENT)
    assert python("-m", "tests.toys.lifecycle", "toys.yaml", "run") == ""
    return python


def test_its_options_are_in_the_plan_and_its_facts_and_doubts_in_the_records(outside):
    plan = json.loads((outside.home / "run" / "plan.json").read_text())
    specs = {json.dumps(medium, sort_keys=True) for trial in plan["trials"] for medium in trial["media"]}
    assert '{"kind": "tape", "name": "archive", "reels": 3}' in specs
    records = [json.loads(file.read_text()) for file in outside.home.glob("run/trials/*/record.json")]
    (record, _) = [one for one in records if one["trial"]["placement"]["name"] == "archive"]
    assert record["status"] == "finished", record["error"]
    assert record["media_facts"]["archive"]["drive"] == "TapeWorm 9"
    assert [doubt["kind"] for doubt in record["doubts"]] == ["tape-worn"]


def test_the_report_has_its_words_its_doubt_and_its_series(outside):
    said = outside("-m", "assay", "report", "run", "--verbose")
    assert "the tape (TapeWorm 9)" in said
    assert "Doubt: a tape of archive is worn." in said
    page = (outside.home / "run" / "report.html").read_text()
    assert "archive (3 reels of tape)" in page
    assert "archive: throughput, MB/s" in page


def test_mistakes_in_its_options_have_their_line(outside):
    wrong = {
        "{kind: tape, reels: 9}": "line 5: media.archive.reels is 9, and must be 8 or less",
        "{kind: tape, wheels: 1}": "line 5: unknown key 'wheels'; did you mean 'reels'?",
        "{kind: memory, reels: 1}": "line 5: reels belongs to a medium of kind tape, and this one is memory",
        "taep": "line 5: unknown kind of medium or profile 'taep'; did you mean 'tape'?",
    }
    names = []
    for number, written in enumerate(wrong):
        names.append(f"wrong-{number}.yaml")
        (outside.home / names[-1]).write_text(EXPERIMENT.replace("{kind: tape, reels: 3}", written))
    said = outside("-c", f"from tests.toys.lifecycle import mistakes; mistakes(*{names})")
    for line, message in zip(said.splitlines(), wrong.values(), strict=True):
        assert message in line


def test_its_options_are_in_the_schema(outside):
    properties = json.loads(outside("-m", "assay", "schema"))["$defs"]["MediumEntry"]["properties"]
    assert properties["reels"] == {
        "default": 1, "description": "Tape: the number of tapes.", "maximum": 8, "minimum": 1, "type": "integer",
    }  # fmt: skip
    assert properties["kind"]["enum"] == ["directory", "memory", "emulated", "tape"]
