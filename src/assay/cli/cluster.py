"""`assay cluster`: clusters that stay up."""

import json

import click

from assay.cli.context import find_installation, open_console


@click.group()
def cluster() -> None:
    """A cluster of its own that stays until you stop it, for working with Hadoop by hand."""


@cluster.command("up")
@click.option("--settings", default="stock", show_default=True, help="A shipped settings profile, such as defaults.")
def up(settings: str) -> None:
    """Start a one-node Hadoop on this machine, on free loopback ports, and leave it running.

    \b
    Example:  assay cluster up
    """
    from assay.commands.cluster import cluster_up

    cluster_up(settings, find_installation(), open_console())


@cluster.command("down")
def down() -> None:
    """Stop every cluster left running and remove what killed commands left behind.

    \b
    Example:  assay cluster down
    """
    from assay.commands.cluster import cluster_down

    cluster_down(find_installation(), open_console())


@cluster.command("status")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def status(*, as_json: bool) -> None:
    """Show running clusters and what was left behind.

    \b
    Example:  assay cluster status
    """
    from assay.commands.cluster import print_status, status_json

    if as_json:
        click.echo(json.dumps(status_json(find_installation()), indent=1))
    else:
        print_status(find_installation(), open_console())
