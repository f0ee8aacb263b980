"""Proves that numbers are written as people read them, and that marks on the terminal have a legend."""

import io
import re

import pytest
from rich.console import Console

from assay.report.analysis import analyse
from assay.report.markdown import rows_table
from assay.report.terminal import print_answers, print_report
from assay.report.words import clipped, duration_text, job_name, shown_level
from tests.builders import a_measured_run, summaries
from tests.report.made_runs import decided_run, made_run, made_trials, page


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.4, "0 s"), (25, "25 s"), (59.4, "59 s"), (59.6, "1:00 min"), (385, "6:25 min"), (3600, "1 h 00 min"),
        (9000, "2 h 30 min"),
    ],
)  # fmt: skip
def test_durations_have_the_units_of_their_size(seconds, text):
    assert duration_text(seconds) == text


LONG, OTHER = "a" * 20 + "b" * 60 + "c" * 20, "a" * 20 + "d" * 60 + "c" * 20


def test_long_values_of_options_keep_their_ends_and_a_hash():
    assert clipped("a" * 40) == "a" * 40
    assert re.fullmatch("a{20}…c{12}#[0-9a-f]{6}", clipped(LONG))
    assert clipped(LONG) != clipped(OTHER)
    level = shown_level("options", f"files=1 pattern={LONG} rest=x y z=1")
    assert level == f"files=1 pattern={clipped(LONG)} rest=x y z=1"
    assert shown_level("options", "k=1 points=2") == "k=1 points=2"
    assert shown_level("placement", f"x={LONG}") == f"x={LONG}"


def test_a_class_is_named_by_its_last_part_however_long_it_is():
    levels = {"workload": "command", "options": f"class=org.{'x' * 60}.Sessions jar=s.jar"}
    assert job_name(levels) == "Sessions"


def test_reports_tell_workloads_apart_whose_long_options_differ_within_and_show_neither_whole():
    trials = []
    for trial in made_trials(("grep", "grep"), repetitions=4):
        value = LONG if trial.number % 4 in {1, 2} else OTHER
        spec = trial.workload.model_copy(update={"options": {"pattern": value}})
        trials.append(trial.model_copy(update={"workload": spec}))
    plan, records = made_run(trials)
    analysis = analyse(a_measured_run(plan, records))
    console = Console(file=io.StringIO(), width=120)
    print_report("demo", summaries(records), analysis, console, verbose=True)
    # The page's data, which can be downloaded, have them whole.
    shown_page = re.sub(r"<script.*?</script>", "", page(plan, records, []), flags=re.DOTALL)
    for text in (console.file.getvalue(), rows_table(analysis.rows), shown_page):
        assert LONG not in text
        assert OTHER not in text
        assert clipped(LONG) in text
        assert clipped(OTHER) in text


@pytest.mark.parametrize(("noise", "marked"), [(0.5, True), (0.001, False)])
def test_the_terminal_says_what_square_brackets_mean_where_it_has_any(noise, marked):
    times = {"hdd": 60.0, "ssd": 40.0, "zero-delay": 30.0}
    console = Console(file=io.StringIO(), width=120)
    print_answers(analyse(a_measured_run(*decided_run(noise=noise, times=times, repetitions=4))), console, verbose=True)
    told = console.file.getvalue()
    assert "storage share" in told
    assert (" [" in told) == ("In square brackets: not significant." in told) == marked
