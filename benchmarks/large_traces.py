"""The I/O signature of three million requests, an hour of a busy drive: `python benchmarks/large_traces.py`.

Seconds of processor time and the growth of memory, for requests over all roles and directions and for reads of one
role. Exit code 1 where one takes more than 8 s or 150 MiB. No Hadoop; under a minute.
"""

import json
import os
import subprocess
import sys

from rich.console import Console

REQUESTS = 3_000_000
MOST_S, MOST_BYTES = 8, 150 << 20


def measured(*, one_line: bool) -> tuple[float, int]:
    """Seconds and bytes, of a process of its own, whose memory nothing else has grown."""
    code = f"from tests.stats.test_signature import weigh; weigh({REQUESTS}, {one_line})"
    # The C library gives large arrays back at once with this, so that the peak is of what is needed.
    environment = {**os.environ, "MALLOC_MMAP_THRESHOLD_": str(1 << 20)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True, encoding="utf-8"
    )
    busy_s, growth_bytes, _ = json.loads(done.stdout)
    return busy_s, growth_bytes or 0


def main() -> int:
    """Exit code: 0 where all bounds hold."""
    console = Console(highlight=False)
    failed = False
    for one_line, what in ((False, "all roles"), (True, "reads of one role")):
        busy_s, growth_bytes = measured(one_line=one_line)
        failed |= busy_s >= MOST_S or growth_bytes >= MOST_BYTES
        console.print(f"{what}: {busy_s:.1f} s of {MOST_S}, {growth_bytes >> 20} MiB of {MOST_BYTES >> 20}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
