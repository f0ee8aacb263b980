"""Proves that a report says what to type next and how long that takes, and that its commands name what the run kept."""

import pytest

from assay.report.again import further
from assay.report.gathered import gather
from assay.report.judged import judge
from assay.report.markdown import markdown
from assay.report.page import page_of
from assay.stats.comparison import compare
from assay.stats.sample import samples
from tests.report.made_runs import made_run, made_trials, write_run

WORKLOADS = ("triangles", "mutual-friends", "components")


def further_of(noise=0.03, times=None, **changes):
    _, records = made_run(made_trials(**changes), noise=noise, **({"times": times} if times else {}))
    return further(records, compare(samples(records)))


def test_what_is_not_significant_says_how_many_repetitions_would_find_5_percent_and_how_long_they_take():
    more = further_of(workloads=WORKLOADS, repetitions=8, noise=0.05, times={"hdd": 60.0, "ssd": 60.0})
    assert more.seconds == pytest.approx(more.repetitions * 6 * 12.5)
    assert more.words.startswith(f"{more.repetitions} more repetitions of all trials would find 5 %: about ")


def test_where_all_is_told_or_nothing_is_asked_there_is_nothing_to_type():
    assert further_of(repetitions=8) is None
    assert further_of(media=("ssd",), repetitions=2) is None


def test_the_page_and_the_text_have_the_commands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_COMMAND", "./assay")
    plan, records = made_run(made_trials(WORKLOADS, repetitions=2), times={"hdd": 60.0, "ssd": 60.0})
    folder = write_run("runs/first one", plan.model_copy(update={"options": ("--only", "cache=cold")}), records)
    html = page_of(run := gather(folder), judge(plan, records))
    assert "file was not kept with this run" in html
    folder.keep_experiment("experiment: test\n")
    html, text = page_of(run := gather(folder), judged := judge(plan, records)), markdown(run, judged)
    more = "./assay run 'runs/first one/experiment.yaml' --out 'runs/first one' --resume --only cache=cold --for "
    for words in (more, judged.further.words):
        assert words in html.replace("&#39;", "'")
        assert words in text
    again = "./assay run 'runs/first one/experiment.yaml' --out runs/again --only cache=cold\n./assay compare 'runs/first one' runs/again"
    assert again in html.replace("&#39;", "'")
    assert "was not kept" not in html
