"""How long `assay advise` takes over forty recurring jobs of thirty nights, by all of its options.

The site is the one of `forty_jobs.py`: twelve nodes with twelve disks, and half of the jobs by Spark. Its histories are
files such as application masters and drivers write. Each node has a file of `sadf -d` for each day, with a line for
each disk every ten minutes: the disks moved what the jobs counted. Prints seconds and the most memory of a process.
Exit code 1 where it takes more than a minute.
`PYTHONPATH=src:extras:. .assay/venv/bin/python benchmarks/advise_time.py [--json benchmarks/advise-time.json]`
"""

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from benchmarks.forty_jobs import (
    BEGAN_MS,
    DISKS,
    DRIVES,
    GAP_MS,
    JOBS,
    MOST_TASKS,
    NIGHT_MS,
    NODES,
    RATE,
    SLOTS,
    START_MS,
    THREADS,
    Kind,
    kinds,
    tasks_of,
)

from assay.engine.past.made_histories import Event, MadeJob, events, write_events
from assay.host.machine import usable_processors
from assay_extras.testing.event_logs import MadeApplication, MadeStage, write_event_log

NIGHTS, MOST_S = 30, 60
FILE = Path(__file__).with_name("advise-time.json")
STEP_S, DISK_RATE = 600, 120e6
"""Of sadf's files, and of a disk that is busy all the time."""
OPTIONS = (
    "--drives", DRIVES, "--cores", str(THREADS), "--node-memory", "192GiB", "--container-memory", "128GiB",
    "--ssd", "2xssd", "--ssd-price", "500", "--small-ssd", "480GB", "--small-ssd-price", "90", "--disk-price", "250",
    "--more-memory", "256GiB", "--memory-price", "900", "--node-price", "11000", "--more-nodes", "2",
    "--ssd-nodes", "4", "--slots", "24", "--nodes", str(NODES), "--drive-writes", "3", "--html", "advice.html",
)  # fmt: skip


class Moved(NamedTuple):
    """What a run moves on the drives of some nodes between two times, in seconds since the epoch."""

    begin_s: float
    end_s: float
    nodes: frozenset[str]
    read: float
    written: float


def write_site(folder: Path, most_tasks: int, seed: int = 1) -> int:
    """Histories in `done/`, and what drives did in `sar/`; tells how many tasks the histories have."""
    draw = random.Random(seed)  # noqa: S311 - a made site, no secret
    tasks = 0
    moved: list[Moved] = []
    for name in ("done", "sar"):
        (folder / name).mkdir()
    site = kinds(draw)
    for number, (night, place) in enumerate(((night, place) for night in range(NIGHTS) for place in range(JOBS)), 1):
        begin_ms = BEGAN_MS + night * NIGHT_MS + place * GAP_MS + draw.randint(0, GAP_MS)
        write = _write_job if site[place].engine == "mapreduce" else _write_application
        tasks += sum(tasks_of(site[place], most_tasks))
        moved += write(folder / "done", number, site[place], begin_ms, most_tasks)
    _write_sar(folder / "sar", moved)
    return tasks


def _seconds(moved: float, kind: Kind) -> float:
    """How long a task takes that moves so many bytes."""
    return START_MS / 1000 + moved / RATE / kind.computing


def _write_job(folder: Path, number: int, kind: Kind, begin_ms: int, most_tasks: int) -> Iterator[Moved]:
    maps, reduces = tasks_of(kind, most_tasks)
    job = MadeJob(
        number, f"{kind.name} {number:06d}", "etl", "root.etl", begin_ms, maps, reduces,
        round(1000 * _seconds(kind.read / maps, kind)),
        round(1000 * _seconds((kind.shuffled + kind.written) / reduces, kind)), kind.computing, NODES, NODES * SLOTS,
        round(kind.read), round(kind.shuffled), round(kind.written),
    )  # fmt: skip
    made = [_on_other_nodes(event, number) for event in events(job)]
    write_events(folder, job.head, made, "json", {"dfs.replication": "3", "mapreduce.task.io.sort.mb": "256"})
    nodes = frozenset(fields["trackerName"] for _, fields in made if "trackerName" in fields)
    yield Moved(job.started_ms / 1000, job.maps_end_ms / 1000, nodes, kind.read, kind.shuffled)
    read, written = 2 * kind.shuffled, kind.shuffled + 3 * kind.written
    yield Moved(job.maps_end_ms / 1000, job.finished_ms / 1000, nodes, read, written)


def _on_other_nodes(event: Event, number: int) -> Event:
    """The same event: a job with few tasks runs on other nodes in each night."""
    kind, fields = event
    named = {name: fields[name] for name in ("trackerName", "hostname") if name in fields}
    other = {name: f"worker-{(int(node.partition('-')[2]) + number) % NODES}" for name, node in named.items()}
    return kind, {**fields, **other}


def _write_application(folder: Path, number: int, kind: Kind, begin_ms: int, most_tasks: int) -> Iterator[Moved]:
    tasks = tasks_of(kind, most_tasks)
    first_s, second_s = (
        -(-count // (NODES * SLOTS)) * _seconds(moved / count, kind)
        for count, moved in zip(tasks, (kind.read, kind.shuffled + kind.written), strict=True)
    )
    stages = (
        MadeStage(10, first_s, tasks[0], kind.computing, 0.0, round(kind.read), round(kind.read / 100),
                  shuffle_write_bytes=round(kind.shuffled)),
        MadeStage(10 + first_s, second_s, tasks[1], kind.computing, 0.05, output_bytes=round(kind.written),
                  output_records=round(kind.written / 100), fetched_bytes=round(kind.shuffled),
                  fetched_blocks=tasks[0] * tasks[1]),
    )  # fmt: skip
    made = MadeApplication(number, f"{kind.name} {number:06d}", "etl", begin_ms, stages, NODES)
    write_event_log(folder, made)
    nodes = frozenset(f"worker-{node}" for node in range(NODES))
    ends_s = [begin_ms / 1000 + at_s for at_s in (10, 10 + first_s, 10 + first_s + second_s)]
    yield Moved(ends_s[0], ends_s[1], nodes, kind.read, kind.shuffled)
    yield Moved(ends_s[1], ends_s[2], nodes, kind.shuffled, 3 * kind.written)


def _write_sar(folder: Path, moved: list[Moved]) -> None:
    """What each disk of a node moved: an even share of what its node did."""
    did: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(lambda: [0.0, 0.0]))
    for run in moved:
        for step in range(int(run.begin_s // STEP_S), int(run.end_s // STEP_S) + 1):
            together_s = min(run.end_s, (step + 1) * STEP_S) - max(run.begin_s, step * STEP_S)
            share = max(0.0, together_s) / (run.end_s - run.begin_s) / len(run.nodes) / DISKS
            for node in run.nodes:
                did[node][step][0] += share * run.read
                did[node][step][1] += share * run.written
    day = 86_400 // STEP_S
    first, last = (int(at_s // STEP_S) // day for at_s in (BEGAN_MS / 1000, max(run.end_s for run in moved)))
    for node, steps in did.items():
        for of_day in range(first, last + 1):
            lines = ["# hostname;interval;timestamp;DEV;tps;rkB/s;wkB/s;areq-sz;aqu-sz;await;%util"]
            for step in range(of_day * day, (of_day + 1) * day):
                read, written = steps.get(step, (0.0, 0.0))
                busy = min(100.0, 100 * (read + written) / DISK_RATE / STEP_S)
                at = datetime.fromtimestamp((step + 1) * STEP_S, UTC)
                rates = f"{read / 1024 / STEP_S:.2f};{written / 1024 / STEP_S:.2f}"
                lines += [
                    f"{node};{STEP_S};{at:%Y-%m-%d %H:%M:%S} UTC;sd{chr(97 + disk)};9.00;{rates};64.00;0.50;5.00;"
                    f"{busy:.2f}"
                    for disk in range(DISKS)
                ]
            (folder / f"{node}-{of_day}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def measured(folder: Path, most_tasks: int) -> dict[str, Any]:
    """What the command takes over a site that is written into a folder."""
    tasks = write_site(folder, most_tasks)
    size = sum(file.stat().st_size for file in (folder / "done").iterdir())
    words = [sys.executable, "-m", "assay", "advise", "--history", "done", "--sar", "sar", *OPTIONS, "--json"]
    began_s = time.monotonic()
    done = subprocess.run(words, check=True, cwd=folder, env=os.environ, capture_output=True)
    seconds = time.monotonic() - began_s
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    advice = json.loads(done.stdout)
    return {
        "seconds": round(seconds, 1), "processor_s": round(used.ru_utime + used.ru_stime, 1),
        "most_mib": used.ru_maxrss >> 10, "processors": usable_processors(), "jobs": JOBS, "nights": NIGHTS,
        "tasks": tasks, "history_gb": round(size / 1e9, 2), "nodes": NODES, "alternatives": len(advice["alternatives"]),
        "first": advice["alternatives"][advice["first"]]["name"] if advice["first"] is not None else "",
    }  # fmt: skip


def sentence(kept: Mapping[str, Any]) -> str:
    """What was measured, for a page."""
    return (
        f"With all options and busy drives of {kept['nodes']} nodes by `sar`, advice on {kept['jobs']} jobs of "
        f"{kept['nights']} nights ({kept['tasks']:,} tasks, {kept['history_gb']:.1f} GB of histories) took "
        f"{kept['seconds']:.0f} s on {kept['processors']:.0f} processors, and at most {kept['most_mib']:,} MiB in a "
        "process."
    )


def main() -> int:
    """Exit code: 0 where the bound holds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep what was measured there")
    parser.add_argument("--most-tasks", type=int, default=MOST_TASKS, help="of the first stage of a run")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="a new folder for the made site, to look at it")
    wishes = parser.parse_args()
    if wishes.keep:
        wishes.keep.mkdir()
        result = measured(wishes.keep, wishes.most_tasks)
    else:
        with TemporaryDirectory(prefix="assay-benchmark-") as folder:
            result = measured(Path(folder), wishes.most_tasks)
    sys.stdout.write(f"{json.dumps(result, indent=1)}\n{sentence(result)}\n")
    if wishes.json:
        wishes.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return int(result["seconds"] > MOST_S)


if __name__ == "__main__":
    sys.exit(main())
