"""What the benchmarks of a single run share: its folder is their argument, and their report is what they print."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from assay.model.trial import Plan
from assay.model.trial_summary import TrialSummary
from assay.record.folder import RunFolder
from assay.report.analysis import RunData, read_run

Report = Callable[[Plan, Sequence[TrialSummary]], str]


def of_trials(report: Report) -> Callable[[RunData], str]:
    """A report of a run, from one of its plan and trials."""
    return lambda run: report(run.plan, run.trials)


def print_report(about: str | None, report: Callable[[RunData], str]) -> None:
    """Print the report of the run whose folder the command line names; `about` is what `--help` says."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    run = read_run(RunFolder(parser.parse_args().run), details=False)
    sys.stdout.write(f"{report(run)}\n")
