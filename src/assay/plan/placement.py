"""Placements: as an experiment writes them, and what they mean for the roles of a trial's stack."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple, NoReturn

from pydantic import BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError, model_validator
from pydantic_core import PydanticKnownError

from assay.model.base import Frozen, Number
from assay.model.errors import BadInputError
from assay.model.layout import IN_TURN, NEUTRAL, LocalDirectories, Role, in_order
from assay.model.naming import MOST_NAME_CHARACTERS, nearest
from assay.model.registry import SERVICES
from assay.model.trial import MOST_DIRECTORIES, Placement
from assay.plan.entry_parts import Name

# A medium alone, or fractions.
Shares = Annotated[
    Mapping[str, Number],
    Field(min_length=1),
    BeforeValidator(
        lambda value: {value: 1.0} if isinstance(value, str) else value,
        json_schema_input_type=str | Mapping[str, float],
    ),
]


def known_roles() -> Mapping[str, Role]:
    """The roles of all services that are installed, by their names."""
    return {role.name: role for role in in_order(role for service in SERVICES.values() for role in service.roles)}


def _roles_of_all_services(schema: dict[str, Any]) -> None:
    """A key for each role; the fields that hold them are no keys."""
    shares = TypeAdapter(Shares).json_schema()
    for role in known_roles().values():
        default = "no medium under test" if role.follows == NEUTRAL else f"the media of `{role.follows}`"
        text = f"Fractions by medium for {role.holds}, or a medium's name alone."
        if role.follows:
            text = f"{text} By default {default}."
        schema["properties"][role.name] = {**shares, "description": text}
    for name in ("every", "roles"):
        del schema["properties"][name]


class PlacementEntry(Frozen):
    """A placement: a medium's name, fractions of media, or a map with the media of each role."""

    model_config = ConfigDict(json_schema_extra=_roles_of_all_services)

    name: Name | None = None
    """The name in tables; by default made from the names of its media."""
    local_directories: LocalDirectories = IN_TURN
    """How local directories are chosen: each task has one, `in-turn`, so that fractions are met; or `hadoop` chooses as
    it does without Assay; or jobs are `directed` to the medium that their workload names ([below](#local-directories)).
    """
    every: Shares | None = None
    roles: Mapping[str, Shares] = {}

    @model_validator(mode="after")
    def _fractions_add_up(self) -> "PlacementEntry":
        named = {f" of {role}": fractions for role, fractions in self.roles.items()}
        for role, fractions in (named if self.every is None else {"": self.every}).items():
            if len(fractions) > MOST_DIRECTORIES:
                raise ValueError(
                    f"{role.removeprefix(' of ') or 'a placement'} names {len(fractions)} media, and a role has at "
                    f"most {MOST_DIRECTORIES} directories; name fewer media"
                )
            if min(fractions.values()) < 0 or abs(sum(fractions.values()) - 1) > 1e-6:
                shown = ", ".join(f"{medium}: {share:g}" for medium, share in fractions.items())
                raise ValueError(f"the fractions{role} ({shown}) must be 0 or more and add up to 1")
        return self

    @property
    def media(self) -> Mapping[str, Sequence[str]]:
        """The names of its media by role; of all roles alike, by none."""
        named = {role: list(fractions) for role, fractions in self.roles.items()}
        return named if self.every is None else {"": list(self.every)}


def placement_entry(value: Any) -> PlacementEntry:
    """A medium's name alone, fractions for all roles, or a mapping of roles; a role's medium alone is all of it."""
    if isinstance(value, str):
        return PlacementEntry(every={value: 1.0})
    if not isinstance(value, dict):
        raise PydanticKnownError("dict_type")
    known, further = known_roles(), PlacementEntry.model_fields.keys() - {"every", "roles"}
    if not value.keys() & {*known, *further}:
        return PlacementEntry(every=TypeAdapter(Shares).validate_python(value))
    roles = {key: shares for key, shares in value.items() if key not in further}
    for key in roles.keys() - known.keys():
        _refuse(key, roles[key], f"there is no role {key!r}; {nearest(str(key), [*known, *sorted(further)])}")
    checked = TypeAdapter(Mapping[str, Shares]).validate_python(roles)
    given = {key: value[key] for key in further if key in value}
    return PlacementEntry(**given, roles={role: checked[role] for role in known if role in checked})


def _refuse(key: str, value: object, why: str) -> NoReturn:
    """A mistake at one key of a map."""
    raise ValidationError.from_exception_data(
        "placement", [{"type": "value_error", "loc": (key,), "input": value, "ctx": {"error": ValueError(why)}}]
    )


class PlacementLevel(NamedTuple):
    """A placement as a level of an experiment: with `every`, of all roles alike."""

    name: str
    every: Mapping[str, float] = {}
    roles: Mapping[str, Mapping[str, float]] = {}
    local_directories: LocalDirectories = IN_TURN

    def among(self, roles: Sequence[Role]) -> Placement:
        """What it means for the roles of a trial's stack. Raises BadInputError where one is left open."""
        placed: dict[str, Mapping[str, float]] = {}
        for role in roles:
            shares = self.roles.get(role.name) or ({} if role.follows == NEUTRAL else self.every)
            if not shares and not role.follows:
                raise BadInputError(
                    f"placement lacks the role {role.name!r} ({role.holds}); name its media, or one medium for all"
                )
            placed[role.name] = shares
        followed = {role.name: placed[role.name] or placed.get(role.follows, {}) for role in roles}
        kept = {name: shares for name, shares in followed.items() if shares}
        return Placement.of_roles(self.name, kept, self.local_directories)


def alone_on(medium: str) -> PlacementLevel:
    """All of a trial's bytes on one medium."""
    return PlacementLevel(medium, every={medium: 1.0})


def placement_level(entry: PlacementEntry) -> PlacementLevel:
    """An experiment's placement, with its name. Raises BadInputError for a name that is too long."""
    every = _above_zero(entry.every or {})
    roles = {role: _above_zero(fractions) for role, fractions in entry.roles.items()}
    # `hdd`, `ssd25-hdd75`, or `input-hdd.intermediate-ssd.output-hdd` where the roles differ.
    texts = {role: _text(fractions) for role, fractions in roles.items()} or {"": _text(every)}
    made = ".".join(f"{role}-{text}" for role, text in texts.items())
    if len({*texts.values()}) == 1:
        made = next(iter(texts.values()))
    name = entry.name or made
    if len(name) > MOST_NAME_CHARACTERS:
        media = dict.fromkeys(medium for fractions in (every, *roles.values()) for medium in fractions)
        raise BadInputError(
            f"the placement of {len(media)} media would be called {name}, which is too long for a folder's name; give "
            "it a `name`"
        )
    return PlacementLevel(name, every, roles, entry.local_directories)


def _above_zero(fractions: Mapping[str, float]) -> Mapping[str, float]:
    return {medium: share for medium, share in fractions.items() if share > 0}


def _text(fractions: Mapping[str, float]) -> str:
    if len(fractions) == 1:
        return next(iter(fractions))
    return "-".join(f"{medium}{share * 100:.3g}" for medium, share in fractions.items())
