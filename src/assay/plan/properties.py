"""Hadoop properties: names that Hadoop has changed or does not know, levels that are one or no number, and copies.

`deprecated.txt` is what Hadoop itself tells of its deprecated names.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from assay.model.doubt import Doubt
from assay.model.errors import BadInputError
from assay.model.naming import nearest
from assay.plan.experiment import COPIES, ExperimentFile
from assay.plan.reserved import properties_of
from assay.plan.words import refuse_doubles
from assay.yaml_file import line_of

# Hadoop knows names like these by their form: a part stands for a queue, a service, a host or a class.
_BY_FORM = re.compile(
    r"(yarn\.scheduler\.capacity|yarn\.nodemanager\.aux-services|yarn\.nodemanager\.resource-plugins|hadoop\.proxyuser"
    r"|hadoop\.security|fs\.[a-z0-9]+\.impl|ipc\.\d+|dfs\.(namenode|datanode|ha|nameservices?|journalnode)"
    r"|mapreduce\.job\.(map|reduce|combine|partitioner|inputformat|outputformat)\.class)\..+|.*\.impl"
)  # fmt: skip
_OWN_WORDS = (
    "mapreduce",
    "mapred",
    "yarn",
    "dfs",
    "io",
    "fs",
    "hadoop",
    "ipc",
    "ha",
    "net",
    "file",
    "ftp",
    "s3",
    "tfile",
)
"""Beginnings of Hadoop's own names: any other belongs to somebody's job."""
_SIZE = re.compile(r"(-?\d+(?:\.\d+)?)([kmgtpe]?)", re.IGNORECASE)
_NUMBER = re.compile(r"-?\d+(\.\d+)?([kmgtpe]|ns|us|ms|s|h|d|%)?", re.IGNORECASE)
"""With a size's prefix or a time's unit, of which `m` is both."""


@cache
def renamed() -> Mapping[str, str]:
    """What Hadoop calls a property now, by its deprecated name; several names apart by commas."""
    lines = files("assay.plan").joinpath("deprecated.txt").read_text().splitlines()
    return dict(line.split() for line in lines if not line.startswith("#"))


def refuse_equal(path: Path, line: int | None, name: str, levels: Sequence[str]) -> None:
    """Raises BadInputError for a level that comes twice, also in two spellings, such as `4m` and `4194304`."""
    refuse_doubles(path, line, name, levels)
    spelt: dict[str, str] = {}
    for level in levels:
        other = spelt.setdefault(_as_read(level), level)
        if other != level:
            raise BadInputError(
                f"{path}, line {line}: {name} has one level twice, as {other} and {level}; leave one out"
            )


def _as_read(level: str) -> str:
    """One spelling of all that Hadoop reads as the same: numbers and sizes in bytes, and `true` in any case."""
    text = level.strip().lower()
    found = _SIZE.fullmatch(text)
    return str(float(found[1]) * 1024 ** " kmgtpe".index(found[2] or " ")) if found else text


def check_properties(path: Path, experiment: ExperimentFile, tree: Any, known: Mapping[str, str]) -> list[Doubt]:
    """A doubt for each property that Hadoop does not know, and each level that is no number where Hadoop's own is one.

    As far as `known` tells, which has Hadoop's own values. Raises BadInputError for a property that has another name
    now.
    """
    doubts: dict[str, Doubt] = {}
    for place, name, value, _ in properties_of(experiment):
        if name in renamed():
            now = " and ".join(renamed()[name].split(","))
            raise BadInputError(
                f"{path}, line {line_of(tree, [*place, name])}: {name} is deprecated; Hadoop calls it {now} now"
            )
        if known and not _is_known(name, known):
            doubts[name] = _unknown(name, known, f"line {line_of(tree, [*place, name])}")
        elif _NUMBER.fullmatch(known.get(name, "")) and not _NUMBER.fullmatch(value.strip()):
            doubts[f"{name}={value}"] = _no_number(name, value, known[name], f"line {line_of(tree, [*place, name])}")
    return list(doubts.values())


def _no_number(name: str, value: str, default: str, line: str) -> Doubt:
    return Doubt(
        kind="not-a-number",
        what=f"{name} is {value!r} ({line}), and Hadoop's own value, {default}, is a number",
        why="whatever reads it as a number fails, and only once it runs",
        cure="write a number; leave it if Hadoop's documentation has words for it",
    )


def _is_known(name: str, known: Collection[str]) -> bool:
    ours = name.split(".", maxsplit=1)[0] in _OWN_WORDS
    return not ours or name in known or _BY_FORM.fullmatch(name) is not None


def _unknown(name: str, known: Collection[str], line: str) -> Doubt:
    close = nearest(name, sorted(known))
    hint = f"; {close}" if close.startswith("did") else ""
    return Doubt(
        kind="unknown-property",
        what=f"Hadoop has no property {name} ({line}){hint}",
        why="a name that nobody reads changes nothing: its levels would all be the same",
        cure="correct the name; leave it if the jobs' own code reads it",
    )


def one_copy(experiment: ExperimentFile) -> Iterator[Doubt]:
    """A doubt where more copies of a block are asked for than Assay's own cluster has DataNodes."""
    if experiment.cluster.kind == "existing":
        return
    asked = [value for _, name, value, _ in properties_of(experiment) if name == COPIES]
    most = max([*experiment.replication, *(int(value) for value in asked)], default=1)
    if most > 1:
        yield Doubt(
            kind="replication-unmet",
            what=f"{most} copies of each block were asked for, and Assay's own cluster has one DataNode",
            why="HDFS keeps one copy there, whatever is asked for: the levels of replication are all the same",
            cure="run on an existing cluster (cluster: {conf_dir: ...}), or leave replication out",
        )
