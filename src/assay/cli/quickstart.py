"""`assay quickstart`: the first decision, with the thesis' drives where this machine can emulate them."""

import os
from pathlib import Path

import click

from assay.cli.console import Output
from assay.cli.context import OUT_HELP, UserPath, find_installation, output_options
from assay.cli.run import run_experiment
from assay.media.emulated.attachment import missing
from assay.media.memory import backing_fits_into_memory
from assay.model.cluster import EmbeddedSpec
from assay.model.doubt import doubt_kind
from assay.model.errors import BadInputError
from assay.platform.limits import check_limits
from assay.report.terminal import print_doubt

SIX_MINUTES_S, FIVE_MINUTES_S, ONCE_S = 335.0, 230.0, 120.0
"""With set-up, without, and for each trial once; less what the checks before and the report after the trials take."""
SMALL_BYTES = 1 << 30
BACKING_BYTES = 4 << 30
"""What the quickstart's drives hold at most."""


NO_EMULATED_DRIVES = doubt_kind(
    "no-emulated-drives",
    "machine",
    when="`assay quickstart` could not emulate drives or bound memory",
    why="the quickstart compares this disk with memory instead, and the page cache can hide the disk",
    cure="repair what is missing and start again; `assay doctor` shows it",
    severity=200,
)


@click.command()
@click.option("--out", type=UserPath(), help=OUT_HELP)
@output_options
def quickstart(out: Path | None, *, output: Output) -> int:
    """Answer in five minutes whether an SSD is worth it for one job.

    The job runs on an emulated hard disk, on an emulated SSD and without storage delay, and all three again as
    often as five minutes allow, or six with set-up; the two drives alone where there is time for no more. If drives
    can't be emulated, it runs on the disk under the working directory and in memory.

    \b
    Example:  assay quickstart
    """
    installation = find_installation()
    budget_s = max(ONCE_S, min(FIVE_MINUTES_S, SIX_MINUTES_S - float(os.environ.get("ASSAY_SETUP_S") or 0)))
    experiments = installation.root / "experiments"
    lacking = list(missing(installation))
    try:
        check_limits(EmbeddedSpec(limit_memory_bytes=SMALL_BYTES), installation.state)
    except BadInputError as error:  # memory can't be bounded
        lacking.append(str(error))
    if not lacking:
        # In memory no disk of this machine is in the emulated drives' way.
        name = "quickstart.yaml" if backing_fits_into_memory(BACKING_BYTES) else "quickstart-on-disk.yaml"
        return run_experiment(experiments / name, out, installation, output, budget_s=budget_s, fill=True)
    doubt = NO_EMULATED_DRIVES.doubt(f"drives can't be emulated here: {'; '.join(lacking)}")
    print_doubt(doubt, output.progress)
    plain = experiments / "quickstart-without-emulation.yaml"
    return run_experiment(plain, out, installation, output, budget_s=budget_s, fill=True, doubts=(doubt,))
