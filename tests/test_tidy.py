"""Holds the house style: sizes of functions and files, and what no file may contain."""

import ast
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from assay.model.registry import SERVICES

ROOT = Path(__file__).parents[1]
PYTHON = sorted([*ROOT.glob("src/**/*.py"), *ROOT.glob("extras/**/*.py"), *ROOT.glob("benchmarks/*.py")])
JAVA = sorted(file for top in ROOT.glob("[!.]*") for file in top.rglob("*.java") if "target" not in file.parts)

FUNCTION_LINES, FILE_LINES = 70, 600

FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "common"}


@cache
def nodes(file):
    return [*ast.walk(ast.parse(file.read_text()))]


def functions(file):
    for node in nodes(file):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{file.relative_to(ROOT)}:{node.name}", (node.end_lineno or 0) - node.lineno + 1


def lines(file):
    return len(file.read_text().splitlines())


def test_there_is_something_to_check():
    assert len(PYTHON) > 20
    modules = {file.relative_to(ROOT).parts[:2] for file in JAVA}
    assert modules >= {("jobs", "src"), ("jobs", "hbase"), ("jobs", "spark"), ("direct", "src"), ("hadoop", "src")}


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="this is no checkout")
def test_all_java_of_the_repository_is_checked():
    names = subprocess.run(
        ["git", "ls-files", "-z", "*.java"], cwd=ROOT, check=True, capture_output=True
    ).stdout.decode()
    assert {ROOT / name for name in names.split("\0") if name and (ROOT / name).exists()} <= {*JAVA}


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="this is no checkout")
def test_nothing_that_is_made_here_is_kept_in_the_repository():
    ignored = subprocess.run(
        ["git", "ls-files", "--cached", "--ignored", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True
    )
    assert not ignored.stdout.decode().split()


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
    calls = [(file, node) for file in PYTHON for node in nodes(file) if isinstance(node, ast.Call)]
    assert len(calls) > 1000
    assert not [f"{file.relative_to(ROOT)}:{call.lineno}" for file, call in calls if without_encoding(call)]


@pytest.mark.parametrize("words", ["T" + "ODO", "FIX" + "ME", "X" + "XX"])
def test_nothing_is_left_for_later_in_the_code(words):
    assert not [file for file in [*PYTHON, *JAVA] if re.search(rf"\b{words}\b", file.read_text())]


# The services' own folders.
OF_SERVICES = {"store", "engine"}
# What else folders name: workloads are Hadoop's jobs, and inputs are made by some.
NAMED_IN = {"workload": {"mapreduce", "hdfs"}, "input": {"mapreduce", "hdfs"}}
# Lines elsewhere that name one all the same: examples of addresses and of commands, names that users write in experiments
# or that records have, a plug-in's own name, and the levels that are usual where an experiment names none.
NAMING_SERVICES = {
    "cli/past_jobs.py": 2,
    "cli/run_job.py": 5,
    "cli/triage.py": 1,
    "input/columns.py": 1,
    "model/fault.py": 1,
    "model/trial.py": 1,
    "node/ssh.py": 4,
    "plan/experiment.py": 1,
    "platform/cluster_keys.py": 2,
    "report/next_steps.py": 1,
    "triage/ranking.py": 1,
}


def service_names():
    """Of services and their daemons, but for the platform's own.

    Hadoop is what the jars and the configuration are called, the launcher is how any engine starts processes.
    """
    services = [service for name, service in SERVICES.items() if name not in {"hadoop", "launcher"}]
    return sorted(
        {service.name for service in services} | {one.role for service in services for one in service.daemons}
    )


def test_services_are_named_where_they_live_alone():
    package = ROOT / "src" / "assay"
    sources = [*package.glob("**/*.py"), *package.glob("**/*.j2")]
    files = {
        **{
            str(file.relative_to(package)): file
            for file in sources
            if file.relative_to(package).parts[0] not in OF_SERVICES
        },
        "setup/prepare": ROOT / "setup" / "prepare",
    }
    counts = {}
    for name, file in files.items():
        named = set(service_names()) - NAMED_IN.get(name.partition("/")[0], set())
        names = re.compile("|".join(map(re.escape, sorted(named))), re.IGNORECASE)
        counts[name] = sum(names.search(line) is not None for line in file.read_text().splitlines())
    naming = {name: count for name, count in counts.items() if count}
    assert naming == NAMING_SERVICES, f"a service is named outside of {', '.join(sorted(OF_SERVICES))}"
