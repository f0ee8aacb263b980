"""Proves what `assay predict` prints of a run that kept its requests."""

import pytest
from click.testing import CliRunner

from assay.cli import cli
from assay.cli.context import find_installation
from assay.media.emulated.emulator import Emulator
from tests.predict.made_logs import a_log, write_run

pytestmark = pytest.mark.skipif(Emulator(find_installation()).missing() is not None, reason="the emulator is not built")


def predict(folder, *words):
    return CliRunner().invoke(cli, ["predict", str(folder), *words], catch_exceptions=False, env={"COLUMNS": "100"})


def test_the_first_line_names_the_drives_that_one_replaces(tmp_path):
    folder = write_run(tmp_path / "run", a_log(3, "first"), a_log(3, "second", roles=("intermediate",)))
    first, *_ = predict(folder.path, "--media", "nvme").output.splitlines()
    title = "Intel SSD DC P4500 1.0 TB (NVMe)"
    assert first == f"Predicted with all data of first and second together on one {title}; no trial ran on it."
    first, *_ = predict(folder.path, "--media", "nvme", "--role", "input").output.splitlines()
    assert first == f"Predicted with data of input on one {title}; no trial ran on it."
