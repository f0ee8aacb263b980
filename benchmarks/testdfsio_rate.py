"""Holds TestDFSIO against fio: `python benchmarks/testdfsio_rate.py [PROFILE...]` (by default the thesis' drives).

One stream each, 2 GB, through the page cache, on a fresh emulated drive: fio reads cold and writes with an fsync at the
end; TestDFSIO does the same through HDFS on a cluster with memory bounded, so that its rate is the drive's too. What
Hadoop adds (checksums, a socket, two processes) must not cost more than a tenth. Exit code 1 where it does. Blocks are
of 512 MiB, and one checksum covers 4 KiB: with Hadoop's 512 bytes a hard disk goes to the file of checksums and back
every 16 MB of data, and TestDFSIO reads at 86 to 88 % of fio's rate there.
Needs root; about three minutes per profile.
"""

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from assay.cli.console import Output
from assay.cli.context import find_installation
from assay.cli.run import run_experiment
from assay.media.emulated.medium import EmulatedMedium
from assay.model.doubt import Outcome
from assay.model.installation import Installation
from assay.record.folder import RunFolder
from assay_extras.calibration.calibration import AccessPattern
from assay_extras.calibration.command import spec_of
from assay_extras.calibration.fio import Fio, Limit, Stretch, find_fio

SIZE_BYTES = 2_000_000_000
LEAST_SHARE = 0.9
DIRECTIONS = ("write", "read")
_PATIENCE_S = 120.0
THESIS = ("wd10ezex", "samsung-840-evo-120gb", "crucial-mx100-512gb")
EXPERIMENT = """
experiment: testdfsio-rate
workloads:
  - {{name: testdfsio, variant: write, options: {{files: 1, file_size: 2GB}}}}
  - {{name: testdfsio, variant: read, options: {{files: 1, file_size: 2GB}}}}
media: {media}
order: interleaved
zero_delay_baseline: false
repetitions: 1
memory: 1600MiB
settings: small
hadoop: {{dfs.blocksize: 512m, dfs.bytes-per-checksum: 4096}}
"""


def main(profiles: tuple[str, ...]) -> int:
    """Measure both, print their ratio, judge."""
    failed, installation = 0, find_installation()
    with TemporaryDirectory(dir=installation.parts / "work", prefix="testdfsio-rate-") as scratch:
        home = Path(scratch)
        installation = installation.model_copy(update={"cache": home / "cache", "state": home / "state"})
        judged = {profile: _fio_mb_s(profile, installation) for profile in profiles}
        rates = _testdfsio_mb_s(profiles, home, installation)
        failed += len(profiles) * len(DIRECTIONS) - len(rates)
        for (profile, direction), found in rates.items():
            share = found / judged[profile][direction]
            failed += share < LEAST_SHARE
            verdict = "pass" if share >= LEAST_SHARE else "fail"
            sys.stdout.write(
                f"{profile:<24} {direction:<6} TestDFSIO {found:7.1f} MB/s, "
                f"fio {judged[profile][direction]:7.1f} MB/s: {share:5.0%} (at least {LEAST_SHARE:.0%}) {verdict}\n"
            )
    return 1 if failed else 0


def _fio_mb_s(profile: str, installation: Installation) -> dict[str, float]:
    """One buffered stream: written first, then read cold."""
    medium, meter, found = EmulatedMedium(spec_of(profile, installation), installation), find_fio(os.environ), {}
    with medium.attached() as directory:
        for direction in DIRECTIONS:
            medium.make_cold()
            found[direction] = _stream(meter, directory / "file", direction)
    return found


def _stream(meter: Fio, file: Path, direction: str) -> float:
    access = AccessPattern.model_validate(
        {
            "direction": direction, "pattern": "sequential", "block_bytes": 1 << 20, "buffered": True,
            "fsync": "end" if direction == "write" else "never",
        }
    )  # fmt: skip
    return meter.measure(
        access, Stretch(path=file, span_bytes=SIZE_BYTES), Limit(seconds=_PATIENCE_S, total_bytes=SIZE_BYTES)
    ).mb_s


def _testdfsio_mb_s(profiles: tuple[str, ...], home: Path, installation: Installation) -> dict[tuple[str, str], float]:
    """Its own figure, `Throughput mb/sec`, which counts in MiB, of the trials that passed; the others are told."""
    experiment = home / "experiment.yaml"
    experiment.write_text(
        EXPERIMENT.format(media="{" + ", ".join(f"{name}: {name}" for name in profiles) + "}"), encoding="utf-8"
    )
    run_experiment(experiment, home / "run", installation, Output.on(Console(stderr=True, quiet=True)))
    records, _ = RunFolder(home / "run").records()
    for record in records:
        if record.outcome is not Outcome.PASS:
            sys.stdout.write(f"{record.trial.id}: {record.outcome}: {record.error or 'see its verdicts'}\n")
    return {
        (record.trial.placement.name, record.trial.workload.variant): record.outputs[0].summary["throughput_mib_s"]
        * 1.048576
        for record in records
        if record.outcome is Outcome.PASS
    }


if __name__ == "__main__":
    sys.exit(main(tuple(sys.argv[1:]) or THESIS))
