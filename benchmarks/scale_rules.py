"""How each version of the rules judges scale models: `python benchmarks/scale_rules.py RUN...`.

Prints the versions of the rules, each trial's verdict by each of them, and which verdicts flip from one version to the
next. Records that kept what was seen are judged again by every version; older ones, which kept verdicts and figures
only, as far as these tell (`?`: they don't).
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from assay.model.record import Record
from assay.model.scale import CheckId
from assay.record.folder import RunFolder
from assay.record.scale_rules import RULES, UNTOLD, Rules, Told, verdicts
from assay.report.columns import Column, grid

Trial = tuple[str, Record]
"""A run's name and a record of it."""


def main() -> None:
    """Print all three tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN")
    runs = parser.parse_args().runs
    trials = [(run.name, record) for run in runs for record in RunFolder(run).records()[0] if record.scale is not None]
    if not trials:
        sys.exit("scale_rules: no trial ran on a scale model; name runs of an experiment with a dilation")
    for part in (history(), table(trials), "\n".join(changes(trials))):
        sys.stdout.write(f"{part}\n\n")


def history() -> str:
    """The versions."""
    return grid([
        Column("version", [str(rules.version) for rules in RULES]),
        Column("since (UTC)", [f"{rules.since:%Y-%m-%d %H:%M}" for rules in RULES], name=True),
        Column("check", [rules.check.heading if rules.check else "all" for rules in RULES], name=True),
        Column("change", [rules.change for rules in RULES], name=True),
        Column("why", [rules.why for rules in RULES], name=True),
    ])  # fmt: skip


def table(trials: Sequence[Trial]) -> str:
    """A line for each trial, in Markdown."""
    return grid([
        Column("run", [run for run, _ in trials], name=True),
        Column("trial", [record.trial.id for _, record in trials], name=True),
        Column("K", [str(record.scale.dilation) for _, record in trials if record.scale]),
        Column("kept", ["what was seen" if _kept(record) else "verdicts only" for _, record in trials], name=True),
        *(
            Column(f"version {rules.version}", [verdict(verdicts(record, rules)) for _, record in trials])
            for rules in RULES
        ),
    ])  # fmt: skip


def verdict(told: Mapping[CheckId, Told]) -> str:
    """Passed, or what failed, or `?` where that depends on a check that can't be told."""
    failed = [check.heading for check, one in told.items() if one is False]
    untold = [check.heading for check, one in told.items() if one == UNTOLD]
    return f"failed: {', '.join(failed)}" if failed else f"? ({', '.join(untold)})" if untold else "passed"


def changes(trials: Sequence[Trial]) -> Iterator[str]:
    """For each version how many verdicts of whole trials it changed, and which."""
    yield f"{len(trials)} trials, {sum(_kept(record) for _, record in trials)} of which kept what was seen"
    for before, after in pairwise(RULES):
        flips = [f"{run}/{record.trial.id}" for run, record in trials if flipped(record, before, after)]
        untold = sum(None in (_stands(record, before), _stands(record, after)) for _, record in trials)
        checks = sum(len(changed_checks(record, before, after)) for _, record in trials)
        names = f": {', '.join(flips)}" if flips else ""
        of = f", {untold} can't be told" if untold else ""
        what = f"{len(flips)} of {len(trials)} trials and {checks} of their checks flip"
        yield f"version {before.version} to {after.version}: {what}{of}{names}"


def flipped(record: Record, before: Rules, after: Rules) -> bool:
    """Whether a trial counts by one version and not by the other; False where either can't be told."""
    return {_stands(record, before), _stands(record, after)} == {True, False}


def changed_checks(record: Record, before: Rules, after: Rules) -> list[CheckId]:
    """The checks that pass by one version and fail by the other."""
    then, now = verdicts(record, before), verdicts(record, after)
    return [check for check in then if {then[check], now[check]} == {True, False}]


def _stands(record: Record, rules: Rules) -> bool | None:
    """Whether no check failed; None where that can't be told."""
    told = verdicts(record, rules).values()
    return False if False in told else None if UNTOLD in told else True


def _kept(record: Record) -> bool:
    return record.scale is not None and record.scale.seen is not None


if __name__ == "__main__":
    main()
