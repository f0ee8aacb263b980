"""Kills Assay at random moments of runs on several nodes: `python benchmarks/random_kills.py [--kills 20] [--nodes 5]`.

Each round begins an experiment of two trials, kills it (SIGKILL) at a moment drawn from its usual length, runs `assay
cluster down`, and looks at what is left: marked processes, namespaces, links, mounts, loop devices, control groups,
folders, leases. Finished trials must read as before. Needs root; leases and caches are the benchmark's own.
"""

import argparse
import hashlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from assay.host.mounts import loops, mounts
from assay.host.processes import MARK

ROOT = Path(__file__).resolve().parent.parent
EXPERIMENT = """\
experiment: kills
workloads: {{name: terasort, options: {{size: 10MB}}}}
media: {{ssd: {{profile: samsung-840-evo-120gb, path: {place}}}}}
cluster: {{nodes: {nodes}, network: gigabit, memory_mb: 2048, vcores: 2}}
memory: 2GiB
settings: small
repetitions: 2
order: interleaved
zero_delay_baseline: false
"""


def main() -> None:
    """Print a line for each kill; exit with 1 where anything was left."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--nodes", type=int, default=5)
    parser.add_argument("--longest", type=float, default=120.0, help="seconds; as long as the experiment takes")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    chance, bad = random.Random(arguments.seed), 0  # noqa: S311 - not a secret
    with tempfile.TemporaryDirectory(prefix="assay-kills-") as scratch:
        home = Path(scratch)
        (home / "drives").mkdir()
        (home / "kills.yaml").write_text(
            EXPERIMENT.format(place=home / "drives", nodes=arguments.nodes), encoding="utf-8"
        )
        environment = {
            **os.environ,
            "XDG_STATE_HOME": str(home / "state"),
            "PYTHONPATH": f"{ROOT / 'src'}:{ROOT / 'extras'}",
        }
        environment["ASSAY_ROOT"] = str(ROOT)
        before = _there(home)
        for number in range(1, arguments.kills + 1):
            after_s = chance.uniform(0.5, arguments.longest)
            said = _killed(home, f"run-{number}", environment, after_s)
            finished = _digests(home / f"run-{number}")
            down = _assay(environment, home, "cluster", "down")
            left = sorted(_there(home) - before)
            harmed = _digests(home / f"run-{number}") != finished
            bad += bool(left) or harmed or down.returncode != 0
            sys.stdout.write(
                f"{number:3}: killed after {after_s:5.1f} s ({said}); {len(finished)} files of finished trials"
                f"{', HARMED' if harmed else ''}; left: {', '.join(left) or 'nothing'}\n"
            )
            sys.stdout.flush()
    sys.stdout.write(f"{arguments.kills} kills, {bad} with anything left or harmed\n")
    sys.exit(1 if bad else 0)


def _assay(environment: Mapping[str, str], home: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "assay", *arguments]
    return subprocess.run(
        command, env=environment, cwd=home, capture_output=True, text=True, check=False, timeout=180, encoding="utf-8"
    )


def _killed(home: Path, run: str, environment: Mapping[str, str], after_s: float) -> str:
    """Run the experiment and kill it; the step that it was in."""
    log = home / f"{run}.log"
    with log.open("w", encoding="utf-8") as output:
        command = [sys.executable, "-m", "assay", "run", "kills.yaml", "--out", run]
        process = subprocess.Popen(command, env=dict(environment), cwd=home, stdout=output, stderr=subprocess.STDOUT)
        try:
            process.wait(after_s)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
    time.sleep(0.2)
    lines = log.read_text(encoding="utf-8").splitlines()
    return lines[-1].removeprefix("assay: ")[:60] if lines else "nothing said"


def _there(home: Path) -> set[str]:
    """What of Assay's is there, and all that is the kernel's."""
    found = {f"mount {mount.point}" for mount in mounts() if "assay" in mount.point or "assay" in mount.source}
    found |= {f"loop {loop.device}" for loop in loops()}
    found |= {f"group {group}" for group in Path("/sys/fs/cgroup").rglob("assay-*")}
    found |= {f"lease {file.name}" for file in (home / "state").rglob("leases/*.json")}
    found |= {f"folder {place}" for place in (home / "drives").iterdir()}
    links = subprocess.check_output(["ip", "-o", "link"], text=True, encoding="utf-8").splitlines()
    found |= {f"link {line.split(':')[1].strip()}" for line in links}
    spaces = subprocess.check_output(["lsns", "-n", "-o", "NS,TYPE"], text=True, encoding="utf-8").splitlines()
    found |= {f"namespace {line.strip()}" for line in spaces}
    for entry in Path("/proc").glob("[0-9]*/environ"):
        try:
            content = entry.read_bytes()
        except OSError:
            continue
        if f"{MARK}=".encode() in content and str(home).encode() in content:
            found.add(f"process {entry.parent.name}")
    return found


def _digests(run: Path) -> dict[str, str]:
    """All files of trials that have a record."""
    trials = [file.parent for file in run.glob("trials/*/record.json") if not file.parent.name.startswith(".")]
    files = [file for trial in trials for file in trial.iterdir()]
    return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


if __name__ == "__main__":
    main()
