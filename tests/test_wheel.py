"""Proves that the wheel is whole for those who only read records, without what measuring needs, and says so of the rest."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import assay
from assay.model.result import TrialResult
from assay.record.folder import RunFolder
from tests.builders import a_plan, a_record, a_trial

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.slow
# What requirements.txt has beyond requirements-read.txt: a wheel does not bring it.
MEASURING = "import sys\nsys.modules.update(dict.fromkeys({!r}))\n"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder for PYTHONPATH with what the wheel holds, where libraries that measuring alone needs can't be imported."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, stdin=subprocess.DEVNULL)
    (wheel,) = folder.glob("*.whl")
    assert wheel.name == f"assay-{assay.__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    hidden = ["fastavro", "httpx", "networkit", "inotify_simple", "jsonschema"]
    (folder / "site" / "sitecustomize.py").write_text(MEASURING.format(hidden))
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
def python(site, tmp_path):
    """Runs Python there; standard output, or standard error where an error is wanted."""
    kept = {name: value for name, value in os.environ.items() if name not in {"ASSAY_ROOT", "HADOOP_HOME", "JAVA_HOME"}}
    environment = {**kept, "PYTHONPATH": str(site), "XDG_CACHE_HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)}

    def run_python(*arguments, code=0):
        done = subprocess.run(
            [sys.executable, *map(str, arguments)], cwd=tmp_path, env=environment, check=False, capture_output=True,
            text=True, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == code, done.stderr
        return done.stderr if code else done.stdout

    return run_python


def test_it_reads_a_run_and_is_the_same_source(python, run):
    assert python("-m", "assay", "--version") == f"assay {assay.__version__}\n"
    assert "2 of 2 trials" in python("-m", "assay", "report", run)
    assert "<html" in (run / "report.html").read_text()
    assert "triangles" in python("-m", "assay", "compare", run)
    assert python("-c", f"import assay; print(len(assay.load({str(run)!r}).trials))") == "2\n"


def test_its_schema_is_that_of_the_checkout(python):
    assert python("-m", "assay", "schema") == (ROOT / "docs" / "reference" / "experiment.schema.json").read_text()


def test_it_lists_datasets_and_workloads(python):
    assert "brightkite" in python("-m", "assay", "data", "list")
    assert "terasort" in python("-m", "assay", "workloads", "list")


LACKED = "Hadoop, the jobs or the drive emulator, and this package only reads records"
EACH_IN_TURN = """
import contextlib, io, json, sys
from assay.cli import main

said = []
for words in json.loads(sys.argv[1]):
    output, sys.argv = io.StringIO(), ["assay", *words]
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        try:
            code = main()
        except SystemExit as ended:
            code = ended.code
    said.append((code or 0, output.getvalue()))
print(json.dumps(said))
"""


def test_what_measures_is_refused_with_where_it_can_be_had_and_explained_all_the_same(python):
    """One Python for all: to start it takes longer than they do."""
    commands = ["quickstart", "run", "doctor", "cluster", "media", "memory"]
    asked = [[command, *(["up"] if command in {"cluster", "media", "memory"} else [])] for command in commands]
    said = json.loads(python("-c", EACH_IN_TURN, json.dumps([*asked, *([command, "--help"] for command in commands)])))
    assert said[: len(commands)] == [
        [2, f"assay: assay {command} needs {LACKED}; clone Assay's repository and run ./assay {command} there\n"]
        for command in commands
    ]
    assert all(code == 0 and "Usage: assay" in text for code, text in said[len(commands) :])
    assert python("-m", "assay", "doctor", code=2) == said[2][1]


def test_help_imports_nothing_that_takes_long(python):
    code = """if True:
        import atexit, sys, assay.cli
        atexit.register(lambda: print(sorted({"numpy", "pydantic", "rich", "scipy", "pyarrow"} & set(sys.modules))))
        sys.argv = ["assay", "--help"]
        assay.cli.main()"""
    assert python("-c", code).endswith("List and describe the workloads.\n[]\n")
