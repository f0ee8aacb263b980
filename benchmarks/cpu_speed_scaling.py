"""Whether scaling the computing predicts less processor time: `python benchmarks/cpu_speed_scaling.py RUN...`.

Of runs of `experiments/quickstart-half-cpu.yaml`, or of others that vary `cpus`: from the trials with the most
processor time, what the arithmetic of `assay.stats.sensitivity` predicts for less of it, beside what was measured.
Predicted are the saving with its 95 % interval, and times. What storage cost should be the same with any processor
time, and the time with zero delay should grow as the processor time falls; both are printed. `--json FILE` keeps it.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from assay.model.errors import BadInputError
from assay.record.folder import RunFolder
from assay.report.analysis import analyse, read_run
from assay.stats.sensitivity import Sensitivity


def main() -> int:
    """Print a table for each run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN")
    parser.add_argument("--json", type=Path, help="where the figures are kept, too")
    wishes = parser.parse_args()
    kept = {}
    for place in wishes.runs:
        try:
            run = read_run(RunFolder(place), details=False)
        except BadInputError as error:
            sys.exit(f"cpu_speed_scaling: {error}")
        compared = list(
            comparisons([answer.sensitivity for answer in analyse(run.measured).answers if answer.sensitivity])
        )
        if not compared:
            sys.exit(f"cpu_speed_scaling: {place} has no placements that were compared at several `cpus`")
        kept[place.name] = compared
        for comparison in compared:
            print("\n".join(lines(comparison)))  # noqa: T201 - the output of the command
    if wishes.json:
        wishes.json.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    return 0


def comparisons(known: Sequence[Sensitivity]) -> Iterator[dict[str, object]]:
    """Of each two decisions that differ in their processor time alone: prediction from the more, and measurement."""
    for full in known:
        for less in known:
            if not (full.cores and less.cores and less.cores < full.cores) or _but_cpus(full) != _but_cpus(less):
                continue
            speed = less.cores / full.cores
            zero_s = full.zero_s / speed
            predicted, measured = full.saving(speed), less.saving()
            yield {
                "subject": full.levels["workload"],
                "memory": full.levels["memory"],
                "cores": [full.cores, less.cores],
                "saving_at_full": full.saving().model_dump(),
                "saving_predicted": predicted.model_dump(),
                "saving_measured": measured.model_dump(),
                "intervals_overlap": _overlap(predicted.model_dump(), measured.model_dump()),
                "zero_delay_s": {"full": full.zero_s, "predicted": zero_s, "measured": less.zero_s},
                "seconds": {
                    name: {"full": at_full, "predicted": at_full - full.zero_s + zero_s, "measured": at_less}
                    for name, at_full, at_less in (
                        (full.base, full.base_s, less.base_s),
                        (full.other, full.other_s, less.other_s),
                    )
                },
                "storage_s": {
                    full.base: {"full": full.base_s - full.zero_s, "measured": less.base_s - less.zero_s},
                    full.other: {"full": full.other_s - full.zero_s, "measured": less.other_s - less.zero_s},
                },
            }


def _but_cpus(sensitivity: Sensitivity) -> dict[str, str]:
    levels = {name: level for name, level in sensitivity.levels.items() if name != "cpus"}
    return {**levels, "base": sensitivity.base, "other": sensitivity.other}


def _overlap(first: dict[str, float | None], second: dict[str, float | None]) -> bool | None:
    """None where one of the intervals is not known."""
    ends = (first["low"], first["high"], second["low"], second["high"])
    if None in ends:
        return None
    return max(ends[0] or 0.0, ends[2] or 0.0) <= min(ends[1] or 0.0, ends[3] or 0.0)


def lines(comparison: dict[str, object]) -> Iterator[str]:
    """One comparison as a table."""
    full, less = comparison["cores"]
    yield f"{comparison['subject']} within {comparison['memory']}, {full:g} cores to {less:g}:"
    for name, key in (
        ("at full", "saving_at_full"),
        ("predicted", "saving_predicted"),
        ("measured", "saving_measured"),
    ):
        share = comparison[key]
        known = share["low"] is not None
        interval = f" ({100 * share['low']:.0f} to {100 * share['high']:.0f} %)" if known else ""
        yield f"  saving {name:10} {100 * share['value']:.0f} %{interval}"
    yield f"  intervals of prediction and measurement overlap: {comparison['intervals_overlap']}"
    for name, times in {"zero-delay": comparison["zero_delay_s"], **comparison["seconds"]}.items():
        seconds = f"{times['full']:6.1f} s at full, {times['predicted']:6.1f} predicted"
        yield f"  {name:12} {seconds}, {times['measured']:6.1f} measured"
    for name, times in comparison["storage_s"].items():
        yield f"  storage on {name:12} {times['full']:6.1f} s at full, {times['measured']:6.1f} measured"


if __name__ == "__main__":
    sys.exit(main())
