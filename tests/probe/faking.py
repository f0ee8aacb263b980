"""A machine's /proc whose processes do as a test says, and what ticks instruments without a thread."""

import shutil
from contextlib import contextmanager
from pathlib import Path

from assay.model.layout import Layout
from assay.model.probe import CLIENTS, CONTAINERS, ChildResult, Moment, ProbeContext, Scene, WatchedProcess
from assay.node.local import LocalNode
from assay.probe.sampler import measured

FIXTURES = Path(__file__).parents[1] / "fixtures" / "probe"
# As the kernel writes it for a container's JVM; its numbers are put in.
_STAT = (
    "{pid} ({name}) S {parent} 9 9 0 -1 4194304 99 88 0 0 {user} {system} {reaped_user} {reaped_system} 20 0 105 0 2306493"
    " 3150876672 {resident_pages} 18446744073709551615 1 1 0 0 0 0 0 16800975 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
)


class PlacedNode(LocalNode):
    """This machine, with some of its folders elsewhere."""

    def __init__(self, places):
        self.places = {Path(folder): place for folder, place in places.items()}

    def at(self, path):
        for folder, place in self.places.items():
            if path.is_relative_to(folder):
                return place / path.relative_to(folder)
        return path

    def read(self, path, last_bytes=None):
        return super().read(self.at(path), last_bytes)

    def open(self, path):
        return super().open(self.at(path))

    def names(self, path):
        return super().names(self.at(path))

    def link(self, path):
        return super().link(self.at(path))


class FakeProc:
    """A directory that looks like /proc."""

    def __init__(self, home):
        self.home = home
        (home / "self").mkdir(parents=True)
        (home / "self" / "mountinfo").write_text("")
        (home / "self" / "cgroup").write_text("")
        self.machine(0, 0)

    @property
    def node(self):
        return PlacedNode({"/proc": self.home})

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


def a_scene(*node_managers, **groups):
    """Groups by their process numbers."""
    return Scene(
        layout=Layout.below(Path("/nowhere")),
        processes=tuple(
            WatchedProcess(
                group=group,
                pid=pid,
                children=CONTAINERS if pid in node_managers else CLIENTS if group == "assay" else "",
            )
            for group, pid in groups.items()
        ),
    )


def at(seconds):
    return Moment(time_ms=int(seconds * 1000), clock_s=seconds)


def named(totals):
    """Totals by subject and series."""
    return {(what.subject, what.series): value for what, value in totals.items()}


def a_context(environment=None, *, children_s=lambda: 0.0, samples_bytes=lambda: 0):
    """What probes are made with; no child is ever run."""
    return ProbeContext(
        environment or {},
        lambda *_given: ChildResult(1, "", "no child"),
        children_s,
        samples_bytes,
        LocalNode(),
    )


def measuring(*probes, scene=None, interval_s=60.0):
    """Some probes on their way through a trial."""
    return measured(lambda _context: probes, scene or a_scene(), interval_s=interval_s)


def amounts_of(seen):
    """Of the probes themselves; what it took to evaluate them is another test's."""
    return tuple(amount for amount in seen.amounts if amount.probe != "own-cost")


class Attached:
    """A probe that is evaluated at its scope's end, and what it told then."""

    def __init__(self, probe):
        self.probe, self.found = probe, None

    def __getattr__(self, name):
        return getattr(self.probe, name)

    def begin(self):
        self.probe.mark(None)

    def requests(self):
        return self.found.requests

    def counted(self):
        return self.found.counted

    def samples(self):
        return self.found.samples

    def amounts(self):
        return tuple(self.found.amounts)


@contextmanager
def attached(probe, scene):
    """One probe alone, without what isolates it."""
    seen = Attached(probe)
    try:
        probe.attach(scene)
        yield seen
        seen.found = probe.evaluate()
    except BaseException:
        probe.close()
        raise
