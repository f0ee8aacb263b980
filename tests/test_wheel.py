"""Proves that each command runs where only what set-up or the wheel brings for it is installed, and says what it lacks.

An environment of its own has these distributions and no others: developers have them all, and would see no fault.
"""

import ast
import json
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from importlib import metadata
from pathlib import Path

import click
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import assay
from assay.cli import NEEDS_CHECKOUT, cli
from assay.engine.past.made_histories import MadeJob, write_history
from assay.model.registry import COMMANDS
from assay.model.result import TrialResult
from assay.record.folder import RunFolder
from tests.builders import a_plan, a_record, a_trial

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.slow
MEASURING = {"networkit", "inotify-simple"}
"""What the part `libraries` has beyond the wheel's dependencies, each with what it needs itself."""


def pinned(name):
    """The distributions that a file of requirements names, and those of the file that it includes."""
    lines = (ROOT / name).read_text().splitlines()
    included = {other for line in lines if line.startswith("-r ") for other in pinned(line.removeprefix("-r "))}
    return included | {canonicalize_name(line.partition("==")[0]) for line in lines if "==" in line}


def dependencies():
    """Those that the wheel asks for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return {canonicalize_name(Requirement(line).name) for line in project["dependencies"]}


def with_theirs(names):
    """These distributions with all that they ask for in turn."""
    every, left = set(), set(names)
    while left:
        every.add(name := left.pop())
        asked = map(Requirement, metadata.requires(name) or ())
        left |= {canonicalize_name(one.name) for one in asked if not one.marker or one.marker.evaluate({"extra": ""})}
        left -= every
    return every


def test_what_set_up_installs_is_what_the_wheel_asks_for_and_what_measuring_needs_beside_it():
    assert pinned("requirements-read.txt") == with_theirs(dependencies())
    assert pinned("requirements.txt") == with_theirs(dependencies() | MEASURING)


def test_each_library_that_the_code_imports_is_installed_with_it():
    trees = [ast.walk(ast.parse(file.read_text())) for top in ("src", "extras") for file in (ROOT / top).rglob("*.py")]
    nodes = [node for tree in trees for node in tree]
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and not node.level}
    tops = {name.partition(".")[0] for name in names} - sys.stdlib_module_names - {"assay", "assay_extras"}
    providers = metadata.packages_distributions()
    distributions = {canonicalize_name(name) for top in tops for name in providers.get(top, [top])}
    assert dependencies() < distributions <= pinned("requirements.txt")


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """A Python that has what the first part of set-up installs, and nothing else."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, symlinks=True, with_pip=False)
    site = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    for name in pinned("requirements-read.txt"):
        distribution = metadata.distribution(name)
        for top in {file.parts[0] for file in distribution.files or ()} - {"..", "__pycache__"}:
            (site / top).symlink_to(distribution.locate_file(top))
    return folder / "bin" / "python"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A folder for PYTHONPATH with what the wheel holds."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, stdin=subprocess.DEVNULL)
    (wheel,) = folder.glob("*.whl")
    assert wheel.name == f"assay-{assay.__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


@pytest.fixture
def run(tmp_path):
    """A recorded run."""
    folder = RunFolder(tmp_path / "run")
    trials = [a_trial(1), a_trial(2, medium="memory")]
    folder.create(a_plan(*trials))
    for trial in trials:
        folder.write(TrialResult(a_record(trial), [], []))
    return folder.path


@pytest.fixture
def start(bare, tmp_path):
    """Runs that Python without a JDK, Hadoop or any other program; its output, or its errors where one is wanted."""
    places = {"XDG_CACHE_HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path), "HOME": str(tmp_path)}
    alone = {**places, "PATH": str(tmp_path / "bin"), "https_proxy": "http://127.0.0.1:9"}

    def run_python(*arguments, code=0, **variables):
        done = subprocess.run(
            [bare, *map(str, arguments)], cwd=tmp_path, env={**alone, **variables}, check=False, capture_output=True,
            text=True, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == code, done.stderr
        return done.stderr if code else done.stdout

    return run_python


@pytest.fixture
def python(start, wheel):
    """Runs Python where the wheel is installed."""
    return lambda *arguments, code=0: start(*arguments, code=code, PYTHONPATH=str(wheel))


def test_it_reads_a_run_and_is_the_same_source(python, run):
    assert python("-m", "assay", "--version") == f"assay {assay.__version__}\n"
    assert "2 of 2 trials" in python("-m", "assay", "report", run)
    assert "<html" in (run / "report.html").read_text()
    shutil.copytree(run, again := run.with_name("again"), dirs_exist_ok=True)
    assert "triangles" in python("-m", "assay", "compare", run, again)
    assert python("-c", f"import assay; print(len(assay.load({str(run)!r}).trials))") == "2\n"


def test_its_schema_is_that_of_the_checkout(python):
    assert python("-m", "assay", "schema") == (ROOT / "docs" / "reference" / "experiment.schema.json").read_text()


def test_it_lists_datasets_and_workloads(python):
    assert "brightkite" in python("-m", "assay", "data", "list")
    assert "terasort" in python("-m", "assay", "workloads", "list")


LACKED = "a checkout, and this is the installed package, which only reads records and histories"
EACH_IN_TURN = """
import contextlib, io, json, sys, traceback
from assay.cli import main

said = []
for words in json.loads(sys.argv[1]):
    output, sys.argv = io.StringIO(), ["assay", *words]
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        try:
            code = main()
        except SystemExit as ended:
            code = ended.code
        except BaseException:
            code = traceback.format_exc()
    said.append((code or 0, output.getvalue()))
print(json.dumps(said))
"""
"""One Python for all: to start it takes longer than they do."""
FORMATS = ("html", "md", "csv", "json")
FIRST_STEPS = {
    "advise": ["advise --history done --drives 12xhdd --ssd-price 500 --node-price 11000"],
    "compare": ["compare run again"],
    "compare-histories": ["compare-histories --history done --changed 2026-11-20"],
    "compare-nodes": ["compare-nodes worker-1 --history done"],
    "data check": ["data check graph.txt"],
    "data get": ["data get brightkite"],
    "data list": ["data list", "data list --json"],
    "data make": ["data make brightkite --scale 0.1"],
    "direct plan": ["direct plan --history done --drives 12xhdd --ssd-size 400GB"],
    "direct status": ["direct status"],
    "direct undo": ["direct undo"],
    "experiments": ["experiments", "experiments three-drives"],
    "memory release": ["memory release"],
    "report": ["report run", *(f"report run --format {form}" for form in FORMATS)],
    "runs": ["runs ."],
    "schema": ["schema"],
    "studies": ["studies run"],
    "triage": ["triage --history done --drives 12xhdd", "triage --history http://127.0.0.1:9"],
    "workloads list": ["workloads list"],
    "workloads show": ["workloads show triangles"],
}
"""Of each command that needs Python alone: what makes it do its work."""
REFUSED = {
    "compare-histories --history done --changed 2026-11-20": 2, "data get brightkite": 2, "direct status": 2,
    "direct undo": 2, "studies run": 2, "triage --history http://127.0.0.1:9": 2,
}  # fmt: skip
"""There is no network, nothing was applied, the histories are of one night, and the run is none of a study."""
NOT_TRIED = {"memory hold"}
"""It would take the machine's free memory."""


def commands(group, path=()):
    """All commands below a group, each as its words."""
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        yield from commands(command, (*path, name)) if isinstance(command, click.Group) else [(*path, name)]


def of_python_alone(words):
    """Whether set-up prepares nothing else for a command."""
    return subprocess.check_output([ROOT / "setup" / "prepare", "parts", *words], text=True).split() == ["venv"]


def test_the_first_steps_of_all_commands_that_need_python_alone_are_known():
    assert {" ".join(words) for words in commands(cli) if of_python_alone(words)} == FIRST_STEPS.keys() | NOT_TRIED


@pytest.mark.parametrize("place", ["wheel", "checkout"])
def test_each_command_does_its_work_with_what_is_installed_for_it(place, start, wheel, run, tmp_path):
    (tmp_path / "done").mkdir()
    for number, form in enumerate(("binary", "json")):
        write_history(tmp_path / "done", MadeJob(number=number + 1, maps=16, reduces=4, nodes=4, slots=4), form)
    (tmp_path / "graph.txt").write_text("1 2\n2 3\n3 1\n")
    shutil.copytree(run, run.with_name("again"), dirs_exist_ok=True)
    measuring = {name for name, kind in COMMANDS.items() if kind.needs_checkout} | NEEDS_CHECKOUT
    of_checkout = {name for name in FIRST_STEPS if name in measuring or name.split()[0] in measuring}
    steps = [
        step for name, steps in FIRST_STEPS.items() if place == "checkout" or name not in of_checkout for step in steps
    ]
    variables = {"PYTHONPATH": str(wheel)}
    if place == "checkout":
        variables = {"PYTHONPATH": f"{ROOT}/src:{ROOT}/extras", "ASSAY_ROOT": str(ROOT)}
    said = json.loads(start("-c", EACH_IN_TURN, json.dumps([step.split() for step in steps]), **variables))
    ends = {step: (code, text) for step, (code, text) in zip(steps, said, strict=True)}
    unlike = {step: end for step, end in ends.items() if end[0] != REFUSED.get(step, 0)}
    assert not unlike, json.dumps(unlike, indent=1)


def test_what_measures_is_refused_with_where_it_can_be_had_and_explained_all_the_same(python):
    names = ["quickstart", "run", "doctor", "cluster", "media", "memory", "experiments"]
    asked = [[command, *(["up"] if command in {"cluster", "media", "memory"} else [])] for command in names]
    said = json.loads(python("-c", EACH_IN_TURN, json.dumps([*asked, *([command, "--help"] for command in names)])))
    assert said[: len(names)] == [
        [2, f"assay: assay {command} needs {LACKED}; clone Assay's repository and run ./assay {command} there\n"]
        for command in names
    ]
    assert all(code == 0 and "Usage: assay" in text for code, text in said[len(names) :])
    assert python("-m", "assay", "doctor", code=2) == said[2][1]


def test_help_imports_nothing_that_takes_long(python):
    code = """if True:
        import atexit, sys, assay.cli
        atexit.register(lambda: print(sorted({"numpy", "pydantic", "rich", "scipy", "pyarrow"} & set(sys.modules))))
        sys.argv = ["assay", "--help"]
        assay.cli.main()"""
    assert python("-c", code).endswith("List and describe the workloads.\n[]\n")
