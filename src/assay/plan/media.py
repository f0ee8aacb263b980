"""The media and placements of an experiment."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.files import absolute
from assay.model.errors import BadInputError
from assay.model.naming import MOST_NAME_CHARACTERS
from assay.model.placement import ROLES, Placement, Role, pure
from assay.model.trial import ZERO_DELAY, MediumSpec
from assay.plan.experiment import ExperimentFile
from assay.plan.load import Vocabulary, told_at
from assay.plan.words import check_word
from assay.yaml_file import line_of

PROFILE_FILES = frozenset({".yaml", ".yml"})


def media_of(path: Path, experiment: ExperimentFile, tree: Any, vocabulary: Vocabulary) -> dict[str, MediumSpec]:
    """The experiment's media by name. Raises BadInputError for a profile that there is not."""
    if experiment.cluster.kind == "existing":
        return {"existing": MediumSpec(name="existing", kind="existing")}
    media = {}
    for name, entry in experiment.media.items():
        with told_at(path, tree, ["media", name, "profile"]):
            profile = _profile(path.parent, entry.profile)
        if profile is not None and Path(profile).suffix not in PROFILE_FILES:
            if "/" in profile:
                line = line_of(tree, ["media", name])
                raise BadInputError(
                    f"{path}, line {line}: medium {name} is {profile!r}, no profile's name; for a directory say "
                    f"{{path: {profile}}}, and a profile's file ends in .yaml"
                )
            words = ["directory", "memory", *vocabulary.profiles]
            check_word(path, line_of(tree, ["media", name]), "kind of medium or profile", profile, words)
        with told_at(path, tree, ["media", name, "path"]):
            place = None if entry.path is None else _directory(name, absolute(path.parent, entry.path))
        media[name] = MediumSpec(
            name=name, kind=entry.kind, size_bytes=entry.size, profile=profile, file_system=entry.file_system,
            slowdown=entry.slowdown, path=place,
        )  # fmt: skip
    if experiment.zero_delay_baseline:
        media[ZERO_DELAY] = _baseline(list(media.values()))
    return media


def _profile(folder: Path, name_or_file: str | None) -> str | None:
    """A profile's name as it is, the path of a profile file from the experiment's folder."""
    if name_or_file is None or Path(name_or_file).suffix not in PROFILE_FILES:
        return name_or_file
    return str(absolute(folder, Path(name_or_file)))


def _directory(medium: str, place: Path) -> Path:
    """The place of a medium, which may be made before the run. Raises BadInputError where something else is there."""
    if place.is_dir() or not place.exists():
        return place
    raise BadInputError(f"medium {medium!r}: {place} is not a directory; make it or name another")


def _baseline(drives: Sequence[MediumSpec]) -> MediumSpec:
    """The drive without delays, reached by the same path as the first of the others: backing place, file system."""
    first = drives[0]
    return MediumSpec(name=ZERO_DELAY, kind="emulated", profile="null", path=first.path, file_system=first.file_system)


def placements_of(experiment: ExperimentFile) -> list[Placement]:
    """What the experiment compares: its placements, or each of its media alone."""
    if experiment.cluster.kind == "existing":
        return [pure("existing")]
    if not experiment.placement:
        return [pure(name) for name in experiment.media]
    found = []
    for entry in experiment.placement:
        roles = {role: {name: share for name, share in getattr(entry, role).items() if share > 0} for role in ROLES}
        found.append(Placement(name=entry.name or _placement_name(roles), **roles))
        if len(found[-1].name) > MOST_NAME_CHARACTERS:
            raise BadInputError(
                f"the placement of {len(found[-1].media)} media would be called {found[-1].name}, which is too long "
                "for a folder's name; give it a `name`"
            )
    return found


def _placement_name(roles: Mapping[Role, Mapping[str, float]]) -> str:
    """`hdd`, `ssd25-hdd75`, or `input-hdd.intermediate-ssd.output-hdd` where the roles differ."""
    names = {
        role: "-".join(_share_name(*item, len(shares)) for item in shares.items()) for role, shares in roles.items()
    }
    if len(set(names.values())) == 1:
        return names["input"]
    return ".".join(f"{role}-{name}" for role, name in names.items())


def _share_name(medium: str, share: float, media: int) -> str:
    return medium if media == 1 else f"{medium}{share * 100:.3g}"
