"""Proves that a skip among the tests that must run is a failure where continuous integration says so, and nowhere else."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import MUST_RUN, VARIABLE

ROOT = Path(__file__).parents[1]
BODIES = {
    "by mark": 'import pytest\n@pytest.mark.skip(reason="no fio")\ndef test_it(): pass\n',
    "in a fixture": 'import pytest\n@pytest.fixture\ndef tool(): pytest.skip("no fio")\ndef test_it(tool): pass\n',
    "as a whole": 'import pytest\npytest.skip("no fio", allow_module_level=True)\n',
}


def test_the_files_are_there():
    assert [name for name in MUST_RUN if not (ROOT / name).is_file()] == []
    assert sorted(set(MUST_RUN)) == list(MUST_RUN)


@pytest.fixture
def run(tmp_path):
    """Runs a file of tests of a name, and says pytest's exit code and output."""
    (tmp_path / "pytest.ini").touch()
    (tmp_path / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text())

    def pytest_on(name, body, **variables):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(body)
        kept = {key: value for key, value in os.environ.items() if key != VARIABLE}
        command = [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "-p", "no:xdist", name]
        done = subprocess.run(
            command, cwd=tmp_path, env={**kept, **variables}, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout

    return pytest_on


@pytest.mark.slow
@pytest.mark.parametrize("how", BODIES)
def test_a_skip_of_a_test_that_must_run_is_a_failure_where_the_variable_is_set(run, how):
    code, said = run(MUST_RUN[0], BODIES[how], **{VARIABLE: "1"})
    assert code != 0
    assert f"must not be skipped where {VARIABLE} is set: Skipped: no fio" in said


@pytest.mark.slow
def test_without_the_variable_and_for_all_other_tests_a_skip_is_a_skip(run):
    skipped = 0
    assert run(MUST_RUN[0], BODIES["by mark"])[0] == skipped
    assert run("tests/test_others.py", BODIES["by mark"], **{VARIABLE: "1"})[0] == skipped


def test_continuous_integration_sets_it():
    assert f"export {VARIABLE}=1\n" in (ROOT / ".ci" / "run").read_text()
