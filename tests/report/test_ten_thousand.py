"""Proves that a report over 10,000 trials, and a comparison of two such runs, take at most 20 s and 1 GiB."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from assay.model.record import Amount
from tests.report.made_runs import made_run, made_trials, write_run

pytestmark = pytest.mark.it  # a minute, most of it for making the runs

ROOT = Path(__file__).parents[2]
MOST_S, MOST_KIB = 20, 1 << 20
AMOUNTS = tuple(
    Amount(probe="disk", subject=f"medium-{number}", series="read_bytes", part="run", value=number * 1.5)
    for number in range(100)
)
"""About 10 kB of each record."""


def write_large(folder, seed):
    settings = [f"s{number}" for number in range(33)]
    trials = made_trials([f"work{number}" for number in range(10)], ("hdd", "ssd", "memory"), settings, 10)
    plan, records = made_run(trials, seed=seed)
    write_run(folder, plan, [record.model_copy(update={"amounts": AMOUNTS}) for record in records])
    assert len(records) == 9900


def measured(place, *words):
    """Seconds of processor time and the most KiB of one command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    subprocess.run([sys.executable, "-m", "assay", *words], check=True, cwd=place, env=environment, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, after.ru_maxrss


def test_reports_of_large_runs_are_quick_and_small(tmp_path):
    write_large(tmp_path / "one", 1)
    write_large(tmp_path / "two", 2)
    for words in (
        ("report", "one"), ("report", "one", "--format", "json", "--out", "one.json"),
        ("report", "one", "--format", "csv", "--out", "one.csv"), ("compare", "one", "two"),
    ):  # fmt: skip
        seconds, most_kib = measured(tmp_path, *words)
        assert seconds < MOST_S, words
        assert most_kib < MOST_KIB, words
    assert (tmp_path / "one" / "report.html").stat().st_size < 5 << 20
    assert (tmp_path / "comparison.html").stat().st_size < 5 << 20
