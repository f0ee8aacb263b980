"""`assay cluster`: clusters that stay up."""

import os
from contextlib import closing

import click

from assay.cli.console import ConsoleDisplay, Output
from assay.cli.context import (
    CommandGroup,
    WholeNumber,
    find_installation,
    json_option,
    open_console,
    open_output,
    output_options,
    print_json,
)
from assay.host.interrupts import interruptible
from assay.model.cluster import EmbeddedSpec, even_racks
from assay.model.errors import BadInputError
from assay.model.installation import Installation
from assay.model.naming import nearest
from assay.model.network import MOST_NODES, NONE, read_networks
from assay.model.trial import USUAL_STORE
from assay.plan.settings import resolve, shipped_profiles
from assay.platform import held
from assay.probe.sampler import remove_left_overs
from assay.report.words import print_line


def cluster_down(installation: Installation, output: Output) -> None:
    """Stop clusters that were left running and remove what killed commands left behind."""
    console, ended = output.results, held.down(installation.state)
    for lease in ended:
        counts = f"{len(lease.processes)} processes, {len(lease.directories)} directories"
        print_line(console, f"stopped {lease.id}: {counts}")
    gone = remove_left_overs()
    for leftover in gone:
        print_line(console, f"removed what a killed run left behind ({leftover})")
    if not ended and not gone:
        print_line(console, "nothing to stop")
    if output.as_json:
        print_json({"stopped": [lease.model_dump(mode="json") for lease in ended], "removed": gone})


@click.group(cls=CommandGroup)
def cluster() -> None:
    """Start and stop a Hadoop cluster on this machine, to work with by hand."""


@cluster.command("up")
@click.option("--settings", default="stock", show_default=True, help="A shipped settings profile, such as defaults.")
@click.option("--nodes", type=WholeNumber(1, MOST_NODES), default=1, show_default=True, help="Workers.")
@click.option("--network", default=NONE, show_default=True, help="Between nodes, such as gigabit or 200Mbit.")
@click.option("--racks", type=WholeNumber(1, MOST_NODES), default=1, show_default=True, help="Of the workers.")
@click.option("--store", default=USUAL_STORE, show_default=True, help="What holds data, beside what it needs itself.")
@output_options
def up(settings: str, nodes: int, network: str, racks: int, store: str, *, output: Output) -> None:
    """Start a Hadoop on this machine, and leave it running: on free loopback ports, or on nodes of their own.

    \b
    Example:  assay cluster up
              assay cluster up --nodes 3 --network gigabit
    """
    installation, console = find_installation(), output.results
    profiles = shipped_profiles()
    if settings not in profiles:
        raise BadInputError(f"unknown settings profile {settings!r}; {nearest(settings, list(profiles))}")
    try:
        networks = read_networks(network)
    except ValueError as error:
        raise BadInputError(f"--network: {error}") from None
    with closing(ConsoleDisplay(output.progress, verbose=output.verbose)) as display, interruptible():
        display.step("start cluster")
        properties = resolve(settings, profiles).properties
        spec = EmbeddedSpec(nodes=nodes, network=networks, racks=even_racks(racks, nodes))
        started = held.up(installation, spec, os.environ, properties, display, store)
    print_line(console, f"Hadoop {started.details['hadoop_version']} is running; `assay cluster down` stops it.")
    if spec.workers:
        print_line(console, "Its nodes are reached by its own `hadoop` command alone, which needs root.")
    else:
        print_line(console, "It has no authentication: every user of this machine can run jobs on it as you.")
    if doubts := started.details.get("doubts"):
        print_line(console, f"doubtful: {doubts}")
    print_line(console, f"export HADOOP_CONF_DIR={started.details['conf_dir']}")
    print_line(console, f"its own `hadoop` command: {started.details['hadoop']}")
    print_line(console, f"web pages: {started.details['web_pages']}")
    if output.as_json:
        print_json(started.model_dump(mode="json"))


@cluster.command("down")
@json_option()
def down(*, as_json: bool) -> None:
    """Stop every cluster left running and remove what killed commands left behind.

    \b
    Example:  assay cluster down
    """
    cluster_down(find_installation(), open_output(as_json=as_json))


@cluster.command("status")
@json_option()
def status(*, as_json: bool) -> None:
    """Show running clusters and what was left behind.

    \b
    Example:  assay cluster status
    """
    leases = held.status(find_installation().state)
    if as_json:
        print_json([lease.model_dump(mode="json") for lease in leases])
        return
    console = open_console()
    for lease in leases:
        print_line(console, f"{lease.id}: {lease.state}, {len(lease.processes)} processes")
        for directory in lease.directories:
            print_line(console, f"  directory {directory}")
        for name, value in lease.details.items():
            print_line(console, f"  {name} {value}")
    if not leases:
        print_line(console, "no cluster is running, and nothing was left behind")
