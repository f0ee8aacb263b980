"""The drives on which an experiment wants times predicted."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from assay.model.demand import OtherDrive
from assay.model.drive_profile import PROFILE_FILES, SHORT_NAMES
from assay.model.layout import Role
from assay.model.naming import nearest
from assay.model.trial import MediumSpec
from assay.plan.source import ExperimentSource, Vocabulary


def predicted_drives(
    source: ExperimentSource,
    vocabulary: Vocabulary,
    media: Mapping[str, MediumSpec],
    roles: Mapping[tuple[str, str], Sequence[Role]],
) -> tuple[OtherDrive, ...]:
    """Those that it names; `roles` are those of each store and engine together.

    Raises BadInputError for a drive that nobody describes, a role that no stack has, and for scale models.
    """
    experiment = source.experiment
    emulated = {name: fields for name, medium in media.items() if (fields := medium.model_extra or {}).get("profile")}
    known_roles = list(dict.fromkeys(role.name for of_stack in roles.values() for role in of_stack))
    drives = []
    for place, entry in enumerate(experiment.predict):
        for number, role in enumerate(entry.roles):
            source.check_word(["predict", place, "roles", number], "role", role, known_roles)
        medium = emulated.get(entry.drive)
        profile = str(medium["profile"]) if medium else SHORT_NAMES.get(entry.drive, entry.drive)
        if Path(profile).suffix in PROFILE_FILES:
            with source.at("predict", place):
                profile = str(source.absolute(profile))
        elif profile not in vocabulary.profiles:
            known = [*emulated, *SHORT_NAMES, *vocabulary.profiles]
            problem = f"nobody describes the drive {entry.drive!r}; {nearest(entry.drive, known)} (or give a YAML file)"
            raise source.error_at(["predict", place], problem)
        drives.append(OtherDrive.on(entry.drive, profile, tuple(entry.roles), medium))
    source.refuse_repeated(["predict"], "predict", [drive.name for drive in drives])
    if drives and experiment.dilation:
        raise source.error_at(
            ["predict"], "times are predicted from clusters of full speed alone; leave out predict, or dilation"
        )
    return tuple(drives)
