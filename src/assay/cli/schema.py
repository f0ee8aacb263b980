"""`assay schema`."""

import json

import click

from assay.cli.context import find_installation
from assay.model.installation import Installation
from assay.plan import reference
from assay.record.reference import record_reference
from assay.vocabulary import vocabulary


def experiment_schema(installation: Installation) -> str:
    """The JSON schema of experiment files."""
    return json.dumps(reference.schema(vocabulary(installation)), indent=1) + "\n"


def experiment_reference(installation: Installation) -> str:
    """The reference of experiment files, in markdown."""
    return reference.reference(reference.schema(vocabulary(installation)))


@click.command()
@click.option("--markdown", is_flag=True, help="Print the reference page of experiments as Markdown instead.")
@click.option("--record", is_flag=True, help="Print the reference page of records as Markdown instead.")
def schema(*, markdown: bool, record: bool) -> None:
    """Print the JSON schema of experiment files, for editors.

    \b
    Example:  assay schema > experiment.schema.json
    """
    if record:
        click.echo(record_reference(), nl=False)
        return
    text = experiment_reference if markdown else experiment_schema
    click.echo(text(find_installation()), nl=False)
