"""`assay experiments`: the shipped experiments, each with the question that it answers."""

from contextlib import suppress
from math import ceil
from pathlib import Path

import click

from assay.cli.context import find_installation, json_option, open_console, print_json, vocabulary
from assay.input.catalogue import LikelyGraph
from assay.model.base import Frozen
from assay.model.errors import BadInputError
from assay.model.installation import Installation
from assay.model.installed import kinds_of
from assay.model.naming import did_you_mean, similar
from assay.model.trial import Plan, ResourceEstimate
from assay.plan.make import plan_and_more, read_experiment
from assay.plan.source import ExperimentSource, Vocabulary
from assay.report.typed import typed
from assay.report.words import print_line, print_text
from assay.run.needs import with_time
from assay.workload.together import open_workload

_HOURS_FROM_S = 2 * 3600
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
    least_s: float | None = None
    """How long all of its trials are likely to take here at least; null where nobody knows, as of a jar."""
    most_s: float | None = None
    """The same at most."""

    @property
    def time(self) -> str:
        """The range in minutes, or in hours."""
        if self.least_s is None or self.most_s is None:
            return "time unknown"
        if self.most_s < _HOURS_FROM_S:
            return f"{ceil(self.least_s / 60)} to {ceil(self.most_s / 60)} min"
        return f"{self.least_s / 3600:.1f} to {self.most_s / 3600:.1f} h"


def shipped_experiments(installation: Installation) -> list[Path]:
    """Return the files of all shipped experiments, sorted by name."""
    return sorted((installation.root / "experiments").rglob("*.yaml"), key=lambda file: file.stem)


def find_shipped(name: str, installation: Installation) -> Path:
    """Find the file of a shipped experiment by its name. Raises BadInputError, with the nearest names."""
    files = {file.stem: file for file in shipped_experiments(installation)}
    if name in files:
        return files[name]
    close = similar(name, sorted(files), most=3)
    hint = did_you_mean(close) if close else "`assay experiments` lists those"
    raise BadInputError(f"there is neither a file {name} nor a shipped experiment of that name; {hint}")


def described(file: Path, installation: Installation, vocabulary: Vocabulary) -> Shipped:
    """Describe a shipped experiment, of which this machine may lack something, such as a jar: then its time is unknown.

    Raises BadInputError where its file can't be read.
    """
    source = ExperimentSource(file)
    path = file.relative_to(installation.root)
    least_s = most_s = None
    with suppress(BadInputError):
        least_s, most_s = likely_time(plan_and_more(source, vocabulary)[0]) or (None, None)
    return Shipped(
        name=file.stem, question=(source.experiment.question or source.experiment.description).strip(),
        study=STUDIES in path.parts, file=str(path), least_s=least_s, most_s=most_s,
    )  # fmt: skip


def likely_time(plan: Plan) -> tuple[float, float] | None:
    """How many seconds a plan takes at least and at most, as a dry run says, but of inputs that nobody has made yet.

    None where the time of a trial is not known.
    """
    estimates: dict[str, ResourceEstimate] = {}
    least_s = most_s = 0.0
    for trial in plan.trials:
        key = f"{trial.workload!r} {trial.dataset!r}"
        if key not in estimates:
            dataset = None if trial.dataset.is_none else LikelyGraph(trial.dataset)
            estimates[key] = open_workload(trial.workload, "/", dataset).estimate()
        estimate = with_time(trial, kinds_of(trial), estimates[key])
        if not estimate.known:
            return None
        least_s += estimate.seconds
        most_s += estimate.seconds if estimate.most_s is None else estimate.most_s
    return least_s, most_s


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
    if name is not None:
        _describe(find_shipped(name, installation), installation, as_json=as_json)
        return
    files = shipped_experiments(installation)
    listed = files if as_json else [file for file in files if (file.parent.name == STUDIES) == studies]
    known_names = vocabulary(installation)
    shown = [described(file, installation, known_names) for file in listed]
    if as_json:
        print_json([about.model_dump(mode="json") for about in shown])
        return
    console = open_console()
    for about in shown:
        print_text(console, about.question)
        print_line(console, f"    {typed('run', about.name)}  # {about.time}", "dim")
    print_text(console, "Times are rough estimates; with --dry-run it only says what a run needs on this machine.")
    if not studies:
        others = len(files) - len(shown)
        print_text(
            console, f"{others} more repeat published studies or test Assay itself: `assay experiments --studies`"
        )


def _describe(file: Path, installation: Installation, *, as_json: bool) -> None:
    """Print an experiment's question, its file, its trials, and the command that says how long they take here."""
    known_names = vocabulary(installation)
    about = described(file, installation, known_names)
    if as_json:
        print_json(about.model_dump(mode="json"))
        return
    console, plan = open_console(), read_experiment(file, known_names).plan
    media = ", ".join(sorted({trial.placement.name for trial in plan.trials}))
    print_text(console, about.question)
    print_line(console, f"file: {about.file}")
    print_text(console, f"{len(plan.trials)} trials, on {media}: {about.time}")
    print_line(console, f"time, disk and memory on this machine: {typed('run', about.name, '--dry-run')}")
    print_line(console, f"run it: {typed('run', about.name)}")
