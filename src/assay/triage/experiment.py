"""The experiment that would decide a job that may matter: its settings, on drives for the role that matters most."""

from collections.abc import Mapping
from pathlib import Path
from re import sub

from assay.engine.past.job import PastJob
from assay.model.naming import bytes_text
from assay.report.answer import percent
from assay.triage.drives import ROLES, SHORT_NAMES, Drives
from assay.triage.ranking import JobRow


def experiment_text(row: JobRow, job: PastJob, base: Drives, worth: float) -> str:
    """An experiment file for a job of a site, of which `job` is a run; `base` are the drives that it has now.

    The jar, its arguments and a sample of its input are the site's to name.
    """
    quoted = row.job.replace("'", "''")
    lines = [
        f"# Would another drive shorten {row.job}? By at most {percent(row.bound_share or 0)} of its time.",
        f"# {row.how}.",
        "# Fill in the jar, its arguments and a sample of its input: docs/how-to/run-your-own-job.md.",
        f"experiment: {file_name(row.job)}",
        f"description: '{quoted}: {row.role} on another drive than the {base.name}'",
        "workloads:",
        "  - name: command",
        "    options:",
        "      jar: JOB.jar",
        '      arguments: "{input} {output}"',
        "      input: SAMPLE",
        "media:",
        f"  now: {base.profile}",
        f"  ssd: {SHORT_NAMES['ssd']}",
        "placement:",
        "  - now",
        *_placements(row.role),
        "zero_delay_baseline: true",
        "order: mirrored",
        "repetitions: 2",
        f"worth: {percent(worth).replace(' ', '')}",
        *_memory(job),
        *(["hadoop:", *(f"  {name}: '{value}'" for name, value in job.taken_over.items())] if job.taken_over else []),
        "seed: 1",
    ]
    return "\n".join(lines) + "\n"


def _placements(role: str) -> list[str]:
    others = ", ".join(f"{name}: {'ssd' if name == role else 'now'}" for name in ROLES)
    return [f"  - {{name: {role}-on-ssd, {others}}}", "  - ssd"]


def _memory(job: PastJob) -> list[str]:
    moved = sum(stage.busiest.local_written + stage.busiest.store_read for stage in job.stages)
    return [
        f"# A node read and spilled {bytes_text(moved)}. Give the trial's memory (memory: 1400MiB) the same ratio",
        "# to what your sample moves as your nodes' memory has to that; else the sample may fit into the page cache.",
    ]


def file_name(job: str) -> str:
    """A job's name as that of an experiment and its file."""
    return sub(r"[^\w.-]+", "-", job).strip("-._")[:80] or "job"


def write_experiments(
    rows: list[JobRow], jobs: Mapping[str, PastJob], base: Mapping[str, Drives], worth: float, folder: Path
) -> list[Path]:
    """A file for each row; those of names that look alike are numbered. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for row in rows:
        name = file_name(row.job)
        taken = {file.stem for file in written}
        number = next(
            count for count in range(1, len(rows) + 1) if (f"{name}-{count}" if count > 1 else name) not in taken
        )
        file = folder / f"{name}-{number}.yaml" if number > 1 else folder / f"{name}.yaml"
        file.write_text(
            experiment_text(row, jobs[row.ids[0]], base[row.role or "intermediate"], worth), encoding="utf-8"
        )
        written.append(file)
    return written
