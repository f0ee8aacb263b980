"""The keys of an experiment as options of a command: `--memory 2GiB` in place of what the file says."""

import re
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

import click

from assay.host.yaml_file import tree_of
from assay.model.base import OneOrMany, field_docs
from assay.model.errors import BadInputError
from assay.plan.experiment import ExperimentFile
from assay.plan.overrides import Override, is_open, override_of
from assay.plan.property_keys import HADOOP, property_keys

OF_THE_FILE = {"experiment", "question", "description", "next", "stands_for", "folder"}
"""Keys that describe the file itself: nobody changes them for a run."""
SIZE = "workloads.options.size"
_PLAIN = r"[^,={}\[\]'\"]+"
_PAIRS = re.compile(rf"{_PLAIN}={_PLAIN}(?:,{_PLAIN}={_PLAIN})*")
_ITEMS = re.compile(rf"{_PLAIN}(?:,{_PLAIN})+")
_EMPTY = re.compile(rf"(?:^|,)({_PLAIN})=\s*(?:,|$)")
_LINK = re.compile(r" ?\(\[(?:below|see below)\]\([^)]*\)\)|\[([^\]]*)\]\([^)]*\)")


class KeyOption(click.Option):
    """An option that sets a key of the experiment."""

    def __init__(self, key: str, text: str) -> None:
        self.option = f"--{key.rpartition('.')[2].replace('_', '-')}"
        self.key = key
        super().__init__([self.option, _parameter(key)], metavar="VALUE", help=text)


class KeysCommand(click.Command):
    """A command whose help lists the options of the experiment's keys apart, those of services' properties too."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Add an option for each service's key, which only now are looked up: that takes long."""
        parameters = super().get_params(ctx)
        names = {name for parameter in parameters for name in parameter.opts}
        further = [key for key in property_keys() if f"--{key}" not in names]
        return [*parameters, *(KeyOption(key, f"As --{HADOOP}, for properties of {key}.") for key in further)]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write both lists."""
        by_kind: dict[bool, list[tuple[str, str]]] = {False: [], True: []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                by_kind[isinstance(parameter, KeyOption)].append(record)
        with formatter.section("Options"):
            formatter.write_dl(by_kind[False])
        with formatter.section(
            "Keys of the experiment, in place of the file's (lists as a,b; maps as a=b,c=d; or YAML)"
        ):
            formatter.write_dl(sorted(by_kind[True]))


def key_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add an option for each key; the command gets `overrides`, what they set after what `--set` says."""

    @wraps(command)
    def with_overrides(*arguments: Any, values: tuple[str, ...], **more: Any) -> Any:
        overrides = [override_of(text) for text in values]
        for key in dict.fromkeys((*_keys(), SIZE, *property_keys())):
            if (text := more.pop(_parameter(key), None)) is not None:
                overrides += _overrides(key, text)
        return command(*arguments, overrides=overrides, **more)

    wrapped: Callable[..., Any] = with_overrides
    docs = field_docs(ExperimentFile)
    options = [KeyOption(key, _first_sentence(docs[key])) for key in _keys()]
    options.append(KeyOption(SIZE, "The workload's option `size`, such as 2GB."))
    for option in sorted(options, key=lambda option: option.option, reverse=True):
        wrapped = _with(wrapped, option)
    return wrapped


def _with(command: Callable[..., Any], option: KeyOption) -> Callable[..., Any]:
    """Attach an option as click's own decorator does."""
    vars(command).setdefault("__click_params__", []).append(option)
    return command


def _keys() -> Iterator[str]:
    return (key for key in ExperimentFile.model_fields if key not in OF_THE_FILE)


def _parameter(key: str) -> str:
    return "key_" + re.sub(r"\W", "_", key)


def _first_sentence(text: str) -> str:
    """Without links, whose targets a terminal does not show."""
    plain = " ".join(_LINK.sub(lambda link: link[1] or "", text).split())
    return re.split(r"(?<=[.;])\s", plain, maxsplit=1)[0].rstrip(";.") + "."


def _overrides(key: str, text: str) -> list[Override]:
    """Return what a text sets. Raises BadInputError for what is neither a shorthand nor YAML."""
    option = f"--{key.rpartition('.')[2].replace('_', '-')}"
    if empty := _EMPTY.search(text):
        example = "wd10ezex" if key == "media" else "VALUE"
        raise BadInputError(f"{option} {text}: {empty[1]} has no value; write {empty[1]}={example}")
    if _PAIRS.fullmatch(text) and key != SIZE:
        pairs = [pair.partition("=") for pair in text.split(",")]
        values = {name.strip(): tree_of(value, f"{option} {name.strip()}") for name, _, value in pairs}
        if is_open(key):  # such as Hadoop's properties: the file's others stay
            return [Override(f"{key}.{name}", value, (option, text)) for name, value in values.items()]
        return [Override(key, _as_tree(values), (option, text))]
    field = ExperimentFile.model_fields.get(key)
    if _ITEMS.fullmatch(text) and field and any(isinstance(part, OneOrMany) for part in field.metadata):
        return [Override(key, tree_of(f"[{text}]", option), (option, text))]
    return [Override(key, tree_of(text, option), (option, text))]


def _as_tree(values: dict[str, Any]) -> Any:
    """Return a map as an experiment's tree has it, so that it is written back as one."""
    from ruamel.yaml.comments import CommentedMap

    return CommentedMap(values)
