"""The kernel's block tracepoints, read through a trace instance of our own: no other tracer is disturbed.

Source: Documentation/trace/ftrace.rst ("Instances", trace_pipe_raw). The instance lies in tracefs' instances/; its name
tells whose it is (`ownership`), so that one that outlived its process can be removed.
"""

import os
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from assay.model.instrument import CannotMeasureError
from assay.mounts import mounts
from assay.probe.ownership import PROC, is_left_over, own_name
from assay.probe.trace.pages import Layout, parse_format

TRACING = Path("/sys/kernel/tracing")
ISSUE, COMPLETE = "block_rq_issue", "block_rq_complete"
LARGEST_PAGE_BYTES = 64 << 10
ALL_BUFFERS_KB, SMALLEST_BUFFER_KB = 8192, 256
"""What all processors' buffers take together: seconds of a fast drive's requests."""
MOST_PAGES = 4096
"""What is taken at once from one processor's buffer."""

_WHY = "without it requests to real disks are not seen one by one, and the I/O signature is an estimate from counters"


class KernelTrace:
    """A running trace; made by `tracing`."""

    def __init__(self, instance: Path, issue: Layout, complete: Layout) -> None:
        self.instance, self.issue, self.complete = instance, issue, complete
        self._cpus = sorted((instance / "per_cpu").glob("cpu*"), key=lambda cpu: int(cpu.name[3:]))
        self._pipes: list[int] = []

    def open(self) -> None:
        """Open all processors' buffers."""
        for cpu in self._cpus:
            self._pipes.append(os.open(cpu / "trace_pipe_raw", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC))

    def take(self) -> list[bytes]:
        """All pages of events since the last time."""
        pages = []
        for pipe in self._pipes:
            for _ in range(MOST_PAGES):
                try:
                    page = os.read(pipe, LARGEST_PAGE_BYTES)
                except BlockingIOError:
                    break
                if not page:
                    break
                pages.append(page)
        return pages

    def lost(self) -> int:
        """Events that found no room."""
        lost = 0
        for cpu in self._cpus:
            with suppress(OSError, ValueError):
                for line in (cpu / "stats").read_text().splitlines():
                    name, _, value = line.partition(":")
                    lost += int(value) if name in {"overrun", "dropped events"} else 0
        return lost

    def close(self) -> None:
        """Close the buffers; the instance can't be removed before."""
        while self._pipes:
            os.close(self._pipes.pop())


@contextmanager
def tracing(devices: Sequence[int], root: Path = TRACING, proc: Path = PROC) -> Iterator[KernelTrace]:
    """Trace the requests of some devices (12 bits of major, 20 bits of minor number) for the time of a scope.

    Raises CannotMeasureError where that can't be: no root, no tracefs, no such tracepoint.
    """
    with ExitStack() as scope:
        _mount(root, proc, scope)
        try:
            trace = _begun(devices, root, proc, scope)
        except (OSError, ValueError) as error:
            scope.close()
            raise CannotMeasureError(
                f"the kernel's block tracepoints can't be used: {error}", _WHY, "run as root"
            ) from None
        yield trace


def _begun(devices: Sequence[int], root: Path, proc: Path, scope: ExitStack) -> KernelTrace:
    """A running trace; what was made of it by an error's time goes with the scope, and nothing that others made."""
    remove_left_overs(root, proc)
    events = root / "events" / "block"
    layouts = [parse_format((events / name / "format").read_text()) for name in (ISSUE, COMPLETE)]
    instance = root / "instances" / own_name(proc)
    instance.mkdir()
    scope.callback(remove, instance)
    trace = KernelTrace(instance, *layouts)
    scope.callback(trace.close)
    _set_up(instance, devices)
    trace.open()
    (instance / "tracing_on").write_text("1")
    return trace


def remove_left_overs(root: Path, proc: Path = PROC) -> list[str]:
    """Take away what processes that are gone left: instances, whose names it gives, and a tracefs that one had mounted.

    Raises OSError when it may not look.
    """
    there = root / "instances"
    names = [name for name in os.listdir(there) if is_left_over(name, proc)] if there.is_dir() else []
    for name in names:
        remove(there / name)
    gone = [name for name in names if not (there / name).exists()]
    if any(mount.point == str(root) and is_left_over(mount.source, proc) for mount in mounts()):
        _run("umount", str(root))
    return gone


def remove(instance: Path) -> None:
    """Stop a trace and take its instance away; one that is gone already is fine."""
    with suppress(OSError):
        for name in (ISSUE, COMPLETE):
            (instance / "events" / "block" / name / "enable").write_text("0")
    with suppress(OSError):
        instance.rmdir()


def _set_up(instance: Path, devices: Iterable[int]) -> None:
    wanted = " || ".join(f"dev == {device}" for device in devices)
    (instance / "tracing_on").write_text("0")
    (instance / "trace_clock").write_text("mono")
    cpus = len(list((instance / "per_cpu").glob("cpu*")))
    (instance / "buffer_size_kb").write_text(str(max(SMALLEST_BUFFER_KB, ALL_BUFFERS_KB // max(1, cpus))))
    for name in (ISSUE, COMPLETE):
        event = instance / "events" / "block" / name
        (event / "filter").write_text(wanted)
        (event / "enable").write_text("1")


def _mount(root: Path, proc: Path, scope: ExitStack) -> None:
    """Mount tracefs at its place for the time of a scope, if nothing is there; it stays while others use it.

    Its source is a name of our own, by which one that outlived its process is known.
    """
    if (root / "instances").is_dir() or root != TRACING:
        return
    scope.callback(_run, "umount", str(root))
    _run("mount", "-t", "tracefs", own_name(proc), str(root))


def _run(*command: str) -> None:
    """Without the right to do it nothing happens, and the trace then says what it misses."""
    with suppress(OSError):
        subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
