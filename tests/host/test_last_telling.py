"""Proves which line of a program's output is taken for the reason why it failed."""

import pytest

from assay.host.processes import last_telling


def is_error(line):
    return "ERROR" in line


def is_cause(line):
    return line.startswith("Caused by: ")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "silent"),
        (" \n\t\n", "silent"),
        ("one\n  two  \n\n", "two"),
        ("ERROR a\nERROR b\nlater\n", "ERROR b"),
        ("Caused by: x\nERROR b\nlater\n", "Caused by: x"),
    ],
)
def test_the_last_line_of_the_first_sign_that_any_line_has(text, line):
    assert last_telling(text, is_cause, is_error, silent="silent") == line


def test_without_signs_it_is_the_last_line():
    assert last_telling("ERROR a\nb\n", silent="silent") == "b"
