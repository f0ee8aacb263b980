"""`assay schema`."""

import json

from assay.model.installation import Installation
from assay.plan.reference import reference, schema
from assay.vocabulary import vocabulary


def experiment_schema(installation: Installation) -> str:
    """The JSON schema of experiment files."""
    return json.dumps(schema(vocabulary(installation)), indent=1) + "\n"


def experiment_reference(installation: Installation) -> str:
    """The reference of experiment files, in markdown."""
    return reference(schema(vocabulary(installation)))
