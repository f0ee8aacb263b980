"""Keeps the ports of a cluster without a network of its own from other hosts, whoever opens them.

Addresses are set where Hadoop lets them be set. Some daemons, and the masters of some engines' jobs, listen on all
interfaces whatever is set: for them a small library is preloaded (`loopback.c`), which each process of the cluster
hands on to those that it starts, and which containers have from their node's daemon.
"""

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from assay.host.listening import listeners
from assay.host.processes import last_telling
from assay.model.doubt import Doubt, doubt_kind

PRELOADED = "LD_PRELOAD"
"""The variable with libraries that are loaded before all others (ld.so(8))."""
_SOURCE = Path(__file__).with_name("loopback.c")
_PATIENCE_S = 30

PORTS_OPEN = doubt_kind(
    "ports-open", "cluster",
    when="a daemon of the only node listens beyond loopback",
    why="other hosts can reach it, and it asks for no login; jobs' masters may listen like that, too",
    cure="mend what the doubt names (a C compiler: apt-get install gcc libc6-dev on Debian and Ubuntu), so that Assay "
         "keeps all ports to loopback, or let a firewall keep other hosts away",
)  # fmt: skip


def compile_library(folder: Path) -> tuple[Path | None, str]:
    """Compile what binds servers to loopback into a folder; None where it can't be, and why."""
    compiler, library = shutil.which("cc") or shutil.which("gcc"), folder / "loopback.so"
    if set(str(library)) & set(" :$"):  # ld.so(8) would take it for other paths, and complain in each process
        return None, f"no library can be preloaded from {folder}, whose name has a blank, a colon or a dollar sign"
    if compiler is None:
        return None, "there is no C compiler (cc)"
    folder.mkdir(parents=True, exist_ok=True)
    command = [compiler, "-shared", "-fPIC", "-O2", "-o", str(library), str(_SOURCE)]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", errors="replace", check=False,
            timeout=_PATIENCE_S,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, f"{compiler} could not be run: {error}"
    if done.returncode:
        return None, f"{compiler} failed: {last_telling(done.stderr, lambda line: 'error' in line, silent='no reason')}"
    return library, ""


def preloading(environment: Mapping[str, str], library: Path | None) -> dict[str, str]:
    """An environment that preloads a library, if there is one, before whatever it preloads already."""
    if library is None:
        return dict(environment)
    return {**environment, PRELOADED: ":".join(filter(None, (str(library), environment.get(PRELOADED))))}


def doubts_of_ports(roles: Mapping[int, str], no_library: str) -> tuple[Doubt, ...]:
    """Doubt the ports of daemons, whose roles are by their process ids, that other hosts can reach.

    `no_library` says why nothing keeps daemons from that, and is empty where something should.
    """
    open_ports = {
        f"{roles[pid]} at port {address.port}" for pid, address in listeners(roles) if not address.is_loopback
    }
    if not open_ports:
        return ()
    reach = f"other hosts can reach {', '.join(sorted(open_ports))}"
    return (PORTS_OPEN.doubt(f"{reach}: {no_library}" if no_library else reach),)
