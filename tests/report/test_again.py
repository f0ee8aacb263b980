"""Proves that a report says what to type next and how long that takes, and that its commands name what the run kept."""

import pytest

from assay.report.again import further
from assay.report.gathered import gather
from assay.report.judged import judge
from assay.report.markdown import markdown
from assay.report.page import page_of
from assay.stats.questions import asked
from assay.stats.sample import samples
from tests.report.made_runs import made_run, made_trials, write_run

WORKLOADS = ("triangles", "mutual-friends", "components")


def further_of(noise=0.03, times=None, **changes):
    _, records = made_run(made_trials(**changes), noise=noise, **({"times": times} if times else {}))
    return further(records, asked(samples(records)))


def test_one_repetition_says_how_many_can_tell_anything_and_how_long_that_takes():
    """Three comparisons: 4 against 4 trials tell at 1 of 35, which is too often, 5 against 5 at 1 of 126."""
    more = further_of(workloads=WORKLOADS, repetitions=1)
    assert (more.repetitions, more.at_all) == (4, True)
    assert more.seconds == pytest.approx(4 * 6 * 12.5)
    assert more.words == "no fewer than 4 more repetitions of all trials can tell anything: about 5:00 min"


def test_where_something_could_be_told_it_is_what_tells_5_percent():
    more = further_of(repetitions=8, noise=0.05, times={"hdd": 60.0, "ssd": 60.0})
    assert not more.at_all
    assert more.words.endswith(
        f"would tell 5 %: about {more.repetitions * 25 // 60}:{more.repetitions * 25 % 60:02d} min"
    )


def test_where_all_is_told_or_nothing_is_asked_there_is_nothing_to_type():
    assert further_of(repetitions=8) is None
    assert further_of(media=("ssd",), repetitions=2) is None


def test_the_page_and_the_text_have_the_commands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_COMMAND", "./assay")
    plan, records = made_run(made_trials(WORKLOADS, repetitions=1))
    folder = write_run("runs/first one", plan.model_copy(update={"options": ("--only", "cache=cold")}), records)
    html = page_of(run := gather(folder), judge(plan, records))
    assert "file was not kept with this run" in html
    folder.keep_experiment("experiment: test\n")
    html, text = page_of(run := gather(folder), judged := judge(plan, records)), markdown(run, judged)
    more = "./assay run 'runs/first one/experiment.yaml' --out 'runs/first one' --resume --only cache=cold --for 6min"
    for words in (more, "no fewer than 4 more repetitions of all trials can tell anything: about 5:00 min"):
        assert words in html.replace("&#39;", "'")
        assert words in text
    again = "./assay run 'runs/first one/experiment.yaml' --out runs/again --only cache=cold\n./assay compare 'runs/first one' runs/again"
    assert again in html.replace("&#39;", "'")
    assert "was not kept" not in html
