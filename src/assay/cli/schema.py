"""`assay schema`."""

import json
from collections.abc import Sequence

import click

from assay.cli.context import find_installation
from assay.model.doubt import DOUBTS, DoubtKind
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


_SEVERE = """# Doubts

A *doubt* is a typed warning that goes with a figure. It says what happened, to what, why that matters, and how to cure
it. A record has the doubts of its trial ([the record](record.md#doubts)); reports add those of the whole run. The
reasons and cures below are the usual ones; a doubt may have a more exact reason or cure.

This page is generated: `./assay schema --doubts`.

## Doubts that can change the answer

The most severe first, as the report lists them.

"""
_MILD = "\n## Doubts about single figures\n\n"


def doubts_reference() -> str:
    """The catalogue of doubts, in markdown."""
    severe = sorted((kind for kind in DOUBTS.values() if kind.severity), key=lambda kind: -kind.severity)
    mild = sorted((kind for kind in DOUBTS.values() if not kind.severity), key=lambda kind: (kind.about, kind.name))
    return _SEVERE + _doubts_table(severe) + _MILD + _doubts_table(mild)


def _doubts_table(kinds: Sequence[DoubtKind]) -> str:
    head = "| kind | about | raised when | why it matters | cure |\n| --- | --- | --- | --- | --- |\n"
    cells = ([f"`{one.name}`", one.about, one.when, one.why, one.cure] for one in kinds)
    return head + "".join(f"| {' | '.join(row)} |\n" for row in cells)


@click.command()
@click.option("--markdown", is_flag=True, help="Print the reference page of experiments as Markdown instead.")
@click.option("--record", is_flag=True, help="Print the reference page of records as Markdown instead.")
@click.option("--doubts", is_flag=True, help="Print the catalogue of doubts as Markdown instead.")
def schema(*, markdown: bool, record: bool, doubts: bool) -> None:
    """Print the JSON schema of experiment files, for editors.

    \b
    Example:  assay schema > experiment.schema.json
    """
    if record:
        click.echo(record_reference(), nl=False)
        return
    if doubts:
        click.echo(doubts_reference(), nl=False)
        return
    text = experiment_reference if markdown else experiment_schema
    click.echo(text(find_installation()), nl=False)
