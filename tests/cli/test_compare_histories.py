"""Proves the command from end to end: histories to one screen or JSON, and what it refuses."""

import json
from datetime import datetime, timedelta

import click
import pytest
from click.testing import CliRunner

from assay.cli import cli
from assay.cli.compare_histories import ChangedAt, lines_of, saving_words
from assay.engine.past.made_histories import MadeJob, write_history
from assay.model.errors import BadInputError
from assay.stats.before_after import ChangeVerdict
from assay.stats.noise import ConfidenceInterval
from assay.triage.changed import Change, HistoriesChange, JobChange, Ratio

BEGAN = datetime(2026, 11, 15, 22).astimezone()
CHANGED = "2026-11-18"
GIB = 1 << 30


@pytest.fixture
def done(tmp_path, monkeypatch):
    """Three nights before a change and three after: a job that moves much, and one that computes, which drift by 5 %."""
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.delenv("ASSAY_COMMAND", raising=False)
    folder = tmp_path / "done"
    folder.mkdir()
    for night in range(6):
        drift = (1.05 if night > 2 else 1.0) * (1 + 0.001 * (night % 2))
        for place, (name, cpu, size, saved) in enumerate([("sort", 0.3, 400 * GIB, 0.3), ("train", 0.97, GIB, 0.0)]):
            length_ms = round(300_000 * drift * (1 - saved if night > 2 else 1))
            made = MadeJob(
                number=10 * night + place, name=f"{name} 2026-11-{15 + night}", maps=24, reduces=6, nodes=12, slots=192,
                map_ms=length_ms, reduce_ms=length_ms, cpu=cpu, read_bytes=size, map_output_bytes=size,
                written_bytes=size, submitted_ms=round((BEGAN + timedelta(days=night)).timestamp() * 1000),
            )  # fmt: skip
            write_history(folder, made)
    return folder


def assay(*words):
    done = CliRunner().invoke(
        cli, ["compare-histories", *map(str, words)], standalone_mode=False, catch_exceptions=False
    )
    return done.stdout


def test_it_says_whether_the_change_helped(done):
    text = assay("--history", done, "--changed", CHANGED, "--drives", "12xhdd", "--cores", 16)
    assert text.startswith("1 job that the change may touch: helped. 30 % less time (95 % interval ")
    words = " ".join(text.split())
    assert "3 nights before 2026-11-18 12:00" in words
    assert "1 control, which the change cannot touch, took 5 % more time (95 % interval " in words
    assert "Next: keep the change." in words
    lines = [line.split() for line in text.splitlines()]
    assert ["job", "time", "input", "plain", "ratio", "interval", "verdict", "stages"] in lines
    (sort,) = (line for line in lines if line[:1] == ["sort"])
    assert "helped" in sort
    assert [line[-5] for line in lines if line[:1] == ["train"]] == ["control"]


def test_json_has_all_digits(done):
    answer = json.loads(assay("--history", done, "--changed", CHANGED, "--drives", "12xhdd", "--cores", 16, "--json"))
    assert answer["total"]["verdict"] == "helped"
    assert answer["total"]["ratio"] == pytest.approx(0.7, abs=0.01)
    assert answer["drift"]["ratio"] == pytest.approx(1.05, abs=0.01)
    assert {row["job"]: row["control"] for row in answer["jobs"]} == {"sort": False, "train": True}
    assert answer["jobs"][0]["stages"].keys() == {"map", "reduce"}


def test_what_advice_had_said_stands_beside_what_was_seen(done, tmp_path):
    before = ("advise", "--history", str(done), "--drives", "1xhdd", "--json")
    written = CliRunner().invoke(cli, before, standalone_mode=False, catch_exceptions=False)
    advice = tmp_path / "advice.json"
    advice.write_text(written.stdout)
    words = ("--history", done, "--changed", CHANGED, "--control", "train", "--advised", advice)
    words = (*words, "--done", "local-directories-on-ssd")
    text = " ".join(assay(*words).split())
    assert "Advice had foretold of 1 SSD a node for local directories: " in text
    assert ". Seen: 3" in text
    answer = json.loads(assay(*words, "--json"))["advised"]
    assert [job["job"] for job in answer["jobs"]] == ["sort"]
    assert answer["jobs"][0]["seen"] == pytest.approx(1 - answer_ratio(words))


def answer_ratio(words):
    (sort,) = [row for row in json.loads(assay(*words, "--json"))["jobs"] if row["job"] == "sort"]
    return sort["change"]["ratio"]


def test_named_controls_are_those_and_no_others(done):
    answer = json.loads(assay("--history", done, "--changed", CHANGED, "--control", "sort", "--json"))
    assert [row["job"] for row in answer["jobs"] if row["control"]] == ["sort"]
    assert answer["unseen"] == 0


def test_what_is_no_history_is_said(done):
    (done / "notes.txt").write_text("notes")
    assert "1 files tell of no job: " in " ".join(assay("--history", done, "--changed", CHANGED).split())


def test_a_date_means_noon_and_a_time_itself():
    converted = [ChangedAt().convert(text, None, None) for text in ("2026-11-18", "2026-11-18T20:00")]
    assert converted[1] - converted[0] == 8 * 3_600_000
    assert datetime.fromtimestamp(converted[0] / 1000).astimezone().hour == 12
    with pytest.raises(click.BadParameter, match="is no time"):
        ChangedAt().convert("yesterday", None, None)


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        (["--changed", CHANGED, "--changed", "2026-11-19"], click.UsageError, "one change is judged at a time"),
        (["--changed", CHANGED, "--worth", "0%"], click.UsageError, "no number of nights shows"),
        (["--changed", CHANGED, "--done", "ssd"], click.UsageError, "--done names an alternative of --advised"),
        (["--changed", CHANGED, "--advised", "none.json"], BadInputError, "none.json can't be read"),
        (["--changed", "2026-11-01"], BadInputError, "has no run before it"),
        (["--changed", "2026-12-24"], BadInputError, "has no run after it"),
        (["--changed", CHANGED, "--since", "2026-11-17T12:00"], BadInputError, "there is 1 night before"),
        (["--changed", CHANGED, "--until", "2026-11-19T12:00"], BadInputError, "there is 1 night after"),
        (["--changed", CHANGED, "--drives", "12xfloppy"], BadInputError, "known are"),
        ([], click.UsageError, "Missing option '--changed'"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(done, words, error, message):
    with pytest.raises(error) as raised:
        assay("--history", done, *words)
    text = raised.value.format_message() if isinstance(raised.value, click.ClickException) else str(raised.value)
    assert message in text


def an_answer(verdict=ChangeVerdict.NOT_KNOWN, more_nights=5, drift=True, jobs=3, **changes):
    change = Change(
        ratio=0.92, interval=ConfidenceInterval(low=0.81, high=1.04), verdict=verdict, more_nights=more_nights
    )
    rows = tuple(
        JobChange(
            job=f"job with a rather long name {number}", control=drift and number > 0, runs_before=7, runs_after=7,
            seconds=600.0, input_ratio=1.2, plain_ratio=0.9, change=change, stages={},
        )
        for number in range(jobs)
    )  # fmt: skip
    ratio = Ratio(ratio=1.02, interval=ConfidenceInterval(low=0.99, high=1.05))
    answer = HistoriesChange(
        changed_ms=1_795_226_400_000, nights_before=7, nights_after=7, worth=0.1, total=change, batch=None, batch_s=0.0,
        drift=ratio if drift else None, unseen=0.0, jobs=rows, remarks=(),
    )  # fmt: skip
    return answer.model_copy(update=changes)


def said(answer, width=120):
    return " ".join(" ".join(lines_of(answer, width)).split())


@pytest.mark.parametrize(
    ("answer", "first", "following"),
    [
        (an_answer(), "not known: 5 more nights would tell. 8 % less time (95 % interval -4 to 19 % less).",
         "compare again after 5 more nights."),
        (an_answer(more_nights=None), "not known, and 60 more nights would not tell.", "read more nights from before"),
        (an_answer(ChangeVerdict.NO_DIFFERENCE, None), "no difference of 10 % or more.", "spend nothing more"),
        (an_answer(ChangeVerdict.LONGER, None), "took longer.", "look what else changed"),
        (an_answer(ChangeVerdict.CHANGED, None, drift=False), "changed, but nobody knows by what.", "name with --control"),
        (an_answer(drift=False, more_nights=None), "not known, as there is no control.", "name with --control"),
        (an_answer(total=None), "not known, as too few of their nights have a control.", "read more nights"),
    ],
)  # fmt: skip
def test_what_each_verdict_says_and_what_to_do_with_it(answer, first, following):
    text = said(answer)
    assert f"the change may touch: {first}" in text
    assert f"Next: {following}" in text


def test_what_the_change_may_have_saved_the_controls_is_said():
    assert "may have saved them up to 3 % too" in said(an_answer(unseen=0.03))


@pytest.mark.parametrize(
    ("ratio", "low", "high", "words"),
    [
        (0.79, 0.71, 0.88, "21 % less time (95 % interval 12 to 29 % less)"),
        (1.2, 0.9, 1.6, "20 % more time (95 % interval -10 to 60 % more)"),
    ],
)
def test_a_ratio_in_words(ratio, low, high, words):
    assert saving_words(Ratio(ratio=ratio, interval=ConfidenceInterval(low=low, high=high))) == words


@pytest.mark.parametrize("width", [80, 120])
def test_many_jobs_and_remarks_fit_on_one_screen(width):
    answer = an_answer(
        jobs=90, remarks=tuple("a remark of some length, as most of them have, of jobs" for _ in range(9))
    )
    lines = [line for text in lines_of(answer, width) for line in text.splitlines() or [""]]
    assert sum(-(-len(line) // width) for line in lines) <= 48
    assert len([*lines_of(answer, width, verbose=True)]) > 90
    text = " ".join(lines)
    assert "more jobs: --verbose and --json have all" in text
    assert "And 5 more remarks" in text
