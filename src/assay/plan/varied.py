"""Trials that check what an answer owes to the assumed figures of emulated drives."""

from assay.model.drive_profile import ASSUMED_TIMES
from assay.model.errors import BadInputError
from assay.model.installation import Installation
from assay.model.installed import kind_of
from assay.model.trial import MediumSpec, Placement, Plan, Trial

FIRST = 900_001
"""The number of the first of them: repetitions never come so far."""


def with_varied_drives(plan: Plan, installation: Installation) -> Plan:
    """The plan, and at its end each combination once with all assumed figures of its drives slower, and once faster.

    Raises BadInputError where no figure of any drive is assumed.
    """
    firsts: dict[tuple[tuple[str, str], ...], Trial] = {}
    for trial in plan.trials:
        if not (trial.warm_up or trial.zero_delay):
            firsts.setdefault(tuple(trial.factors.items()), trial)
    ways = ((trial, way) for trial in firsts.values() for way in ASSUMED_TIMES)
    varied = [varied_trial for trial, way in ways if (varied_trial := _varied(trial, way, installation)) is not None]
    if not varied:
        raise BadInputError(
            "--sensitivity varies the assumed figures of emulated drives, and no drive of this experiment has any; "
            "leave it out"
        )
    numbered = [
        trial.model_copy(update={"id": f"{number}-{trial.workload.name}-{trial.placement.name}"})
        for number, trial in enumerate(varied, FIRST)
    ]
    return plan.model_copy(update={"trials": (*plan.trials, *numbered)})


def _varied(trial: Trial, way: str, installation: Installation) -> Trial | None:
    """None where nothing of its drives is assumed."""
    media = [_varied_medium(medium, way, installation) or medium for medium in trial.media]
    names = {before.name: medium.name for before, medium in zip(trial.media, media, strict=True)}
    if all(name == before for before, name in names.items()):
        return None
    roles = {
        role: {names[name]: share for name, share in shares.items()} for role, shares in trial.placement.roles.items()
    }
    placement = Placement.of_roles(f"{trial.placement.name}-{way}", roles, trial.placement.local_directories)
    return trial.model_copy(update={"media": tuple(media), "placement": placement})


def _varied_medium(medium: MediumSpec, way: str, installation: Installation) -> MediumSpec | None:
    """Under a name of its own; None where nothing of it is assumed, or workers have different ones."""
    kind = kind_of(medium)
    if medium.on:
        return None
    return kind.changed(medium, lambda options: kind.varied(options, way, installation), f"{medium.name}-{way}")
