"""The experiment that would decide a job that may matter: its settings, on drives for the role that matters most."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from assay.engine.past.formats import FORMS
from assay.engine.past.job import PastJob
from assay.model.drive_profile import SHORT_NAMES
from assay.model.naming import bytes_text
from assay.model.trial import SiteShape
from assay.plan.job_experiment import JobExperiment, experiment_name, of_several, speed_of
from assay.report.words import percent
from assay.triage.drives import Drives
from assay.triage.names import run_name
from assay.triage.ranking import JobRow


def experiment_text(row: JobRow, job: PastJob, base: Drives, worth: float) -> str:
    """An experiment file for a job of a site, of which `job` is a run; `base` are the drives that it has now.

    The jar, its arguments and a sample of its input are the site's to name.
    """
    role = row.role or "intermediate"
    form = FORMS[job.engine]
    settings = form.taken_over(job.settings)
    by_command = ", or let `assay run-job` do all of that" if form.sample is not None else ""
    moved = sum(stage.busiest.local_written + stage.busiest.store_read for stage in job.stages)
    shape = SiteShape(drives=base.number, shared=True)
    return JobExperiment(
        name=experiment_name(row.job),
        description=f"{row.job}: {role} on another drive than the {base.name}",
        comments=[
            f"Would another drive shorten {row.job}? By at most {percent(row.bound_share or 0)} of its time.",
            f"{row.how}.",
            f"Fill in the jar, its arguments and a sample of its input{by_command}:",
            "docs/how-to/run-your-own-job.md.",
            *of_several(shape),
            *filter(None, [settings.replaced]),
        ],
        options={"jar": "JOB.jar", "arguments": "{input} {output}", "input": "SAMPLE"},
        now=base.profile,
        other=("ssd", SHORT_NAMES["ssd"]),
        role=role,
        worth=percent(worth).replace(" ", ""),
        memory=[
            f"# A node read and spilled {bytes_text(moved)}. Give the page cache (page_cache: 300MiB) the same ratio",
            "# to your sample as your nodes' free memory has to that; else the sample may fit into the page cache.",
        ],
        properties=settings.properties,
        stands_for=shape if base.number > 1 else None,
        other_speed=speed_of("ssd", 1, base.number),
        engine=job.engine,
    ).text


def write_experiments(
    rows: list[JobRow], jobs: Sequence[PastJob], base: Mapping[str, Drives], worth: float, folder: Path
) -> list[Path]:
    """A file for each row, of the newest of its runs that count; names that look alike are numbered. Raises OSError."""
    newest = {run_name(job): job for job in sorted(jobs, key=lambda job: job.finished_ms) if job.counts}
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for row in rows:
        name = experiment_name(row.job)
        taken = {file.stem for file in written}
        number = next(
            count for count in range(1, len(rows) + 1) if (f"{name}-{count}" if count > 1 else name) not in taken
        )
        file = folder / f"{name}-{number}.yaml" if number > 1 else folder / f"{name}.yaml"
        file.write_text(
            experiment_text(row, newest[row.job], base[row.role or "intermediate"], worth), encoding="utf-8"
        )
        written.append(file)
    return written
