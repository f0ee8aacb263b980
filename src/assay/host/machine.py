"""Facts of the machine that a trial ran on; trials whose machines differ are never pooled."""

import bz2
import getpass
import os
import platform
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from assay.host.control_groups import memory_left_bytes, memory_limit_bytes, processor_quota
from assay.model.errors import BadInputError
from assay.model.fact import Fact
from assay.version import version

FREE_MEMORY = "free_memory"
"""The fact that says what becomes of memory that lies free."""
UNUSED_CACHE = "unused_page_cache"
"""The fact that says, in seconds, after how long the kernel drops page cache that nobody uses; none where it stays."""
QUOTA = "cpu_quota"
"""The fact that says of how many of the cores a control group lets this process use the time."""
GOES_BACK, HELD, STAYS = "goes back to the host", "held", "stays"


SPEED = "bzip2_mb_s"
"""The fact that says how fast one processor computes: `compressed_mb_s`, with a tenth."""
LAST_NUMBER, TIMES, LONGEST_S = 200_000, 5, 0.9


def compressed_mb_s() -> float:
    """Measure how many MB (1,000,000 bytes) a second a thread compresses (`seq 200000 | bzip2 -9`); takes under 1 s.

    Any Linux can repeat it. Compressing branches and waits for memory as jobs do. libbz2 has neither vector
    instructions nor help of the hardware, and its algorithm has been the same since version 1.0, so that figures of
    machines compare. The best of five is taken, as other programs can only slow it down.
    """
    text = b"".join(b"%d\n" % number for number in range(1, LAST_NUMBER + 1))
    times_s: list[float] = []
    began_s = time.monotonic()
    while len(times_s) < TIMES and time.monotonic() - began_s + max(times_s, default=0.0) < LONGEST_S:
        start_s = time.perf_counter()
        bz2.compress(text, 9)
        times_s.append(time.perf_counter() - start_s)
    return len(text) / min(times_s) / 1e6


def machine_facts() -> Mapping[str, Fact]:
    """Collect the processor, cores, memory, kernel, distribution and Assay's version."""
    try:
        distribution = platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        distribution = "unknown"
    model = re.search(
        r"^model name[ \t]*:[ \t]*(\S.*?)[ \t]*$",
        Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace"),
        re.MULTILINE,
    )
    dropped_s = unused_cache_dropped_s()
    return {
        "assay": version(),
        "cpu": model[1] if model else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        **({} if (quota := processor_quota()) is None else {QUOTA: quota}),
        "memory_bytes": machine_bytes(),
        "kernel": platform.release(),
        "distribution": distribution,
        "host": platform.node(),
        "write_back": write_back(),
        **({} if dropped_s is None else {UNUSED_CACHE: dropped_s}),
    }


def usable_processors() -> float:
    """Return how many processors' time this process may use: its processors, or less where a quota bounds it."""
    here, quota = float(len(os.sched_getaffinity(0))), processor_quota()
    return here if quota is None else min(here, quota)


def user_name() -> str:
    """Return the user's name, as Hadoop takes it. Raises BadInputError where the user has none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        raise BadInputError(
            f"this machine has no name for the user {os.getuid()}, and Hadoop needs one; add them to /etc/passwd, or "
            "start as another user"
        ) from None


def unused_cache_dropped_s(kdamonds: Path = Path("/sys/kernel/mm/damon/admin/kdamonds")) -> float | None:
    """Return the age, in seconds, at which the kernel's DAMON pages memory out first; None where no scheme does.

    Source: the kernel's admin-guide/mm/damon/usage.rst; an age is counted in aggregation intervals.
    """
    ages: list[float] = []
    for context in kdamonds.glob("*/contexts/*"):
        with suppress(OSError, ValueError):
            if (context.parents[1] / "state").read_text(encoding="utf-8").strip() != "on":
                continue
            interval_s = int((context / "monitoring_attrs" / "intervals" / "aggr_us").read_text(encoding="utf-8")) / 1e6
            schemes = context.glob("schemes/[0-9]*")
            paging = [
                scheme for scheme in schemes if (scheme / "action").read_text(encoding="utf-8").strip() == "pageout"
            ]
            ages += [
                interval_s * int((scheme / "access_pattern" / "age" / "min").read_text(encoding="utf-8"))
                for scheme in paging
            ]
    return min(ages, default=None)


def write_back() -> str:
    """Describe when the kernel writes dirty pages out and when writers must wait, for all disks together."""
    names = ("dirty_background_bytes", "dirty_background_ratio", "dirty_bytes", "dirty_ratio",
             "dirty_expire_centisecs", "dirty_writeback_centisecs")  # fmt: skip
    try:
        settings = {name: Path("/proc/sys/vm", name).read_text(encoding="utf-8").strip() for name in names}
    except OSError:
        return "unknown"
    return ", ".join(f"{name}={value}" for name, value in settings.items() if value != "0")


def machine_bytes() -> int:
    """Return the memory for this process: the machine's, or less where a control group bounds it."""
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = memory_limit_bytes()
    return there if limit is None else min(there, limit)


def available_memory_bytes() -> int:
    """Return the memory that programs can take without displacing others, within the limits of control groups.

    Raises BadInputError on Linux older than 3.14.
    """
    left = memory_left_bytes()
    available = memory_bytes("MemAvailable")
    return available if left is None else min(available, left)


def memory_bytes(name: str) -> int:
    """Read a line of /proc/meminfo, such as MemFree. Raises BadInputError where there is no such line."""
    for line in Path("/proc/meminfo").read_text(encoding="utf-8").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise BadInputError(f"/proc/meminfo has no {name}: Assay needs Linux 3.14 or newer")
