"""After how long the kernel writes data to the drives: a setting of the whole machine, which a lease gives back."""

from pathlib import Path

from assay.host.lease import Lease

VM = Path("/proc/sys/vm")

LOOKS = 6
"""The kernel looks so many times for old data in the time that they take to be old: every 5 s for those of 30 s."""


def age_dirty_pages(lease: Lease, age_s: float, vm: Path = VM) -> str:
    """Have the kernel write data that are `age_s` old, on all drives, until the lease is released.

    Returns why it does not, empty where it does. Source: the kernel's admin-guide/sysctl/vm.rst.
    """
    centiseconds = max(1, round(100 * age_s))
    ages = {
        "dirty_expire_centisecs": centiseconds,
        "dirty_writeback_centisecs": max(1, centiseconds // LOOKS),
    }
    for name, value in ages.items():
        if reason := lease.change_setting(vm / name, str(value)):
            return f"vm.{name} can't be {value}: {reason}"
    return ""
