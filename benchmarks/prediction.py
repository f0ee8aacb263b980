"""How good `assay predict` is: `PYTHONPATH=src:extras:. python benchmarks/prediction.py RUN...`.

RUN are runs with two placements or more on emulated drives. The first table takes the other drive's busy times as known
(`benchmarks/known_busy_times.py`). Where trials kept their requests, further tables say how good `assay predict` is,
which replays them (`benchmarks/replayed.py`): by the rules in docs/explanation/prediction.md, which were written before
anything was measured. Last come the parameters of `assay.predict.predictor` that follow.
"""

import argparse
from collections.abc import Mapping, Sequence
from math import ceil, exp, floor, inf, log10
from pathlib import Path

from benchmarks.known_busy_times import (
    BUSY_JOBS,
    BUSY_SHARE,
    COLUMNS,
    Case,
    by_network,
    cases,
    covered,
    interval_95,
    rows,
    spread_of_errors,
    worst,
)
from benchmarks.replayed import (
    ALL_DATA,
    BUSY_KNOWN,
    NOT_WORTH,
    REGISTERED_ERROR_95,
    SOME_ROLES,
    UNDECIDED,
    WORTH,
    Job,
    Refused,
    Replayed,
    error_of_others,
    replayed,
)

from assay.record.folder import RunFolder
from assay.report.columns import as_columns, layout_table
from assay.report.words import percent
from assay.stats.closed_network import TASKS_AT_ONCE

GOALS: Mapping[str, tuple[str, str]] = {ALL_DATA: ("6 %", "15 %"), SOME_ROLES: ("8 %", "20 %")}
"""Of the median and the 90th percentile of errors."""
GOAL_COVERED = "90 to 98 %"
UNKNOWN = "not known"


def summary_rows(cases: Sequence[Replayed], refused: Sequence[Refused]) -> list[list[str]]:
    """How far `assay predict` is off, beside the goals, and how many cases its interval covers."""
    table = []
    for kind, (of_median, of_ninth) in GOALS.items():
        of_kind = [case for case in cases if case.kind == kind]
        errors = [case.error() for case in of_kind] + [inf for case in refused if case.kind == kind]
        count, middle, ninth, _ = spread_of_errors(errors)
        held = (
            sum(case.covers(error_of_others(case, cases)) for case in of_kind),
            sum(case.covers(REGISTERED_ERROR_95) for case in of_kind),
        )
        shares = [f"{number} of {count}" for number in held]
        table.append([kind, count, middle, of_median, ninth, of_ninth, shares[0], GOAL_COVERED, shares[1]])
    return table


SUMMARY_COLUMNS = (
    "predicted", "cases", "median error", "goal", "90th percentile", "goal", "in the interval", "goal",
    "in the earlier one",
)  # fmt: skip


def predictor_rows(cases: Sequence[Replayed]) -> list[list[str]]:
    """For each predictor how far it is off: of all data, of some roles, and on the faster drive."""
    groups = [
        [case for case in cases if case.kind == ALL_DATA],
        [case for case in cases if case.kind == SOME_ROLES],
        [case for case in cases if case.to_faster],
    ]
    table = []
    for name in dict.fromkeys(name for case in cases for name in case.foretold_s):
        errors = [[case.error(name) for case in group if name in case.foretold_s] for group in groups]
        table.append([name, *(cell for of_group in errors for cell in spread_of_errors(of_group)[1:3])])
    return table


PREDICTOR_COLUMNS = (
    "predictor", "all data: median", "90th percentile", "some roles: median", "90th percentile",
    "on the faster drive: median", "90th percentile",
)  # fmt: skip


def verdict_rows(cases: Sequence[Replayed], refused: Sequence[Refused]) -> list[list[str]]:
    """How often each rule says what, by what is true: of all cases, and of those on the faster drive."""
    said: dict[str, list[Replayed]] = {verdict: [] for verdict in (WORTH, NOT_WORTH, UNKNOWN)}
    for case in cases:
        said[case.prediction(error_of_others(case, cases)).verdict].append(case)
    rules = [*(("assay predict", *item) for item in said.items()),
             ("always yes", WORTH, cases), ("always no", NOT_WORTH, cases)]  # fmt: skip
    table = []
    for rule, verdict, of_verdict in rules:
        groups = of_verdict, [case for case in of_verdict if case.to_faster]
        counts = [sum(case.truth == truth for case in group) for group in groups for truth in TRUTHS]
        table.append([rule, verdict, *map(str, counts)])
    if refused:
        table.append(["assay predict", "refused", "-", "-", str(len(refused)), "-", "-", "-"])
    return table


TRUTHS = (WORTH, NOT_WORTH, UNDECIDED)
VERDICT_COLUMNS = (
    "rule", "says", *(f"is {truth}" for truth in TRUTHS), *(f"on the faster drive: {truth}" for truth in TRUTHS),
)  # fmt: skip


def case_rows(cases: Sequence[Replayed]) -> list[list[str]]:
    """A row for each case; times in seconds."""
    table = []
    for case in cases:
        prediction = case.prediction(error_of_others(case, cases))
        table.append([
            str(case.job), case.before, case.after, f"{prediction.elapsed_s:.1f} s", f"{case.there.time_s:.1f} s",
            f"{prediction.predicted_s:.1f} s", f"{exp(case.error()) - 1:+.0%}",
            f"{prediction.low_s:.1f} to {prediction.high_s:.1f} s", prediction.verdict, case.truth,
        ])  # fmt: skip
    return table


CASE_COLUMNS = ("job", "from", "to", "took", "there", "predicted", "error", "interval", "says", "is")


def worst_rows(cases: Sequence[Replayed], most: int = 10) -> list[list[str]]:
    """The cases that are off furthest, with how far the replayed busy times are off, and what is left without that."""
    furthest = sorted(cases, key=lambda case: -abs(case.error()))[:most]
    return [
        [
            str(case.job), case.before, case.after, f"{exp(case.error()) - 1:+.0%}", f"{case.busy_s:.1f} s",
            f"{case.there.busy_s:.1f} s", f"{exp(case.error(BUSY_KNOWN)) - 1:+.0%}",
        ]
        for case in furthest
    ]  # fmt: skip


WORST_COLUMNS = ("job", "from", "to", "error", "busy by the replay", "busy", "error with that busy time")


def busy_text(cases: Sequence[Replayed]) -> str:
    """Whether the jobs waited for the drives of the first placement: else the cases test nothing."""
    first = cases[0].run.plan.placements[0]
    shares: dict[Job, float] = {}
    for case in (case for case in cases if case.before == first):
        demands = case.run.demands
        busy_s = sum(max(stage.busy_s) for demand in demands for stage in demand.stages)
        shares[case.job] = busy_s / sum(demand.elapsed_s for demand in demands)
    enough = sum(share >= BUSY_SHARE for share in shares.values())
    verdict = "so that it is a test" if enough >= BUSY_JOBS else "so that it is no test"
    each = ", ".join(f"{percent(share)} of {job}" for job, share in shares.items())
    of_jobs = f"in {enough} of {len(shares)} jobs, {verdict}"
    return f"On {first} the drive was busy for a third of the time or more {of_jobs}: {each}."


def error_95(known: Sequence[Case], cases: Sequence[Replayed]) -> float:
    """The error of the interval of `assay predict`: the greater one of both kinds of cases, rounded up."""
    predictor = by_network(TASKS_AT_ONCE)
    errors = [case.error(predictor) for case in known], [case.error() for case in cases]
    return ceil(100 * max(interval_95(of_kind) for of_kind in errors if of_kind)) / 100


def ranges_seen(cases: Sequence[Replayed]) -> list[tuple[float, float]]:
    """Half of the least and twice the most depth that a trial had, and of the bytes of its requests."""
    demands = [demand for case in cases for demand in case.run.demands]
    seen = [demand.depth for demand in demands], [demand.request_bytes for demand in demands]
    return [(two_digits(min(values) / 2), two_digits(2 * max(values))) for values in seen]


def parameters_text(known: Sequence[Case], cases: Sequence[Replayed]) -> str:
    """What `assay.predict.predictor` is to have by these cases."""
    text = f"ERROR_95 = {error_95(known, cases)}"
    if cases:
        (least, most), (smallest, largest) = ranges_seen(cases)
        text += f", DEPTH {least:g} to {most:g}, REQUEST_BYTES {smallest:,.0f} to {largest:,.0f}"
    return text


def two_digits(value: float) -> float:
    """A positive number rounded to two digits."""
    return round(value, 1 - floor(log10(value)))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN")
    known: list[Case] = []
    replays: list[Replayed] = []
    refused: list[Refused] = []
    for folder in map(RunFolder, parser.parse_args().runs):
        known += cases(folder.path.name, folder.records()[0])
        of_run = replayed(folder)
        replays += of_run[0]
        refused += of_run[1]
    if not known and not replays and not refused:
        parser.error("no job of these runs ran on two placements of emulated drives; name a run whose jobs did")
    show(COLUMNS, rows(known))
    show(("run", "job", "from", "to", "error"), worst(known, 10))
    if len({case.run for case in known}) > 1:
        within = f"{covered(known)} of {len(known)}"
        print(f"{within} lie within the interval that the other runs' cases give")  # noqa: T201
    for case in refused:
        print(f"{case.case} is refused: {case.reason}")  # noqa: T201
    if not replays:
        return
    print(busy_text(replays))  # noqa: T201
    show(SUMMARY_COLUMNS, summary_rows(replays, refused))
    show(PREDICTOR_COLUMNS, predictor_rows(replays))
    show(VERDICT_COLUMNS, verdict_rows(replays, refused))
    show(CASE_COLUMNS, case_rows(replays))
    show(WORST_COLUMNS, worst_rows(replays))
    print(parameters_text(known, replays))  # noqa: T201


def show(names: Sequence[str], table: Sequence[Sequence[str]]) -> None:
    """Print a table."""
    print("\n".join(layout_table(as_columns(names, table), 160)))  # noqa: T201


if __name__ == "__main__":
    main()
