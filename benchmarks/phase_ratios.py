"""Ratios of phase times in a run that shows a cause: `python benchmarks/phase_ratios.py RUN... [--json FILE]`.

For each job and phase: the seconds of every combination of levels; the ratio of each two combinations that differ in a
single factor; and, where two factors vary, by how much the first one's ratio changes with the second (the ratio of the
ratios). Intervals are Student's on the logarithms within repetitions, 95 %, from these pairs alone. Jobs whose names
differ by a number only (iterations) are added up. `--json` keeps the seconds, from which all of it can be computed.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path

from assay_extras.studies.values import difference

LEAST_S = 0.5
"""Phases below it are left out of the ratios."""

Levels = tuple[tuple[str, str], ...]


def main() -> int:
    """Print the tables of all runs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN")
    parser.add_argument("--json", type=Path, help="where the seconds are kept, too")
    wishes = parser.parse_args()
    kept = {}
    for run in wishes.runs:
        times = read(run)
        if not times:
            sys.exit(f"phase_ratios: {run} has no finished trials (trials/*/record.json); give the folder of a run")
        kept[json.loads((run / "plan.json").read_text(encoding="utf-8"))["experiment"]] = {
            f"{job}, {phase}": {
                text(levels): {number: round(seconds, 3) for number, seconds in own.items()}
                for levels, own in sorted(by_levels.items())
            }
            for (job, phase), by_levels in times.items()
        }
        for (job, phase), by_levels in times.items():
            show(f"{job}, {phase}", by_levels)
    if wishes.json:
        wishes.json.write_text(lines(kept), encoding="utf-8")
    return 0


def counts(record: Mapping) -> bool:
    """Whether the trial's times may be used."""
    right = all(verdict["outcome"] != "fail" for verdict in record["verdicts"])
    return (
        record["status"] == "finished"
        and right
        and all(check["passed"] is not False for check in (record.get("scale") or {}).get("checks", ()))
    )


def read(run: Path) -> dict[tuple[str, str], dict[Levels, dict[int, float]]]:
    """Seconds by job and phase, then by the levels that vary in the run, then by repetition.

    Trials that failed, whose output was wrong, or whose time a scale model's check excluded are left out.
    """
    records = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(run.glob("trials/*/record.json"))]
    records = [record for record in records if counts(record)]
    levels = [factors(record) for record in records]
    varied = [name for name in levels[0] if len({level[name] for level in levels}) > 1] if levels else []
    times: dict[tuple[str, str], dict[Levels, dict[int, float]]] = {}
    for record, own in zip(records, levels, strict=True):
        key = tuple((name, own[name]) for name in varied)
        for job in record["jobs"]:
            name = re.sub(r"[- ]?\d+$", "", job["name"])
            for phase, seconds in job["phases"].items():
                repeated = times.setdefault((name, phase), {}).setdefault(key, {})
                number = record["trial"]["repetition"]
                repeated[number] = repeated.get(number, 0.0) + seconds
    return times


def factors(record: Mapping) -> dict[str, str]:
    """What a trial's place among others is known by."""
    trial, limits = record["trial"], record.get("limits") or {}
    cache = limits.get("page_cache") or {}
    return {
        "drive": trial["placement"]["name"],
        "settings": trial["settings"]["name"],
        "page cache": f"{cache.get('budget_bytes', 0) >> 20} MiB",
        **{name: str(level) for name, level in trial["levels"].items()},
    }


def show(title: str, by_levels: Mapping[Levels, Mapping[int, float]]) -> None:
    """One job's phase."""
    if max(max(own.values()) for own in by_levels.values()) < LEAST_S:
        return
    say(f"\n{title}")
    for levels, own in sorted(by_levels.items()):
        say(f"  {text(levels)}: {', '.join(f'{own[number]:.2f}' for number in sorted(own))} s")
    ratios = list(single_factor(by_levels))
    for words, _, _, first, second in ratios:
        found = difference(first, second)
        say(f"  {words} = {found.words if found else 'no pairs'}")
    for (words, factor, others, first, second), (_, same, rest, other_first, other_second) in combinations(ratios, 2):
        # The other factor's ratio of ratios is the same figure.
        if factor == same and len(others) == 1 and others != rest and factor[0] == ratios[0][1][0]:
            found = difference(quotients(first, second), quotients(other_first, other_second))
            say(f"  that with {text(rest)} over {words} = {found.words if found else 'no pairs'}")


def single_factor(by_levels: Mapping[Levels, Mapping[int, float]]) -> Iterator[tuple]:
    """Each two combinations that differ in one factor: words, the factor with both levels, the others, their times."""
    for first, second in combinations(sorted(by_levels), 2):
        differs = [levels for levels in zip(first, second, strict=True) if levels[0] != levels[1]]
        if len(differs) == 1:
            others = tuple(level for level in first if level in second)
            ((_, first_level), (name, second_level)) = differs[0]
            words = f"{second_level} / {first_level}" + (f" ({text(others)})" if others else "")
            yield words, (name, first_level, second_level), others, by_levels[first], by_levels[second]


def quotients(first: Mapping[int, float], second: Mapping[int, float]) -> dict[int, float]:
    """Of the second to the first, in each repetition that has both."""
    return {number: second[number] / first[number] for number in first.keys() & second.keys() if first[number] > 0}


def lines(kept: Mapping[str, Mapping[str, object]]) -> str:
    """As JSON, with a line for each phase."""
    runs = []
    for experiment, phases in kept.items():
        own = ",\n".join(f"  {json.dumps(name)}: {json.dumps(values)}" for name, values in phases.items())
        runs.append(f" {json.dumps(experiment)}: {{\n{own}\n }}")
    return "{\n" + ",\n".join(runs) + "\n}\n"


def text(levels: Levels) -> str:
    """`drive hdd, page cache 32 MiB`."""
    return ", ".join(f"{name} {level}" for name, level in levels)


def say(line: str) -> None:
    """To standard output."""
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
