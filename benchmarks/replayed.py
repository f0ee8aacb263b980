"""The cases of `assay predict` in runs that kept their requests, each beside what was measured.

A case is a job on one placement, predicted on another one: from the first's trials, with their requests replayed. The
rules are in docs/explanation/prediction.md. `benchmarks/prediction.py` prints the tables.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations
from math import exp, log
from statistics import fmean
from typing import Any, NamedTuple

from benchmarks.known_busy_times import PREDICTORS, Measured, busy_s, by_network, interval_95
from benchmarks.likely import past_job
from benchmarks.triage_truth import drives_of_trial, is_faster
from scipy.special import stdtrit

from assay.cli.context import find_installation
from assay.cli.predict import checked_profile, drive_named, present_profiles
from assay.media.emulated.emulator import Emulator
from assay.model.demand import DriveDemand, OtherDrive
from assay.model.errors import BadInputError
from assay.model.record import Record
from assay.model.trial import ZERO_DELAY, Trial
from assay.model.trial_summary import MeasuredRun, TrialSummary
from assay.plan.job_experiment import ROLES
from assay.plan.shares import share_of
from assay.predict.drives import demands_on
from assay.predict.predictor import DrivePrediction, on_drive, predictions
from assay.record.demands import measured_run
from assay.record.folder import RunFolder
from assay.stats.closed_network import TASKS_AT_ONCE, network_time
from assay.stats.noise import Residual, spread
from assay.stats.sample import PLACEMENT, is_valid
from assay.stats.trial_summary import summaries_of
from assay.triage.bounds import uses_of

REGISTERED_ERROR_95 = 0.21
"""The error of the interval when the rules were written."""
ALL_DATA, SOME_ROLES = "all data on another drive", "data of some roles"
SHIPPED = "the network for each stage: `assay predict`"
BUSY_KNOWN = "the same, busy times measured there"
WORTH, NOT_WORTH, UNDECIDED = "worth it", "not worth it", "undecided"


class Job(NamedTuple):
    """What runs, and how many tasks of it at once."""

    name: str
    variant: str
    engine: str
    tasks: int

    @classmethod
    def of(cls, trial: Trial) -> "Job":
        """What a trial runs."""
        share = share_of(trial)
        return cls(trial.workload.name, trial.workload.variant, trial.engine, share.tasks if share else 0)

    def __str__(self) -> str:
        return f"{self.name} {self.variant} on {self.engine}, {self.tasks} at once"

    def is_other(self, job: "Job") -> bool:
        """Whether it is another workload: one engine's variants are, those of several engines compute the same."""
        return self.name != job.name or (self.engine == job.engine and self.variant != job.variant)


class OnOther(NamedTuple):
    """What was measured on the placement that times are predicted on: of like trials, of which `trial` is the first.

    `busy_s` is how long the busiest drive was busy, on average.
    """

    times_s: Sequence[float]
    busy_s: float
    trial: Trial

    @property
    def time_s(self) -> float:
        """The mean time."""
        return fmean(self.times_s)


class Replayed(NamedTuple):
    """A job's prediction from one placement on another, and what was measured there.

    `run` has the demands of this case alone. `foretold_s` are the times by each predictor, `busy_s` is how long the
    busiest drive is busy there by the replay. `noise` is what is left of all of the run's times beside the means of
    their like.
    """

    job: Job
    before: str
    after: str
    to_faster: bool
    run: MeasuredRun
    foretold_s: Mapping[str, float]
    busy_s: float
    there: OnOther
    noise: Residual

    def error(self, predictor: str = SHIPPED) -> float:
        """The predicted time over the measured one, as a natural logarithm."""
        return log(self.foretold_s[predictor] / self.there.time_s)

    def prediction(self, error_95: float) -> DrivePrediction:
        """What `assay predict` says with an interval of this error."""
        (prediction,) = predictions(self.run, error_95)
        return prediction

    def covers(self, error_95: float) -> bool:
        """Whether the measured mean lies in the interval."""
        prediction = self.prediction(error_95)
        return prediction.low_s <= self.there.time_s <= prediction.high_s

    @property
    def kind(self) -> str:
        """Whether all data lie on the other drive."""
        return _kind(self.run.demands[0].drive)

    @property
    def truth(self) -> str:
        """The verdict by the saving of the measured means, and its 95 % interval by the noise of the whole run."""
        elapsed_s = [demand.elapsed_s for demand in self.run.demands]
        ratio = log(self.there.time_s / fmean(elapsed_s))
        deviation = (self.noise.squares / self.noise.freedom) ** 0.5
        error = deviation * (1 / len(elapsed_s) + 1 / len(self.there.times_s)) ** 0.5
        half = float(stdtrit(self.noise.freedom, 0.975)) * error
        if 1 - exp(ratio + half) >= self.run.plan.worth:
            return WORTH
        return NOT_WORTH if 1 - exp(ratio - half) < self.run.plan.worth else UNDECIDED


class Refused(NamedTuple):
    """A case of which `assay predict` says nothing, and why."""

    case: str
    kind: str
    reason: str


def error_of_others(case: Replayed, cases: Sequence[Replayed]) -> float:
    """The error that 95 % of the cases of all other workloads have; without any, that of the rules' time."""
    others = [other.error() for other in cases if other.job.is_other(case.job)]
    return interval_95(others) if others else REGISTERED_ERROR_95


def other_drive(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[str, tuple[str, ...]] | None:
    """The medium, and the roles whose data it gets, that make one placement of another; none stands for all roles.

    Placements are media by role. None where it takes more than one drive that has no other data.
    """
    if len(set(after.values())) == 1:
        return after[ROLES[0]], ()
    moved = tuple(role for role in ROLES if before[role] != after[role])
    drives, kept = {after[role] for role in moved}, {after[role] for role in ROLES if role not in moved}
    return (drives.pop(), moved) if len(drives) == 1 and not drives & kept else None


Like = tuple[tuple[str, str], ...]
"""The levels of all factors but the placement."""


def replayed(folder: RunFolder) -> tuple[list[Replayed], list[Refused]]:
    """What `assay predict` says of each job and placement on each other placement, beside what was measured."""
    plan = folder.plan()
    trials = {(_like(trial), trial.placement.name): trial for trial in plan.trials if trial.keep_requests}
    if not trials:
        return [], []
    run = measured_run(folder, plan, [summary for summary in summaries_of(folder, plan)[0] if is_valid(summary)])
    groups: dict[tuple[Like, str], list[TrialSummary]] = defaultdict(list)
    for summary in run.trials:
        groups[_like(summary.trial), summary.trial.placement.name].append(summary)
    noise = spread(_times_s(group) for group in groups.values())
    moves = _moves(trials.values())
    demands = {names: _demands(folder, drive, names[0]) for names, drive in moves.items()}
    cases: list[Replayed] = []
    refused: list[Refused] = []
    for (like, before), trial in trials.items():
        for after in (after for start, after in moves if start == before and (like, after) in trials):
            here, there, known = groups[like, before], groups[like, after], demands[before, after]
            if isinstance(known, str) or not here or not there:
                reason = known if isinstance(known, str) else "no trial is valid"
                kind = _kind(moves[before, after])
                refused.append(Refused(f"{Job.of(trial)}, {before} to {after}", kind, reason))
                continue
            ids = [summary.id for summary in here]
            of_case = run._replace(demands=[demand for demand in known if demand.trial in ids])
            busiest_s = fmean(max(busy_s(run.record(summary.id))) for summary in there)
            measured = OnOther(_times_s(there), busiest_s, there[0].trial)
            cases.append(_replayed(of_case, trial, measured, _times_s(groups[like, ZERO_DELAY]), noise))
    placements = plan.placements
    cases.sort(key=lambda case: (case.job, placements.index(case.before), placements.index(case.after)))
    return cases, refused


def _like(trial: Trial) -> Like:
    return tuple((name, level) for name, level in trial.factors.items() if name != PLACEMENT)


def _times_s(group: Iterable[TrialSummary]) -> list[float]:
    return [summary.elapsed_s or 0.0 for summary in group]


def _kind(drive: OtherDrive) -> str:
    return SOME_ROLES if drive.roles else ALL_DATA


def _moves(trials: Iterable[Trial]) -> dict[tuple[str, str], OtherDrive]:
    """For two placements the drive that makes the second of the first, where there is one."""
    media: dict[str, Mapping[str, Any]] = {}
    placements: dict[str, dict[str, str]] = {}
    for trial in trials:
        fields = {medium.name: medium.model_extra or {} for medium in trial.media}
        by_role = {role: [*trial.placement.model_dump()[role]] for role in ROLES}
        is_whole = all(len(names) == 1 for names in by_role.values())
        if is_whole and not trial.zero_delay and all("profile" in of_medium for of_medium in fields.values()):
            placements[trial.placement.name] = {role: name for role, (name,) in by_role.items()}
            media.update(fields)
    moves = {names: other_drive(*map(placements.__getitem__, names)) for names in permutations(placements, 2)}
    return {names: drive_named(*move, media) for names, move in moves.items() if move}


def _demands(folder: RunFolder, drive: OtherDrive, placement: str) -> list[DriveDemand] | str:
    """What `assay predict` works out for a placement, or why it refuses to."""
    installation = find_installation()
    profile = checked_profile(drive, installation)
    try:
        present = present_profiles(folder.plan(), [drive], installation)
        return demands_on(folder, [(drive, profile)], Emulator(installation).replay, placement, present=present)
    except BadInputError as error:
        return str(error)


def _replayed(run: MeasuredRun, trial: Trial, there: OnOther, without_s: Sequence[float], noise: Residual) -> Replayed:
    """A case of the demands that a run has."""
    profiles = find_installation().profiles
    drives = [drives_of_trial(of, profiles) for of in (trial, there.trial)]
    foretold = [_foretold_s(demand, run.record(demand.trial), there, without_s) for demand in run.demands]
    return Replayed(
        Job.of(trial), trial.placement.name, there.trial.placement.name, is_faster(*drives), run,
        {name: fmean(times[name] for times in foretold) for name in foretold[0]},
        fmean(max(_drives_s(stage.busy_there_s for stage in demand.stages)) for demand in run.demands), there, noise,
    )  # fmt: skip


def _foretold_s(demand: DriveDemand, record: Record, there: OnOther, without_s: Sequence[float]) -> dict[str, float]:
    """The time of a trial on the other drive by each predictor."""
    here = Measured(demand.elapsed_s, _drives_s(stage.busy_s for stage in demand.stages))
    replayed_s = _drives_s(stage.busy_there_s for stage in demand.stages)
    factor = there.busy_s / (max(replayed_s) or 1.0)
    stages = [
        stage.model_copy(update={"busy_there_s": tuple(factor * seconds for seconds in stage.busy_there_s)})
        for stage in demand.stages
    ]
    counted = [counted_s(record, trial) for trial in (record.trial, there.trial)]
    by_counters = by_network(TASKS_AT_ONCE)(here._replace(busy_s=counted[0]), counted[1])
    foretold = {
        "no change": here.time_s,
        "the busiest drive's time exchanged": PREDICTORS["the busiest drive's time exchanged"](here, replayed_s),
        "the network for the job, busy times by counters": by_counters,
        "the network for the job": by_network(TASKS_AT_ONCE)(here, replayed_s),
        SHIPPED: on_drive(demand).predicted_s,
        BUSY_KNOWN: on_drive(demand.model_copy(update={"stages": tuple(stages)})).predicted_s,
    }
    if without_s:
        least_s = fmean(without_s)
        tasks = tasks_between(here, least_s)
        foretold["the time without delay"] = least_s
        foretold["the network for the job, its *n* by that time"] = network_time([least_s, *replayed_s], tasks)
    return foretold


def _drives_s(stages: Iterable[Sequence[float]]) -> list[float]:
    return [*map(sum, zip(*stages, strict=True))]


def tasks_between(measured: Measured, computing_s: float) -> float:
    """The number of tasks at once, 1 to 100, with which the network gives the measured time."""
    low, high = 0.0, log(100)
    for _ in range(40):
        middle = (low + high) / 2
        if network_time([computing_s, *measured.busy_s], exp(middle)) > measured.time_s:
            low = middle
        else:
            high = middle
    return exp(low)


def counted_s(record: Record, trial: Trial) -> list[float]:
    """How long a trial's media would usually be busy if each byte that a record's jobs counted were moved once."""
    drives, placement = drives_of_trial(trial, find_installation().profiles), trial.placement.model_dump()
    busy_s: dict[str, float] = defaultdict(float)
    for job in filter(None, (past_job(job, 1) for job in record.jobs)):
        for use in (use for stage in job.stages for use in uses_of(job, stage) if use.moved > 0):
            (medium,) = placement[use.role]
            busy_s[medium] += drives[use.role].usually_s(use.direction, use.moved, use.request)
    return list(busy_s.values())
