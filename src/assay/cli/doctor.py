"""`assay doctor`: what this machine has, what is missing, and what was left behind."""

import os
from collections.abc import Callable
from pathlib import Path

import click

from assay.cli.context import FAILED, find_installation, json_option, print_json
from assay.host.control_groups import memory_limit_bytes
from assay.host.lease import Lease
from assay.host.machine import QUOTA, available_memory_bytes, machine_facts
from assay.media.emulated.attached_drives import drives
from assay.media.emulated.attachment import missing
from assay.media.emulated.profile import profile_names
from assay.media.memory import MEMORY, MemoryMedium
from assay.model.errors import AssayError
from assay.model.installation import Finding, Installation
from assay.model.installed import stack_of
from assay.model.naming import bytes_text
from assay.model.registry import FINDINGS
from assay.model.trial import MediumSpec
from assay.platform.distribution import find_distribution
from assay.platform.held import status
from assay.report.typed import as_typed


def findings(installation: Installation) -> list[Finding]:
    """Collect what a user should know before a run, and what earlier runs left behind."""
    facts, available = machine_facts(), available_memory_bytes()
    limit = memory_limit_bytes()
    bound_text = "" if limit is None else f" (a control group bounds it to {bytes_text(limit)})"
    least = stack_of().memory_bytes()
    needed = f"{bytes_text(available)} available{bound_text}; a cluster needs about {bytes_text(least)}"
    bound = f" (a control group bounds their time to that of {facts[QUOTA]})" if QUOTA in facts else ""
    machine = f"{facts['cpu']}, {facts['cores']} cores{bound}, Linux {facts['kernel']}"
    jar = installation.jobs_jar
    jobs = str(jar) if jar.is_file() else f"{jar} is missing; start ./assay once"
    drops = os.geteuid() == 0 and os.access(Path("/proc/sys/vm/drop_caches"), os.W_OK)
    caches = "the page cache can be dropped" if drops else "without root caches are dropped file by file only"
    return [
        Finding(what="machine", state="good", detail=machine),
        _tried("java and hadoop", _hadoop, installation),
        Finding(what="jobs", state="good" if jar.is_file() else "broken", detail=jobs),
        Finding(what="memory", state="good" if available > least else "broken", detail=needed),
        *(_tried(name, look, installation) for name, look in FINDINGS.items()),
        _tried("tmpfs", _tmpfs, installation),
        Finding(what="cold caches", state="good" if drops else "lacking", detail=caches),
        _emulation(installation),
        *_left_overs(installation),
    ]


def _tried(name: str, look: Callable[[Installation], Finding], installation: Installation) -> Finding:
    try:
        return look(installation)
    except AssayError as error:
        return Finding(what=name, state="broken", detail=str(error))


def _hadoop(installation: Installation) -> Finding:
    distribution = find_distribution(installation, os.environ)
    if note := distribution.archive_note:
        return Finding(what="java and hadoop", state="lacking", detail=f"clusters start slowly: {note}")
    source = installation.hadoop_home or "bundled"
    return Finding(what="java and hadoop", state="good", detail=f"Hadoop {distribution.version} ({source})")


def _tmpfs(installation: Installation) -> Finding:
    with Lease(installation.state, "doctor") as lease:
        space = MemoryMedium(MediumSpec(name="memory", kind=MEMORY.name), lease).space()
    return Finding(what="tmpfs", state="good", detail=f"{bytes_text(space.free_bytes)} fit into the memory medium")


def _emulation(installation: Installation) -> Finding:
    """Check both file systems: xfs alone may be missing."""
    lacking = missing(installation, "ext4")
    if not lacking and (lacking := missing(installation, "xfs")):
        return Finding(what="emulated drives", state="good", detail=f"they work with ext4; for xfs {lacking[0]}")
    number = len(profile_names(installation.profiles))
    detail = "; ".join(lacking) or f"they work here; {number} profiles (`assay media list`)"
    return Finding(what="emulated drives", state="lacking" if lacking else "good", detail=detail)


def _left_overs(installation: Installation) -> list[Finding]:
    """List leases, then the emulated drives that stay attached or whose lease is lost."""
    leases = [
        Finding(
            what=lease.id,
            state="lacking" if lease.state == "left over" else "good",
            detail=f"{lease.state}, {len(lease.processes)} process{'' if len(lease.processes) == 1 else 'es'}"
            + ("; `assay cluster down` removes it" if lease.state != "in use" else ""),
        )
        for lease in status(installation.state)
    ]
    return leases + [
        Finding(
            what=drive.id,
            state="good" if drive.state == "attached" else "lacking",
            detail=f"{drive.profile or 'an emulated drive'}, {drive.state}; `assay media detach {drive.id}` removes it",
        )
        for drive in drives(installation)
        if drive.state in {"attached", "broken", "foreign"}
    ]


@click.command()
@json_option()
def doctor(*, as_json: bool) -> int:
    """Show what this machine has, what it lacks, and what killed runs left behind.

    \b
    Example:  assay doctor
    """
    shown = findings(find_installation())
    if as_json:
        print_json([finding.model_dump() for finding in shown])
    else:
        for finding in shown:
            click.echo(f"{finding.state:8} {finding.what}: {as_typed(finding.detail)}")
    return FAILED if any(finding.state == "broken" for finding in shown) else 0
