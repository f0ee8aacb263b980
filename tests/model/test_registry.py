"""Proves that a plug-in's kinds are there without anybody naming it, also one from outside the package, and that names are unique."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from assay.model.errors import BadInputError
from assay.model.plugins import Registry
from assay.model.registry import COMMANDS

ROOT = Path(__file__).parents[2]
TOY = """
import click
from assay.model.registry import COMMANDS, Command

@click.command()
def greet():
    "Greet the user."
    click.echo("hello")

COMMANDS.add("greet", Command(greet))
"""
SUBCOMMANDS = """
import click
from assay.model.registry import COMMANDS, Command

@click.command()
def weigh():
    "Weigh a medium."
    click.echo("heavy")

COMMANDS.add("media weigh", Command(weigh))
COMMANDS.add("media list", Command(weigh))
"""
WORKLOAD = """
from assay.model.registry import WORKLOADS
from assay.workload.grep import Grep

class Aardvark(Grep):
    summary = "looks for ants"

WORKLOADS.add("aardvark", Aardvark)
"""


@pytest.fixture
def assay(tmp_path):
    """Runs the command line with a folder of the user's own on Python's path, beside the checkout's extras."""

    def run(*words):
        path = os.pathsep.join(map(str, (ROOT / "src", ROOT / "extras", tmp_path)))
        return subprocess.run(
            [sys.executable, "-m", "assay", *words], env={**os.environ, "PYTHONPATH": path}, capture_output=True,
            text=True, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    (tmp_path / "assay_extras").mkdir()
    return run


def test_kinds_are_in_the_order_of_places_and_names_whenever_they_were_added_and_looked_up_by_name():
    shapes = Registry("shape")
    shapes.add("square", 4)
    shapes.add("circle", 0)
    shapes.add("triangle", 3, place=1)
    assert (list(shapes), shapes["square"], shapes.find("triangle")) == (["triangle", "circle", "square"], 4, 3)
    with pytest.raises(BadInputError, match="there is no shape 'sqare'; did you mean 'square'"):
        shapes.find("sqare")
    with pytest.raises(
        BadInputError, match=f"two kinds of shape with the name 'square', from {__name__} and {__name__};"
    ):
        shapes.add("square", 5)
    shapes.add_late("square", lambda: 6)
    with pytest.raises(
        BadInputError, match=f"two kinds of shape with the name 'square', from {__name__} and {__name__};"
    ):
        list(shapes)


def test_the_core_has_its_own_kinds_before_those_of_plug_ins(tmp_path, monkeypatch):
    (tmp_path / "shapes_at_home").mkdir()
    (tmp_path / "shapes_at_home" / "__init__.py").write_text(
        "from assay.model.registry import Registry\nSHAPES = Registry('shape', __name__)\n"
    )
    (tmp_path / "shapes_at_home" / "square.py").write_text(
        "from shapes_at_home import SHAPES\nSHAPES.add('square', 4)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    from shapes_at_home import SHAPES

    assert dict(SHAPES) == {"square": 4}


def test_after_a_failed_import_a_registry_is_never_read_as_if_it_were_whole(tmp_path, monkeypatch):
    (tmp_path / "broken_home").mkdir()
    (tmp_path / "broken_home" / "__init__.py").write_text("import no_such_module\n")
    monkeypatch.syspath_prepend(tmp_path)
    shapes = Registry("shape", "broken_home")
    shapes.add("square", 4)
    for _ in range(2):
        with pytest.raises(BadInputError, match="broken_home can't be imported"):
            list(shapes)


def test_extras_of_the_checkout_are_found():
    assert "memory" in COMMANDS


@pytest.mark.slow
def test_a_plug_in_outside_the_package_adds_a_command(assay, tmp_path):
    (tmp_path / "assay_extras" / "toy.py").write_text(TOY)
    assert assay("greet").stdout == "hello\n"
    told = assay("--help").stdout
    assert told.index("  doctor ") < told.index("  greet ") < told.index("  memory ")


@pytest.mark.slow
def test_a_plug_in_adds_a_command_to_a_group_of_the_core_and_takes_none_from_it(assay, tmp_path):
    (tmp_path / "assay_extras" / "toy.py").write_text(SUBCOMMANDS)
    assert assay("media", "weigh").stdout == "heavy\n"
    listed = assay("media", "--help").stdout
    assert listed.index("calibrate") < listed.index("list ") < listed.index("weigh      Weigh a medium.")
    assert "List the drive profiles" in assay("media", "list", "--help").stdout
    assert "weigh" not in assay("--help").stdout


@pytest.mark.slow
def test_a_broken_plug_in_is_named(assay, tmp_path):
    (tmp_path / "assay_extras" / "broken.py").write_text("import nothing_of_this_name\n")
    ended = assay("--help")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == (
        "assay: assay_extras.broken can't be imported: No module named 'nothing_of_this_name'; repair it, or remove it from "
        "Python's path\n"
    )


@pytest.mark.slow
def test_a_workload_outside_the_package_is_listed_after_the_core_s_and_is_one_that_experiments_may_name(
    assay, tmp_path
):
    (tmp_path / "assay_extras" / "toy.py").write_text(WORKLOAD)
    listed = json.loads(assay("workloads", "list", "--json").stdout)
    assert [one["name"] for one in listed][-2:] == ["command", "aardvark"]
    schema = json.loads(assay("schema").stdout)
    assert "aardvark" in schema["$defs"]["WorkloadEntry"]["properties"]["name"]["enum"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("1 / 0", "assay_extras.toy can't be imported: ZeroDivisionError: division by zero; repair it"),
        ("def", "assay_extras.toy can't be imported: SyntaxError"),
        ("WORKLOADS.add('mine', {'kind': ['grep']})", "assay_extras.toy: the workload 'mine' is of type dict"),
        ("WORKLOADS.add('mine', type('Mine', (Grep,), {'known_options': 7}))", "has no `known_options.items`"),
        ("WORKLOADS.add(['mine'], Grep)", "the name of a workload is ['mine'], and must be a printable text"),
        ("WORKLOADS.add('mine', type('Mine', (Grep,), {}), place='first')", "'mine' is 'first', and must be a whole"),
        ("STORES.add('hdfs', STORES)", "the store 'hdfs' is of type Registry and has no `open`"),
        ("COMMANDS.add('mine', Command('echo'))", "the command 'mine' is of type Command and has no"),
        ("[registry.add('x', None) for registry in (PROBES,)]", "the probe 'x' is of type NoneType and has no `make`"),
        ("SECTIONS.add('x', 'y'); FACTS.add('x', 7)", "the section 'x' is of type str and has no `__call__`"),
    ],
)
def test_a_plug_in_that_adds_nonsense_is_named_with_what_is_wrong(assay, tmp_path, source, why):
    first = "from assay.model.registry import *\nfrom assay.model.registry import Command\n"
    grep = "from assay.workload.grep import Grep\n" if "Grep" in source else ""
    (tmp_path / "assay_extras" / "toy.py").write_text(first + grep + source + "\n")
    ended = assay("workloads", "list")
    assert (ended.returncode, ended.stderr.count("\n")) == (2, 1), ended.stderr
    assert why in ended.stderr


def test_a_kind_that_is_made_late_and_is_none_is_refused_each_time():
    shapes = Registry("shape", parts=("corners",))
    shapes.add_late("square", lambda: 4)
    for _ in range(2):
        with pytest.raises(BadInputError, match="the shape 'square' is of type int and has no `corners`"):
            list(shapes)
