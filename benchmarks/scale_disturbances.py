"""How many disturbances the checks of a scale model detect: `python benchmarks/scale_disturbances.py --out DIRECTORY`.

One short trial for each disturbance, and undisturbed controls, in a seeded order; each is a run in DIRECTORY, and those
that are there already are only shown, so that an interrupted series goes on. `--show DIRECTORY` starts none. The
disturbances:

load         other programs take a share of this machine's processors
links        the token buckets let through less than they were told, behind the model's back
drives late  the drives' emulators are stopped for a share of each tenth of a second: requests really wait for them
drives slow  the drives have a profile that is slower by that share, and keep it in time: nothing is late

Printed: for each trial the model's time against the median control's, and what each check saw (`!`: it failed); then
for each kind of disturbance how many of them each check detected. 15 trials take about 25 minutes on two processors.
Needs root.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing import Process
from pathlib import Path
from statistics import median
from threading import Event, Thread
from typing import Any, NamedTuple

from ruamel.yaml import YAML

from assay.model.record import Record
from assay.model.scale import CheckId, ScaleCheck
from assay.record.folder import RunFolder
from assay.report.columns import Column, grid
from assay.report.words import number_text, seconds_text

ROOT = Path(__file__).parents[1]
PROFILE = "wd10ezex"
CONTROL, LOAD, LINKS, LATE, SLOW = "control", "load", "links", "drives late", "drives slow"
SHARES: Mapping[str, Sequence[float]] = {
    CONTROL: (0.0,) * 3, LOAD: (0.1, 0.3, 0.6), LINKS: (0.05, 0.1, 0.2), LATE: (0.05, 0.1, 0.2),
    SLOW: (0.05, 0.1, 0.2),
}  # fmt: skip
PERIOD_S = 0.1
PATIENCE_S = 300
SEED = 4


class Disturbance(NamedTuple):
    """A kind, its share (0.1 is 10 %), and which of several equal ones it is."""

    kind: str
    share: float
    number: int

    @property
    def name(self) -> str:
        """The folder of its run."""
        return f"{self.kind.replace(' ', '-')}-{self.share:.0%}-{self.number}".replace("%", "")


def main() -> int:
    """Run what is not there yet, then show everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    folders = parser.add_mutually_exclusive_group(required=True)
    folders.add_argument("--out", type=Path, help="where the runs go")
    folders.add_argument("--show", type=Path, help="only show the runs that are there")
    parser.add_argument("--rounds", type=int, default=1, help="trials of each disturbance")
    parser.add_argument("--kinds", nargs="*", choices=list(SHARES), default=list(SHARES))
    parser.add_argument("--dilation", type=int, default=2, help="2 is the least that two processors allow")
    wishes = parser.parse_args()
    planned = disturbances(wishes.kinds, wishes.rounds)
    if wishes.out:
        run_missing(planned, wishes.out, wishes.dilation)
    folder = wishes.out or wishes.show
    made = [(disturbance, record) for disturbance in planned if (record := read(folder / disturbance.name))]
    for missing in (disturbance for disturbance in planned if disturbance not in dict(made)):
        say(f"{missing.name} has no finished trial in {folder}")
    if made:
        show(made)
    return 0 if len(made) == len(planned) else 1


def run_missing(planned: Sequence[Disturbance], out: Path, dilation: int) -> None:
    """Run each disturbance that has no record in a folder yet; its output goes to a log beside its run."""
    out.mkdir(parents=True, exist_ok=True)
    for place, disturbance in enumerate(planned, 1):
        if not read(out / disturbance.name):
            say(f"{place} of {len(planned)}: {disturbance.name}")
            run(disturbance, out, dilation)


def disturbances(kinds: Sequence[str], rounds: int) -> list[Disturbance]:
    """All of them, round by round, in an order that drift of the machine does not follow."""
    order = random.Random(SEED)  # noqa: S311 - an order, no secret
    planned = []
    for number in range(rounds):
        shares = [(kind, share) for kind in SHARES if kind in kinds for share in SHARES[kind]]
        block = [Disturbance(kind, share, place + number * len(shares)) for place, (kind, share) in enumerate(shares)]
        order.shuffle(block)
        planned += block
    return planned


def experiment(profile: str, dilation: int) -> dict[str, Any]:
    """Two nodes of one core with a hard disk and 50 Mbit/s."""
    return {
        "experiment": "scale-disturbances",
        "workloads": {"name": "terasort", "options": {"size": "32MB"}},
        "media": {"hdd": {"profile": profile, "size": "4GiB", "path": "/dev/shm"}},  # noqa: S108
        "cluster": {"nodes": 2, "network": {"rate": "50Mbit"}, "memory_mb": 896, "vcores": 1},
        "cpus": 1,
        "replication": 2,
        "dilation": dilation,
        "settings": "small",
        "hadoop": {
            "mapreduce.job.reduces": 2,
            "dfs.blocksize": "16m",
            "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms": 200,
            "yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms": 200,
        },
    }


def slower_profile(text: str, share: float) -> dict[str, Any]:
    """A drive's profile with rates that are lower by a share, and times that are longer in proportion."""
    profile: dict[str, Any] = YAML(typ="safe").load(text)
    for name, figure in profile["figures"].items():
        if name.endswith(("_mb_s", "_per_s", "_rpm", "_iops")):
            figure["value"] *= 1 - share
        elif name.endswith(("_ms", "_us")):
            figure["value"] /= 1 - share
    return profile


def run(disturbance: Disturbance, out: Path, dilation: int) -> None:
    """One trial, disturbed from when its daemons run to its end."""
    profile = PROFILE
    if disturbance.kind == SLOW:
        shipped = (ROOT / "emulator" / "profiles" / f"{PROFILE}.yaml").read_text(encoding="utf-8")
        profile = f"./{disturbance.name}-drive.yaml"
        (out / profile).write_text(json.dumps(slower_profile(shipped, disturbance.share)), encoding="utf-8")
    file = out / f"{disturbance.name}.yaml"
    file.write_text(json.dumps(experiment(profile, dilation)), encoding="utf-8")  # which is YAML, too
    command = [sys.executable, "-m", "assay", "run", str(file), "--out", str(out / disturbance.name)]
    with ExitStack() as scope:
        log = scope.enter_context((out / f"{disturbance.name}.log").open("wb"))
        started = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        process = scope.enter_context(ended(started))
        began = time.monotonic()
        while process.poll() is None and not daemons(process.pid) and time.monotonic() - began < PATIENCE_S:
            time.sleep(0.5)
        disturb = {LOAD: loaded, LINKS: slowed_links, LATE: stopped_drives}.get(disturbance.kind)
        if disturb is not None and process.poll() is None:
            scope.enter_context(disturb(disturbance.share, process.pid))
        with suppress(subprocess.TimeoutExpired):
            process.wait(PATIENCE_S)


@contextmanager
def ended(process: "subprocess.Popen[bytes]") -> Iterator["subprocess.Popen[bytes]"]:
    """A process that has ended after the scope; it is asked by an interrupt, so that it leaves nothing."""
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.wait()


@contextmanager
def loaded(share: float, _pid: int) -> Iterator[None]:
    """A program on each processor that computes for a share of each tenth of a second."""
    programs = [Process(target=_compute, args=(share, processor), daemon=True) for processor in os.sched_getaffinity(0)]
    for program in programs:
        program.start()
    try:
        yield
    finally:
        for program in programs:
            program.terminate()
            program.join()


def _compute(share: float, processor: int) -> None:
    os.sched_setaffinity(0, {processor})
    while True:
        began = time.monotonic()
        while time.monotonic() - began < share * PERIOD_S:
            pass
        time.sleep((1 - share) * PERIOD_S)


@contextmanager
def slowed_links(share: float, pid: int) -> Iterator[None]:
    """Token buckets of the model's nodes with a lower rate; nodes and buckets end with the trial."""
    for holder in namespaces(pid):
        inside = ["nsenter", "--target", str(holder), "--net", "--", "tc"]
        shown = subprocess.run(
            [*inside, "-j", "qdisc", "show"], capture_output=True, encoding="utf-8", check=True
        ).stdout
        for change in reshaped(shown, share):
            subprocess.run([*inside, *change], check=True)
    yield


def reshaped(shown: str, share: float) -> list[list[str]]:
    """What tc(8) is told so that the token buckets in what `tc -j qdisc show` says let through less by a share."""
    return [
        [
            *("qdisc", "change", "dev", queue["dev"], "root", "handle", queue["handle"], "tbf"),
            *("rate", f"{round(8 * queue['options']['rate'] * (1 - share))}bit"),
            *("burst", str(queue["options"]["burst"]), "latency", f"{queue['options']['lat']}us"),
        ]
        for queue in json.loads(shown)
        if queue["kind"] == "tbf"
    ]


@contextmanager
def stopped_drives(share: float, pid: int) -> Iterator[None]:
    """Drives whose emulators stand still for a share of each tenth of a second."""
    over = Event()
    emulators = [child for child in family(pid) if "assay-emulator" in Path(_command(child).partition("\0")[0]).name]

    def signalled(number: signal.Signals) -> None:
        for emulator in emulators:
            with suppress(ProcessLookupError):
                os.kill(emulator, number)

    def stop_and_go() -> None:
        while not over.wait((1 - share) * PERIOD_S):
            signalled(signal.SIGSTOP)
            time.sleep(share * PERIOD_S)
            signalled(signal.SIGCONT)

    thread = Thread(target=stop_and_go, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        signalled(signal.SIGCONT)


def daemons(pid: int) -> bool:
    """Whether a trial's ResourceManager runs, so that its nodes, links and drives are there."""
    return any("resourcemanager.ResourceManager" in _command(child) for child in family(pid))


def family(pid: int) -> list[int]:
    """A process' children, and theirs."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            children.setdefault(
                int(stat.read_bytes().decode(errors="replace").rpartition(")")[2].split()[1]), []
            ).append(int(stat.parent.name))
    found, left = [], [pid]
    while left:
        left = [child for parent in left for child in children.get(parent, [])]
        found += left
    return found


def namespaces(pid: int) -> list[int]:
    """One process of each network of a trial's nodes."""
    found: dict[str, int] = {}
    for child in family(pid):
        with suppress(OSError):
            found.setdefault(str(Path(f"/proc/{child}/ns/net").readlink()), child)
    found.pop(str(Path("/proc/self/ns/net").readlink()), None)
    return list(found.values())


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""


def read(run: Path) -> Record | None:
    """The one record of a run; None where there is none."""
    records = RunFolder(run).records()[0] if (run / "plan.json").exists() else []
    return next((record for record in records if record.totals and record.scale), None)


Made = Sequence[tuple[Disturbance, Record]]


def show(made: Made) -> None:
    """Both tables in Markdown."""
    controls = [
        record.totals.elapsed_s for disturbance, record in made if disturbance.kind == CONTROL and record.totals
    ]
    usual_s = median(controls) if controls else None
    made = sorted(made, key=lambda trial: (list(SHARES).index(trial[0].kind), trial[0].share))
    say(trials_table(made, usual_s))
    say("")
    say(rates_table(made))
    if usual_s is not None:
        off = max(abs(seconds / usual_s - 1) for seconds in controls)
        say(
            f"\nthe {len(controls)} controls are within {off:.1%} of their median; "
            "with so few, no time in this table is told from chance"
        )


def trials_table(made: Made, usual_s: float | None) -> str:
    """A line for each trial."""
    times = [record.totals.elapsed_s if record.totals else None for _, record in made]
    return grid([
        Column("disturbance", [disturbance.kind for disturbance, _ in made], name=True),
        Column("share", [f"{disturbance.share:.0%}" for disturbance, _ in made]),
        Column("T / K (s)", [seconds_text(seconds) for seconds in times]),
        Column("off by", [f"{seconds / usual_s - 1:+.1%}" if seconds and usual_s else "-" for seconds in times]),
        *(Column(check.heading, [seen(check_of(record, check)) for _, record in made]) for check in CheckId),
        Column("excluded", ["yes" if record.struck_out else "no" for _, record in made]),
    ])  # fmt: skip


def rates_table(made: Made) -> str:
    """For each kind how many disturbances each check detected, and any of them; of controls these are false alarms."""
    kinds = [kind for kind in SHARES if any(disturbance.kind == kind for disturbance, _ in made)]
    of = {kind: [record for disturbance, record in made if disturbance.kind == kind] for kind in kinds}

    def detected(by: Callable[[Record], bool]) -> list[str]:
        return [f"{sum(map(by, records))} of {len(records)}" for records in of.values()]

    return grid([
        Column("detected", kinds, name=True),
        *(Column(check.heading, detected(lambda record, check=check: failed(record, check))) for check in CheckId),  # type: ignore[misc]
        Column("any check", detected(lambda record: record.struck_out)),
    ])  # fmt: skip


def check_of(record: Record, check: CheckId) -> ScaleCheck | None:
    """A record's check."""
    return (
        next((of_record for of_record in record.scale.checks if of_record.id is check), None) if record.scale else None
    )


def failed(record: Record, check: CheckId) -> bool:
    """Whether a check did."""
    of_record = check_of(record, check)
    return of_record is not None and of_record.passed is False


def seen(check: ScaleCheck | None) -> str:
    """What a check saw, marked where it failed."""
    if check is None or check.value is None:
        return "!" if check is not None and check.passed is False else "-"
    return f"{number_text(check.value)}{'!' if check.passed is False else ''}"


def say(line: str) -> None:
    """To standard output."""
    print(line, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
