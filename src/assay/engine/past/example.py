"""A made site to try the commands on: forty jobs on twelve nodes, every night; the heavy ones run one after another.

After seven nights each node gets a small SSD for the heavy jobs' intermediate data, and these jobs take less time. What
is saved is made up. Nights differ by a few hundredths, so that the saving has an interval.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

from assay.engine.past.made_histories import MadeJob, write_history

FOLDER, FOLDER_AFTER = Path("example-history"), Path("example-history-after")
"""Where the nights before the change are, and those after it."""
DRIVES, CORES = "12xhdd", 16
"""Of each node, before the change."""
_NODES, _NIGHTS = 12, 7
"""Nights on either side of the change."""
_BEGAN = datetime(2026, 11, 21, 1).astimezone()
"""The first start: at night wherever the reader is."""
CHANGED_MS = round((_BEGAN + timedelta(days=_NIGHTS - 1, hours=11)).timestamp() * 1000)
"""Noon after the last night before the change, in milliseconds since the epoch."""
_SAVED = 0.2
"""The share of the heavy jobs' time that the change saves."""
_MIB, _GIB = 1 << 20, 1 << 30
_HEAVY_AFTER_MS, _FOLLOWS_MS = 13 * 900_000, 20_000
"""How long after the first of a night's jobs the heavy ones begin, and each of these after the one before it."""
_SHORT_AFTER_MS = 2 * 3_600_000
_HEAVY = ("nightly sort", "sessions", "join clicks")
_STEADY = tuple(f"{verb} {data}" for verb in ("report", "score", "index", "train", "check") for data in
                ("customers", "orders", "clicks", "stock", "prices", "mails", "logs"))  # fmt: skip
_SHORT = ("heartbeat", "watermark")
_SETTINGS = {"dfs.replication": "3", "mapreduce.task.io.sort.mb": "100"}


def write_example(folder: Path, *, after: bool = False) -> None:
    """Write the histories of the site's nights before the change, or after it, into a folder, which may be new.

    Histories of made jobs that are in it already are replaced.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob(f"{MadeJob().id.rpartition('_')[0]}_*"):
        old.unlink()
    first = _NIGHTS if after else 0
    for job in _jobs(range(first, first + _NIGHTS)):
        write_history(folder, job, "json", _SETTINGS)


def _jobs(nights: Iterable[int]) -> Iterator[MadeJob]:
    """All runs of all jobs in these nights, the first of which is 0."""
    for night in nights:
        began = _BEGAN + timedelta(days=night)
        began_ms = round(began.timestamp() * 1000)
        heavy_ms = began_ms + _HEAVY_AFTER_MS
        saved = _SAVED if night >= _NIGHTS else 0.0
        for place, name in enumerate((*_HEAVY, *_STEADY, *_SHORT)):
            made = MadeJob(
                number=night * 100 + place + 1, name=f"{name} {began:%Y-%m-%d}", user="etl", queue="root.etl",
                nodes=_NODES, slots=_NODES * CORES, submitted_ms=began_ms + place // 3 * 900_000,
            )  # fmt: skip
            if name in _HEAVY:
                size = 200 * _GIB // (place + 1)
                heavy = _of_night(night, place, made._replace(
                    submitted_ms=heavy_ms, maps=size // (512 * _MIB), reduces=48, map_ms=40_000,
                    reduce_ms=900_000 // (place + 1), cpu=0.3, read_bytes=size, map_output_bytes=size,
                    written_bytes=size, spills=2,
                ), saved)  # fmt: skip
                heavy_ms = heavy.finished_ms + _FOLLOWS_MS
                yield heavy
            elif name in _STEADY:
                yield _of_night(night, place, made._replace(
                    maps=24, reduces=6, map_ms=180_000, reduce_ms=60_000 + 1000 * place, cpu=0.97,
                    read_bytes=12 * _GIB, map_output_bytes=_GIB, written_bytes=_GIB,
                ))  # fmt: skip
            else:
                yield _of_night(night, place, made._replace(
                    submitted_ms=began_ms + _SHORT_AFTER_MS + place * 60_000, map_ms=9000, reduce_ms=5000, cpu=0.6,
                    read_bytes=40 * _MIB, map_output_bytes=_MIB,
                ))  # fmt: skip


def _of_night(night: int, place: int, job: MadeJob, saved: float = 0.0) -> MadeJob:
    """The job in a night: its tasks take up to two hundredths more or less, and wait less by the share saved."""
    share = (1 + 0.01 * ((3 * night + place) % 5 - 2)) * (1 - saved)
    return job._replace(
        map_ms=round(share * job.map_ms), reduce_ms=round(share * job.reduce_ms), cpu=job.cpu / (1 - saved)
    )  # fmt: skip
