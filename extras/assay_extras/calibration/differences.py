"""How far a twin is from its drive, by the jobs that ran on both and their phases: a section of such a run's report.

The same figures are a twin's `twin.json`.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from assay.model.base import Frozen, json_text
from assay.model.record import Record
from assay.model.trial import Plan
from assay.report.columns import Column, grid, layout_table
from assay.report.templates import template
from assay.stats.changes import REAL, TWIN
from assay.stats.comparison import compare
from assay.stats.noise import ConfidenceInterval
from assay.stats.sample import PLACEMENT, TrialSample, samples
from assay.stats.trial_summary import summarise

TITLE = "The emulated drive against the real one"
WIDTH, LEAST_SHOWN_S = 100, 0.5
JOB_GOAL, PHASE_GOAL, LEAST_JOB_S, LEAST_PHASE_S = 0.10, 0.15, 10.0, 5.0
"""A reducer may sleep for a second before its commit (`commits_put_off`), whatever the drive: a tenth of 10 s."""


class TwinDifference(Frozen):
    """A job, or one of its phases, on the twin and on the real drive.

    Seconds are means; `ratio` is the twin's time over the real drive's, with its 95 % interval, and `own_interval`
    by the pairs alone, with no noise borrowed. `goal` is by how much it may differ from 1; None where it is not
    judged: jobs below 10 s, phases below 5 s.
    """

    workload: str
    job: str
    phase: str = ""
    pairs: int
    real_s: float
    twin_s: float
    ratio: float
    interval: ConfidenceInterval
    own_interval: ConfidenceInterval | None = None
    goal: float | None

    @property
    def verdict(self) -> str:
        """`met` if all of the interval is within the goal, `missed` if none of it is, else `open`; or empty."""
        if self.goal is None:
            return ""
        inside = [1 - self.goal <= end <= 1 + self.goal for end in (self.interval.low, self.interval.high)]
        if all(inside):
            return "met"
        beyond = self.interval.low > 1 + self.goal or self.interval.high < 1 - self.goal
        return "missed" if beyond else "open"


def differences(plan: Plan, records: Sequence[Record]) -> list[TwinDifference]:
    """Each workload's jobs and their phases, in the jobs' order; what has not run on both is left out."""
    times: dict[tuple[str, str, str], dict[str, float]] = {}
    known = samples(list(map(summarise, records)))
    counted = {sample.trial for sample in known}
    for record in records:
        for job in record.jobs if record.trial.id in counted else ():
            for phase, seconds in {"": job.elapsed_s, **job.phases}.items():
                seconds_by_trial = times.setdefault((record.trial.workload.name, job.name, phase), {})
                seconds_by_trial[record.trial.id] = seconds_by_trial.get(record.trial.id, 0.0) + seconds
    all_differences = [
        _difference(plan, name, [sample for sample in known if sample.trial in seconds_by_trial], seconds_by_trial)
        for name, seconds_by_trial in times.items()
    ]
    return [difference for difference in all_differences if difference is not None]


def _difference(
    plan: Plan, name: tuple[str, str, str], known: Sequence[TrialSample], seconds: Mapping[str, float]
) -> TwinDifference | None:
    """The comparison of these times instead of the trials' own."""
    timed = [sample._replace(elapsed_s=seconds[sample.trial]) for sample in known if seconds[sample.trial] > 0]
    compared = compare(timed, [PLACEMENT], plan.prior, {PLACEMENT: [REAL, TWIN]})
    # Drives have their own facts: the machine's kind is that of both.
    comparison = next(
        (comparison for comparison in compared if (comparison.base, comparison.level) == (REAL, TWIN)), None
    )
    if comparison is None:
        return None
    means = {
        placement: sum(seconds_of_level) / len(seconds_of_level)
        for placement in (REAL, TWIN)
        for seconds_of_level in [[sample.elapsed_s for sample in timed if sample.level(PLACEMENT) == placement]]
    }
    long = max(means.values()) >= (LEAST_PHASE_S if name[2] else LEAST_JOB_S)
    goal = (PHASE_GOAL if name[2] else JOB_GOAL) if long else None
    return TwinDifference(
        workload=name[0], job=name[1], phase=name[2], pairs=comparison.repetitions,
        real_s=means[REAL], twin_s=means[TWIN],
        ratio=comparison.ratio, interval=comparison.interval, own_interval=comparison.own_interval, goal=goal,
    )  # fmt: skip


def _change(interval: ConfidenceInterval | None) -> str:
    return "-" if interval is None else f"{interval.low - 1:+.0%} to {interval.high - 1:+.0%}"


class DifferencesView(NamedTuple):
    """A `SectionView`."""

    found: Sequence[TwinDifference]

    def summary_html(self) -> str:
        """How many goals are met, as a link to the section."""
        return f'<a href="#twin">{self.counted()}</a>.'

    def html(self) -> str:
        """The table."""
        section = template("twin.html.j2", "assay_extras.calibration")
        return str(section.render(title=TITLE, columns=self.columns(), counted=self.counted()))

    def text(self) -> str:
        """The table."""
        return "\n".join([f"{TITLE}:", *layout_table(self.columns(), WIDTH), f"{self.counted()}."])

    def markdown(self) -> str:
        """The table."""
        return "\n\n".join([f"## {TITLE}", grid(self.columns()), f"{self.counted()}."])

    def json(self) -> str:
        """What `twin.json` has."""
        return json_text(rows_of(self.found))

    def columns(self) -> list[Column]:
        """Jobs, and their phases of at least half a second."""
        shown = [
            difference
            for difference in self.found
            if not difference.phase or max(difference.real_s, difference.twin_s) >= LEAST_SHOWN_S
        ]
        several = len({difference.workload for difference in shown}) > 1
        names = [
            f"{difference.job}: {difference.phase}" if difference.phase else difference.job for difference in shown
        ]
        return [
            *([Column("workload", [difference.workload for difference in shown], name=True)] if several else []),
            Column("job", names, name=True),
            Column("real", [f"{difference.real_s:.1f} s" for difference in shown]),
            Column("twin", [f"{difference.twin_s:.1f} s" for difference in shown]),
            Column("difference", [f"{difference.ratio - 1:+.0%}" for difference in shown]),
            Column("95 % interval", [_change(difference.interval) for difference in shown]),
            Column("by these pairs alone", [_change(difference.own_interval) for difference in shown]),
            Column("goal", ["-" if difference.goal is None else f"{difference.goal:.0%}" for difference in shown]),
            Column("verdict", [difference.verdict or "-" for difference in shown]),
        ]

    def counted(self) -> str:
        """How many goals are met, in a sentence without its end."""
        count = Counter(difference.verdict for difference in self.found if difference.verdict)
        if not count:
            return f"No job took {LEAST_JOB_S:.0f} s, so nothing is judged"
        counts = f"{count['met']} met their goal, {count['missed']} missed it, and {count['open']} need more pairs"
        return f"Of {count.total()} long jobs and phases {counts}"


def rows_of(all_differences: Sequence[TwinDifference]) -> list[dict[str, Any]]:
    """As data, each with its verdict."""
    return [difference.model_dump() | {"verdict": difference.verdict} for difference in all_differences]
