"""`assay workloads`: what can be run."""

import json

import click

from assay.cli.context import open_console


@click.group()
def workloads() -> None:
    """Workloads: what each computes, what it stresses, its variants and options."""


@workloads.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print all variants, jobs and options as JSON.")
@click.option("--markdown", is_flag=True, help="Print the reference page as Markdown.")
def workloads_list(*, as_json: bool, markdown: bool) -> None:
    """List all workloads with what each computes and stresses.

    \b
    Example:  assay workloads list
    """
    from assay.commands.workloads import print_workloads, workloads_json, workloads_reference

    if markdown:
        click.echo(workloads_reference(), nl=False)
    elif as_json:
        click.echo(json.dumps(workloads_json(), indent=1))
    else:
        print_workloads(open_console())


@workloads.command("show")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def workloads_show(name: str, *, as_json: bool) -> None:
    """Show a workload's variants with their jobs, its options, and an experiment to start from.

    \b
    Example:  assay workloads show terasort
    """
    from assay.commands.workloads import print_workload, workload_json

    if as_json:
        click.echo(json.dumps(workload_json(name), indent=1))
    else:
        print_workload(name, open_console())
