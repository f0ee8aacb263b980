"""What the path to emulated drives carries, by both transports: `python benchmarks/path_ceiling.py [ROUNDS]`.

Two drives without delays, one that takes its requests from /dev/fuse and one that takes them through io_uring, are
measured in turns by `assay-emulator rates`, 8 s each; what disturbs meets both. Prints for each figure the best and the
median of the rounds, the ratio of the bests, and the emulators' processor seconds. Backing files lie in memory. Needs
root; with 5 rounds, the default, a minute and a half on an otherwise idle machine.
"""

import os
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from assay.cli.context import find_installation
from assay.host.lease import Lease
from assay.media.emulated.attachment import PURPOSE, attach_raw
from assay.media.emulated.ceiling import DRIVE_BYTES, MEMORY, WORDS
from assay.media.emulated.emulator import Drive, Emulator, System
from assay.media.emulated.profile import find_profile

TRANSPORTS = ("dev_fuse", "io_uring")


class By(System):
    """A machine on which emulators take their requests by a transport."""

    def __init__(self, transport: str) -> None:
        self._transport = transport

    def start(self, command: tuple[str, ...], directory: Path, log: Path, environment: Mapping[str, str]):  # type: ignore[no-untyped-def]
        """With the option for it."""
        return super().start((*command, "--transport", self._transport), directory, log, environment)


def say(line: str) -> None:
    """A line of the answer."""
    sys.stdout.write(f"{line}\n")


def main() -> int:
    """Measure and print."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    installation = find_installation()
    emulator, null = Emulator(installation), find_profile("null", installation.profiles)
    found: dict[str, list[dict[str, float]]] = {transport: [] for transport in TRANSPORTS}
    with ExitStack() as scope:
        drives: dict[str, tuple[Path, Drive]] = {}
        for transport in TRANSPORTS:
            lease = scope.enter_context(Lease(installation.state, PURPOSE))
            drives[transport] = attach_raw(null, DRIVE_BYTES, MEMORY, lease, emulator, By(transport), scope)
            served_by = drives[transport][1].ask("report")["transport"]
            if served_by != transport:
                say(f"requests can't come by {transport} on this machine")
                return 1
        for number in range(rounds):
            for transport in TRANSPORTS if number % 2 else reversed(TRANSPORTS):
                found[transport].append(emulator.rates(drives[transport][0]))
        cpu_s = {transport: drive.ask("report")["cpu_s"] for transport, (_, drive) in drives.items()}
    say(f"Linux {os.uname().release}, {len(os.sched_getaffinity(0))} cores, {rounds} rounds; best (median)\n")
    say(f"| | {' | '.join(TRANSPORTS)} | ratio |\n| --- | --- | --- | --- |")
    for name in WORDS:
        best = {transport: max(rates[name] for rates in found[transport]) for transport in TRANSPORTS}
        middle = {transport: median(rates[name] for rates in found[transport]) for transport in TRANSPORTS}
        cells = (f"{best[transport]:,.0f} ({middle[transport]:,.0f})" for transport in TRANSPORTS)
        say(f"| `{name}` | {' | '.join(cells)} | {best['io_uring'] / best['dev_fuse']:.2f} |")
    say(f"| emulator's processor time | {' | '.join(f'{cpu_s[name]:.1f} s' for name in TRANSPORTS)} | |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
