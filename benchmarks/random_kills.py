"""Kills Assay at random moments of runs on nodes: `python benchmarks/random_kills.py [--kills 20] [--store hbase]`.

The experiment of two trials runs once in whole, which tells its steps and how long each takes. Each round begins it
again, kills it (SIGKILL) in one of these steps, from before the first to the cluster's stop, at a moment drawn from the
step's length, runs `assay cluster down`, and looks at what is left: marked processes, namespaces, links, mounts, loop
devices, control groups, folders, leases. As many kills as there are steps hit each step once. Finished trials must read
as before. Needs root, and nobody else's runs beside it; leases and caches are the benchmark's own.
"""

import argparse
import hashlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from assay.host.mounts import loops, mounts
from assay.host.processes import MARK

ROOT = Path(__file__).resolve().parent.parent
TRIALS = 2
EXPERIMENT = """\
experiment: kills
workloads: {{name: sort-lines, options: {{size: {size}, files: 2}}}}
media: {{ssd: {{profile: samsung-840-evo-120gb, path: {place}}}}}
store: {store}
cluster: {{nodes: {nodes}, network: gigabit, memory_mb: 2048, vcores: 2}}
memory: {memory}
settings: small
repetitions: {trials}
order: interleaved
zero_delay_baseline: false
"""
_BEFORE = "before any trial"
_BEFORE_S = 5.0
_LONGEST_S = 600.0


class Step(NamedTuple):
    """A step of a trial, and how long it takes."""

    name: str
    seconds: float


def main() -> None:
    """Print a line for each kill; exit with 1 where anything was left."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--nodes", type=int, default=5)
    parser.add_argument("--store", default="hdfs")
    parser.add_argument("--memory", default="3GiB", help="of each node")
    parser.add_argument("--size", default="10MB", help="of the input")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    chance, failures = random.Random(arguments.seed), 0  # noqa: S311 - not a secret
    with tempfile.TemporaryDirectory(prefix="assay-kills-") as scratch:
        home = Path(scratch)
        (home / "drives").mkdir()
        text = EXPERIMENT.format(
            place=home / "drives", nodes=arguments.nodes, store=arguments.store, memory=arguments.memory,
            size=arguments.size, trials=TRIALS,
        )  # fmt: skip
        (home / "kills.yaml").write_text(text, encoding="utf-8")
        environment = {
            **os.environ,
            "XDG_STATE_HOME": str(home / "state"),
            "PYTHONPATH": f"{ROOT / 'src'}:{ROOT / 'extras'}",
            "ASSAY_ROOT": str(ROOT),
        }
        before = _there(home)
        moments = _moments(_steps(home, environment), chance)
        for number in range(1, arguments.kills + 1):
            trial, step = next(moments)
            ended = _killed(home, f"run-{number}", environment, trial, step)
            finished = _digests(home / f"run-{number}")
            down = _assay(environment, home, "cluster", "down")
            left = sorted(_there(home) - before)
            harmed = _digests(home / f"run-{number}") != finished
            failures += bool(left) or harmed or down.returncode != 0
            sys.stdout.write(
                f"{number:3}: trial {trial}, {step.seconds:.1f} s into {step.name!r} ({ended}); {len(finished)} files "
                f"of finished trials{', HARMED' if harmed else ''}; left: {', '.join(left) or 'nothing'}\n"
            )
            sys.stdout.flush()
    sys.stdout.write(f"{arguments.kills} kills, {failures} with anything left or harmed\n")
    sys.exit(1 if failures else 0)


def _steps(home: Path, environment: Mapping[str, str]) -> Sequence[Step]:
    """The steps of a trial, in order, as the last one of a whole run took them."""
    done = _assay(environment, home, "run", "kills.yaml", "--out", "whole")
    if done.returncode != 0:
        sys.exit(f"the run that is to be killed fails by itself: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    records = sorted((home / "whole").glob("trials/*/record.json"))
    steps = json.loads(records[-1].read_text(encoding="utf-8"))["steps"]
    return [Step(_BEFORE, _BEFORE_S), *(Step(step["name"], step["seconds"]) for step in steps)]


def _moments(steps: Sequence[Step], chance: random.Random) -> Iterator[tuple[int, Step]]:
    """Draw the trial, the step, and how far in that it is killed: all steps once in any order, then all again."""
    while True:
        for step in chance.sample(steps, len(steps)):
            yield chance.randint(1, TRIALS), step._replace(seconds=chance.uniform(0, step.seconds))


def _assay(environment: Mapping[str, str], home: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "assay", *arguments]
    return subprocess.run(
        command, env=environment, cwd=home, capture_output=True, text=True, check=False, timeout=_LONGEST_S,
        encoding="utf-8",
    )  # fmt: skip


def _killed(home: Path, run: str, environment: Mapping[str, str], trial: int, step: Step) -> str:
    """Run the experiment, and kill it so many seconds into a trial's step; what it said last."""
    log, deadline_s = home / f"{run}.log", time.monotonic() + _LONGEST_S
    begun = re.compile("" if step.name == _BEFORE else rf"trial {trial}/{TRIALS} .* · {re.escape(step.name)}( ·|\n)")
    with log.open("w", encoding="utf-8") as output:
        command = [sys.executable, "-m", "assay", "run", "kills.yaml", "--out", run, "--verbose"]
        process = subprocess.Popen(command, env=dict(environment), cwd=home, stdout=output, stderr=subprocess.STDOUT)
        while process.poll() is None and time.monotonic() < deadline_s:
            if begun.search(log.read_text(encoding="utf-8")):
                break
            time.sleep(0.02)
        try:
            process.wait(step.seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
    time.sleep(0.2)
    lines = log.read_text(encoding="utf-8").splitlines()
    last = lines[-1].removeprefix("assay: ")[:60] if lines else "nothing said"
    return last if process.returncode == -signal.SIGKILL else f"ended before: {last}"


def _there(home: Path) -> set[str]:
    """What of Assay's is there, and all that is the kernel's."""
    seen = {f"mount {mount.point}" for mount in mounts() if "assay" in mount.point or "assay" in mount.source}
    seen |= {f"loop {loop.device}" for loop in loops()}
    seen |= {f"group {group}" for group in Path("/sys/fs/cgroup").rglob("assay-*")}
    seen |= {f"lease {file.name}" for file in (home / "state").rglob("leases/*.json")}
    seen |= {f"folder {place}" for place in (home / "drives").iterdir()}
    links = subprocess.check_output(["ip", "-o", "link"], text=True, encoding="utf-8").splitlines()
    seen |= {f"link {line.split(':')[1].strip()}" for line in links}
    spaces = subprocess.check_output(["lsns", "-n", "-o", "NS,TYPE"], text=True, encoding="utf-8").splitlines()
    seen |= {f"namespace {line.strip()}" for line in spaces}
    for entry in Path("/proc").glob("[0-9]*/environ"):
        try:
            content = entry.read_bytes()
        except OSError:
            continue
        if f"{MARK}=".encode() in content and str(home).encode() in content:
            seen.add(f"process {entry.parent.name}")
    return seen


def _digests(run: Path) -> dict[str, str]:
    """All files of trials that have a record."""
    trials = [file.parent for file in run.glob("trials/*/record.json") if not file.parent.name.startswith(".")]
    files = [file for trial in trials for file in trial.iterdir()]
    return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


if __name__ == "__main__":
    main()
