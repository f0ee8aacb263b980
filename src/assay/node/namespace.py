"""A node of its own on this machine: a network, a mount and a host name namespace, which processes enter by nsenter(1).

A holder process keeps the namespaces alive. It carries its lease's mark as the daemons do: whoever ends the lease's
processes has the kernel take away the namespaces with all that is in them, interfaces, links and packet filters too.
Nothing is mounted outside (`ip netns` would leave /run/netns), and names resolve inside only, by an /etc/hosts that is
mounted there. Sources: namespaces(7), network_namespaces(7), mount_namespaces(7), setns(2).
"""

import ctypes
import itertools
import os
import socket
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Thread
from typing import TypeVar

from assay.model.errors import AssayError
from assay.node.local import LOWEST_PORT, KernelFile, LocalNode

NETWORK_NAMESPACE = 0x40000000
"""CLONE_NEWNET (linux/sched.h)."""

_NET = Path("/proc/net")
_CHANGE = ("/bin/sh", "-c", 'cd "$0" && exec "$@"')
# What is mounted later on this machine appears in the namespace too, where the machine's mounts are shared. Without
# IPv6 nothing but the cluster's own traffic passes the interfaces.
_HOLDER = """\
mount --bind "$1" /etc/hosts && echo "$2" >/proc/sys/kernel/hostname || exit 1
for all in all default; do echo 1 >/proc/sys/net/ipv6/conf/$all/disable_ipv6; done 2>/dev/null
echo ready
exec sleep infinity >/dev/null
"""

ResultT = TypeVar("ResultT")


class NamespaceNode(LocalNode):
    """A node that is a separate host for what is started on it; it shares this machine's files, except /proc/net."""

    own_machine = False

    def __init__(self, name: str, holder: int, addresses: Mapping[str, str], interfaces: Sequence[str]) -> None:
        """`holder` is the process that holds its namespaces, `addresses` has each node's address by its name."""
        self.name = name
        self.holder = holder
        self.interfaces = interfaces
        self._addresses = addresses
        self._ports = itertools.count(LOWEST_PORT)

    def start(self, command: Sequence[str], environment: Mapping[str, str], log: Path) -> "subprocess.Popen[bytes]":
        return super().start(self.command([*_CHANGE, str(log.parent), *command]), environment, log)

    def read(self, path: Path, last_bytes: int | None = None) -> str:
        return super().read(self._own(path), last_bytes)

    def open(self, path: Path) -> KernelFile:
        return super().open(self._own(path))

    def names(self, path: Path) -> list[str]:
        return super().names(self._own(path))

    def command(self, command: Sequence[str]) -> Sequence[str]:
        """The command is prefixed by nsenter, which becomes the command: the process keeps its id."""
        return ["nsenter", "--target", str(self.holder), "--net", "--uts", "--mount", "--", *command]

    def free_ports(self, count: int) -> list[int]:
        """Nothing else runs there, so each port below the kernel's range for outgoing connections is given once."""
        return [next(self._ports) for _ in range(count)]

    def connect(self, address: tuple[str, int], timeout_s: float | None = None) -> socket.socket:
        """The socket is made inside, and stays in that namespace whoever uses it."""
        host, port = address
        made = self.inside(socket.socket)
        try:
            made.settimeout(timeout_s)
            made.connect((self._addresses.get(host, host), port))
        except OSError:
            made.close()
            raise
        return made

    def inside(self, act: Callable[[], ResultT]) -> ResultT:
        """Call a function within the node's network, in a new thread. Returns or raises what the function does."""
        results: list[ResultT] = []
        failures: list[BaseException] = []

        def enter_and_act() -> None:
            try:
                libc = ctypes.CDLL(None, use_errno=True)
                with Path(f"/proc/{self.holder}/ns/net").open("rb") as namespace:
                    if libc.setns(namespace.fileno(), NETWORK_NAMESPACE):
                        number = ctypes.get_errno()
                        raise OSError(number, f"the network of {self.name} can't be entered: {os.strerror(number)}")
                results.append(act())
            except BaseException as error:
                failures.append(error)

        thread = Thread(target=enter_and_act)
        thread.start()
        thread.join()
        for failure in failures:
            raise failure
        return results[0]

    def configure(self, settings: Mapping[str, str]) -> None:
        """Set the kernel's settings of its network, such as `net.ipv4.tcp_wmem`. Raises AssayError."""

        def write() -> None:
            for name, value in settings.items():
                Path("/proc/sys", *name.split(".")).write_text(value, encoding="utf-8")

        try:
            self.inside(write)
        except OSError as error:
            raise AssayError(f"the network of {self.name} can't be configured: {error}") from None

    def runs(self, pid: int) -> bool:
        """Tell whether a process runs inside, not counting the holder."""
        try:
            inside = os.readlink(f"/proc/{pid}/ns/net") == os.readlink(f"/proc/{self.holder}/ns/net")  # noqa: PTH115
        except OSError:  # it has ended
            return False
        return inside and pid != self.holder

    def _own(self, path: Path) -> Path:
        """Replace /proc/net, which shows the network of whoever reads it, by the holder's."""
        return Path(f"/proc/{self.holder}/net", path.relative_to(_NET)) if path.is_relative_to(_NET) else path


def hold(name: str, hosts: Path, environment: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    """Start a process that holds new namespaces, with the host name `name` and the host names in `hosts`.

    Raises AssayError where the kernel or its settings forbid it.
    """
    command = ["unshare", "--net", "--mount", "--uts", "--propagation", "slave", "/bin/sh", "-c", _HOLDER, "holder"]
    try:
        holder = subprocess.Popen(
            [*command, str(hosts), name], env=dict(environment), cwd="/", stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        raise AssayError(f"the node {name} can't be made: {error}") from None
    assert holder.stdout is not None  # noqa: S101 - it is a pipe
    assert holder.stderr is not None  # noqa: S101
    with holder.stdout, holder.stderr:
        if holder.stdout.readline() != b"ready\n":
            reason = holder.stderr.read().decode(errors="replace").strip() or "no reason was given"
            holder.wait()
            raise AssayError(f"the node {name} can't be made: {reason}")
    return holder
