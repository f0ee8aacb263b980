"""A fresh NameNode's names: formatted by Hadoop, or copied from a freshly formatted directory kept by set-up."""

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from assay.cluster import commands
from assay.cluster.distribution import Distribution
from assay.cluster.limits import Limits
from assay.cluster.logs import last_words
from assay.cluster.starts import Starts
from assay.model.errors import AssayError


def format_namenode(
    distribution: Distribution, starts: Starts, conf_dir: Path, name: Path, environment: Mapping[str, str], log: Path,
    limits: Limits,
) -> None:  # fmt: skip
    """Give the NameNode an empty file system in `name`. Raises AssayError with Hadoop's log line when that fails."""
    if starts.copies_names and distribution.formatted_name is not None:
        shutil.copytree(distribution.formatted_name, name)
        return
    arguments = ("-format", "-nonInteractive", "-force")
    command = commands.java_command(
        distribution, ("-Xmx256m", *starts.control_options), conf_dir, commands.MAIN_CLASSES["namenode"], arguments
    )
    with log.open("wb") as output:
        done = subprocess.run(
            limits.entering(command),
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )
    if done.returncode != 0:
        raise AssayError(f"the NameNode could not be formatted: {last_words(log)} (log: {log})")
