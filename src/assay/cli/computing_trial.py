"""The trial without storage delays by which `assay run-job` learns how much a sample computes."""

from hashlib import sha256
from pathlib import Path

from assay.cli.console import Output
from assay.cli.job_site import rules_of
from assay.cli.run import run_experiment
from assay.host.files import replace_text
from assay.input.sample import InputSample
from assay.model.errors import BadInputError
from assay.model.installation import Installation
from assay.model.record import Record
from assay.plan.computing_ratio import Computing
from assay.plan.job_experiment import JobExperiment
from assay.record.folder import RunFolder
from assay.report.words import print_line
from assay.stats.drive_use import counted
from assay.stats.sample import is_valid
from assay.stats.trial_summary import summarise


def computing_here(
    experiment: JobExperiment, sample: InputSample, file: Path, installation: Installation, output: Output,
    *, may_run: bool,
) -> Computing | None:  # fmt: skip
    """What the job of an experiment computes here, by a trial of it without delays.

    The trial's run lies beside `file`, where the experiment is or will be, and is not repeated while settings, jar and
    sample are the same. Where there is none yet and it may not run, None. Raises BadInputError where its output was
    wrong, or its tasks counted nothing.
    """
    text = experiment.without_delays
    jar = Path(experiment.options["jar"]).stat()
    facts = f"{text}{sample.manifest}{jar.st_size} {jar.st_mtime_ns}"
    run = file.parent / f"{file.stem}-computing-{sha256(facts.encode()).hexdigest()[:8]}"
    records = RunFolder(run).records()[0] if (run / "plan.json").exists() else []
    if not records:
        if not may_run:
            return None
        print_line(output.progress, "first a trial without storage delays, to measure how much the sample computes")
        file.parent.mkdir(parents=True, exist_ok=True)
        trial_file = file.parent / f"{file.stem}-computing.yaml"
        replace_text(trial_file, text)
        run_experiment(trial_file, run, installation, Output.on(output.progress), resume=(run / "plan.json").exists())
        records = RunFolder(run).records()[0]
    computing = next((computing_of(record) for record in records if is_valid(summarise(record))), None)
    if computing is None:
        raise BadInputError(
            f"the trial without storage delays did not succeed, or its tasks counted nothing: see {run}; remove that "
            "folder to repeat it, or leave out --history"
        )
    return computing


def computing_of(record: Record) -> Computing | None:
    """What the tasks of a trial did; None where they counted no processor time, or read nothing."""
    counts = counted(record)
    starts = 0
    if rules_of(record.trial.engine).own_processes:
        starts = sum(stage.tasks for job in record.jobs for stage in job.stages)
    computing = Computing(
        counts["cpu_ms"] / 1000, starts, counts["store_read_bytes"], summarise(record).elapsed_s or 0.0
    )
    return computing if computing.cpu_s and computing.read_bytes else None
