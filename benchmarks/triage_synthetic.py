"""How long `assay triage` takes, and how much memory, for as many made job histories as a site has in weeks.

The sizes are those of a table of real jobs, as the SWIM project publishes them: name, time of submission (s), gap (s),
bytes of map input, shuffle and reduce output, apart by tabs.
`PYTHONPATH=src:extras python benchmarks/triage_synthetic.py TABLE [JOBS]`.
"""

import resource
import sys
import tempfile
import time
from pathlib import Path

from assay.cli.context import find_installation
from assay.engine.past.made_histories import MadeJob, write_history
from assay.triage.drives import drives_by_role
from assay.triage.folder import in_folder
from assay.triage.ranking import DriveSite, triage

SPLIT_BYTES, REDUCE_BYTES = 256 << 20, 1 << 30
MOST_TASKS = 500
"""Of a made job: the largest of the table have tens of thousands, and would take most of the time to be made."""
RATE = 30e6
"""Bytes of its input that a made task reads in a second."""


def made_job(number: int, line: str) -> MadeJob:
    """A job of the sizes in a line of the table."""
    _, submitted_s, _, read, shuffled, written = line.split("\t")[:6]
    maps = min(MOST_TASKS, 1 + int(read) // SPLIT_BYTES)
    reduces = min(MOST_TASKS, 1 + int(shuffled) // REDUCE_BYTES) if int(shuffled) else 0
    return MadeJob(
        number=number, name=f"q{number % 40} 2026-11-25",
        submitted_ms=MadeJob().submitted_ms + int(float(submitted_s) * 1000),
        maps=maps, reduces=reduces, map_ms=2000 + round(int(read) / maps / RATE * 1000),
        reduce_ms=2000 + round(int(shuffled) / max(1, reduces) / RATE * 1000), cpu=(number % 10) / 10, nodes=20,
        slots=80, read_bytes=int(read), map_output_bytes=int(shuffled), written_bytes=int(written),
    )  # fmt: skip


def main() -> None:
    """Make the histories in a scratch folder, and read them."""
    table = Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()
    wanted = int(sys.argv[2]) if len(sys.argv) > 2 else len(table)
    with tempfile.TemporaryDirectory(prefix="assay-triage-") as place:
        tasks = 0
        for number in range(1, wanted + 1):
            job = made_job(number, table[number % len(table)])
            tasks += job.maps + job.reduces
            write_history(Path(place), job, "binary" if number % 2 else "json", {"dfs.replication": "3"})
        size = sum(file.stat().st_size for file in Path(place).iterdir())
        sys.stdout.write(f"{wanted:,} histories, {tasks:,} tasks, {size / 1e6:,.0f} MB\n")
        began_s = time.perf_counter()
        jobs = list(in_folder(Path(place), 0, lambda _: None).jobs)
        read_s = time.perf_counter() - began_s
    site = DriveSite(drives_by_role("12xhdd", find_installation().profiles))
    answer = triage(jobs, site, 0.1, "", 0, [])
    total_s = time.perf_counter() - began_s
    most = [resource.getrusage(who).ru_maxrss / 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    sys.stdout.write(
        f"read in {read_s:.1f} s, ranked after {total_s:.1f} s ({1000 * total_s / wanted:.1f} s for 1,000 jobs); most "
        f"resident: {most[0]:.0f} MiB here, {most[1]:.0f} MiB in a reader\n"
        f"{len(answer.rows)} rows, {dict(answer.summary.verdicts)}, {len(answer.summary.deciding)} decide\n"
    )


if __name__ == "__main__":
    main()
