"""This machine as a node, whose daemons talk over the loopback interface."""

import os
import random
import shutil
import socket
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

_RANGE_FILE = Path("/proc/sys/net/ipv4/ip_local_port_range")
LOWEST_PORT = 10240


class KernelFile:
    """A file that the kernel writes anew for each reading from its beginning. Raises OSError if it can't be opened."""

    def __init__(self, path: Path) -> None:
        self._descriptor: int | None = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def read(self, most_bytes: int = 8192) -> str:
        """Bytes that are not UTF-8 are replaced."""
        if self._descriptor is None:
            raise OSError("it has been closed")
        return os.pread(self._descriptor, most_bytes, 0).decode(errors="replace")

    def close(self) -> None:
        if self._descriptor is not None:
            with suppress(OSError):
                os.close(self._descriptor)
            self._descriptor = None


class LocalNode:
    """This machine."""

    name = "127.0.0.1"
    interfaces: Sequence[str] = ("lo",)
    own_machine = True

    def start(self, command: Sequence[str], environment: Mapping[str, str], log: Path) -> "subprocess.Popen[bytes]":
        """The process gets its own session: Ctrl-C reaches only Assay, which then ends its processes in order."""
        with log.open("ab") as output:
            return subprocess.Popen(
                command, env=dict(environment), cwd=log.parent, stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip

    def read(self, path: Path, last_bytes: int | None = None) -> str:
        """Bytes that are not UTF-8 are replaced."""
        with path.open("rb") as file:
            if last_bytes is not None:
                file.seek(max(0, os.fstat(file.fileno()).st_size - last_bytes))
            return file.read().decode(errors="replace")

    def open(self, path: Path) -> KernelFile:
        return KernelFile(path)

    def names(self, path: Path) -> list[str]:
        return os.listdir(path)

    def link(self, path: Path) -> str:
        """The target is returned as the link has it, which need not be a path: /proc has links such as `pipe:[123]`."""
        return os.readlink(path)  # noqa: PTH115

    def command(self, command: Sequence[str]) -> Sequence[str]:
        return command

    def copy(self, source: Path, target: Path) -> None:
        shutil.copytree(source, target)

    def free_ports(self, count: int) -> list[int]:
        """The ports lie below the kernel's range for outgoing connections.

        No client's connection takes one then before its daemon does; another program still may, and a start that finds
        one taken is retried with new ones.
        """
        first_ephemeral = 32768
        with suppress(OSError, ValueError):
            first_ephemeral = int(_RANGE_FILE.read_text(encoding="utf-8").split()[0])
        end = first_ephemeral if first_ephemeral > LOWEST_PORT + 4096 else 65536
        candidates = random.sample(range(LOWEST_PORT, end), k=min(count * 20, 2000))  # not a secret
        with ExitStack() as listeners:
            ports = [port for port in candidates if self._held(port, listeners)][:count]
        if len(ports) < count:
            raise OSError(f"only {len(ports)} of {count} ports are free on {self.name}")
        return ports

    def connect(self, address: tuple[str, int], timeout_s: float | None = None) -> socket.socket:
        return socket.create_connection(address, timeout_s)

    def _held(self, port: int, listeners: ExitStack) -> bool:
        listener = listeners.enter_context(socket.socket())
        # As Java does it: a port whose last connections are in TIME_WAIT counts as free.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((self.name, port))
        except OSError:
            return False
        return True
