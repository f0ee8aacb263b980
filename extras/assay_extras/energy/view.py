"""The energy of the trials that are drawn, as a section of a run's page and of its Markdown."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from assay.model.installed import engine_kind
from assay.model.section import TrialTables
from assay.model.signature import OUTSIDE
from assay.report.columns import Column, grid
from assay.report.figures import medians_over
from assay.report.templates import template
from assay.report.trial_detail import groups_of, title_of, trial_names
from assay.report.words import significant_text
from assay_extras.energy.charts import most_watts, power_boxes, power_chart
from assay_extras.energy.model import Efficiency
from assay_extras.energy.values import PARTS, TrialEnergy, energy_columns, energy_of, energy_values

TITLE = "Energy"


class ShownTrial(NamedTuple):
    """One trial by the name that tells it from those beside it; `power` is its chart, `missing` why something is."""

    name: str
    tables: TrialTables
    energy: TrialEnergy
    power: str
    missing: str


class ShownGroup(NamedTuple):
    """Trials that differ in their placement only; `boxes` is a chart of their nodes' power."""

    title: str
    trials: Sequence[ShownTrial]
    boxes: str

    @property
    def bases(self) -> str:
        """How their energy is known."""
        return ", ".join(dict.fromkeys(trial.energy.whole.basis for trial in self.trials if trial.energy.whole))

    @property
    def nodes(self) -> list[Column]:
        """What each of several nodes took, and its mean power; no columns for single nodes."""
        lines = [(trial.name, *node) for trial in self.trials for node in trial.energy.nodes.items()]
        if not lines:
            return []
        return [
            Column("trial", [name for name, _, _ in lines], name=True),
            Column("node", [node for _, node, _ in lines], name=True),
            Column("energy", [significant_text(taken.energy_j.value) for _, _, taken in lines], unit="J"),
            Column("mean", [_watts(taken) for _, _, taken in lines], unit="W"),
        ]


def _telling(every: Sequence[Mapping[str, str]], factors: Mapping[str, str]) -> list[str]:
    """The factors that tell a group from others of its workload."""
    alike = [other for other in every if other["workload"] == factors["workload"]]
    return [name for name in factors if len({other.get(name) for other in alike}) > 1]


def _watts(taken: Efficiency) -> str:
    return significant_text(taken.energy_j.value / taken.seconds) if taken.seconds else "-"


class EnergyView(NamedTuple):
    """A `SectionView`: it bears on no run's question."""

    detailed: Sequence[TrialTables]

    def summary_html(self) -> str:
        """Nothing."""
        return ""

    def html(self) -> str:
        """Of each trial its components, its phases and its power over time."""
        every = groups_of(self.detailed)
        groups = [
            _group(title_of(factors, _telling([other for other, _ in every], factors)), beside)
            for factors, beside in every
        ]
        shown = template("energy.html.j2", "assay_extras.energy")
        return str(shown.render(title=TITLE, groups=groups, parts=PARTS, phases=self._phases(groups)))

    def text(self) -> str:
        """Nothing."""
        return ""

    def markdown(self) -> str:
        """What the jobs of each workload and placement took: medians."""
        trials: dict[tuple[str, str], list[str]] = {}
        values = {}
        for tables in self.detailed:
            trial = tables.record.trial
            trials.setdefault((trial.workload.name, tables.placement), []).append(trial.id)
            values[trial.id] = energy_values(energy_of(tables).whole)
        cases = sorted(trials)
        return "\n\n".join(
            [
                f"## {TITLE}",
                grid(
                    [
                        Column("workload", [workload for workload, _ in cases], name=True),
                        Column("placement", [placement for _, placement in cases], name=True),
                        *energy_columns(medians_over(values, [trials[case] for case in cases])),
                    ]
                ),
            ]
        )

    def json(self) -> str:
        """Nothing: figures of trials have it."""
        return ""

    def _phases(self, groups: Sequence[ShownGroup]) -> list[str]:
        """The engines' phases in their order, what else has any energy, and the time without a task last."""
        engines = dict.fromkeys(tables.record.trial.engine for tables in self.detailed)
        phases = [phase for engine in engines for phase in engine_kind(engine).phases]
        phases += [phase for group in groups for trial in group.trials for phase in trial.energy.phases]
        return [*dict.fromkeys(phase for phase in phases if phase != OUTSIDE), OUTSIDE]


def _group(title: str, detailed: Sequence[TrialTables]) -> ShownGroup:
    names = trial_names(detailed)
    energies = {tables.record.trial.id: energy_of(tables) for tables in detailed}
    watts = most_watts([energy.power for energy in energies.values()])
    spans = [span for tables in detailed if (span := tables.run) is not None]
    length_ms = max((span.end_ms - span.begin_ms for span in spans), default=1)
    trials = []
    for tables in detailed:
        trial = tables.record.trial.id
        energy, span = energies[trial], tables.run
        basis = energy.whole.basis if energy.whole else None
        chart = power_chart(trial, energy.power, basis, span, length_ms, watts) if span is not None else ""
        missing = ", ".join(energy.missing) or ("" if energy.whole else "all energy")
        reason = f"missing is {missing}: {tables.reason('cpu', 'disk')}" if missing else ""
        trials.append(ShownTrial(names[trial], tables, energy, chart, reason))
    spreads = [(trial.name, spread) for trial in trials for spread in trial.energy.spreads.values()]
    return ShownGroup(title, trials, power_boxes(spreads))
