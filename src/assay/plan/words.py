"""Refuse unknown names and doubles in an experiment, with their line and the nearest word."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assay.model.errors import BadInputError
from assay.model.naming import nearest
from assay.plan.experiment import ExperimentFile
from assay.plan.load import Vocabulary
from assay.yaml_file import line_of


def check_words(path: Path, experiment: ExperimentFile, tree: Any, vocabulary: Vocabulary) -> None:
    """Raises BadInputError for a workload, variant, preset or catalogue name that there is not."""
    for index, workload in enumerate(experiment.workloads):
        place = ["workloads", index] if isinstance(tree["workloads"], list) else ["workloads"]
        check_word(path, line_of(tree, place), "workload", workload.name, list(vocabulary.workloads))
        variants = list(vocabulary.workloads[workload.name])
        if workload.variant is not None:
            line = line_of(tree, [*place, "variant"])
            check_word(path, line, f"{workload.name} variant", workload.variant, variants)
        if not experiment.datasets and vocabulary.needs_dataset(workload.name, workload.options):
            raise BadInputError(
                f"{path}, line {line_of(tree, place)}: {workload.name} needs a dataset, and 'datasets' is missing"
            )
    needing = any(vocabulary.needs_dataset(one.name, one.options) for one in experiment.workloads)
    if experiment.datasets and not needing:
        raise BadInputError(
            f"{path}, line {line_of(tree, ['datasets'])}: 'datasets' has no use: all workloads make their own input; "
            "leave it out"
        )
    for index, dataset in enumerate(experiment.datasets):
        place = ["datasets", index] if isinstance(tree["datasets"], list) else ["datasets"]
        if dataset.make is not None:
            check_word(path, line_of(tree, [*place, "make"]), "preset", dataset.make, vocabulary.presets)
        if dataset.get is not None:
            check_word(path, line_of(tree, [*place, "get"]), "catalogue name", dataset.get, vocabulary.catalogue)


def check_word(path: Path, line: int | None, what: str, word: str, words: Sequence[str]) -> None:
    """Raises BadInputError for a word that is none of these."""
    if word not in words:
        raise BadInputError(f"{path}, line {line}: unknown {what} {word!r}; {nearest(word, words)}")


def refuse_doubles(path: Path, line: int | None, what: str, names: Sequence[str], cure: str = "leave one out") -> None:
    """Raises BadInputError for a name that comes twice."""
    doubles = sorted({name for name in names if names.count(name) > 1})
    if doubles:
        raise BadInputError(f"{path}, line {line}: {what} has {doubles[0]!r} twice; {cure}")
