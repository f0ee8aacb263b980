"""A file that describes an engine of a site's own: commands for workloads, and how its jobs are known."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from assay.host.yaml_file import YamlFile
from assay.model.base import Frozen
from assay.model.naming import nearest

WORKLOADS = ("word-count", "word-frequency", "sort-lines", "terasort", "components", "page-rank")
"""Those whose output is verified without what only Assay's own jobs count or leave."""
PLACES = {
    "input": "the folder of the input in HDFS",
    "output": "the folder of HDFS into which the output goes, which is not there yet",
    "hadoop": "Hadoop's command, for this cluster",
    "extras": "the folder of Hadoop's further jars, examples and tests",
    "configuration": "the folder of this cluster's configuration",
    "work": "an empty folder, removed after the trial; with `jobs: none` on the medium of intermediate data",
    "options": "the workload's options, as `--name=value`",
    "properties": "Hadoop's properties of the file and of the trial, as `-Dname=value`",
}
"""What may stand in braces in a command, and what comes in its place."""
_PLACE = re.compile(r"(?<!\$)\{([a-z]+)\}")


def _as_text(value: object) -> object:
    """What Hadoop reads for a number or a truth value that YAML has."""
    return value if isinstance(value, str) else json.dumps(value)


class EngineFile(Frozen):
    """The content of an engine's file."""

    engine: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.-]*$", max_length=40)]
    """The name by which reports call it."""
    about: str
    """What it is, in one line."""
    version: str = ""
    """A command of `bash` whose first line of output is its version."""
    commands: Annotated[Mapping[str, str], Field(min_length=1)]
    """By workload, a command of `bash` that reads the input and writes the output."""
    jobs: Literal["hadoop", "none"] = "none"
    """Whether its commands submit Hadoop's jobs, whose history tells of their phases and bytes."""
    phases: str = ""
    """A pattern of lines of its output, where a phase begins that the group `phase` names."""
    properties: Mapping[str, Annotated[str, BeforeValidator(_as_text)]] = {}
    """Hadoop's properties of its jobs, for commands with `{properties}`."""
    limit_s: Annotated[float, Field(gt=0)] = 3600
    """Seconds after which a command is ended."""
    not_run_here: bool = False
    """Whether nobody has tried this file yet."""

    @model_validator(mode="after")
    def _gives_properties(self) -> Self:
        for workload, command in self.commands.items():
            if self.properties and "{properties}" not in command:
                raise ValueError(f"the command of {workload} lacks {{properties}}, by which jobs get those of the file")
        return self

    @field_validator("commands")
    @classmethod
    def _of_workloads(cls, commands: Mapping[str, str]) -> Mapping[str, str]:
        for workload, command in commands.items():
            if workload not in WORKLOADS:
                raise ValueError(f"commands can't have {workload!r}: {nearest(workload, WORKLOADS)}")
            for place in _PLACE.findall(command):
                if place not in PLACES:
                    raise ValueError(f"the command of {workload} has {{{place}}}: {nearest(place, list(PLACES))}")
            if "{output}" not in command:
                raise ValueError(f"the command of {workload} lacks {{output}}, which is where its output is looked for")
        return commands

    @field_validator("phases")
    @classmethod
    def _names_phases(cls, pattern: str) -> str:
        try:
            groups = re.compile(pattern).groupindex
        except re.error as error:
            raise ValueError(f"phases is no regular expression: {error}") from None
        if pattern and "phase" not in groups:
            raise ValueError("phases must have a group (?P<phase>...) that names the phase")
        return pattern


def read_engine_file(path: Path) -> tuple[EngineFile, str]:
    """Read a file: its content, and its text. Raises BadInputError with the line of each mistake."""
    file = YamlFile(path)
    return file.validated(EngineFile), file.text


def filled(command: str, places: Mapping[str, str]) -> str:
    """Put into a command what its places in braces stand for; each text is one that `bash` takes as it is."""
    return _PLACE.sub(lambda match: places[match[1]], command)
