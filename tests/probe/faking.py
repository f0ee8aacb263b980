"""A machine's /proc whose processes do as a test says, and what ticks instruments without a thread."""

import shutil
from pathlib import Path

from assay.model.instrument import Moment
from assay.model.platform import Layout
from assay.model.probe import Scene, WatchedProcess

FIXTURES = Path(__file__).parents[1] / "fixtures" / "probe"
# As the kernel writes it for a container's JVM; its numbers are put in.
_STAT = (
    "{pid} ({name}) S {parent} 9 9 0 -1 4194304 99 88 0 0 {user} {system} {reaped_user} {reaped_system} 20 0 105 0 2306493"
    " 3150876672 {resident_pages} 18446744073709551615 1 1 0 0 0 0 0 16800975 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
)


class FakeProc:
    """A directory that looks like /proc."""

    def __init__(self, home):
        self.home = home
        (home / "self").mkdir(parents=True)
        (home / "self" / "mountinfo").write_text("")
        (home / "self" / "cgroup").write_text("")
        self.machine(0, 0)

    @property
    def stat(self):
        return self.home / "stat"

    def machine(self, user, system, idle=0):
        self.stat.write_text(f"cpu  {user} 0 {system} {idle} 0 0 0 0 0 0\n")

    def process(
        self, pid, parent, *, user=0, system=0, reaped=(0, 0), resident_pages=0, name="java", command="", share_kib=None
    ):
        place = self.home / str(pid)
        place.mkdir(exist_ok=True)
        (place / "cgroup").write_text("")
        (place / "stat").write_text(
            _STAT.format(
                pid=pid, name=name, parent=parent, user=user, system=system, reaped_user=reaped[0],
                reaped_system=reaped[1], resident_pages=resident_pages,
            )
        )  # fmt: skip
        (place / "cmdline").write_bytes(command.encode().replace(b" ", b"\0"))
        if share_kib is not None:
            (place / "smaps_rollup").write_text(f"0-1 ---p 0 0 0 [rollup]\nRss: 999 kB\nPss: {share_kib} kB\n")

    def end(self, pid):
        # What has it open reads nothing any more, as from the kernel.
        (self.home / str(pid) / "stat").write_text("")
        shutil.rmtree(self.home / str(pid))


def a_scene(node_manager=None, **groups):
    """Groups by their process numbers."""
    return Scene(
        layout=Layout.below(Path("/nowhere")),
        processes=tuple(WatchedProcess(group=group, pid=pid) for group, pid in groups.items()),
        node_manager=node_manager,
    )


def at(seconds):
    return Moment(time_ms=int(seconds * 1000), clock_s=seconds)


def named(totals):
    """Totals by subject and series."""
    return {(what.subject, what.series): value for what, value in totals.items()}
