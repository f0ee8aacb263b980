"""What a run asks: about placements, about another factor, about changes of one factor at a time, or about a twin.

Each change is a level of one factor, against all as it is.
"""

from collections.abc import Mapping, Sequence

from assay.model.installed import kind_of
from assay.model.trial import NOTHING_TO_CHOOSE, ZERO_DELAY, Plan
from assay.stats.sample import MACHINE, PLACEMENT, WORK, Levels, TrialSample, in_order, in_plan_order, varying_factors

CHANGE, AS_IT_IS = "change", "as it is"
"""The factor, and its base."""


def asks_of_changes(plan: Plan, varying: Sequence[str]) -> bool:
    """Whether a plan's question is which change is worth it.

    Not where each change runs on all placements, which are asked about then, nor where the work itself changes.
    """
    compares_placements = PLACEMENT in varying and PLACEMENT not in plan.base
    return bool(plan.base) and not compares_placements and not {*WORK, "variant"} & plan.base.keys()


def changes_of(factors: Mapping[str, str], base: Mapping[str, str]) -> dict[str, str]:
    """The levels in which a trial differs from the base."""
    return {name: factors[name] for name, level in base.items() if factors.get(name, level) != level}


def change_text(factors: Mapping[str, str], base: Mapping[str, str]) -> str:
    """A trial's level of the factor `change`: a placement by its name, another level with its factor's."""
    changes = changes_of(factors, base)
    return (
        " and ".join(level if name == PLACEMENT else f"{name} {level}" for name, level in changes.items()) or AS_IT_IS
    )


def levels_beside(factors: Levels, base: Mapping[str, str]) -> Levels:
    """Those of all factors that no change is made in."""
    return tuple(item for item in factors if item[0] not in base)


def others_and_level(factors: Levels, factor: str, base: Mapping[str, str]) -> tuple[Levels, str]:
    """The levels of all factors but a question's, and that one's; the base's levels tell which change it is."""
    if factor == CHANGE:
        return levels_beside(factors, base), change_text(dict(factors), base)
    return tuple(item for item in factors if item[0] != factor), dict(factors)[factor]


def as_changes(found: Sequence[TrialSample], base: Mapping[str, str]) -> list[TrialSample]:
    """Samples with the factor `change` in place of all that the base names."""
    return [
        one._replace(
            factors=(*levels_beside(one.factors, base), (CHANGE, change_text(dict(one.factors), base))),
        )
        for one in found
    ]


def change_order(plan: Plan) -> list[str]:
    """As it is, then each factor's changes in the base's order, zero storage delay last."""
    texts: dict[str, set[str]] = {}
    for trial in plan.trials:
        changed = next(iter(changes_of(trial.factors, plan.base)), "")
        texts.setdefault(changed, set()).add(change_text(trial.factors, plan.base))
    of_factors = {name: in_order(own) for name, own in texts.items()}
    if PLACEMENT in of_factors:
        of_factors[PLACEMENT] = in_plan_order(of_factors[PLACEMENT], plan.placements)
    ordered = [text for name in plan.base for text in of_factors.get(name, ())]
    return [AS_IT_IS, *(text for text in ordered if text != ZERO_DELAY), ZERO_DELAY]


def question_of(plan: Plan, found: Sequence[TrialSample]) -> tuple[str, Sequence[TrialSample]]:
    """The factor that a run asks about, and the samples with that factor.

    It is the change, where one factor is changed at a time; else the placement; where there is but one, the first other
    factor that varies. Not one that is nothing to choose, such as how much slower a scale model runs.
    """
    varies = varying_factors(found)
    if asks_of_changes(plan, varies):
        return CHANGE, as_changes(found, plan.base)
    others = [name for name in varies if name not in {*WORK, "variant", MACHINE, PLACEMENT, *NOTHING_TO_CHOOSE}]
    return (others[0] if PLACEMENT not in varies and others else PLACEMENT), found


REAL, TWIN = "real", "twin"
"""The placements of an experiment that compares a drive with the one that is emulated from its calibration."""


def compares_twin(plan: Plan) -> bool:
    """Whether a plan compares a real drive with an emulated one, by these names."""
    if plan.placements != (REAL, TWIN):
        return False
    emulated = {medium.name: kind_of(medium).emulated for trial in plan.trials for medium in trial.media}
    return emulated == {REAL: False, TWIN: True}
