"""Hadoop properties that an experiment can't set.

On an embedded cluster: where things lie, how its parts run, and where they listen. Overriding them would put bytes on
another medium than the record says, or services on other interfaces than loopback. On any cluster: what makes an output
that can't be judged.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from assay.model.errors import BadInputError
from assay.plan.experiment import ExperimentFile
from assay.yaml_file import line_of

_DIRECTORIES = (
    "hadoop.tmp.dir", "dfs.namenode.name.dir", "dfs.datanode.data.dir", "yarn.nodemanager.local-dirs",
    "yarn.nodemanager.log-dirs", "mapreduce.cluster.local.dir", "mapreduce.framework.name",
    "yarn.nodemanager.container-executor.class", "dfs.datanode.fsdataset.volume.choosing.policy",
)  # fmt: skip
_ADDRESSES = re.compile(r"(fs\.defaultFS|fs\.default\.name|.*([.-]address|\.bind-host|\.hostname|\.port))")
# The second is the name that Hadoop 1 had for it, which is still understood.
_COMPRESSED_OUTPUT = ("mapreduce.output.fileoutputformat.compress", "mapred.output.compress")
_REDUCERS = "mapreduce.job.reduces"
# The workload whose output is judged by the user's own command, if at all.
_OWN_JUDGE = "command"

Place = Sequence[object]


def refuse_reserved(path: Path, experiment: ExperimentFile, tree: Any) -> None:
    """On a cluster of our own, where bytes lie and services listen is decided by the plan's media alone.

    Raises BadInputError.
    """
    if experiment.cluster.kind == "existing":
        return
    for place, name, _, _ in properties_of(experiment):
        if name in _DIRECTORIES or _ADDRESSES.fullmatch(name):
            raise BadInputError(
                f"{path}, line {line_of(tree, [*place, name])}: {name} can't be set on an embedded cluster: the "
                "media decide where bytes lie, and Assay how its parts run and listen; leave it out"
            )


def refuse_unjudged(path: Path, experiment: ExperimentFile, tree: Any) -> None:
    """What is compressed, or was not reduced, can't be judged, nor read by the next job of a chain.

    Raises BadInputError.
    """
    for place, name, value, workloads in properties_of(experiment):
        read = next((workload for workload in workloads if workload != _OWN_JUDGE), None)
        if read is None:
            continue
        given, line = value.strip().lower(), f"{path}, line {line_of(tree, [*place, name])}"
        if name in _COMPRESSED_OUTPUT and given == "true":
            raise BadInputError(
                f"{line}: {name} can't be true for {read}, whose verification reads outputs that aren't compressed; "
                "leave it out (mapreduce.map.output.compress compresses what is shuffled)"
            )
        if name == _REDUCERS and given == "0":
            raise BadInputError(f"{line}: {name} can't be 0 for {read}, which is done by its reducers; give 1 or more")


def properties_of(experiment: ExperimentFile) -> Iterator[tuple[Place, str, str, Sequence[str]]]:
    """Each property with its place in the file, each of its values, and the workloads that it holds for."""
    everywhere = [workload.name for workload in experiment.workloads]
    for name, values in experiment.hadoop.items():
        for value in values:
            yield ["hadoop"], name, value, everywhere
    for at, workload in enumerate(experiment.workloads):
        for name, values in workload.hadoop.items():
            for value in values:
                yield ["workloads", at, "hadoop"], name, value, [workload.name]
    for profile, entry in experiment.profiles.items():
        for name, value in entry.properties.items():
            yield ["profiles", profile, "properties"], name, value, everywhere
