"""What the drives of a trial did, against what its jobs asked of them: read from one whole record.

Emulated drives count what was read from them, written to them and how long they were busy; of other media only the
busy time is known, from the kernel's statistics (/proc/diskstats).
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from assay.model.engine import Counted
from assay.model.fact import whole_number
from assay.model.installed import counted_by_tasks, kind_of
from assay.model.layout import INPUT
from assay.model.record import DeviceReport, Part, Record
from assay.model.trial_summary import TrialSummary
from assay.stats.trial_doubts import FROM_DRIVES_SHARE, asked_bytes, store_read_bytes

LATE_SHARE = 0.1
"""Where what was written after the jobs is less than this of all bytes that they moved, it is not asked for."""

WRITTEN_SHARE = 0.8
"""The least of what the jobs wrote that must be on the drives before the jobs end."""

BUSY_TIME: tuple[str, Part, str] = ("disk", "run", "busy_s")


def busy_by_medium(record: Record) -> Mapping[str, float] | None:
    """How long the drives of each medium but memory were busy while the jobs ran, those of all nodes added up.

    None where nobody measured all of them, or where their counters contradict the rest.
    """
    if counters_still(record) or clocks_apart(record):
        return None
    seconds: dict[str, float] = {}
    nodes = whole_number(record.facts.get("nodes")) or 1
    for medium in record.trial.media:
        reported = [drive for drive in record.devices if drive.medium == medium.name]
        by_node = {drive.node: drive.reports["run"].busy_seconds or 0.0 for drive in reported if "run" in drive.reports}
        if not reported:
            by_node = {
                amount.node: amount.value
                for amount in record.amounts
                if (amount.probe, amount.part, amount.series, amount.subject) == (*BUSY_TIME, medium.name)
            }
        if len(by_node) >= nodes:
            seconds[medium.name] = sum(by_node.values())
        elif reported or by_node or not kind_of(medium).in_memory:
            return None
    return seconds


STILL_BYTES, STILL_COUNTED_SHARE = 32 << 20, 0.1
"""Of so many bytes on a medium its drive counted at least this share, however well its file system compresses."""


def counters_still(record: Record) -> list[str]:
    """The media whose drives counted far fewer bytes than are known to lie on them since staging flushed them."""
    if record.trial.cache != "cold":  # else the kernel may have them yet
        return []
    still = []
    for medium in record.trial.media:
        staged = sum(
            where.bytes * where.shares.get(medium.name, 0) for where in record.landed if where.when == "staged"
        )
        seen_bytes = [
            amount.value
            for amount in record.amounts
            if (amount.probe, amount.part, amount.series) == ("disk", "staging", "written_bytes")
            and amount.subject == medium.name
        ]
        reports = [reports["staging"] for reports in record.reports_of(medium.name) if "staging" in reports]
        seen_bytes += [report.writes.bytes for report in reports if report.writes is not None]
        if seen_bytes and staged >= STILL_BYTES and sum(seen_bytes) < STILL_COUNTED_SHARE * staged:
            still.append(medium.name)
    return still


APART_S, LEAST_OF_STEP = 10.0, 0.5
"""Jobs that took less than this share of the step that ran them, and so many seconds less, contradict it."""
BEYOND_STEP = 1.1


def clocks_apart(record: Record) -> bool:
    """Whether the jobs' own time contradicts that of the step that ran them."""
    run_s = sum(step.seconds for step in record.steps if step.name == "run")
    if record.totals is None or not record.jobs or not run_s or record.fault is not None:
        return False
    jobs_s = record.totals.submitted_s
    return (run_s - jobs_s >= APART_S and jobs_s < LEAST_OF_STEP * run_s) or jobs_s > BEYOND_STEP * run_s + APART_S


def ended_before_its_writes(summary: TrialSummary) -> bool:
    """Whether a trial's jobs ended before enough of what they wrote was on the drives for these to be measured.

    False where few bytes were late, of all that the jobs moved, or where nobody counted them.
    """
    written, late = summary.written_share, summary.late_share
    return written is not None and written < WRITTEN_SHARE and (late or 0.0) >= LATE_SHARE


def late_written_shares(trials: Iterable[TrialSummary]) -> list[float]:
    """Of the trials whose jobs ended before their writes, which share of these was on the drives then."""
    return [trial.written_share or 0.0 for trial in trials if ended_before_its_writes(trial)]


def moved_bytes(record: Record) -> int | None:
    """How many bytes the jobs read and wrote in all, in the store and in local directories; None if unknown."""
    amounts = counted(record)
    read = store_read_bytes(amounts, record.staged)
    return None if read is None else read + amounts["local_read_bytes"] + written_bytes(record)


def written_bytes(record: Record) -> int:
    """How many bytes the jobs wrote to the store and to local directories."""
    amounts = counted(record)
    return amounts["local_written_bytes"] + amounts["store_written_bytes"]


def reached_drives(record: Record) -> bool:
    """Whether the page cache held little of what the jobs moved, so that larger data would not reach the drives more.

    Drives have read most of what the jobs asked for, and of the input once for each job, which tasks that ask a server
    for it don't count; of what landed on them little was late. False where the drives' requests were not counted.
    """
    runs, drives = run_reports(record), {device.medium for device in record.devices}
    if not runs or record.staged is None or record.staged.bytes is None or not record.landed:
        return False
    asked = max(asked_bytes(counted(record), record.staged) or 0, record.staged.bytes * len(record.jobs))
    read, written = (
        sum(requests.bytes for requests in kind if requests)
        for kind in ([run.reads for run in runs], [run.writes for run in runs])
    )
    landed = sum(
        where.bytes * share
        for where in record.landed
        if where.when == "run" and where.role != INPUT
        for medium, share in where.shares.items()
        if medium in drives
    )
    return read >= FROM_DRIVES_SHARE * asked and max(0, landed - written) < LATE_SHARE * (landed + read)


def counted(record: Record) -> Counter[Counted]:
    """What all tasks of the jobs counted; 0 of what they did not."""
    return Counter(counted_by_tasks(record.trial.engine, record.totals.counters if record.totals else {}))


def run_reports(record: Record) -> list[DeviceReport]:
    """What each device did while the jobs ran."""
    return [drive.reports["run"] for drive in record.devices if "run" in drive.reports]
