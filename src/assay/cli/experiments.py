"""`assay experiments`: the shipped experiments, each with the question that it answers."""

from collections.abc import Sequence
from pathlib import Path

import click

from assay.cli.context import find_installation, json_option, open_console, print_json, vocabulary
from assay.host.yaml_file import YamlFile, plain
from assay.model.base import Frozen
from assay.model.errors import BadInputError
from assay.model.installation import Installation
from assay.model.naming import nearest
from assay.plan.make import read_experiment
from assay.report.next_steps import typed
from assay.report.words import print_line, print_text

STUDIES = "studies"
"""The folder of the experiments that repeat published studies, or that test Assay itself."""


class Shipped(Frozen):
    """A shipped experiment."""

    name: str
    """What `assay run` finds it by."""
    question: str
    """The question that it answers; its description where it states none."""
    study: bool
    """Whether it repeats a published study, or tests Assay itself."""
    file: str
    """Its file, from the folder of this copy of Assay."""


def shipped_experiments(installation: Installation) -> list[Path]:
    """Return the files of all shipped experiments, sorted by name."""
    return sorted((installation.root / "experiments").rglob("*.yaml"), key=lambda file: file.stem)


def described(file: Path, installation: Installation) -> Shipped:
    """Describe a shipped experiment. Raises BadInputError where its file can't be read."""
    tree = plain(YamlFile(file).tree)
    question = tree.get("question") or tree.get("description") or ""
    place = file.relative_to(installation.root)
    return Shipped(name=file.stem, question=question.strip(), study=STUDIES in place.parts, file=str(place))


@click.command()
@click.argument("name", required=False)
@click.option("--studies", is_flag=True, help="List those that repeat published studies or test Assay itself instead.")
@json_option("Print all of them as JSON.")
def experiments(name: str | None, *, studies: bool, as_json: bool) -> None:
    """List the shipped experiments, each with the question that it answers, or describe one of them.

    \b
    Example:  assay experiments
              assay experiments three-drives
              assay run local-directories --dry-run
    """
    installation = find_installation()
    files = shipped_experiments(installation)
    if name is not None:
        _describe(_shipped(name, files), installation, as_json=as_json)
        return
    wanted = files if as_json else [file for file in files if (file.parent.name == STUDIES) == studies]
    shown = [described(file, installation) for file in wanted]
    if as_json:
        print_json([one.model_dump(mode="json") for one in shown])
        return
    console = open_console()
    for one in shown:
        print_text(console, one.question)
        print_line(console, f"    assay run {one.name}", "dim")
    print_text(console, "With --dry-run it only says what that needs.")
    if not studies:
        others = len(files) - len(shown)
        print_text(console, f"{others} more repeat published studies or test Assay itself: assay experiments --studies")


def _shipped(name: str, files: Sequence[Path]) -> Path:
    """The shipped experiment of a name. Raises BadInputError, with the nearest name."""
    for file in files:
        if file.stem == name:
            return file
    raise BadInputError(
        f"there is no shipped experiment {name!r}; {nearest(name, [file.stem for file in files], most=3)}"
    )


def _describe(file: Path, installation: Installation, *, as_json: bool) -> None:
    """Print an experiment's question, its file, its trials, and the command that says how long they take here."""
    about = described(file, installation)
    if as_json:
        print_json(about.model_dump(mode="json"))
        return
    console = open_console()
    plan = read_experiment(file, vocabulary(installation)).plan
    media = ", ".join(sorted({trial.placement.name for trial in plan.trials}))
    print_text(console, about.question)
    print_line(console, f"file: {about.file}")
    print_text(console, f"{len(plan.trials)} trials, on {media}")
    print_line(console, f"time, disk and memory on this machine: {typed('run', about.name, '--dry-run')}")
    print_line(console, f"run it: {typed('run', about.name)}")
