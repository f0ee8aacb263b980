"""Proves that numbers are written as people read them, and that marks on the terminal have a legend."""

import io

import pytest
from rich.console import Console

from assay.report.analysis import analyse
from assay.report.terminal import print_answers
from assay.report.words import duration_text
from tests.builders import a_measured_run
from tests.report.made_runs import decided_run


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.4, "0 s"), (25, "25 s"), (59.4, "59 s"), (59.6, "1:00 min"), (385, "6:25 min"), (3600, "1 h 00 min"),
        (9000, "2 h 30 min"),
    ],
)  # fmt: skip
def test_durations_have_the_units_of_their_size(seconds, text):
    assert duration_text(seconds) == text


@pytest.mark.parametrize(("noise", "marked"), [(0.5, True), (0.001, False)])
def test_the_terminal_says_what_square_brackets_mean_where_it_has_any(noise, marked):
    times = {"hdd": 60.0, "ssd": 40.0, "zero-delay": 30.0}
    console = Console(file=io.StringIO(), width=120)
    print_answers(analyse(a_measured_run(*decided_run(noise=noise, times=times, repetitions=4))), console, verbose=True)
    told = console.file.getvalue()
    assert "storage share" in told
    assert (" [" in told) == ("In square brackets: not significant." in told) == marked
