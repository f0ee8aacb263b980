"""Triage of 1,000 DAGs of Tez with 100 tasks each.

Seconds of processor time and the most memory of any process of `assay triage`: of a file for each DAG, as
ProtoHistoryLoggingService writes them, and of one log of a session that ran all of them (SimpleHistoryLoggingService),
the largest file that there can be. Exit code 1 where either takes more than 60 s or 1 GiB. DAGs are made up, with 55
counters of each task. No Hadoop; three minutes, most of it for making the files. `--out FILE` writes what
docs/how-to/triage-your-jobs.md says, as JSON; by default benchmarks/large-histories.json.
`PYTHONPATH=$PWD/src:$PWD .assay/venv/bin/python benchmarks/large_histories.py`.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.engine.made_tez import MadeDag, MadeTask, MadeVertex, as_json, write_protobuf

FILE = Path(__file__).with_name("large-histories.json")
DAGS, MAPS, REDUCERS, NODES, OF_SESSION = 1000, 80, 20, 12, 25
MOST_S, MOST_MIB = 60, 1024
COUNTERS = {
    "HDFS_BYTES_READ": 256 << 20, "FILE_BYTES_WRITTEN": 64 << 20, "FILE_BYTES_READ": 32 << 20,
    "OUTPUT_BYTES_PHYSICAL": 32 << 20, "OUTPUT_BYTES": 96 << 20, "SHUFFLE_BYTES": 32 << 20, "CPU_MILLISECONDS": 20_000,
    "GC_TIME_MILLIS": 300, "SPILLED_RECORDS": 1 << 20, "HDFS_BYTES_WRITTEN": 8 << 20,
    **{f"COUNTER_{number}": number + 1 for number in range(45)},
}  # fmt: skip
FORMS = {"files": "a file for each DAG", "log": "one log of a session"}


def made_dag(number: int, of_session: int) -> MadeDag:
    """A DAG of two vertices, the `number`-th of all; so many are of one session."""
    session, place = divmod(number, of_session)
    maps, reducers = (
        tuple(
            MadeTask(begin_s, begin_s + 60, f"worker-{task % NODES}", task % (2 * NODES) + 2, counters=COUNTERS)
            for task in range(count)
        )
        for count, begin_s in ((MAPS, 1), (REDUCERS, 62))
    )
    return MadeDag(
        (MadeVertex("Map 1", maps, reads=True), MadeVertex("Reducer 2", reducers)),
        (("Map 1", "Reducer 2", "SCATTER_GATHER"),), number=place + 1, application=session + 1, elapsed_s=123,
        query=f"ANALYZE TABLE t_{number % 40} PARTITION (day = {number}) COMPUTE STATISTICS",
        began_ms=MadeDag().began_ms + 1000 * 125 * number,
    )  # fmt: skip


def write_files(folder: Path) -> None:
    """A file for each DAG."""
    for number in range(DAGS):
        write_protobuf(folder, made_dag(number, OF_SESSION))


def write_log(folder: Path) -> None:
    """One log of a session, which is too long to be made in memory at once."""
    with (folder / f"history.txt.appattempt_{made_dag(0, DAGS).id.rpartition('_')[0]}_000001").open("wb") as log:
        for number in range(DAGS):
            log.write(as_json(made_dag(number, DAGS)))


def measured(place: Path, history: str) -> dict[str, float]:
    """What triage of a folder takes. Raises CalledProcessError where it fails, or finds another number of DAGs."""
    words = [sys.executable, "-m", "assay", "triage", "--history", history, "--drives", "12xhdd"]
    with (place / "screen.txt").open("wb") as screen, subprocess.Popen(words, cwd=place, stdout=screen) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode or f" {DAGS:,} runs, " not in (place / "screen.txt").read_text(encoding="utf-8"):
        raise subprocess.CalledProcessError(process.returncode, words)
    size = sum(file.stat().st_size for file in (place / history).iterdir())
    seconds = round(usage.ru_utime + usage.ru_stime, 1)
    return {"seconds": seconds, "mib": usage.ru_maxrss >> 10, "megabytes": round(size / 1e6)}


def broken(forms: Mapping[str, Mapping[str, float]]) -> list[str]:
    """The forms that take more than they may."""
    return [form for form, took in forms.items() if took["seconds"] > MOST_S or took["mib"] > MOST_MIB]


def text(kept: Mapping[str, Any]) -> str:
    """The sentence of the page."""

    def parts() -> Iterator[str]:
        for form, took in kept["forms"].items():
            yield f"{took['seconds']:.0f} s and {took['mib']:,} MiB from {FORMS[form]} ({took['megabytes']:,} MB)"

    return (
        f"Triage of {kept['dags']:,} made DAGs of {kept['tasks']} tasks each takes {', and '.join(parts())}: seconds "
        "of processors, and the memory of its largest process."
    )


def main() -> int:
    """Exit code: 0 where all bounds hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=FILE)
    out = parser.parse_args().out
    forms: dict[str, dict[str, float]] = {}
    for form, write in (("files", write_files), ("log", write_log)):
        with TemporaryDirectory(prefix="assay-benchmark-") as folder:
            Path(folder, form).mkdir()
            write(Path(folder, form))
            forms[form] = measured(Path(folder), form)
    kept = {"dags": DAGS, "tasks": MAPS + REDUCERS, "forms": forms}
    out.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(f"{text(kept)}\n")
    return 1 if broken(forms) else 0


if __name__ == "__main__":
    sys.exit(main())
