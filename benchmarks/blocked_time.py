"""Where the clock went in each trial of a run, and two estimates of what storage costs: `python blocked_time.py RUN`.

The first table is the step `run`: step = computing + blocked on storage + waiting for a processor + idle (start-up,
heartbeats, the client) + what is left over, in seconds of the clock, medians over a combination's trials. `left over,
worst` is the greatest share of any trial; it tests computing and waiting, not blocked and idle. Blocked time is tested
by the I/O pressure of the cluster's control group, from `full` to `some`: `beyond` is the greatest share of any trial
by which it is above `some` or (negative) below `full`. The last column is how long the drives were busy.

The second is of the jobs' own time: the storage share above the zero-delay baseline, blocked time above that with zero
delay, which is the same quantity, and the whole share of blocked time, all with their 95 % intervals; then the phases
in which the time was blocked. The grid of the docs: `experiments/studies/page-cache.yaml`.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

from assay.model.record import Record
from assay.record.folder import RunFolder
from assay.stats.blocked import PROBE, beyond_pressure_share, clock_shares
from assay.stats.decision import blocked_above, decisions
from assay.stats.sample import is_valid
from assay.stats.trial_summary import summarise


def main() -> None:
    """Print both tables as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="the folder of a run")
    folder = RunFolder(parser.parse_args().run)
    records = folder.records()[0]
    sys.stdout.write("\n".join([*_clock(records), "", *_shares(folder, records)]) + "\n")


def _clock(records: Sequence[Record]) -> Iterator[str]:
    yield (
        "| job | drive | step | computing | blocked | waiting | idle | left over, worst | pressure full, some | beyond "
        "| busy |"
    )
    yield "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    varied = _varied([record.trial.factors for record in records])
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        if not is_valid(summarise(record)):
            continue
        groups.setdefault((_job(record.trial.factors, varied), record.trial.placement.name), []).append(record)
    for (workload, placement), own in groups.items():
        known = [shares for record in own if (shares := clock_shares(record)) is not None]
        if not known:
            yield f"| {workload} | {placement} | not measured | | | | | | | | |"
            continue
        names = ("step_s", "computing_s", "blocked_s", "waiting_s", "idle_s")
        seconds = " | ".join(f"{median(getattr(shares, name) for shares in known):.1f}" for name in names)
        worst = max((shares.left_over_share for shares in known), key=abs)
        pressure = ", ".join(
            f"{median(_amount(record, f'io_{kind}_s') for record in own):.1f}" for kind in ("full", "some")
        )
        beyond = [by for record in own if (by := beyond_pressure_share(record)) is not None]
        most = f"{100 * max(beyond, key=abs):+.1f} %" if beyond else ""
        busy = median(summarise(record).busy_s or 0.0 for record in own)
        yield f"| {workload} | {placement} | {seconds} | {100 * worst:+.1f} % | {pressure} | {most} | {busy:.1f} |"


def _varied(factors: Sequence[Mapping[str, str]]) -> list[str]:
    """What tells a run's jobs apart, beside the placement."""
    names = dict.fromkeys(name for own in factors for name in own if name not in {"placement", "workload"})
    return [
        name
        for name in names
        if len({own.get(name) for own in factors if own["workload"] == factors[0]["workload"]}) > 1
    ]


def _job(levels: Mapping[str, str], varied: Sequence[str]) -> str:
    return ", ".join(
        [levels["workload"], *(f"{name.replace('_', ' ')} {levels[name]}" for name in varied if levels.get(name))]
    )


def _amount(record: Record, series: str) -> float:
    return sum(
        amount.value
        for amount in record.amounts
        if (amount.probe, amount.series, amount.part) == (PROBE, series, "run")
    )


def _shares(folder: RunFolder, records: Sequence[Record]) -> Iterator[str]:
    yield (
        "| job | drive | elapsed, s | storage share, baseline | blocked above zero delay | share of blocked time "
        "| blocked, s by phase |"
    )
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    varied = _varied([record.trial.factors for record in records])
    for decision in decisions(folder.plan(), list(map(summarise, records))):
        for placement in filter(None, (*decision.placements, decision.baseline)):
            blocked, share = placement.blocked, placement.storage_share
            above = blocked_above(placement, decision.baseline) if placement is not decision.baseline else None
            phases = ", ".join(f"{name} {value:.1f}" for name, value in blocked.phases.items()) if blocked else ""
            yield (
                f"| {_job(decision.levels, varied)} | {placement.placement} | {placement.elapsed_s.value:.1f} "
                f"| {_interval(share.value, share.low, share.high) if share else ''} "
                f"| {_interval(above.value, above.low, above.high) if above else ''} "
                f"| {_interval(blocked.share, blocked.low, blocked.high) if blocked else ''} | {phases} |"
            )


def _interval(value: float, low: float | None, high: float | None) -> str:
    words = f"{100 * value:.0f} %"
    return words if low is None or high is None else f"{words} ({100 * low:.0f} to {100 * high:.0f} %)"


if __name__ == "__main__":
    main()
