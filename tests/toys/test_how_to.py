"""Proves that the page on adding a kind names the files that other tests run, and all that services may have."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from assay.model.service import DaemonKind, Service
from assay.model.store import StoreKind

TOYS = Path(__file__).parent
PAGE = TOYS.parents[1] / "docs" / "how-to" / "add-a-kind.md"
SHOWN = re.findall(r"\]\(../../tests/toys/(\w+).py\)", PAGE.read_text())


def test_the_page_names_the_file_of_each_kind():
    assert SHOWN == ["medium", "workload", "probe", "store", "engine", "predictor"]


@pytest.mark.slow
def test_these_files_need_nothing_else_than_assay(tmp_path):
    home = tmp_path / "assay_extras"
    home.mkdir()
    for kind in SHOWN:
        shutil.copy(TOYS / f"{kind}.py", home / f"kind_{kind}.py")
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
