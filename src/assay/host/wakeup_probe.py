"""Measures how long processes wait for a processor here: a thread wakes up every 5 ms and notes how late it is.

It is a program of its own, so that nothing else of Assay's keeps it waiting: each second it prints a line of the time
(milliseconds since the epoch) and of how many microseconds too late it woke each time. It ends when nobody reads that.
The idea is cyclictest's (rt-tests).
"""

import gc
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

EVERY_S, WAKE_UPS_PER_LINE = 0.005, 200


@contextmanager
def wakeup_probe() -> Iterator["subprocess.Popen[bytes]"]:
    """Run the program on the calling thread's processors until the scope ends. Raises OSError."""
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", str(Path(__file__))], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def measure() -> None:
    """Prints a line for each second's wake-ups until nothing reads standard output."""
    gc.disable()
    late_us: list[int] = []
    due = time.monotonic() + EVERY_S
    while True:
        time.sleep(max(0.0, due - time.monotonic()))
        now = time.monotonic()
        late_us.append(max(0, round(1e6 * (now - due))))
        # Missed wake-ups are not made up for: each wait counts once.
        due = max(due + EVERY_S, now)
        if len(late_us) >= WAKE_UPS_PER_LINE:
            line = " ".join(map(str, [round(1000 * time.time()), *late_us]))
            try:
                os.write(1, f"{line}\n".encode())
            except OSError:
                return
            late_us.clear()
            due = time.monotonic() + EVERY_S


if __name__ == "__main__":
    measure()
