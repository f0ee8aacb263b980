"""The time of a scale model: what is recorded by this machine's clock, as a cluster of the model's kind would take it.

Records keep wall-clock time and say by how much the model was slower. Here, where a run folder is read, and nowhere
else, times are divided by that: from the trial's first step on every moment is so many times nearer to it, a length is
so many times shorter, and a rate so many times higher. Figures of this machine itself stay: processor time (what the
model's nodes took of it is what the nodes that they stand for would take), watts, percentages, probes' own cost.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel

from assay.model.record import Amount, DeviceReport, JobRecord, Output, Record, Step, totals
from assay.model.signature import Signature

TIMED_PROBES = frozenset({"disk", "blocked-time", "pressure"})
"""Whose seconds are of the clock, and not of a processor."""
DEVICE_SECONDS = (
    "elapsed_seconds", "busy_seconds", "late_seconds", "late_behind_flush_seconds", "late_before_driver_seconds",
    "late_otherwise_seconds", "least_seconds",
)  # fmt: skip
RATES = ("_per_s", "_mb_s", "_mib_s", "_requests_s")
PROCESSOR_MS = frozenset({"cpu_ms", "gc_ms"})
PROCESSOR_S = frozenset({"cpu_s", "cpu_s_per_byte"})

RowT = TypeVar("RowT", bound=BaseModel)


class ModelClock(NamedTuple):
    """Moments and lengths of a trial in its model's time; a dilation of 1 changes nothing."""

    origin_ms: int = 0
    dilation: int = 1

    def moment_ms(self, wall_ms: int) -> int:
        """A moment; 0, which stands for an unknown one, stays."""
        return self.origin_ms + round((wall_ms - self.origin_ms) / self.dilation) if wall_ms else 0

    def row(self, row: RowT) -> RowT:
        """A row of a table: moments end in `_ms`, lengths in `_s`."""
        if self.dilation == 1:
            return row
        return row.model_copy(update={name: self.column(name, getattr(row, name)) for name in type(row).model_fields})

    def column(self, name: str, value: Any) -> Any:
        """A value of a column of such a row."""
        if not isinstance(value, int | float) or name in PROCESSOR_MS | PROCESSOR_S:
            return value
        if name.endswith("_ms"):
            return self.moment_ms(int(value))
        return value / self.dilation if name.endswith("_s") else value

    def series(self, name: str, times_ms: Sequence[int], values: Sequence[float]) -> tuple[list[int], list[float]]:
        """A series of samples, by the unit at the end of its name."""
        if self.dilation == 1:
            return list(times_ms), list(values)
        factor = self.dilation if name.endswith(RATES) else 1 / self.dilation if name.endswith("_ms") else 1.0
        return [self.moment_ms(one) for one in times_ms], [factor * value for value in values]

    def signature(self, found: Signature) -> Signature:
        """An I/O signature; its times are all lengths."""
        if self.dilation == 1:
            return found

        def shorter(row: RowT) -> RowT:
            known = {name: getattr(row, name) for name in type(row).model_fields if name not in PROCESSOR_S}
            return row.model_copy(
                update={
                    name: value / self.dilation
                    for name, value in known.items()
                    if value is not None and (name.endswith("_s") or "_ms_" in name)
                }
            )

        accesses, phases = tuple(map(shorter, found.accesses)), tuple(map(shorter, found.phases))
        return found.model_copy(update={"accesses": accesses, "phases": phases})


def clock_of(record: Record) -> ModelClock:
    """That of a trial's scale model, for what was recorded beside the record."""
    if record.scale is None or not record.steps:
        return ModelClock()
    return ModelClock(min(step.started_ms for step in record.steps), record.scale.dilation)


def in_model_time(record: Record) -> Record:
    """A record whose times are those of its scale model; one that has them, or of no scale model, as it is."""
    if record.scale is None or record.scale.clock == "model":
        return record
    clock = clock_of(record)
    jobs, staging = (tuple(_job(job, clock) for job in own) for own in (record.jobs, record.staging_jobs))
    return record.model_copy(
        update={
            "scale": record.scale.model_copy(update={"clock": "model"}),
            "steps": tuple(_step(step, clock) for step in record.steps),
            "jobs": jobs,
            "staging_jobs": staging,
            "totals": record.totals and totals(jobs, staging),
            "devices": {
                name: {part: _device(report, clock) for part, report in reports.items()}
                for name, reports in record.devices.items()
            },
            "outputs": tuple(_output(output, clock) for output in record.outputs),
            "amounts": tuple(_amount(amount, clock) for amount in record.amounts),
            "fault": record.fault and clock.row(record.fault),
        }
    )


def _job(job: JobRecord, clock: ModelClock) -> JobRecord:
    return clock.row(job).model_copy(
        update={"phases": {name: seconds / clock.dilation for name, seconds in job.phases.items()}}
    )


def _step(step: Step, clock: ModelClock) -> Step:
    return step.model_copy(
        update={"started_ms": clock.moment_ms(step.started_ms), "seconds": step.seconds / clock.dilation}
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


def _output(output: Output, clock: ModelClock) -> Output:
    """What a workload says of itself by its own clock: rates, and seconds."""
    changed = {
        name: value * clock.dilation if name.endswith(RATES) else value / clock.dilation
        for name, value in output.summary.items()
        if name.endswith("_s")
    }
    return output.model_copy(update={"summary": {**output.summary, **changed}})


def _amount(amount: Amount, clock: ModelClock) -> Amount:
    timed = amount.probe in TIMED_PROBES and amount.series.endswith("_s")
    return amount.model_copy(update={"value": amount.value / clock.dilation}) if timed else amount
