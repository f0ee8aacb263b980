"""Clusters that outlive the command that started them, and what crashed commands left: start, stop and list them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from assay.host.lease import Lease, leases, release_all, uninterrupted
from assay.model.base import Frozen
from assay.model.cluster import EmbeddedSpec
from assay.model.errors import AssayError
from assay.model.installation import Installation
from assay.model.installed import stack_of
from assay.model.layout import Layout
from assay.model.progress import Progress
from assay.model.trial import USUAL_STORE
from assay.platform.distribution import check_paths, find_distribution
from assay.platform.embedded import EmbeddedCluster
from assay.platform.programs import check_programs

PURPOSE = "cluster"


class Held(Frozen):
    """Something that Assay holds on this machine.

    `state` is `kept` (the user left it running), `in use` (its owner lives) or `left over` (its owner is gone).
    `details` of a kept cluster are conf_dir, hadoop, web_pages and hadoop_version, and doubts where there are any.
    """

    id: str
    state: Literal["kept", "in use", "left over"]
    processes: tuple[int, ...]
    directories: tuple[Path, ...]
    details: Mapping[str, str] = {}


def up(
    installation: Installation, spec: EmbeddedSpec, environment: Mapping[str, str], properties: Mapping[str, str],
    progress: Progress, store: str = USUAL_STORE,
) -> Held:  # fmt: skip
    """Start an embedded cluster, with all its directories among Assay's own parts, and leave it running.

    Raises BadInputError when Java, Hadoop or the store's programs are missing, AssayError when it does not become
    healthy; then nothing stays.
    """
    distribution = find_distribution(installation, environment)
    check_paths(installation, distribution)
    stack, programs = stack_of(store), installation.parts.resolve()
    check_programs(stack.services, programs, store)
    cluster = EmbeddedCluster(distribution, spec, stack, installation.state, environment, programs=programs)
    cluster.check(properties)
    lease = Lease(installation.state, PURPOSE)
    try:
        home = lease.make_directory(installation.parts / "work" / lease.id)
        layout = Layout.below(home, stack.roles, spec.workers)
        for directory in layout.paths:
            directory.mkdir(parents=True)
        running = cluster.start(layout, properties, progress, lease)
        details = {
            "conf_dir": str(running.conf_dir), "hadoop": str(running.hadoop),
            "web_pages": ", ".join(f"{role} {url}" for role, url in running.addresses.items()),
            "hadoop_version": running.version,
        }  # fmt: skip
        if running.doubts:
            details["doubts"] = "; ".join(f"{doubt.what}; to change that, {doubt.cure}" for doubt in running.doubts)
        for key, value in details.items():
            lease.note(key, value)
        lease.keep()
    except BaseException:
        with uninterrupted():
            lease.release()
        raise
    return _held(lease)


def down(state: Path) -> list[Held]:
    """Stop kept clusters and remove all left-overs, with their directories; what is in use stays. Returns what went.

    Raises AssayError, when all others are gone, that names what could not be removed.
    """
    ended = [lease for lease in leases(state) if lease.stale or (lease.kept and lease.purpose == PURPOSE)]
    went = [_held(lease) for lease in ended]
    with uninterrupted():
        busy = release_all(ended)
    if busy:
        raise AssayError("; ".join(f"{lease.id} stays: {reason}" for lease, reason in busy.items()))
    return went


def status(state: Path) -> list[Held]:
    """Everything that is held now, but for media that the user attached: `assay media list` tells those."""
    return [_held(lease) for lease in leases(state) if not lease.kept or lease.purpose == PURPOSE]


def _held(lease: Lease) -> Held:
    return Held(
        id=lease.id, state="kept" if lease.kept else "left over" if lease.stale else "in use",
        processes=tuple(lease.processes()), directories=tuple(lease.directories), details=dict(lease.details),
    )  # fmt: skip
