"""The answer of `assay triage` to a made site, as the how-to shows it: forty jobs on twelve nodes, seven nights each.

`PYTHONPATH=src:extras python benchmarks/triage_example.py [FOLDER]` prints it; FOLDER keeps the histories.
"""

import sys
import tempfile
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

from rich.console import Console

from assay.cli.context import find_installation
from assay.model.trial import DEFAULT_WORTH
from assay.triage.drives import drives_by_role, drives_text
from assay.triage.folder import in_folder
from assay.triage.ranking import Site, triage
from assay.triage.views import Told, next_step, print_triage
from assay_extras.testing.job_histories import MadeJob, write_history

NODES, DRIVES, CORES = 12, "12xhdd", 16
MIB, GIB = 1 << 20, 1 << 30
DAY_MS = 86_400_000
BEGAN_MS = MadeJob().submitted_ms + DAY_MS // 3
"""In the middle of a day in most time zones."""
HEAVY = ("nightly sort", "sessions", "join clicks")
STEADY = tuple(f"{what} {of}" for what in ("report", "score", "index", "train", "check") for of in
               ("customers", "orders", "clicks", "stock", "prices", "mails", "logs"))  # fmt: skip
SHORT = ("heartbeat", "watermark")
SETTINGS = {"dfs.replication": "3", "mapreduce.task.io.sort.mb": "100"}


def made_jobs() -> Iterator[MadeJob]:
    """All runs of all jobs."""
    for night in range(7):
        for place, name in enumerate((*HEAVY, *STEADY, *SHORT)):
            number = night * 100 + place + 1
            made = MadeJob(
                number=number, name=f"{name} 2026-11-{21 + night}", user="etl", queue="root.etl", nodes=NODES,
                slots=NODES * CORES, submitted_ms=BEGAN_MS + night * DAY_MS + place // 3 * 900_000,
            )  # fmt: skip
            if name in HEAVY:
                size = 200 * GIB // (place + 1)
                yield made._replace(
                    maps=size // (512 * MIB), reduces=48, map_ms=40_000, reduce_ms=900_000 // (place + 1), cpu=0.3,
                    read_bytes=size, map_output_bytes=size, written_bytes=size, spills=2,
                )  # fmt: skip
            elif name in STEADY:
                yield made._replace(
                    maps=24, reduces=6, map_ms=180_000, reduce_ms=60_000 + 1000 * place, cpu=0.97,
                    read_bytes=12 * GIB, map_output_bytes=GIB, written_bytes=GIB,
                )  # fmt: skip
            else:
                yield made._replace(
                    submitted_ms=BEGAN_MS + night * DAY_MS + DAY_MS // 5 + place * 60_000, map_ms=9000,
                    reduce_ms=5000, cpu=0.6, read_bytes=40 * MIB, map_output_bytes=MIB,
                )  # fmt: skip


def answer(folder: Path) -> str:
    """The first screen."""
    for job in made_jobs():
        write_history(folder, job, "json", SETTINGS)
    by_role = drives_by_role(DRIVES, find_installation().profiles)
    jobs = list(in_folder(folder, 0, lambda _: None).jobs)
    text = StringIO()
    console = Console(file=text, width=110)
    ranked = triage(jobs, Site(by_role, CORES), DEFAULT_WORTH, drives_text(by_role), 0, [])
    step = next_step(ranked, Told(["--history", "my-history"], drives=by_role))
    print_triage(ranked, console, step and step._replace(command=f"./assay {step.command.partition(' ')[2]}"))
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines())


def main() -> None:
    """Print it."""
    with tempfile.TemporaryDirectory(prefix="assay-triage-") as scratch:
        folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        sys.stdout.write(f"{answer(folder)}\n")


if __name__ == "__main__":
    main()
