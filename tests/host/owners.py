"""Processes that hold a lease, for tests of what they leave behind when they are killed."""

import os
import subprocess
import sys
from pathlib import Path


def start_owner(state, statement):
    """Start a process that takes a lease, runs one statement of Python with it as `lease`, and lives on."""
    code = (
        "import os, subprocess, time; from pathlib import Path; from assay.host.lease import Lease;"
        "from assay.host.write_back import age_dirty_pages;"
        f"lease = Lease(Path({str(state)!r}), 'test'); {statement}; print('ready', flush=True); time.sleep(300)"
    )
    source = str(Path(__file__).parents[2] / "src")
    owner = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": source}
    )
    assert owner.stdout is not None
    assert owner.stdout.readline() == b"ready\n"
    return owner
