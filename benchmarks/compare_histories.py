"""Whether `assay compare-histories` is right about known effects.

A made site has twenty jobs of very different sizes, half of which the change touches; the others are its controls. All
jobs of a night share a disturbance, and each run has noise of its own, whose tails are heavy (Student's t with 4
degrees of freedom). Inputs differ from night to night, and times follow them by a slope of the job's own. From the
nights before to those after, all jobs may drift and all inputs grow. A run in twenty is missing.

Promised is, within two standard errors of so many sites (else the exit code is 1):

- 93 to 97 % of the 95 % intervals of all touched jobs together hold the truth, in each case;
- *helped* is said of them without any effect in at most 5 % of sites, and of any single job in at most 5 %, too.

Shown beside it is what the plain ratio says, of the mean times of a night after and before, with its interval by
Welch's test. Some sites are written as job histories and read again, where triage's bound chooses the controls.
`--out FILE` writes what docs/how-to/did-it-help.md says, as JSON; by default benchmarks/compare-histories.json.
`PYTHONPATH=src:extras:. .assay/venv/bin/python benchmarks/compare_histories.py`.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import product
from math import exp, log
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from assay.cli.context import find_installation
from assay.engine.past.made_histories import MadeJob, write_history
from assay.model.signature import Array
from assay.report.columns import as_columns, grid
from assay.report.words import percent
from assay.stats.before_after import Adjusted, ChangeVerdict, JobNights, verdict_of
from assay.stats.comparison import holm
from assay.stats.fit import Contrast
from assay.triage.changed import change_of
from assay.triage.drives import drives_by_role
from assay.triage.folder import in_folder
from assay.triage.ranking import DriveSite

FILE = Path(__file__).with_name("compare-histories.json")
JOBS, TOUCHED, MISSING = 20, 10, 0.05
SAVED, NOISES, NIGHTS = (0.0, 0.03, 0.1, 0.3), (0.05, 0.15, 0.3), (7, 28)
DRIFT, GROWN = 0.05, 0.2
SHARED, SIZES, VARIES, SLOPES = 0.5, 1.0, 0.1, (0.4, 1.0)
"""A night's disturbance as a part of the noise; the standard deviations of the logarithms of jobs' sizes and of inputs;
how much of its input's growth a time follows."""
COVERED, MOST_CLAIMED = (0.93, 0.97), 0.05
WORTH = 0.1
DAY_MS = 86_400_000
COLUMNS = (
    "drift", "input", "nights", "intervals that hold the truth", "*helped* without effect", "any job *helped*",
    "intervals of the plain ratio", "plain ratio *helped*",
)  # fmt: skip
FOUND_COLUMNS = ("noise", "nights", *(f"{percent(saved)} saved" for saved in SAVED[1:]))

Row = dict[str, Any]


class Case(NamedTuple):
    """What a made site is like: shares of 1, and nights on either side of the change."""

    saved: float
    noise: float
    nights: int
    drift: float
    grown: float


OF_HISTORIES = Case(SAVED[-1], NOISES[0], NIGHTS[0], DRIFT, GROWN)


def factors(case: Case, source: np.random.Generator) -> tuple[Array, Array]:
    """Of each job and night how many times as long as usual, and the bytes of its input, as logarithms."""
    nights = 2 * case.nights
    after = np.arange(nights) >= case.nights
    log_bytes = log(1e11) + VARIES * source.standard_normal((JOBS, nights)) + after * log(1 + case.grown)
    followed = source.uniform(*SLOPES, JOBS)[:, None] * (log_bytes - log(1e11))
    shared = SHARED * case.noise * source.standard_normal(nights) + after * log(1 + case.drift)
    own = case.noise * source.standard_t(4, (JOBS, nights)) / 2**0.5
    touched = (np.arange(JOBS) < TOUCHED)[:, None]
    return followed + shared + own + touched * after * log(1 - case.saved), log_bytes


def site(case: Case, source: np.random.Generator) -> tuple[JobNights, Array]:
    """What the statistics see of a made site, and the seconds of its jobs."""
    log_s, log_bytes = factors(case, source)
    seconds = 600 * np.exp(SIZES * source.standard_normal(JOBS))
    log_s += np.log(seconds)[:, None]
    log_s[source.random(log_s.shape) < MISSING] = np.nan
    after = np.arange(2 * case.nights) >= case.nights
    return JobNights(log_s, log_bytes, after, np.full(JOBS, fill_value=True), np.arange(JOBS) >= TOUCHED), seconds


def plain(nights: JobNights) -> Contrast:
    """The ratio of the touched jobs' mean times in a night, by Welch's test of the nights' sums."""
    sums = np.nansum(np.exp(nights.log_s[:TOUCHED]), axis=0)
    sides = [sums[~nights.after], sums[nights.after]]
    means = [side.mean() for side in sides]
    squares = [side.var(ddof=1) / len(side) / mean**2 for side, mean in zip(sides, means, strict=True)]
    freedom = sum(squares) ** 2 / sum(square**2 / (len(side) - 1) for square, side in zip(squares, sides, strict=True))
    return Contrast(log(means[1] / means[0]), sum(squares) ** 0.5, freedom)


def judged(case: Case, sites: int, seed: int) -> Row:
    """Of so many sites the shares whose interval holds the truth, and that claim that the change helped."""
    source = np.random.default_rng([seed, case.nights, *(round(1000 * share) for share in (case.saved, case.noise))])
    counts = dict.fromkeys(("covered", "helped", "any", "plain covered", "plain helped"), 0)
    for _ in range(sites):
        nights, seconds = site(case, source)
        adjusted = Adjusted(nights)
        contrasts = [effect.contrast() for row in range(TOUCHED) if (effect := adjusted.row(row))]
        total = adjusted.total(np.where(nights.controls, 0.0, seconds))
        if total is None:
            continue
        of_all, naive = total.contrast(), plain(nights)
        counts["covered"] += 1 - case.saved in of_all.interval()
        counts["helped"] += verdict_of(of_all, of_all.p(), WORTH) is ChangeVerdict.HELPED
        corrected = holm([contrast.p() for contrast in contrasts])
        pairs = zip(contrasts, corrected, strict=True)
        counts["any"] += any(verdict_of(contrast, p, WORTH) is ChangeVerdict.HELPED for contrast, p in pairs)
        counts["plain covered"] += 1 - case.saved in naive.interval()
        counts["plain helped"] += verdict_of(naive, naive.p(), WORTH) is ChangeVerdict.HELPED
    return {**case._asdict(), **{name: round(count / sites, 4) for name, count in counts.items()}}


def cases() -> Iterator[Case]:
    """All of them."""
    for drift, grown, nights, noise, saved in product((0.0, DRIFT, -DRIFT), (0.0, GROWN), NIGHTS, NOISES, SAVED):
        yield Case(saved, noise, nights, drift, grown)


def broken(rows: Iterable[Row], sites: int) -> list[Row]:
    """The cases in which a promise is not kept."""
    lowest, highest = COVERED
    most = MOST_CLAIMED + 2 * error_of(MOST_CLAIMED, sites)
    return [
        row
        for row in rows
        if not lowest - 2 * error_of(lowest, sites) <= row["covered"] <= highest + 2 * error_of(highest, sites)
        or (not row["saved"] and max(row["helped"], row["any"]) > most)
    ]


def error_of(share: float, count: int) -> float:
    """The standard error of a share of so many."""
    return float((share * (1 - share) / count) ** 0.5)


def of_histories(sites: int, folder: Path) -> Row:
    """Sites that are written as histories and read again, where triage's bound chooses the controls."""
    case = OF_HISTORIES
    drives = DriveSite(drives_by_role("12xhdd", find_installation().profiles), 16)
    counts = dict.fromkeys(("covered", "helped", "controls right"), 0)
    for number in range(sites):
        place = folder / str(number)
        place.mkdir()
        changed_ms = write_site(place, case, np.random.default_rng(number))
        jobs = list(in_folder(place, 0, lambda _: None).jobs)
        answer = change_of(jobs, changed_ms, drives, WORTH)
        counts["controls right"] += {row.job for row in answer.jobs if row.control} == {
            _name(job) for job in range(TOUCHED, JOBS)
        }
        if answer.total:
            counts["covered"] += 1 - case.saved in answer.total.interval
            counts["helped"] += answer.total.verdict is ChangeVerdict.HELPED
    return {"sites": sites, **case._asdict(), **{name: round(count / sites, 4) for name, count in counts.items()}}


def _name(job: int) -> str:
    return f"{'sort' if job < TOUCHED else 'train'} {chr(97 + job)}"


def write_site(folder: Path, case: Case, source: np.random.Generator) -> int:
    """Write a site's histories; when the change was made. The touched jobs move much, and the others compute."""
    times, log_bytes = factors(case, source)
    began_ms = MadeJob().submitted_ms
    for (job, night), factor in np.ndenumerate(np.exp(times)):
        touched = job < TOUCHED
        read = round(exp(log_bytes[job, night]) / (1 if touched else 20))
        moved = read if touched else read // 100
        submitted_ms = began_ms + int(night) * DAY_MS + int(job) * 600_000
        day = datetime.fromtimestamp(submitted_ms / 1000, UTC).date()
        made = MadeJob(
            number=100 * int(night) + int(job), name=f"{_name(job)} {day}",
            maps=24, reduces=6, nodes=12, slots=192, map_ms=round(300_000 * factor), reduce_ms=round(300_000 * factor),
            cpu=0.3 if touched else 0.97, submitted_ms=submitted_ms, read_bytes=read, map_output_bytes=moved,
            written_bytes=moved,
        )  # fmt: skip
        write_history(folder, made, "binary", {"dfs.replication": "3"})
    return began_ms + case.nights * DAY_MS - DAY_MS // 4


def markdown(kept: Mapping[str, Any]) -> list[str]:
    """The tables of the page."""
    return [
        grid(as_columns(COLUMNS, list(_covered_rows(kept["cases"])))), "",
        grid(as_columns(FOUND_COLUMNS, list(_found_rows(kept["cases"])))), "", histories_text(kept["histories"]),
    ]  # fmt: skip


def _covered_rows(rows: Sequence[Row]) -> Iterator[list[str]]:
    for drift, grown, nights in dict.fromkeys((row["drift"], row["grown"], row["nights"]) for row in rows):
        of_case = [row for row in rows if (row["drift"], row["grown"], row["nights"]) == (drift, grown, nights)]
        covered, plain_covered = ([row[name] for row in of_case] for name in ("covered", "plain covered"))
        claims = [[row[name] for row in of_case if not row["saved"]] for name in ("helped", "any", "plain helped")]
        helped, any_job, plain_helped = (f"at most {_share(max(of_claims))}" for of_claims in claims)
        intervals, of_plain = (
            f"{_share(fmean(shares))} ({100 * min(shares):.0f} to {100 * max(shares):.0f})"
            for shares in (covered, plain_covered)
        )
        change = "none" if not drift else f"{percent(abs(drift))} {'longer' if drift > 0 else 'shorter'}"
        yield [change, f"{percent(grown)} more" if grown else "same", str(nights), intervals, helped, any_job, of_plain,
               plain_helped]  # fmt: skip


def _found_rows(rows: Sequence[Row]) -> Iterator[list[str]]:
    for noise, nights in product(NOISES, NIGHTS):
        alike = [row for row in rows if (row["noise"], row["nights"]) == (noise, nights)]
        found = [fmean(row["helped"] for row in alike if row["saved"] == saved) for saved in SAVED[1:]]
        yield [percent(noise), str(nights), *map(_share, found)]


def histories_text(row: Row) -> str:
    """What came of the sites that were written as histories."""
    return (
        f"Of {row['sites']} sites that were written as histories and read again ({percent(row['saved'])} saved, "
        f"{percent(row['drift'])} drift, {percent(row['grown'])} more input, {percent(row['noise'])} noise, "
        f"{row['nights']} nights on either side), {_share(row['covered'])} of the intervals hold the truth, "
        f"{_share(row['helped'])} of the verdicts are *helped*, and triage's bound chose the right controls in "
        f"{_share(row['controls right'])}."
    )


def _share(share: float) -> str:
    return f"{100 * share:.0f} %"


def main() -> int:
    """Judge all cases, print the tables, and write what they are made of."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sites", type=int, default=400, help="made sites for each case")
    parser.add_argument("--histories", type=int, default=20, help="sites that are written as histories")
    parser.add_argument("--out", type=Path, default=FILE)
    arguments = parser.parse_args()
    rows = [judged(case, arguments.sites, seed) for seed, case in enumerate(cases())]
    with tempfile.TemporaryDirectory(prefix="assay-histories-") as folder:
        histories = of_histories(arguments.histories, Path(folder))
    kept = {"sites": arguments.sites, "cases": rows, "histories": histories}
    arguments.out.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write("\n".join(markdown(kept)) + "\n")
    not_kept = broken(rows, arguments.sites)
    for row in not_kept:
        sys.stdout.write(f"BROKEN: {row}\n")
    return 1 if not_kept else 0


if __name__ == "__main__":
    sys.exit(main())
