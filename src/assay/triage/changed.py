"""Did a change of drives help? The same recurring jobs before and after it, from their histories alone.

A run's night is the day of its start, cut at noon, by this machine's zone. Which runs are of one job its recurring name
says, as in triage: a job that was renamed is in no comparison, nor is one that seems to do other work since the change.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from math import exp, log
from statistics import fmean, median
from typing import NamedTuple

import numpy as np

from assay.engine.past.job import SUCCEEDED, PastJob, distinct
from assay.model.base import Frozen
from assay.model.errors import BadInputError
from assay.model.naming import did_you_mean, first_few, similar
from assay.stats.before_after import LEAST_NIGHTS, Adjusted, ChangeVerdict, Effect, JobNights, verdict_of
from assay.stats.comparison import holm
from assay.stats.noise import ConfidenceInterval
from assay.triage.bounds import concurrency
from assay.triage.names import run_name
from assay.triage.ranking import DriveSite, TriageVerdict, judge
from assay.triage.window import TimedRun, batch_window

CONTROL_SHARE = 0.5
"""Of what is asked about: a job that drives could save less of at most is a control, unless controls are named."""
_LEAST_COVERED = 0.8
"""Of a batch's time in which jobs run, and in which runs follow one another until its end: else its timetable decides
how long it is."""
_OTHER_WORK, _MOST_GROWN = 1.5, 2.0
"""So many times as many bytes are other work, and so many times the input is more than a slope can adjust for."""
_CLOCKS_MS = 60_000
_LEAST_ODD = 3
"""Of two controls that differ nobody knows which is odd."""
_BATCH = ("", "")


class Ratio(Frozen):
    """How many times as long something takes after the change, adjusted, with its 95 % confidence interval."""

    ratio: float
    interval: ConfidenceInterval


class Change(Ratio):
    """A ratio that is judged, of several jobs after correction for their number (Holm).

    `more_nights` after the change would tell what is not known; None where no number of them would.
    """

    verdict: ChangeVerdict
    more_nights: int | None = None


class JobChange(Frozen):
    """A recurring job before and after the change.

    `seconds` are those of its runs in a night before the change, `input_ratio` is its input after over that before
    (None where not known), `plain_ratio` that of its mean times, with all that input and drift did. `change` is None
    where too few of its nights have a control; of a control it is adjusted for input alone. `stages` are by name.
    """

    job: str
    control: bool
    runs_before: int
    runs_after: int
    seconds: float
    input_ratio: float | None
    plain_ratio: float
    change: Change | None
    stages: Mapping[str, Ratio]


class HistoriesChange(Frozen):
    """The answer: of all jobs that the change may touch together, of the batch, and of each job, the longest first.

    `batch` is the time from a night's first start to its last end (`batch_s` before the change), None where a timetable
    decides it. `drift` is what happened to the controls, None without any, and `unseen` the share of their time that
    the change may have saved them at most. `worth` is the difference that is asked about.
    """

    changed_ms: int
    nights_before: int
    nights_after: int
    worth: float
    total: Change | None
    batch: Change | None
    batch_s: float
    drift: Ratio | None
    unseen: float
    jobs: tuple[JobChange, ...]
    remarks: tuple[str, ...]
    """What was left out, and what is odd, each a clause."""

    @property
    def controls(self) -> list[str]:
        """The jobs that the change cannot touch."""
        return [row.job for row in self.jobs if row.control]


class _Run(NamedTuple):
    job: PastJob
    night: date
    after: bool


class _Sides(NamedTuple):
    """A job's runs before and after the change."""

    before: list[_Run]
    after: list[_Run]

    def amounts(self, name: str) -> list[list[int]]:
        """What the runs on either side read, moved, or had of reducers."""
        return [[_AMOUNTS[name](run.job) for run in side] for side in self]


def _moved(job: PastJob) -> int:
    work = job.whole
    return work.map_output + work.fetched + work.store_written + work.remote_written + work.unplaced_written


_AMOUNTS: Mapping[str, Callable[[PastJob], int]] = {
    "bytes read": lambda job: job.whole.file_systems_read, "bytes moved": _moved, "reducers": lambda job: job.reduces,
}  # fmt: skip


def change_of(
    jobs: Sequence[PastJob], changed_ms: int, site: DriveSite, worth: float, role: str = "", named: Sequence[str] = (),
    settings: Sequence[str] = (),
) -> HistoriesChange:  # fmt: skip
    """Compare the runs of jobs that recur on both sides of a change, made at so many milliseconds since the epoch.

    `named` are the controls; without any these are the jobs that by triage's bound cannot gain by drives for the
    `role`, or for any, with the drives that the `site` had before. `settings` are those that were changed on purpose:
    jobs count that had others of them. Raises BadInputError where nothing can be compared.
    """
    remarks: list[str] = []
    runs = list(_runs(distinct(jobs), changed_ms, remarks))
    _check_nights(runs, changed_ms)
    by_job: dict[str, _Sides] = {}
    for run in runs:
        by_job.setdefault(run_name(run.job), _Sides([], []))[run.after].append(run)
    for setting in settings:
        _check_setting(setting, by_job.values())
    compared = _compared(by_job, settings, remarks)
    for name in named:
        _check_control(name, compared, by_job)
    before = [run.job for run in runs if not run.after]
    controls = dict.fromkeys(named, 0.0) or {
        name: share for name, share in _untouched(before, site, CONTROL_SHARE * worth, role) if name in compared
    }
    if len(controls) == len(compared):
        raise BadInputError(
            f"all {len(compared)} jobs are controls, which the change cannot touch, so that none is left to compare; "
            "name as --control only some of them, or read histories of more jobs"
        )
    return _answer(compared, controls, changed_ms, worth, remarks)


def time_text(at_ms: int) -> str:
    """A time in this machine's zone, and the zone."""
    return f"{_local(at_ms):%Y-%m-%d %H:%M %z}"


def _local(at_ms: int) -> datetime:
    return datetime.fromtimestamp(at_ms / 1000).astimezone()


def _night(at_ms: int) -> date:
    return (_local(at_ms) - timedelta(hours=12)).date()


def _runs(jobs: Iterable[PastJob], changed_ms: int, remarks: list[str]) -> Iterator[_Run]:
    """Those that tell something, of nights that lie on one side of the change."""
    left_out: Counter[str] = Counter()
    runs = []
    for job in jobs:
        if reason := _unusable(job, changed_ms):
            left_out[reason] += 1
        else:
            runs.append(_Run(job, _night(job.started_ms), job.started_ms >= changed_ms))
    before, after = ({run.night for run in runs if run.after is side} for side in (False, True))
    left_out["in the night of the change, where others ran on its other side"] = sum(
        run.night in before & after for run in runs
    )
    remarks += [f"runs {reason}: {count}" for reason, count in left_out.items() if count]
    if sum(_night(run.job.finished_ms) != run.night for run in runs) > len(runs) / 20:
        remarks.append(
            "many runs go on over noon, where nights end by this machine's zone; if the cluster's zone is another, set "
            "TZ to it, such as TZ=America/New_York"
        )
    yield from (run for run in runs if run.night not in before & after)


def _unusable(job: PastJob, changed_ms: int) -> str:
    """Why a run tells nothing; else empty."""
    if not job.counts or job.state != SUCCEEDED:  # a log without an end counts until its last event
        return "that did not end well, or whose histories lack something"
    first_ms, last_ms = job.started_ms - _CLOCKS_MS, job.finished_ms + _CLOCKS_MS
    if any(stage.begin_ms < first_ms or stage.end_ms > last_ms for stage in job.stages):
        return "with tasks before their start or after their end, as the clocks of nodes differ"
    return "that the change fell into" if job.started_ms < changed_ms <= job.finished_ms else ""


def _check_nights(runs: Sequence[_Run], changed_ms: int) -> None:
    """Raises BadInputError where a side of the change has too few."""
    if not runs:
        raise BadInputError("none of these histories tells of a job that ended well; read those of more nights")
    starts_ms = [run.job.started_ms for run in runs]
    span = f"runs began from {time_text(min(starts_ms))} to {time_text(max(starts_ms))}"
    for after, side, cure in ((False, "before", "read older histories"), (True, "after", "wait for more nights")):
        nights = len({run.night for run in runs if run.after is after})
        if not nights:
            raise BadInputError(
                f"--changed {time_text(changed_ms)} has no run {side} it ({span}); {cure}, or give another date"
            )
        if nights < LEAST_NIGHTS:
            raise BadInputError(
                f"there {'is 1 night' if nights == 1 else f'are {nights} nights'} {side} {time_text(changed_ms)} "
                f"({span}), and how much nights differ takes at least {LEAST_NIGHTS} to tell; {cure}"
            )


def _compared(
    by_job: Mapping[str, _Sides], settings: Sequence[str], remarks: list[str]
) -> dict[str, _Sides]:  # fmt: skip
    """The jobs that did the same on both sides. Raises BadInputError where there is none."""
    reasons: dict[str, list[str]] = {}
    for name, sides in by_job.items():
        reasons.setdefault(_left_out(sides, settings), []).append(name)
    compared = {name: by_job[name] for name in reasons.pop("", ())}
    told = [
        f"{len(names)} job{'' if len(names) == 1 else 's'} {reason} ({first_few(names)})"
        for reason, names in reasons.items()
    ]
    if not compared:
        raise BadInputError(
            f"no job did the same in {LEAST_NIGHTS} nights or more on both sides of the change: "
            f"{first_few(told, between='; ')}; give --changed another date, or read histories of more nights"
        )
    remarks += told
    return compared


def _left_out(sides: _Sides, settings: Sequence[str] = ()) -> str:
    """Why a job is in no comparison; empty where it seems to have done the same in several nights on either side.

    What it moves and its reducers may go with the input, or stay as they are. What it moves may be what `settings` are
    changed for, and tells nothing where one of them did.
    """
    for runs, side in zip(reversed(sides), ("before", "after"), strict=True):
        if not runs:
            return f"ran only {side} the change, and may have been renamed then"
    if min(len({run.night for run in side}) for side in sides) < LEAST_NIGHTS:
        return f"ran in fewer than {LEAST_NIGHTS} nights on a side of the change"
    changed = _changed_settings(sides)
    for name, (old, new) in changed.items():
        if name not in settings:
            return f"had {name} {old} before the change, and {new} after (--setting {name}, if that was the change)"
    read = _times_as_many(sides.amounts("bytes read"))
    if max(read, 1 / read) > _MOST_GROWN:
        return "read other data since the change: over twice or under half as many bytes"
    for name in ("reducers",) if changed else ("bytes moved", "reducers"):
        times = _times_as_many(sides.amounts(name))
        if min(max(value, 1 / value) for value in (times, times / read)) > _OTHER_WORK:
            return f"had {times:.1f} times as many {name} since the change, as with other arguments"
    return ""


def _changed_settings(sides: _Sides) -> dict[str, tuple[str, str]]:
    """The settings that all runs before had in one way and all after in another; numbers of reducers are none."""
    before, after = ([run.job.settings for run in side if run.job.settings] for side in sides)
    changed = {}
    for name in sorted({name for of_run in (*before, *after) for name in of_run}):
        old, new = ({of_run.get(name) for of_run in side} for side in (before, after))
        if len(old) == len(new) == 1 and old != new and not name.endswith(".reduces"):
            changed[name] = (old.pop() or "not set", new.pop() or "not set")
    return changed


def _check_setting(setting: str, jobs: Iterable[_Sides]) -> None:
    """Raises BadInputError for one that no job had in another way after the change."""
    changed = sorted({name for sides in jobs if all(sides) for name in _changed_settings(sides)})
    if setting not in changed:
        near = f"; changed were {first_few(changed)}" if changed else ""
        raise BadInputError(f"--setting {setting}: no job had another value of it after the change{near}; leave it out")


def _times_as_many(sides: Sequence[Sequence[int]]) -> float:
    """The median after over that before; 1 where both have values in common, or one is not known."""
    before, after = sides
    apart = max(before) < min(after) or max(after) < min(before)
    return median(after) / median(before) if apart and min(*before, *after) > 0 else 1.0


def _check_control(name: str, compared: Mapping[str, _Sides], by_job: Mapping[str, _Sides]) -> None:
    """Raises BadInputError for a name that is none of a job that is compared."""
    if name in compared:
        return
    if name in by_job:
        raise BadInputError(f"--control {name}: this job {_left_out(by_job[name])}; name another")
    close = similar(name, list(compared))
    raise BadInputError(
        f"--control {name}: no job has that name; {did_you_mean(close) if close else 'name it as --json does'}"
    )


def _untouched(before: Sequence[PastJob], site: DriveSite, most: float, role: str) -> Iterator[tuple[str, float]]:
    """The jobs that drives for the role, or for any, could save less than that share of, and the share for each."""
    for row in judge(before, site, most):
        if row.bound_share is None:
            continue
        share = row.roles.get(role, 0.0) / row.ran_s if role else row.bound_share
        others_s = row.polls_s + row.unexplained_s
        counted = role and row.role and not row.unplaced_bytes and share + others_s / row.ran_s < most
        if row.verdict is TriageVerdict.CANNOT_MATTER or counted:
            yield row.job, share


class _Rows:
    """The rows of a comparison, whole jobs, their stages and the batch, and the nights."""

    def __init__(self, compared: Mapping[str, _Sides]) -> None:
        self.places: dict[tuple[str, str], int] = {}
        self._cells: dict[tuple[int, int], list[tuple[float, float]]] = {}
        by_night: dict[date, list[_Run]] = {}
        for run in (run for sides in compared.values() for side in sides for run in side):
            by_night.setdefault(run.night, []).append(run)
        self._nights = {night: place for place, night in enumerate(sorted(by_night))}
        self.after = np.array([by_night[night][0].after for night in self._nights])
        for name, sides in compared.items():
            known = all(map(all, sides.amounts("bytes read")))
            for run in (*sides.before, *sides.after):
                seconds = {"": run.job.ran_s}
                for stage in run.job.stages:
                    seconds[stage.name] = seconds.get(stage.name, 0.0) + stage.elapsed_ms / 1000
                for stage_name, stage_s in seconds.items():
                    self._add((name, stage_name), run.night, stage_s, run.job.whole.file_systems_read if known else 1)
        self.chained = _chained([run.job for of_night in by_night.values() for run in of_night])
        lengths_s, covered = [], []
        for night, runs in by_night.items():
            jobs = [run.job for run in runs]
            length_s = (max(job.finished_ms for job in jobs) - min(job.started_ms for job in jobs)) / 1000
            self._add(_BATCH, night, length_s, sum(job.whole.file_systems_read for job in jobs))
            covered.append(concurrency(jobs).covered_s / length_s)
            lengths_s += [] if runs[0].after else [length_s]
        self.batch_s, self.covered = fmean(lengths_s), median(covered)

    def _add(self, key: tuple[str, str], night: date, seconds: float, read: int) -> None:
        if seconds > 0:
            cell = self.places.setdefault(key, len(self.places)), self._nights[night]
            self._cells.setdefault(cell, []).append((log(seconds), log(max(1, read))))

    def layout(self, controls: Mapping[str, float]) -> JobNights:
        """All of them by night; of several runs in a night the mean."""
        log_s, log_bytes = (np.full((len(self.places), len(self._nights)), np.nan) for _ in range(2))
        for cell, values in self._cells.items():
            log_s[cell], log_bytes[cell] = np.mean(values, axis=0)
        jobs = np.array([bool(name) and not stage for name, stage in self.places])
        untouched = np.array([name in controls for name, _ in self.places]) & jobs
        return JobNights(log_s, log_bytes, self.after, jobs, untouched)


def _chained(jobs: Iterable[PastJob]) -> float:
    """The share of a night, from its first start to its last end, in which runs follow one another until that end."""
    window = batch_window([
        TimedRun(run_name(job), job.submitted_ms, job.started_ms, job.finished_ms) for job in jobs
    ])  # fmt: skip
    nights = window.nights if window else ()
    return median((of.ended_ms - of.chain_began_ms) / (of.ended_ms - of.began_ms) for of in nights)


def _answer(
    compared: Mapping[str, _Sides], controls: Mapping[str, float], changed_ms: int, worth: float, remarks: list[str]
) -> HistoriesChange:
    rows = _Rows(compared)
    layout = rows.layout(controls)
    adjusted = Adjusted(layout)
    before, after = int((~rows.after).sum()), int(rows.after.sum())
    unseen = fmean(controls.values()) if controls else 0.0
    place = {name: rows.places[name, ""] for name in compared}
    touched = {name: adjusted.row(place[name]) for name in compared if name not in controls}
    changes = _changes(touched, worth, unseen, controlled=bool(controls))
    changes |= _changes({name: adjusted.drift(place[name]) for name in controls}, worth, 0.0, controlled=True)
    remarks += _odd_control({name: adjusted.row(place[name]) for name in controls}, worth)
    stages: dict[str, dict[str, Ratio]] = {}
    for (name, stage), row in rows.places.items():
        if stage and (effect := adjusted.drift(row) if name in controls else adjusted.row(row)):
            stages.setdefault(name, {})[stage] = _ratio(effect)
    seconds = {name: sum(run.job.ran_s for run in sides.before) / before for name, sides in compared.items()}
    weights = np.zeros(len(rows.places))
    for name in touched:
        weights[place[name]] = seconds[name]
    timetable = min(rows.covered, rows.chained) < _LEAST_COVERED
    if timetable:
        why = f"no job runs in {100 * (1 - rows.covered):.0f} % of it"
        if rows.covered >= _LEAST_COVERED:
            why = f"the runs that follow one another until its end fill {100 * rows.chained:.0f} % of it"
        remarks.append(f"the batch: {why}, so that its timetable decides how long it is")
    total, batch = (
        _changes({"": effect}, worth, unseen, controlled=bool(controls))[""]
        for effect in (adjusted.total(weights), None if timetable else adjusted.row(rows.places[_BATCH]))
    )
    drift = adjusted.drift() if controls else None
    judged = [
        JobChange(
            job=name, control=name in controls, runs_before=len(sides.before), runs_after=len(sides.after),
            seconds=seconds[name], input_ratio=_input_ratio(layout, place[name]),
            plain_ratio=fmean(run.job.ran_s for run in sides.after) / fmean(run.job.ran_s for run in sides.before),
            change=changes[name], stages=stages.get(name, {}),
        )
        for name, sides in compared.items()
    ]  # fmt: skip
    return HistoriesChange(
        changed_ms=changed_ms, nights_before=before, nights_after=after, worth=worth, total=total, batch=batch,
        batch_s=rows.batch_s, drift=drift and _ratio(drift), unseen=unseen,
        jobs=tuple(sorted(judged, key=lambda row: -row.seconds)), remarks=tuple(remarks),
    )  # fmt: skip


def _ratio(effect: Effect) -> Ratio:
    contrast = effect.contrast()
    return Ratio(ratio=contrast.ratio, interval=contrast.interval())


def _input_ratio(layout: JobNights, row: int) -> float | None:
    inputs, after = layout.log_bytes[row], layout.after
    return exp(float(np.nanmean(inputs[after]) - np.nanmean(inputs[~after]))) if np.nanmax(inputs) else None


def _changes(
    effects: Mapping[str, Effect | None], worth: float, unseen: float, *, controlled: bool
) -> dict[str, Change | None]:
    """Each effect judged, after correction for how many there are; without controls nobody knows what changed it."""
    known = {name: (effect, effect.contrast()) for name, effect in effects.items() if effect}
    corrected = holm([contrast.p() for _, contrast in known.values()])
    changes: dict[str, Change | None] = dict.fromkeys(effects)
    for (name, (effect, contrast)), p in zip(known.items(), corrected, strict=True):
        verdict, more = verdict_of(contrast, p, worth, unseen), None
        if not controlled:
            changed = verdict in {ChangeVerdict.HELPED, ChangeVerdict.LONGER}
            verdict = ChangeVerdict.CHANGED if changed else ChangeVerdict.NOT_KNOWN
        elif verdict is ChangeVerdict.NOT_KNOWN:
            more = effect.more_nights(worth, len(known), unseen)
        changes[name] = Change(
            ratio=contrast.ratio, interval=contrast.interval(), verdict=verdict, more_nights=more
        )  # fmt: skip
    return changes


def _odd_control(effects: Mapping[str, Effect | None], worth: float) -> Iterator[str]:
    """The control that changed most beside the others, where that is much."""
    judged = _changes(effects, worth, 0.0, controlled=True) if len(effects) >= _LEAST_ODD else {}
    odd = {
        name: change.ratio
        for name, change in judged.items()
        if change
        and change.verdict in {ChangeVerdict.HELPED, ChangeVerdict.LONGER}
        and abs(log(change.ratio)) > CONTROL_SHARE * worth
    }
    if odd:
        name = max(odd, key=lambda control: abs(log(odd[control])))
        yield (
            f"the control {name} takes {'less' if odd[name] < 1 else 'more'} time than before beside the other "
            "controls, so something else changed in it; name the others with --control"
        )
