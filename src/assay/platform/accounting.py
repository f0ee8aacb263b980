"""Control groups that bound nothing: they hold a cluster's processes, so that the kernel counts for these alone.

Version 1 tells the states of a group's tasks (`assay.probe.blocked_time`), version 2 its pressure, both its processor
time. Any hierarchy of version 1 will do: where the machine has none, as today's, an empty one is mounted for as long
as the lease is held. Without the right to make groups there are none, and the cluster runs all the same.

Sources: cgroups(7), the kernel's admin-guide/cgroup-v1/cgroups.rst (named hierarchies), accounting/cgroupstats.rst.
"""

import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from assay.host.control_groups import SELF, find_hierarchy, group_below, groups_seen
from assay.host.lease import Lease
from assay.host.processes import remove_group


def accounting_groups(lease: Lease) -> Sequence[Path]:
    """A group in each version of the interface, as far as they can be made and entered; they go with the lease."""
    return [group for group in (_version_1(lease), _version_2(lease)) if group is not None]


def _version_1(lease: Lease) -> Path | None:
    hierarchy = find_hierarchy("cpuacct")
    if hierarchy is not None and hierarchy.version == 1:
        return _entered(lease, hierarchy.root, hierarchy.own_group)
    root = lease.file.parent.parent / "groups" / lease.id
    with suppress(OSError, subprocess.CalledProcessError):
        lease.make_directory(root)
        options = f"none,name={lease.id}"
        subprocess.run(("mount", "-t", "cgroup", "-o", options, "assay", root), check=True, capture_output=True)
        return _entered(lease, root, root)
    return None


def _version_2(lease: Lease) -> Path | None:
    """Make the group below this process' group, or at the top where that can't be seen from here."""
    paths, mounted_groups = groups_seen(SELF)
    for mount in mounted_groups:
        if mount.file_system == "cgroup2":
            top = Path(mount.point)
            return _entered(lease, top, group_below(top, mount.root, paths.get("", "/")))
    return None


def _entered(lease: Lease, root: Path, parent: Path) -> Path | None:
    """The lease's own group in a hierarchy, or else a new one below `parent`; None where no process could enter it."""
    joined = next((group for group in lease.groups if root in group.parents), None)
    if joined is not None:
        return joined
    group = parent / f"assay-{lease.id}"
    with suppress(OSError):
        lease.make_group(group)
        enter = ("/bin/sh", "-c", 'echo 0 >"$1"', "assay-accounting", group / "cgroup.procs")
        if subprocess.run(enter, check=False, capture_output=True).returncode == 0:
            return group
        remove_group(group)
        lease.groups.remove(group)
    return None
