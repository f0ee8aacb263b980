"""The time of a scale model: what is recorded by this machine's clock, as a cluster of the model's kind would take it.

Records keep wall-clock time and say by how much the model was slower. Here, where a run folder is read, and nowhere
else, times are divided by that: from the trial's first step on every moment is so many times nearer to it, a length is
so many times shorter, and a rate so many times higher. What is which is declared with each series and each field
(`assay.model.quantity`), and a series that nobody here declares stays as it was recorded. Figures of this machine
itself stay: processor time (what the model's nodes took of it is what the nodes that they stand for would take), watts,
percentages, probes' own cost.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel

from assay.model.installed import result_kind, series_kind
from assay.model.quantity import Kind, kinds_of
from assay.model.record import Amount, DeviceReport, JobRecord, Record, StoredOutput, totals
from assay.model.signature import Signature

DEVICE_SECONDS = (
    "elapsed_seconds", "busy_seconds", "late_seconds", "late_behind_flush_seconds", "late_before_driver_seconds",
    "late_otherwise_seconds", "least_seconds",
)  # fmt: skip

RowT = TypeVar("RowT", bound=BaseModel)


class ModelClock(NamedTuple):
    """Moments and lengths of a trial in its model's time; a dilation of 1 changes nothing."""

    origin_ms: int = 0
    dilation: int = 1

    def moment_ms(self, wall_ms: int) -> int:
        """A moment; 0, which stands for an unknown one, stays."""
        return self.origin_ms + round((wall_ms - self.origin_ms) / self.dilation) if wall_ms else 0

    def value(self, kind: Kind | None, value: Any) -> Any:
        """A number of some kind, or None."""
        if value is None:
            return None
        if kind is Kind.MOMENT:
            return self.moment_ms(int(value))
        if kind is Kind.CLOCK_TIME:
            shorter = value / self.dilation
            return round(shorter) if isinstance(value, int) else shorter
        return value * self.dilation if kind is Kind.RATE else value

    def row(self, row: RowT) -> RowT:
        """What has numbers of declared kinds as fields. Raises TypeError where the kind of one is not declared."""
        if self.dilation == 1:
            return row
        kinds = kinds_of(type(row))
        return row.model_copy(update={name: self.value(kind, getattr(row, name)) for name, kind in kinds.items()})

    def series(
        self, probe: str, name: str, times_ms: Sequence[int], values: Sequence[float]
    ) -> tuple[list[int], list[float]]:
        """A series of a probe's samples."""
        if self.dilation == 1:
            return list(times_ms), list(values)
        kind = series_kind(probe, name)
        return [self.moment_ms(at) for at in times_ms], [self.value(kind, float(value)) for value in values]

    def signature(self, signature: Signature) -> Signature:
        """An I/O signature; its times are all lengths."""
        if self.dilation == 1:
            return signature
        accesses, phases = tuple(map(self.row, signature.accesses)), tuple(map(self.row, signature.phases))
        return signature.model_copy(update={"accesses": accesses, "phases": phases})


def clock_of(record: Record) -> ModelClock:
    """Return the clock of a trial's scale model, for what was recorded beside the record."""
    if record.scale is None or not record.steps:
        return ModelClock()
    return ModelClock(min(step.started_ms for step in record.steps), record.scale.dilation)


def in_model_time(record: Record) -> Record:
    """A record whose times are those of its scale model; one that has them, or of no scale model, as it is."""
    if record.scale is None or record.scale.clock == "model":
        return record
    clock = clock_of(record)
    jobs, staging = (tuple(_job(job, clock) for job in jobs) for jobs in (record.jobs, record.staging_jobs))
    return record.model_copy(
        update={
            "scale": record.scale.model_copy(update={"clock": "model"}),
            "steps": tuple(map(clock.row, record.steps)),
            "jobs": jobs,
            "staging_jobs": staging,
            "totals": record.totals and totals(jobs, staging, clock.dilation),
            "devices": tuple(
                drive.model_copy(
                    update={"reports": {part: _device(report, clock) for part, report in drive.reports.items()}}
                )
                for drive in record.devices
            ),
            "outputs": tuple(_output(output, record.trial.workload.name, clock) for output in record.outputs),
            "amounts": tuple(_amount(amount, clock) for amount in record.amounts),
            "fault": record.fault and clock.row(record.fault),
        }
    )


def _job(job: JobRecord, clock: ModelClock) -> JobRecord:
    return clock.row(job).model_copy(
        update={"phases": {name: seconds / clock.dilation for name, seconds in job.phases.items()}}
    )


def _device(report: DeviceReport, clock: ModelClock) -> DeviceReport:
    known = {**(report.model_extra or {}), "elapsed_seconds": report.elapsed_seconds}
    known["busy_seconds"] = report.busy_seconds
    changed: dict[str, Any] = {
        name: known[name] / clock.dilation for name in DEVICE_SECONDS if isinstance(known.get(name), int | float)
    }
    if report.joules is not None:  # a drive's power is its own, for so much less time
        changed["joules"] = {name: value / clock.dilation for name, value in report.joules.items()}
    return report.model_copy(update=changed)


def _output(output: StoredOutput, workload: str, clock: ModelClock) -> StoredOutput:
    """What a workload says of itself by its own clock."""
    summary = {name: clock.value(result_kind(workload, name), value) for name, value in output.summary.items()}
    return output.model_copy(update={"summary": summary})


def _amount(amount: Amount, clock: ModelClock) -> Amount:
    value = clock.value(series_kind(amount.probe, amount.series), amount.value)
    return amount if value == amount.value else amount.model_copy(update={"value": value})
