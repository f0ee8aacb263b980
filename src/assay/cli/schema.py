"""`assay schema`."""

import json

import click

from assay.cli.context import find_installation, vocabulary
from assay.model.installation import Installation
from assay.plan.schema import schema as experiment_schema


def schema_text(installation: Installation) -> str:
    """The JSON schema of experiment files."""
    return json.dumps(experiment_schema(vocabulary(installation)), indent=1) + "\n"


@click.command()
def schema() -> None:
    """Print the JSON schema of experiment files, for editors.

    \b
    Example:  assay schema > experiment.schema.json
    """
    click.echo(schema_text(find_installation()), nl=False)
