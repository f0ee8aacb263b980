"""Holds the house style: sizes of functions and files, and what no file may contain."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PYTHON = sorted([*ROOT.glob("src/**/*.py"), *ROOT.glob("extras/**/*.py"), *ROOT.glob("benchmarks/*.py")])
JAVA = sorted(ROOT.glob("jobs/src/main/**/*.java"))

FUNCTION_LINES, FILE_LINES = 70, 600

FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "common"}


def functions(file):
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{file.relative_to(ROOT)}:{node.name}", (node.end_lineno or 0) - node.lineno + 1


def lines(file):
    return len(file.read_text().splitlines())


def test_there_is_something_to_check():
    assert len(PYTHON) > 20
    assert len(JAVA) > 5


def test_no_function_is_too_long():
    lengths = dict(pair for file in PYTHON for pair in functions(file))
    assert not {name: length for name, length in lengths.items() if length > FUNCTION_LINES}


def test_no_file_is_too_long():
    lengths = {str(file.relative_to(ROOT)): lines(file) for file in [*PYTHON, *JAVA]}
    assert not {name: length for name, length in lengths.items() if length > FILE_LINES}


def test_no_module_has_a_name_that_says_nothing():
    assert not [
        file for file in [*PYTHON, *JAVA] if FORBIDDEN_NAMES & {file.stem.lower(), *(p.lower() for p in file.parts)}
    ]


def without_encoding(call):
    """A call that reads or writes text in the encoding of whoever runs this."""
    given = {argument.arg: argument.value for argument in call.keywords}
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    asked = given.get("text", given.get("universal_newlines"))
    as_text = name in {"read_text", "write_text"} or (isinstance(asked, ast.Constant) and asked.value is True)
    return as_text and "encoding" not in given


def test_text_is_utf_8_whatever_the_locale():
    calls = [
        (file, node) for file in PYTHON for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)
    ]
    assert len(calls) > 1000
    assert not [f"{file.relative_to(ROOT)}:{call.lineno}" for file, call in calls if without_encoding(call)]


@pytest.mark.parametrize("words", ["T" + "ODO", "FIX" + "ME", "X" + "XX"])
def test_nothing_is_left_for_later_in_the_code(words):
    assert not [file for file in [*PYTHON, *JAVA] if re.search(rf"\b{words}\b", file.read_text())]
