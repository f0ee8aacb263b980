"""Plans and runs an experiment whose media are real and all else is fake: `python -m tests.toys.lifecycle FILE RUN`."""

import os
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

from assay.host.lease import Lease
from assay.model.errors import BadInputError
from assay.model.installed import kind_of
from assay.model.probe import Scene
from assay.model.progress import Silent
from assay.plan.source import Vocabulary
from assay.record.folder import RunFolder
from assay.run.loop import execute
from assay_extras.testing.fakes import FakePlatform, FakeProbe, Script, fake_setup
from tests.builders import make_plan

ROOT = Path(__file__).parents[2]
WORDS = Vocabulary(
    workloads={"triangles": ("paper",)}, presets=["brightkite"], catalogue=[], profiles=["wd10ezex"],
)  # fmt: skip
RATES = {"read_mb_s": 20.0, "write_mb_s": 5.0, "busy_percent": 80.0}


class Slow(Script):
    """A run of no milliseconds has no chart."""

    run_s = 0.3

    def note(self, what):
        super().note(what)
        if what == "run answer":
            time.sleep(self.run_s)


class Platform(FakePlatform):
    """Fake but for its media."""

    def __init__(self, script, trial, lease):
        super().__init__(script, trial)
        self.opened = [kind_of(spec).open(spec, lease, None) for spec in trial.media]

    def media(self):
        return tuple(self.opened)

    def scene(self, layout):
        disks = [medium.watched_disk(()) for medium in self.opened]
        return Scene(layout=layout, disks=tuple(disk for disk in disks if disk is not None))


class Probe(FakeProbe):
    """Sees every disk of the scene at work."""

    name = "disk"

    def attach(self, scene):
        self._media = [disk.medium for disk in scene.disks]

    def sample(self, now):
        return {(medium, series): value for medium in self._media for series, value in RATES.items()}

    def totals(self):
        return {}


@contextmanager
def set_up(trial):
    script = Slow()
    with Lease(Path("state").resolve(), "trial") as lease:
        yield fake_setup(script, trial)._replace(
            platform=Platform(script, trial, lease), probes=lambda _: (Probe(script, trial, sees_writes=True),)
        )


class Quiet(Silent):
    """Shows nothing of trials either."""

    def trial_begins(self, trial, number, total):
        pass

    def trial_ends(self, record):
        pass


def outside(home, toy, experiment):
    """Python in a folder whose plug-ins are the toy, the experiment in `toys.yaml`; gives what a command printed."""
    (home / "assay_extras").mkdir()
    shutil.copy(Path(__file__).with_name(f"{toy}.py"), home / "assay_extras" / f"toy_{toy}.py")
    (home / "toys.yaml").write_text(experiment)
    path = os.pathsep.join([str(home), str(ROOT / "src"), str(ROOT / "extras"), str(ROOT)])

    def python(*arguments):
        environment = {**os.environ, "PYTHONPATH": path, "ASSAY_ROOT": str(ROOT), "COLUMNS": "160"}
        done = subprocess.run(
            [sys.executable, *arguments], cwd=home, env=environment, capture_output=True, text=True, check=False
        )
        return done.stdout + done.stderr

    python.home = home
    return python


def mistakes(*experiments):
    """What is wrong with each experiment, a line each."""
    for experiment in experiments:
        try:
            make_plan(Path(experiment), WORDS)
        except BadInputError as error:
            sys.stdout.write(f"{error}\n")


def main(experiment, run):
    plan = make_plan(Path(experiment), WORDS)
    folder = RunFolder(Path(run))
    folder.create(plan)
    execute(plan, folder, set_up, Quiet())


if __name__ == "__main__":
    main(*sys.argv[1:])
