"""fio: one process per access, its JSON output read into a point (fio(1), HOWTO section "JSON output").

Nothing of fio's own guesses is left to it: sizes are in bytes, times in milliseconds, each job is one thread.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from pydantic import ConfigDict

from assay.model.base import Frozen
from assay.model.errors import AssayError, BadInputError
from assay_extras.calibration.calibration import AccessPattern, AccessPoint, Both

# A drive that takes longer than this to write out its caches or to end its last requests is taken for hung.
PATIENCE_S = 180
LEAST_VERSION = 3
LOG_WINDOW_MS = 50
"""What a line of the log of a long write is about."""
_ALIGNMENT_BYTES = 1 << 20


class Stretch(Frozen):
    """The bytes that an access works on: `span_bytes` from the beginning of a file or block device."""

    path: Path
    span_bytes: int
    read_only: bool = False


class Limit(Frozen):
    """When a measurement ends: after `seconds` that follow `ramp_s` not counted, or after `total_bytes`."""

    seconds: float
    ramp_s: float = 0.0
    total_bytes: int | None = None
    seed: int = 1


class Meter(Protocol):
    """Whoever can measure an access: fio, or a fake."""

    @property
    def version(self) -> str:
        """As it tells it."""
        ...

    def measure(self, access: AccessPattern, stretch: Stretch, limit: Limit) -> AccessPoint:
        """Do it and say how it went. Raises AssayError when it fails."""
        ...

    def measure_both(self, access: AccessPattern, stretch: Stretch, limit: Limit) -> Both:
        """Read the first half of a stretch and write the second in this way at once. Raises AssayError."""
        ...

    def write_through(self, stretch: Stretch, total_bytes: int, seconds: float, log: Path) -> int:
        """Write sequentially, 1 MiB at depth 8, direct if possible, `log` the rate; returns the bytes written."""
        ...


class Fio(Frozen):
    """The installed fio."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    program: Path
    version: str

    def measure(self, access: AccessPattern, stretch: Stretch, limit: Limit) -> AccessPoint:
        """One fio run. Raises AssayError with fio's own words when it fails."""
        return parse_point(self._run(arguments(access, stretch, limit), limit.seconds + limit.ramp_s), access)

    def measure_both(self, access: AccessPattern, stretch: Stretch, limit: Limit) -> Both:
        """One fio run with a job for each direction. Raises AssayError with fio's own words when it fails."""
        half = Stretch(path=stretch.path, span_bytes=stretch.span_bytes // 2)
        jobs = []
        for number, direction in enumerate(("read", "write")):
            options = arguments(access.model_copy(update={"direction": direction}), half, limit)
            jobs += [option for option in options if option != "--group_reporting"]
            jobs += [f"--offset={number * half.span_bytes // _ALIGNMENT_BYTES * _ALIGNMENT_BYTES}"]
        output = self._run(jobs, limit.seconds + limit.ramp_s)
        read, write = (job[way]["bw_bytes"] / 1e6 for way, job in zip(("read", "write"), _jobs(output), strict=True))
        return Both(read_mb_s=read, write_mb_s=write)

    def write_through(self, stretch: Stretch, total_bytes: int, seconds: float, log: Path) -> int:
        """Write the beginning of the stretch once; ends after `seconds`. The log's name gets fio's own ending."""
        access = AccessPattern(direction="write", pattern="sequential", block_bytes=1 << 20, depth=8)
        if not direct_works(stretch.path):
            access = access.model_copy(update={"buffered": True, "depth": 1, "fsync": "end"})
        limit = Limit(seconds=seconds, total_bytes=min(total_bytes, stretch.span_bytes))
        logging = [f"--write_bw_log={log}", f"--log_avg_msec={LOG_WINDOW_MS}", "--per_job_logs=0"]
        output = self._run([*arguments(access, stretch, limit), *logging], seconds)
        return int(_only_job(output)["write"]["io_bytes"])

    def _run(self, options: Sequence[str], seconds: float) -> str:
        command = [str(self.program), *options]
        environment = {**os.environ, "LC_ALL": "C"}
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                check=False,
                timeout=seconds + PATIENCE_S,
                env=environment,
            )
        except subprocess.TimeoutExpired:
            raise AssayError(
                f"fio did not end {PATIENCE_S} s after its time was over; the device may hang: see `dmesg`"
            ) from None
        if done.returncode:
            raise AssayError(f"fio failed: {_reason(done.stderr + done.stdout)} (command: {' '.join(command)})")
        return done.stdout


def find_fio(environment: Mapping[str, str]) -> Fio:
    """The fio of the PATH. Raises BadInputError when there is none that works."""
    program = shutil.which("fio", path=environment.get("PATH"))
    if program is None:
        raise BadInputError("fio is not installed; install it (Debian, Ubuntu: sudo apt-get install fio) and try again")
    version_text = subprocess.run(
        [program, "--version"], capture_output=True, encoding="utf-8", errors="replace", check=False
    ).stdout.strip()
    version = re.match(r"fio-(\d+)\.", version_text)
    if version is None or int(version[1]) < LEAST_VERSION:
        raise BadInputError(
            f"{program} is {version_text or 'no fio'}; install fio {LEAST_VERSION} or newer from your distribution"
        )
    return Fio(program=Path(program), version=version_text.removeprefix("fio-"))


def direct_works(path: Path) -> bool:
    """Whether the file or device can be opened with O_DIRECT (open(2))."""
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_DIRECT))
    except OSError:
        return False
    return True


def arguments(access: AccessPattern, stretch: Stretch, limit: Limit) -> list[str]:
    """Fio's options for one access."""
    begin, part = _part_bytes(access, stretch)
    options = {
        "name": "point",
        "filename": str(stretch.path),
        "rw": ("rand" if access.pattern == "random" else "") + access.direction,
        "bs": access.block_bytes,
        "ioengine": "psync" if access.buffered else "libaio",
        "direct": int(not access.buffered),
        "iodepth": access.depth,
        "numjobs": access.streams,
        "offset": begin,
        "size": part,
        "runtime": f"{round(limit.seconds * 1000)}ms",
        "randseed": limit.seed,
        # The kernel's own read-ahead, as Hadoop finds it: fio would announce its pattern and so change it.
        "fadvise_hint": 0,
        "fallocate": "none",
        "percentile_list": "50:99",
        "output-format": "json",
    }
    if access.streams > 1:
        options["offset_increment"] = part
    if limit.ramp_s:
        options["ramp_time"] = f"{round(limit.ramp_s * 1000)}ms"
    if limit.total_bytes is not None:
        options["io_size"] = max(limit.total_bytes // access.streams, access.block_bytes)
    if access.fsync != "never":
        options["fsync" if access.fsync == "each" else "end_fsync"] = 1
    return [*(f"--{name}={value}" for name, value in options.items()), *_flags(access, stretch, limit)]


def _flags(access: AccessPattern, stretch: Stretch, limit: Limit) -> list[str]:
    flags = ["--thread", "--group_reporting"]
    if stretch.read_only:
        flags.append("--readonly")
    # A second pass over what the page cache holds by now would measure memory.
    cached = access.buffered and access.direction == "read"
    if limit.total_bytes is None and not cached:
        flags.append("--time_based")
    if access.pattern == "random" and not cached:
        flags.append("--norandommap")
    return flags


def _part_bytes(access: AccessPattern, stretch: Stretch) -> tuple[int, int]:
    """Where the first stream begins and how much each stream has to itself."""
    begin = int(stretch.span_bytes * access.start_share) // _ALIGNMENT_BYTES * _ALIGNMENT_BYTES
    part = (stretch.span_bytes - begin) // access.streams
    return begin, max(part // _ALIGNMENT_BYTES * _ALIGNMENT_BYTES, access.block_bytes)


def parse_point(output: str, access: AccessPattern) -> AccessPoint:
    """A point from fio's JSON. Raises AssayError when it says that a job failed, or nothing was done in the time."""
    job = _only_job(output)
    done = job[access.direction]
    if not done["total_ios"] or not done["runtime"]:
        raise AssayError(f"fio completed no {access.direction} in the given time; give more with --seconds")
    latencies = job["sync"]["lat_ns"] if access.fsync == "each" else done["clat_ns"]
    percentiles = latencies.get("percentile", {})
    return AccessPoint(
        **access.model_dump(),
        mb_s=done["bw_bytes"] / 1e6,
        # Not fio's own figure, which leaves out requests that were begun in the ramp: at depth 32 on a disk, a tenth.
        iops=done["bw_bytes"] / access.block_bytes,
        latency_us_median=percentiles.get("50.000000", latencies["mean"]) / 1e3,
        latency_us_p99=percentiles.get("99.000000", latencies["max"]) / 1e3,
        seconds=done["runtime"] / 1e3,
    )


def _only_job(output: str) -> dict[str, Any]:
    """With group reporting all streams are one job."""
    jobs = _jobs(output)
    if len(jobs) != 1:
        raise AssayError(f"fio's answer is not the JSON expected of fio 3: {output[:200]!r}")
    return jobs[0]


def _jobs(output: str) -> list[dict[str, Any]]:
    """Fio may say something in plain text before its JSON."""
    try:
        jobs = [dict(job) for job in json.loads(output[output.index("{") :], parse_constant=_refuse)["jobs"]]
    except (ValueError, KeyError):
        raise AssayError(f"fio's answer is not the JSON expected of fio 3: {output[:200]!r}") from None
    for job in jobs:
        if job["error"]:
            raise AssayError(f"fio failed: {os.strerror(job['error'])}")
    return jobs


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no number")


def _reason(text: str) -> str:
    """Fio's first line with the word error, else its last line."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith(("{", "}", " "))]
    telling = [line for line in lines if "error" in line.lower() or line.startswith("fio:")]
    return (telling or lines or ["it said nothing"])[0]
