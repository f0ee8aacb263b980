"""What a newcomer must know before any figure: what was compared, how often, and whether to believe it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from assay.model.doubt import Doubt, Outcome
from assay.model.record import Record
from assay.model.trial import MediumSpec, Plan
from assay.record.folder import Damaged
from assay.report.text import bytes_text
from assay.stats.sample import PLACEMENT, in_order, in_plan_order, is_warm_up

MOST_NAMED = 5
BASELINE = "zero storage delay: what no drive can beat, not a drive to buy"
KINDS = {"directory": "a disk of the machine", "memory": "memory", "existing": "the existing cluster's own"}


class Overview(NamedTuple):
    """What was `compared`, by name; three clauses on belief; whether all outputs are `right`."""

    compared: tuple[tuple[str, str], ...]
    checked: str
    missing: str
    doubted: str
    right: bool


def overview(plan: Plan, records: Sequence[Record], damaged: Sequence[Damaged], doubts: Sequence[Doubt]) -> Overview:
    """Of all readable records of a run."""
    counted = [record for record in records if not is_warm_up(record.trial)]
    passed = sum(record.outcome is Outcome.PASS for record in counted)
    checked = (
        f"all {passed} outputs were checked and are right" if passed == len(counted) else _not_passed(counted, passed)
    )
    missing = len(plan.trials) - len(records)
    lacking = [f"{missing} of {len(plan.trials)} planned trials are not in this report"] if missing else []
    lacking += [f"{len(damaged)} record folder{'s' if len(damaged) > 1 else ''} can't be read"] if damaged else []
    kinds = [kind.replace("-", " ") for kind in dict.fromkeys(doubt.kind for doubt in doubts)]
    doubted = f"doubts: {_listed(kinds)}" if kinds else "no doubt was raised"
    return Overview(
        compared=_compared(counted, plan.placements),
        checked=checked if counted else "no trial was read",
        missing="; ".join(lacking),
        doubted=doubted,
        right=bool(counted) and passed == len(counted),
    )


def _not_passed(records: Sequence[Record], passed: int) -> str:
    failed = sum(record.outcome is Outcome.FAIL for record in records)
    unknown = len(records) - passed - failed
    parts = [f"{failed} failed"] if failed else []
    parts += [f"{unknown} could not be checked"] if unknown else []
    return f"{passed} of {len(records)} outputs are right, {', '.join(parts)}"


def _compared(records: Sequence[Record], planned: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Names and levels: the media by what they are, what was computed, what else varies, how often it ran.

    The zero-delay baseline is named by itself, as it is nothing to choose.
    """
    baseline = [("baseline", BASELINE)] if any(one.trial.zero_delay for one in records) else []
    records = [one for one in records if not one.trial.zero_delay]
    if not records:
        return tuple(baseline)
    media = {medium.name: _medium(medium) for record in records for medium in record.trial.media}
    levels: dict[str, list[str]] = {}
    for record in records:
        for name, level in record.trial.factors.items():
            levels.setdefault(name, []).append(level)
    levels["dataset"] = [level for level in levels["dataset"] if level != "none"]
    different = {name: in_order(filter(None, own)) for name, own in levels.items()}
    different[PLACEMENT] = in_plan_order(levels[PLACEMENT], planned)
    always = (PLACEMENT, "workload", "dataset")
    of_work = {record.trial.workload.name: record.trial.factors for record in records}
    others = [name for name in levels if name not in always and _varies(records, name, of_work)]
    rest = [(name, _listed(different[name])) for name in ("dataset", *others) if different[name]]
    placements, on = _listed(different[PLACEMENT], media), ("on", _listed(different["workload"]))
    if len(different[PLACEMENT]) == 1 and others:
        compared = "; ".join(f"{name}: {_listed(different[name])}" for name in others)
        told = [("compared", compared), on, (PLACEMENT, placements), *rest[: len(rest) - len(others)]]
    else:
        told = [("compared" if len(different[PLACEMENT]) > 1 else PLACEMENT, placements), on, *rest]
    return (*told, *baseline, ("repetitions", f"{len({record.trial.repetition for record in records})}"))


def _varies(records: Sequence[Record], name: str, of_work: Mapping[str, Mapping[str, str]]) -> bool:
    """Whether trials of one workload differ in a factor."""
    return any(of_work[one.trial.workload.name].get(name) != one.trial.factors.get(name) for one in records)


def _listed(levels: Sequence[str], about: "dict[str, str] | None" = None) -> str:
    shown = levels if len(levels) <= MOST_NAMED + 1 else levels[:MOST_NAMED]
    named = [f"{level} ({about[level]})" if about and level in about else level for level in shown]
    more = f" and {len(levels) - len(shown)} more" if len(shown) < len(levels) else ""
    return ", ".join(named) + more


def _medium(medium: MediumSpec) -> str:
    if medium.kind == "emulated":
        name = str(medium.profile).rpartition("/")[2].removesuffix(".yaml").removesuffix(".yml")
        slower = f", {medium.slowdown} times slower" if medium.slowdown != 1 else ""
        return f"emulated {name}{slower}"
    size = f" of {bytes_text(medium.size_bytes)}" if medium.size_bytes else ""
    return KINDS[medium.kind] + size
