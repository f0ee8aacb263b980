"""`assay cluster`: leave a cluster running, list and stop what is held."""

import os
from contextlib import closing

from rich.console import Console

from assay.cli.console import ConsoleDisplay
from assay.model.errors import BadInputError
from assay.model.installation import Installation
from assay.model.naming import nearest
from assay.model.platform import ClusterSpec
from assay.plan.settings import resolve, shipped_profiles
from assay.platform.held import Held, down, status, up
from assay.probe.left_overs import remove_left_overs
from assay.run import interruptible


def cluster_up(settings: str, installation: Installation, console: Console) -> None:
    """Start an embedded cluster, leave it running, and print what to export."""
    profiles = shipped_profiles()
    if settings not in profiles:
        raise BadInputError(f"unknown settings profile {settings!r}; {nearest(settings, list(profiles))}")
    with closing(ConsoleDisplay(console)) as display, interruptible():
        display.step("start cluster")
        properties = resolve(settings, profiles).properties
        held = up(installation, ClusterSpec(), os.environ, properties, display)
    _say(console, f"Hadoop {held.details['hadoop_version']} is running; `assay cluster down` stops it.")
    _say(console, "It asks nobody for a password: whoever can log in to this machine can run jobs on it as you.")
    _say(console, f"export HADOOP_CONF_DIR={held.details['conf_dir']}")
    _say(console, f"its own `hadoop` command: {held.details['hadoop']}")
    _say(console, f"web pages: {held.details['namenode_url']} and {held.details['history_url']}")


def cluster_down(installation: Installation, console: Console) -> None:
    """Stop clusters that were left running and remove what killed commands left behind."""
    ended = down(installation.state)
    for held in ended:
        _say(console, f"stopped {held.id}: {len(held.processes)} processes, {len(held.directories)} directories")
    gone = remove_left_overs()
    for what in gone:
        _say(console, f"removed what a killed run left behind ({what})")
    if not ended and not gone:
        _say(console, "nothing to stop")


def print_status(installation: Installation, console: Console) -> None:
    """Everything that is held now, one block each."""
    for held in status(installation.state):
        print_held(held, console)
    if not status(installation.state):
        _say(console, "no cluster is running, and nothing was left behind")


def status_json(installation: Installation) -> list[dict[str, object]]:
    """The same as data."""
    return [held.model_dump(mode="json") for held in status(installation.state)]


def print_held(held: Held, console: Console) -> None:
    """One lease: what it is, and where."""
    _say(console, f"{held.id}: {held.state}, {len(held.processes)} processes")
    for directory in held.directories:
        _say(console, f"  directory {directory}")
    for name, value in held.details.items():
        _say(console, f"  {name} {value}")


def _say(console: Console, text: str) -> None:
    console.print(text, highlight=False, markup=False, soft_wrap=True)
