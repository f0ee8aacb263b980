"""Proves that the page on adding a kind shows the very files that the other tests here run."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from assay.model.service import DaemonKind, Service
from assay.model.store import StoreKind

TOYS = Path(__file__).parent
PAGE = TOYS.parents[1] / "docs" / "how-to" / "add-a-kind.md"
SHOWN = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)


@pytest.mark.parametrize("kind", ["medium", "workload", "probe", "store", "engine", "predictor"])
def test_the_page_shows_the_file_of_each_kind(kind):
    assert (TOYS / f"{kind}.py").read_text() in SHOWN


@pytest.mark.slow
def test_the_files_that_it_shows_need_nothing_else_than_assay(tmp_path):
    home = tmp_path / "assay_extras"
    home.mkdir()
    for number, file in enumerate(SHOWN):
        (home / f"kind_{number}.py").write_text(file)
    environment = {**os.environ, "PYTHONPATH": f"{PAGE.parents[2] / 'src'}:{tmp_path}"}
    schema = subprocess.check_output(
        [sys.executable, "-m", "assay", "schema"], text=True, cwd=tmp_path, env=environment
    )
    for known in ('"reels"', '"line-count"', '"key-value"', '"scanner"'):
        assert known in schema


@pytest.mark.parametrize("kind", [Service, DaemonKind, StoreKind])
def test_it_names_each_field_of_services_daemons_and_stores(kind):
    page = PAGE.read_text()
    assert [field for field in kind._fields if field != "name" and f"`{field}`" not in page] == []


def test_it_shows_nothing_else():
    assert len(SHOWN) == 6
