"""Stores as an experiment writes them: a kind's name, or a map of a kind with its options."""

from typing import Annotated, Any, NoReturn

from pydantic import BeforeValidator, ConfigDict, ValidationError
from pydantic_core import PydanticKnownError

from assay.model.base import Frozen
from assay.model.errors import MistakeAt
from assay.model.naming import nearest
from assay.model.registry import STORES
from assay.model.trial import StoreSpec
from assay.plan.entry_parts import Supported, choice


def store_entry(value: Any) -> Any:
    """A kind's name as it stands; of a map the kind with its options, which the kind has checked."""
    if isinstance(value, str):
        return Supported(lambda: list(STORES), "store may be {words}").checked(value)
    if not isinstance(value, dict):
        raise PydanticKnownError("dict_type")
    name = value.get("kind")
    if not isinstance(name, str) or name not in STORES:
        _refuse("kind", name, "literal_error", {"expected": choice(list(STORES))})
    given, options = {key: option for key, option in value.items() if key != "kind"}, STORES[name].options
    known = [*options.model_fields]
    for key in given.keys() - {*known}:
        owners = [other for other, kind in STORES.items() if key in kind.options.model_fields]
        why = f"unknown key {key!r}; {nearest(str(key), ['kind', *known])}"
        if owners:
            why = f"{key} belongs to a store of kind {' or '.join(owners)}, and this one is {name}; leave {key} out"
        _refuse(key, given[key], "value_error", {"error": ValueError(why)})
    return StoreSpec(kind=name, **options.model_validate(given).model_dump(mode="json", exclude_defaults=True))


def _refuse(key: object, value: object, error: str, context: dict[str, Any]) -> NoReturn:
    """A mistake at one key of a map."""
    raise ValidationError.from_exception_data(
        "store", [{"type": error, "loc": (str(key),), "input": value, "ctx": context}]
    )


def refuse_found(spec: StoreSpec) -> None:
    """Raises MistakeAt where a store says where it is already, and the cluster is of Assay's own."""
    kind = STORES.get(spec.kind)  # what there is not is refused where its place is known
    if kind is not None and (keys := sorted(kind.found_keys & spec.options.keys())):
        raise MistakeAt(
            ["store"],
            f"store: {keys[0]} says where a store of yours is, and this cluster is Assay's own; leave {keys[0]} out, "
            "or name your cluster (cluster: {conf_dir: ...})",
        )


def _options_of_all_kinds(schema: dict[str, Any]) -> None:
    """The options of each kind; one that several have is described once."""
    schema["properties"]["kind"] |= {"enum": list(STORES)}
    for kind in STORES.values():
        for key, option in kind.options.model_json_schema().get("properties", {}).items():
            described = {name: value for name, value in option.items() if (name, value) != ("default", "")}
            schema["properties"].setdefault(key, described)


class StoreEntry(Frozen):
    """A store: a kind's name alone, or a map."""

    model_config = ConfigDict(json_schema_extra=_options_of_all_kinds)

    kind: str
    """The store's name, which stands alone where nothing more is said."""


OneStore = Annotated[StoreSpec, BeforeValidator(store_entry, json_schema_input_type=str | StoreEntry)]
