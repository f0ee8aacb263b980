"""Whether `assay compare-histories` is right about known effects.

A made site has twenty jobs of very different sizes, half of which the change touches; the others are its controls. All
jobs of a night share a disturbance, and each run has noise of its own, whose tails are heavy (Student's t with 4
degrees of freedom). Inputs differ from night to night, and times follow them by a slope of the job's own. From the
nights before to those after, all jobs may drift and all inputs grow. A run in twenty is missing.

Promised is, within two standard errors of so many sites (else the exit code is 1):

- 93 to 97 % of the 95 % intervals of all touched jobs together hold the truth, in each case;
- *helped* is said of them without any effect in at most 5 % of sites, and of any single job in at most 5 %, too.

Shown beside it is what the plain ratio says, of the mean times of a night after and before, with its interval by
Welch's test. Some sites are written as job histories, each of a night's jobs following on the one before it, and read
again, where triage's bound chooses the controls. The same is promised of these, and of the whole batch, whose true
ratio is that of its length in the nights after the change to its length without the effect. `--cases FILE` takes all
other cases from what was written before. `--out FILE` writes what docs/how-to/did-it-help.md says, as JSON; by default
benchmarks/compare-histories.json.
`PYTHONPATH=src:extras:. .assay/venv/bin/python benchmarks/compare_histories.py`.
"""

import argparse
import json
import shutil
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
HISTORIES_COLUMNS = (
    "saved", "noise", "intervals that hold the truth", "*helped*", "the batch's intervals that hold the truth",
    "the batch *helped*", "right controls",
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
AS_HISTORIES = (OF_HISTORIES, *(OF_HISTORIES._replace(saved=saved, noise=NOISES[1]) for saved in (SAVED[2], SAVED[0])))
TASKS_S, FOLLOWS_S = 600, 20
"""How long a job's tasks take without noise, and how soon after its end the next is submitted, in a site of
histories."""


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
    low, high = lowest - 2 * error_of(lowest, sites), highest + 2 * error_of(highest, sites)
    most = MOST_CLAIMED + 2 * error_of(MOST_CLAIMED, sites)
    return [
        row
        for row in rows
        if not all(low <= row[name] <= high for name in ("covered", "batch covered") if name in row)
        or (not row["saved"] and max(row.get(name, 0.0) for name in ("helped", "any", "batch helped")) > most)
    ]


def error_of(share: float, count: int) -> float:
    """The standard error of a share of so many."""
    return float((share * (1 - share) / count) ** 0.5)


def of_histories(case: Case, sites: int, folder: Path) -> Row:
    """Sites that are written as histories and read again, where triage's bound chooses the controls."""
    drives = DriveSite(drives_by_role("12xhdd", find_installation().profiles), 16)
    counts = dict.fromkeys(("covered", "helped", "controls right", "batch covered", "batch helped"), 0)
    for number in range(sites):
        place = folder / f"{case.saved}-{number}"
        place.mkdir()
        changed_ms, batch_ratio = write_site(place, case, np.random.default_rng([number, round(1000 * case.saved)]))
        jobs = list(in_folder(place, 0, lambda _: None).jobs)
        shutil.rmtree(place)
        answer = change_of(jobs, changed_ms, drives, WORTH)
        counts["controls right"] += {row.job for row in answer.jobs if row.control} == {
            _name(job) for job in range(TOUCHED, JOBS)
        }
        for what, change, ratio in (("", answer.total, 1 - case.saved), ("batch ", answer.batch, batch_ratio)):
            if change:
                counts[f"{what}covered"] += ratio in change.interval
                counts[f"{what}helped"] += change.verdict is ChangeVerdict.HELPED
    return {**case._asdict(), **{name: round(count / sites, 4) for name, count in counts.items()}}


def _name(job: int) -> str:
    return f"{'sort' if job < TOUCHED else 'train'} {chr(97 + job)}"


class WrittenSite(NamedTuple):
    """When the change of a site was made, and how many times as long its batch takes by the effect alone."""

    changed_ms: int
    batch_ratio: float


def write_site(folder: Path, case: Case, source: np.random.Generator) -> WrittenSite:
    """Write a site's histories. The touched jobs move much, and the others compute; each follows on the one before."""
    times, log_bytes = factors(case, source)
    seconds = TASKS_S * np.exp(times)
    began_ms = MadeJob().submitted_ms
    with_effect_s, without_s = [], []
    for night in range(2 * case.nights):
        submitted_ms = began_ms + night * DAY_MS
        first_ms, last_ms = 0, 0
        for job in range(JOBS):
            made = _job(job, night, submitted_ms, float(seconds[job, night]), exp(log_bytes[job, night]))
            write_history(folder, made, "binary", {"dfs.replication": "3"})
            submitted_ms = made.finished_ms + 1000 * FOLLOWS_S
            first_ms, last_ms = first_ms or made.started_ms, made.finished_ms
        if night >= case.nights:
            length_s = (last_ms - first_ms) / 1000
            saved_s = float(seconds[:TOUCHED, night].sum()) * case.saved / (1 - case.saved)
            with_effect_s.append(length_s)
            without_s.append(length_s + saved_s)
    ratio = exp(fmean(np.log(with_effect_s)) - fmean(np.log(without_s)))
    return WrittenSite(began_ms + case.nights * DAY_MS - DAY_MS // 4, ratio)


def _job(job: int, night: int, submitted_ms: int, tasks_s: float, input_bytes: float) -> MadeJob:
    """A job of a night, whose maps and reducers take half of `tasks_s` each."""
    touched = job < TOUCHED
    read = round(input_bytes / (1 if touched else 20))
    moved = read if touched else read // 100
    day = datetime.fromtimestamp((MadeJob().submitted_ms + night * DAY_MS) / 1000, UTC).date()
    return MadeJob(
        number=100 * night + job, name=f"{_name(job)} {day}", maps=24, reduces=6, nodes=12, slots=192,
        map_ms=round(500 * tasks_s), reduce_ms=round(500 * tasks_s), cpu=0.3 if touched else 0.97,
        submitted_ms=submitted_ms, read_bytes=read, map_output_bytes=moved, written_bytes=moved,
    )  # fmt: skip


def markdown(kept: Mapping[str, Any]) -> list[str]:
    """The goal, whether it is met, and the tables of the page."""
    return [
        goal_text(kept["cases"], kept["sites"]), "",
        grid(as_columns(COLUMNS, list(_covered_rows(kept["cases"])))), "",
        grid(as_columns(FOUND_COLUMNS, list(_found_rows(kept["cases"])))), "",
        histories_text(kept["histories"], kept["sites of histories"]), "",
        grid(as_columns(HISTORIES_COLUMNS, list(_histories_rows(kept["histories"])))),
    ]  # fmt: skip


def goal_text(rows: Sequence[Row], sites: int) -> str:
    """What is promised, within which tolerance, and in how many cases it is kept."""
    lowest, highest = COVERED
    outside = [row["covered"] for row in rows if not lowest <= row["covered"] <= highest]
    beyond = f" ({100 * min(outside):.1f} to {100 * max(outside):.1f} %)" if outside else ""
    low, high = (f"{200 * error_of(share, sites):.1f}" for share in COVERED)
    goal, claimed = f"{_share(lowest)} to {_share(highest)}", MOST_CLAIMED + 2 * error_of(MOST_CLAIMED, sites)
    return (
        f"The goal is that in each of the {len(rows)} cases {goal} of the intervals hold the truth, and that at most "
        f"{_share(MOST_CLAIMED)} of the verdicts without effect are *helped*. {len(outside)} of them lie outside of "
        f"{goal}{beyond}. By chance {sites} sites may miss a true share by two standard errors: {low} points below the "
        f"one, {high} above the other, and {100 * claimed:.1f} % in place of {_share(MOST_CLAIMED)}. "
        f"{len(broken(rows, sites))} of them lie beyond that."
    )


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


def histories_text(rows: Sequence[Row], sites: int) -> str:
    """What the sites that were written as histories are, and in how many of their cases a promise is kept."""
    (case,) = {tuple(row[name] for name in ("drift", "grown", "nights")) for row in rows}
    drift, grown, nights = case
    low, kept = COVERED[0] - 2 * error_of(COVERED[0], sites), len(rows) - len(broken(rows, sites))
    return (
        f"Sites were written as histories, too, and read again, {sites} for each line, with {percent(drift)} drift, "
        f"{percent(grown)} more input and {nights} nights on either side; each of a night's jobs follows on the one "
        f"before it. So few may by chance hold the truth in {_share(low)} only; {kept} of {len(rows)} lines are within "
        "that."
    )


def _histories_rows(rows: Iterable[Row]) -> Iterator[list[str]]:
    names = ("covered", "helped", "batch covered", "batch helped", "controls right")
    for row in rows:
        yield [percent(row["saved"]), percent(row["noise"]), *(_share(row[name]) for name in names)]


def _share(share: float) -> str:
    return f"{100 * share:.0f} %"


def main() -> int:
    """Judge all cases, print the tables, and write what they are made of."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sites", type=int, default=400, help="made sites for each case")
    parser.add_argument("--histories", type=int, default=20, help="sites that are written as histories, for each case")
    parser.add_argument(
        "--cases", type=Path, help="the JSON of an earlier run: judge only what is written as histories"
    )
    parser.add_argument("--out", type=Path, default=FILE)
    arguments = parser.parse_args()
    if arguments.cases:
        earlier = json.loads(arguments.cases.read_text(encoding="utf-8"))
        sites, rows = earlier["sites"], earlier["cases"]
    else:
        sites, rows = arguments.sites, [judged(case, arguments.sites, seed) for seed, case in enumerate(cases())]
    with tempfile.TemporaryDirectory(prefix="assay-histories-") as folder:
        histories = [of_histories(case, arguments.histories, Path(folder)) for case in AS_HISTORIES]
    kept = {"sites": sites, "cases": rows, "sites of histories": arguments.histories, "histories": histories}
    arguments.out.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write("\n".join(markdown(kept)) + "\n")
    not_kept = [*broken(rows, sites), *broken(histories, arguments.histories)]
    for row in not_kept:
        sys.stdout.write(f"BROKEN: {row}\n")
    return 1 if not_kept else 0


if __name__ == "__main__":
    sys.exit(main())
