"""The table of a run as rows of plain values, and its energy, the same for CSV, JSON and Markdown."""

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import median
from typing import NamedTuple, TypeVar

from assay.model.energy import Efficiency, EnergyAccount, Ranged, Spread
from assay.model.installed import phase_columns
from assay.model.prediction import Prediction
from assay.model.record import Basis, Part, Record
from assay.report.analysis import RunData, TrialTables, by_combination, levels_key, levels_of
from assay.report.columns import Column
from assay.report.words import significant_text
from assay.stats.breakdown import Breakdown
from assay.stats.decision import Decision, Question
from assay.stats.energy import (
    JOBS,
    NO_ENERGY,
    efficiency,
    energy_account,
    node_spreads,
    phase_efficiency,
    power_over_time,
)
from assay.stats.estimate import Estimate
from assay.stats.instruments import elapsed_without_instruments_s, instruments_s
from assay.stats.nodes import RESOURCES, Imbalance, imbalances, node_uses, transfers
from assay.stats.predicted import PredictedLevel
from assay.stats.sample import Trials, counts
from assay.stats.staging import StagingUse, medians, staging_use
from assay.stats.suitability import Suitability
from assay.stats.summary import Row
from assay.stats.timeline import Pieces

Value = str | int | float | bool | None
OfTrial = TypeVar("OfTrial")


def combination_values(row: Row) -> dict[str, Value]:
    """One combination: factors, counts, medians with their intervals, the comparison; units are in the names."""
    elapsed = row.elapsed.interval if row.elapsed else None
    one = row.comparison
    ratio, own = (one.interval, one.own_interval) if one else (row.predicted and row.predicted.interval, None)
    return {
        **levels_of(row),
        "trials": row.trials,
        "finished": row.finished,
        "wrong": row.wrong,
        "struck_out": row.struck_out,
        "source": row.source,
        **({"predictor": row.predictor} if row.predictor else {}),
        "elapsed_s": row.elapsed_s,
        "elapsed_low_s": elapsed.low if elapsed else None,
        "elapsed_high_s": elapsed.high if elapsed else None,
        "run_s": row.run_s,
        "durable_s": row.durable_s,
        **phase_columns(row.group.engine, row.phases),
        "base": one.base if one else row.predicted.base if row.predicted else None,
        "ratio": row.ratio,
        "ratio_low": ratio.low if ratio else None,
        "ratio_high": ratio.high if ratio else None,
        "ratio_own_low": own.low if own else None,
        "ratio_own_high": own.high if own else None,
        "pairs": one.pairs if one else None,
        "p_adjusted": one.p_adjusted if one else None,
        "significant": one.significant if one else None,
        "noise": one.noise.deviation if one else None,
        "noise_borrowed": one.noise.borrowed if one else None,
        "outcome": str(row.outcome) if row.outcome else None,
        "words": row.words,
    }


def placement_values(decision: Decision, predicted: Sequence[PredictedLevel] = ()) -> Iterator[dict[str, Value]]:
    """One line for each level of a decision's factor, the zero-delay baseline last; shares are fractions of 1.

    Below them stand the levels that are `predicted`, each with its predictor. `level` is that level; `placement` is the
    real placement, also where another factor is the decision's.
    """
    for placement in (*decision.placements, decision.baseline):
        if placement is not None:
            yield {
                **decision.levels,
                decision.factor: placement.placement,
                "factor": decision.factor,
                "level": placement.placement,
                "drives": placement.drives,
                "base": decision.placements[0].placement if decision.placements else None,
                "trials": placement.trials,
                **_estimate("elapsed", placement.elapsed_s, "_s"),
                **_estimate("storage", placement.storage_s, "_s"),
                **_estimate("storage_share", placement.storage_share),
                **_own_interval("storage_share", placement.storage_share),
                **_estimate("saving", placement.saving),
                **_own_interval("saving", placement.saving),
                **_estimate("won_back", placement.won_back),
                "blocked_share": placement.blocked.share if placement.blocked else None,
                "blocked_share_low": placement.blocked.low if placement.blocked else None,
                "blocked_share_high": placement.blocked.high if placement.blocked else None,
                "not_computing_share": placement.not_computing,
                "computing_s": placement.split.computing_s if placement.split else None,
                "start_up_s": placement.split.start_up_s if placement.split else None,
                "between_jobs_s": placement.split.between_jobs_s if placement.split else None,
                "busy_bound_s": (decision.busy_bound_s if placement == decision.placements[0] else placement.most_s),
                "worth": decision.worth,
                "verdict": str(placement.verdict)
                if placement.verdict and decision.question is Question.WORTH
                else None,
            }
    for foretold in predicted:
        yield {
            **decision.levels,
            decision.factor: foretold.level,
            "factor": decision.factor,
            "level": foretold.level,
            "base": decision.placements[0].placement if decision.placements else None,
            "predictor": foretold.predictor,
            "trials": 0,
            **_estimate("elapsed", foretold.elapsed_s, "_s"),
            **_estimate("saving", foretold.saving),
            "worth": decision.worth,
        }


def part_values(breakdown: Breakdown, factor: str) -> Iterator[dict[str, Value]]:
    """One line for each level of the decisions' factor in each job and phase.

    `level` is that level; `placement` is the real placement, also where another factor is the decision's. What is too
    short to be tested has no shares.
    """
    for part in breakdown.parts:
        for time_ in part.times:
            yield {
                **breakdown.levels,
                factor: time_.placement,
                "factor": factor,
                "level": time_.placement,
                "part": part.kind,
                "name": part.name,
                "trials": time_.trials,
                "median_s": time_.seconds,
                "tested": part.tested,
                **_estimate("storage_share", time_.storage_share.share if time_.storage_share else None),
                "storage_p_adjusted": time_.storage_share.p_adjusted if time_.storage_share else None,
                **_estimate("saving", time_.saving.share if time_.saving else None),
                "saving_p_adjusted": time_.saving.p_adjusted if time_.saving else None,
            }


def _estimate(name: str, estimate: Estimate | None, unit: str = "") -> dict[str, Value]:
    known = (estimate.value, estimate.low, estimate.high) if estimate else (None, None, None)
    return dict(zip((f"{name}{unit}", f"{name}_low{unit}", f"{name}_high{unit}"), known, strict=True))


def _own_interval(name: str, estimate: Estimate | None) -> dict[str, Value]:
    """By the run's own repetitions alone."""
    return {
        f"{name}_own_low": estimate.own_low if estimate else None,
        f"{name}_own_high": estimate.own_high if estimate else None,
    }


def trial_values(records: Sequence[Record], predictions: Sequence[Prediction] = ()) -> Iterator[dict[str, Value]]:
    """One trial after the other: factors, machine, outcome, times, its jobs' count; then those that are predicted.

    Only these have a predictor and an interval.
    """
    for record, machine in zip(records, Trials.of(records).machines, strict=True):
        yield {
            "trial": record.trial.id,
            **record.trial.factors,
            "machine": machine,
            "repetition": record.trial.repetition,
            "warm_up": record.trial.warm_up,
            "status": str(record.status),
            "outcome": str(record.outcome),
            "counts": counts(record),
            "source": record.source,
            "struck_out": record.struck_out,
            "error": record.error,
            "elapsed_s": record.totals.elapsed_s if record.totals else None,
            "run_s": record.run_s,
            "durable_s": record.durable_s,
            "submitted_s": record.totals.submitted_s if record.totals else None,
            "staging_submitted_s": record.totals.staging_submitted_s if record.totals else None,
            "outside_jobs_s": record.outside_jobs_s,
            "instruments_cpu_s": instruments_s(record),
            "elapsed_without_instruments_s": elapsed_without_instruments_s(record),
            **phase_columns(record.trial.engine, record.totals.phases if record.totals else None),
            "jobs": len(record.jobs),
        }
    for prediction in predictions:
        yield {**prediction.columns(), "counts": False}


def csv_lines(rows: Sequence[Mapping[str, Value]]) -> Iterator[str]:
    """A head of all rows' columns and a line for each row, without line ends.

    What is not there is empty, numbers have all their digits, and truth is `true` and `false`.
    """
    head = list(dict.fromkeys(name for row in rows for name in row))
    table: list[Sequence[Value]] = [head, *([row.get(name) for name in head] for row in rows)]
    for cells in table:
        line = io.StringIO()
        written = [str(cell).lower() if isinstance(cell, bool) else cell for cell in cells]
        csv.writer(line, lineterminator="").writerow(written)
        yield line.getvalue()


def suitability_values(every: Sequence[Suitability]) -> Iterator[Mapping[str, Value]]:
    """Yield a row for each workload with each two levels: which suits, the bytes per processor second, the ratio."""
    for suited in every:
        for one in suited.workloads:
            yield {
                **one.levels,
                "factor": suited.factor,
                "base": suited.base,
                "level": suited.level,
                "suits": suited.suits(one),
                "base_trials": one.base_trials,
                "trials": one.trials,
                **{f"moved_bytes_per_cpu_s{end}": getattr(one.moved, name) for name, end in _ENDS.items()},
                "moved_estimated": one.moved_estimated,
                **{f"ratio{end}": getattr(one.ratio, name) for name, end in _ENDS.items()},
            }


PARTS: tuple[Part, ...] = ("staging", "run", "write out", "collect")
_PRODUCTS: tuple[tuple[str, str, Callable[[Efficiency], Ranged]], ...] = (
    ("energy", "j", lambda account: account.energy_j),
    ("edp", "js", lambda account: account.edp_js),
    ("ed2p", "js2", lambda account: account.ed2p_js2),
)
_ENDS = {"value": "", "low": "_low", "high": "_high"}


class ComponentEnergy(NamedTuple):
    """One component's joules by part; `jobs_share` is of all that is added up in the jobs' own parts."""

    component: str
    basis: Basis
    energy_j: dict[Part, Ranged]
    jobs_share: float | None
    within: str | None


class TrialEnergy(NamedTuple):
    """All that is known of one trial's energy; `whole` is of its jobs with what was written out after them.

    `power` is that of each node's components over the run and its writing out, `spreads` each node's over the run.
    """

    components: tuple[ComponentEnergy, ...]
    whole: Efficiency | None
    phases: dict[str, Efficiency]
    missing: tuple[str, ...]
    power: Mapping[tuple[str, str], Pieces]
    spreads: Mapping[str, Spread]


def energy_of(tables: TrialTables) -> TrialEnergy:
    """By the default model of power, where nothing measured."""
    account = energy_account(tables.record, tables.series)
    whole = efficiency(account)
    return TrialEnergy(
        components=_components(account, whole),
        whole=whole,
        phases=phase_efficiency(account, tables.attempts),
        missing=account.missing,
        power=power_over_time(account, tables.run) if tables.run is not None else {},
        spreads=node_spreads(account),
    )


def ranged_text(figure: Ranged) -> str:
    """Two significant digits and the range: `1,200 (800 to 1,900)`."""
    low, high = significant_text(figure.low), significant_text(figure.high)
    return f"{significant_text(figure.value)} ({low} to {high})"


def energy_values(found: Sequence[Efficiency | None]) -> dict[str, Value]:
    """Medians over trials, with units in the names: joules, EDP and ED2P with their ranges, and how they are known."""
    known = [account for account in found if account is not None]
    values: dict[str, Value] = {}
    for name, unit, of in _PRODUCTS:
        ranges = [of(account) for account in known]
        for end, key in _ENDS.items():
            values[f"{name}{key}_{unit}"] = median(getattr(ranged, end) for ranged in ranges) if known else None
    values["energy_seconds"] = median(account.seconds for account in known) if known else None
    values["energy_basis"] = ", ".join(sorted({account.basis for account in known})) or None
    return values


def energy_columns(values: Sequence[Mapping[str, Value]]) -> list[Column]:
    """Some `energy_values` as people read them."""
    heads = (("energy", "J", 0), ("EDP", "J s", 1), ("ED2P", "J s^2", 2))
    columns = []
    for (head, words, rank), (name, unit, _) in zip(heads, _PRODUCTS, strict=True):
        ends = [{end: row_values[f"{name}{key}_{unit}"] for end, key in _ENDS.items()} for row_values in values]
        cells = [
            "-" if end_values["value"] is None else ranged_text(Ranged.model_validate(end_values))
            for end_values in ends
        ]
        columns.append(Column(f"{head} ({words})", cells, rank=rank))
    return [*columns, Column("basis", [str(value["energy_basis"] or "missing") for value in values], words=True)]


def efficiencies(run: RunData) -> dict[str, Efficiency | None]:
    """What each trial's jobs took, by trial."""
    return {record.trial.id: efficiency(energy_account(record)) for record in run.whole_records()}


def of_rows(rows: Sequence[Row], records: Sequence[Record], known: Mapping[str, OfTrial]) -> list[list[OfTrial]]:
    """What is known of the trials that count for each combination; the records are those that the rows are of."""
    own = {
        key: [known[record.trial.id] for record in own if counts(record) and record.trial.id in known]
        for key, own in by_combination(records).items()
    }
    return [[] if row.predictor else own.get(levels_key(levels_of(row)), []) for row in rows]


def row_energies(
    rows: Sequence[Row], records: Sequence[Record], known: Mapping[str, Efficiency | None]
) -> list[dict[str, Value]]:
    """`energy_values` of the trials that count for each combination."""
    return list(map(energy_values, of_rows(rows, records, known)))


def unevenness(run: RunData) -> dict[str, tuple[Imbalance, ...]]:
    """How uneven the work was on the workers of each trial that had several."""
    if all(record.trial.cluster.nodes == 1 for record in run.records):
        return {}
    found = {record.trial.id: imbalances(node_uses(record)) for record in run.whole_records()}
    return {trial: own for trial, own in found.items() if own}


def stagings(run: RunData) -> dict[str, StagingUse]:
    """What staging took in each trial whose record tells it."""
    return {record.trial.id: use for record in run.whole_records() if (use := staging_use(record)) is not None}


def staging_values(uses: Sequence[StagingUse], *, known: bool) -> dict[str, Value]:
    """Medians over trials; no columns where no trial's record tells any (`known`)."""
    return dict(medians(uses)) if known else {}


def imbalance_values(found: Sequence[Sequence[Imbalance]]) -> dict[str, Value]:
    """Medians over trials of the most that a worker used over the workers' mean, by resource; none without trials."""
    ratios = {name: [one.ratio for own in found for one in own if one.resource == name] for name in RESOURCES}
    return {f"imbalance_{name}": median(own) if own else None for name, own in ratios.items()} if found else {}


def nodes_json(record: Record) -> dict[str, object]:
    """What the nodes of a trial did and what passed between them, as JSON holds it; empty for one node."""
    uses = node_uses(record)
    if not uses:
        return {}
    seen = []
    for use in uses:
        own = use._asdict()
        energy = own.pop("energy")
        seen.append({**own, **(energy_values([energy]) if energy is not None else {})})
    return {
        "nodes": seen,
        "transfers": [transfer._asdict() for transfer in transfers(record)],
        "imbalances": [imbalance._asdict() for imbalance in imbalances(uses)],
    }


def energy_json(record: Record) -> dict[str, object]:
    """A trial's energy as JSON holds it: by part and component, and what its jobs took in all."""
    account = energy_account(record)
    return {
        "components": [energy.model_dump(exclude={"power"}) for energy in account.energies],
        "missing": list(account.missing),
        "jobs": energy_values([efficiency(account)]),
    }


def _components(account: EnergyAccount, whole: Efficiency | None) -> tuple[ComponentEnergy, ...]:
    found: dict[tuple[str, str, Basis, str | None], dict[Part, Ranged]] = {}
    for energy in account.energies:
        parts = found.setdefault((energy.node, energy.label, energy.basis, energy.within), {})
        parts[energy.part] = parts.get(energy.part, NO_ENERGY) + energy.energy_j
    nodes = {node for node, *_ in found}
    return tuple(
        ComponentEnergy(
            component=component if len(nodes) == 1 else f"{node}: {component}",
            basis=basis,
            energy_j=parts,
            jobs_share=sum(own) / whole.energy_j.value if own and whole and whole.energy_j.value else None,
            within=within,
        )
        for (node, component, basis, within), parts in found.items()
        for own in [[energy.value for part, energy in parts.items() if part in JOBS]]
    )
