"""Free ports on the loopback interface."""

import random
import socket
from contextlib import ExitStack
from pathlib import Path

LOOPBACK = "127.0.0.1"
_RANGE_FILE = Path("/proc/sys/net/ipv4/ip_local_port_range")
_LOWEST = 10240


def free_ports(count: int) -> list[int]:
    """So many distinct ports that nobody listens on now.

    They lie below the kernel's range for outgoing connections, so that no client's connection takes one before its
    daemon does; another program still may, and a start that finds one taken is retried with new ones.
    """
    candidates = random.sample(range(_LOWEST, _first_ephemeral()), k=min(count * 20, 2000))  # not a secret
    with ExitStack() as held:
        ports = [port for port in candidates if _held(port, held)][:count]
    if len(ports) < count:
        raise OSError(f"only {len(ports)} of {count} ports are free on {LOOPBACK}")
    return ports


def _first_ephemeral() -> int:
    try:
        first = int(_RANGE_FILE.read_text().split()[0])
    except (OSError, ValueError):
        first = 32768
    return first if first > _LOWEST + 4096 else 65536


def _held(port: int, held: ExitStack) -> bool:
    listener = held.enter_context(socket.socket())
    # As Java does it: a port whose last connections are in TIME_WAIT counts as free.
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((LOOPBACK, port))
    except OSError:
        return False
    return True
