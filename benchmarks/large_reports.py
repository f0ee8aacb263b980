"""A report over 9,900 trials, and a comparison of as many in two runs.

Seconds of processor time and the most memory of each command. Exit code 1 where one takes more than 20 s or 1 GiB, or a
page is larger than 5 MiB. The first report of a run makes the summaries of its trials, which has no bound: that is
what an update of Assay costs once. Runs are made up, with some 10 kB in each record. No Hadoop; two minutes, most of it
for making the runs. By itself: `PYTHONPATH=$PWD/src:$PWD .assay/venv/bin/python benchmarks/large_reports.py`; with
`--hundred-thousand` a run of 99,990 trials is reported, too, without a bound (five minutes more).
"""

import argparse
import os
import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from tests.report.made_runs import made_run, made_trials, write_run

from assay.model.record import Amount
from assay.record.summaries import FILE

MOST_S, MOST_KIB, MOST_PAGE_BYTES = 20, 1 << 20, 5 << 20
RUNS = {"one": 10, "first-half": 5, "second-half": 5}
"""Their repetitions."""
HUNDRED_THOUSAND = 101
"""Repetitions."""

FIRST = tuple(("report", name) for name in RUNS)
COMMANDS = (
    ("report", "one"),
    ("report", "one", "--format", "json", "--out", "one.json"),
    ("report", "one", "--format", "csv", "--out", "one.csv"),
    ("compare", "first-half", "second-half"),
)
PAGES = ("one/report.html", "comparison.html")
AMOUNTS = tuple(
    Amount(probe="disk", subject=f"medium-{number}", series="read_bytes", part="run", value=number * 1.5)
    for number in range(100)
)


def write_large(folder: Path, repetitions: int, seed: int) -> None:
    """Ten workloads, three placements, 33 settings."""
    settings = [f"s{number}" for number in range(33)]
    trials = made_trials([f"work{number}" for number in range(10)], ("hdd", "ssd", "memory"), settings, repetitions)
    plan, records = made_run(trials, seed=seed)
    write_run(folder, plan, [record.model_copy(update={"amounts": AMOUNTS}) for record in records])


def measured(place: Path, words: tuple[str, ...]) -> tuple[float, int]:
    """Seconds of processor time of one command, and the most KiB of any command until now."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "assay", *words], check=True, cwd=place, env=os.environ, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, after.ru_maxrss


def main() -> int:
    """Exit code: 0 where all bounds hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hundred-thousand", action="store_true")
    hundred_thousand = parser.parse_args().hundred_thousand
    console = Console(highlight=False)
    failed = False
    with TemporaryDirectory(prefix="assay-benchmark-") as folder:
        place = Path(folder)
        for seed, (name, repetitions) in enumerate(RUNS.items(), 1):
            write_large(place / name, repetitions, seed)
        for words in FIRST:
            seconds, _ = measured(place, words)
            console.print(f"{' '.join(words)}, which makes the summaries: {seconds:.1f} s")
        summaries = (place / "one" / FILE).read_bytes()
        console.print(f"{len(summaries) / summaries.count(10) / 1000:.1f} kB in a summary")
        for words in COMMANDS:
            seconds, most_kib = measured(place, words)
            failed |= seconds >= MOST_S or most_kib >= MOST_KIB
            console.print(f"{' '.join(words)}: {seconds:.1f} s of {MOST_S}, {most_kib >> 10} MiB of {MOST_KIB >> 10}")
        for page in PAGES:
            size = (place / page).stat().st_size
            failed |= size >= MOST_PAGE_BYTES
            console.print(f"{page}: {size / (1 << 20):.1f} MiB of {MOST_PAGE_BYTES >> 20}")
        if hundred_thousand:
            write_large(place / "large", HUNDRED_THOUSAND, len(RUNS) + 1)
            for how in ("which makes the summaries", "from its summaries"):
                seconds, most_kib = measured(place, ("report", "large"))
                console.print(f"report large, {how}: {seconds:.1f} s, {most_kib >> 10} MiB")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
