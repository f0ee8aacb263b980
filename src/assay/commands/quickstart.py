"""`assay quickstart`: the first comparison, with the thesis' drives where this machine can emulate them."""

from pathlib import Path

from rich.console import Console

from assay.cluster.limits import check_limits
from assay.commands.run import run_experiment
from assay.media.requirements import missing
from assay.model.cluster import ClusterSpec
from assay.model.doubt import Doubt
from assay.model.errors import BadInputError
from assay.model.installation import Installation
from assay.report.table import print_doubt

SMALL_BYTES = 1 << 30


def quickstart(out: Path | None, installation: Installation, console: Console) -> int:
    """Compare an emulated HDD and SSD with memory bounded; where that can't be, disk and memory, and say why."""
    experiments = installation.root / "experiments"
    lacking = [*missing(installation), *_unbounded(installation)]
    if not lacking:
        return run_experiment(experiments / "quickstart.yaml", out, installation, console)
    doubt = Doubt(
        kind="no-emulated-drives",
        what=f"drives can't be emulated here: {'; '.join(lacking)}",
        why="this quickstart compares the disk here and memory instead, and the page cache can hide the disk",
        cure="mend what is missing and start again; `assay doctor` shows it",
    )
    print_doubt(doubt, console)
    plain = experiments / "quickstart-without-emulation.yaml"
    return run_experiment(plain, out, installation, console, doubts=(doubt,))


def _unbounded(installation: Installation) -> list[str]:
    """Why memory can't be bounded, where it can't."""
    try:
        check_limits(ClusterSpec(limit_memory_bytes=SMALL_BYTES), installation.state)
    except BadInputError as error:
        return [str(error)]
    return []
