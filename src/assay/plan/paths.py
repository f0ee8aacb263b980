"""Paths in an experiment: those of this machine count from the experiment file's folder."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assay.files import absolute
from assay.model.dataset import DATASET
from assay.model.errors import BadInputError
from assay.model.store import names_store
from assay.plan.entries import WorkloadEntry
from assay.plan.experiment import ExperimentFile
from assay.plan.load import INPUT
from assay.yaml_file import line_of


def with_paths(entry: WorkloadEntry, paths: Mapping[str, str], folder: Path) -> dict[str, str]:
    """A workload's options with those that are `paths` (with their defaults) made absolute.

    What is empty, names a place in a store (`hdfs:/logs`), or, as an input, stands for the dataset stays as it is.
    Raises BadInputError for what can't be a path.
    """
    options = dict(entry.options)
    for name, default in paths.items():
        text = options.get(name, default)
        stands_for_dataset = name == INPUT and text == DATASET
        if text and not stands_for_dataset and not names_store(text):
            options[name] = str(absolute(folder, Path(text)))
    return options


def refuse_stored(path: Path, experiment: ExperimentFile, tree: Any, paths: Mapping[str, Mapping[str, str]]) -> None:
    """Raises BadInputError for an input that is said to lie in a store where each trial has a store of its own."""
    if experiment.cluster.kind == "existing":
        return
    several = isinstance(tree["workloads"], list)
    for at, entry in enumerate(experiment.workloads):
        for name in paths.get(entry.name, {}):
            text = entry.options.get(name, "")
            if names_store(text):
                line = line_of(tree, ["workloads", *([at] if several else []), "options", name])
                raise BadInputError(
                    f"{path}, line {line}: {name} is {text!r}, and a cluster of Assay's own starts with an empty "
                    "store; name a file or folder of this machine, or an existing cluster (cluster: {conf_dir: ...})"
                )
