"""A made site to try triage on: forty jobs on twelve nodes, seven nights each; the heavy ones run one after another."""

from collections.abc import Iterator
from pathlib import Path

from assay.engine.past.made_histories import MadeJob, write_history

FOLDER = Path("example-history")
DRIVES, CORES = "12xhdd", 16
"""Of each node."""
_NODES = 12
_MIB, _GIB = 1 << 20, 1 << 30
_DAY_MS = 86_400_000
_BEGAN_MS = MadeJob().submitted_ms + _DAY_MS // 3
"""In the middle of a day in most time zones."""
_HEAVY_AFTER_MS, _FOLLOWS_MS = 13 * 900_000, 20_000
"""How long after the first of a night's jobs the heavy ones begin, and each of these after the one before it."""
_HEAVY = ("nightly sort", "sessions", "join clicks")
_STEADY = tuple(f"{verb} {data}" for verb in ("report", "score", "index", "train", "check") for data in
                ("customers", "orders", "clicks", "stock", "prices", "mails", "logs"))  # fmt: skip
_SHORT = ("heartbeat", "watermark")
_SETTINGS = {"dfs.replication": "3", "mapreduce.task.io.sort.mb": "100"}


def write_example(folder: Path) -> None:
    """Write the histories of the site's jobs into a folder, which may be new."""
    folder.mkdir(parents=True, exist_ok=True)
    for job in _jobs():
        write_history(folder, job, "json", _SETTINGS)


def _jobs() -> Iterator[MadeJob]:
    """All runs of all jobs."""
    for night in range(7):
        heavy_ms = _BEGAN_MS + night * _DAY_MS + _HEAVY_AFTER_MS
        for place, name in enumerate((*_HEAVY, *_STEADY, *_SHORT)):
            number = night * 100 + place + 1
            made = MadeJob(
                number=number, name=f"{name} 2026-11-{21 + night}", user="etl", queue="root.etl", nodes=_NODES,
                slots=_NODES * CORES, submitted_ms=_BEGAN_MS + night * _DAY_MS + place // 3 * 900_000,
            )  # fmt: skip
            if name in _HEAVY:
                size = 200 * _GIB // (place + 1)
                heavy = made._replace(
                    submitted_ms=heavy_ms, maps=size // (512 * _MIB), reduces=48, map_ms=40_000,
                    reduce_ms=900_000 // (place + 1), cpu=0.3, read_bytes=size, map_output_bytes=size,
                    written_bytes=size, spills=2,
                )  # fmt: skip
                heavy_ms = heavy.finished_ms + _FOLLOWS_MS
                yield heavy
            elif name in _STEADY:
                yield made._replace(
                    maps=24, reduces=6, map_ms=180_000, reduce_ms=60_000 + 1000 * place, cpu=0.97,
                    read_bytes=12 * _GIB, map_output_bytes=_GIB, written_bytes=_GIB,
                )  # fmt: skip
            else:
                yield made._replace(
                    submitted_ms=_BEGAN_MS + night * _DAY_MS + _DAY_MS // 12 + place * 60_000, map_ms=9000,
                    reduce_ms=5000, cpu=0.6, read_bytes=40 * _MIB, map_output_bytes=_MIB,
                )  # fmt: skip
