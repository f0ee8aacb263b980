"""Hadoop's configuration files: an embedded cluster's own, and those of somebody else's cluster.

They are read as Hadoop's `org.apache.hadoop.conf.Configuration` does, with which a test compares: its short form, its
`xi:include` with a fallback, final properties, deprecated names and variables.
"""

import getpass
import os
import re
import shutil
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit
from xml.sax.saxutils import escape

from assay.host.files import read_bytes
from assay.model.errors import BadInputError
from assay.model.registry import SERVICES
from assay.model.renamed import renamed
from assay.model.service import NodeContext, SiteFile, Stack

ANY_PORT = ":0"


def known_sites() -> tuple[SiteFile, ...]:
    """The files that a directory of Hadoop's configuration may have, in the order in which its clients load them."""
    return tuple(site for service in SERVICES.values() for site in service.sites if site.for_clients)


def with_fixed_ports(properties: Mapping[str, str], ports: Iterable[int]) -> dict[str, str]:
    """Replace each port that is left to the kernel by the next of these, in the order of the properties' names.

    So all nodes have the same port for the same purpose, which tells what passes between them.
    """
    free = iter(ports)
    return {
        name: f"{value[: value.rindex(ANY_PORT)]}:{next(free)}"
        if value.endswith(ANY_PORT)
        else str(next(free))
        if value == "0" and name.endswith(".port")
        else value
        for name, value in sorted(properties.items())
    }


def write_configuration(stack: Stack, node: NodeContext, properties: Mapping[str, str]) -> None:
    """Write the configuration files of all services of a node into its directory of these, which must exist."""
    for site in stack.sites:
        content = {name: value for name, value in properties.items() if site.name in files_of(name, stack.sites)}
        (node.conf_dir / site.name).write_text(to_xml({**site.defaults, **content}), encoding="utf-8")
    for service in stack.services:
        for name, text in service.files(node.of(service.name), properties).items():
            (node.conf_dir / name).parent.mkdir(exist_ok=True)
            (node.conf_dir / name).write_text(text, encoding="utf-8")


def files_of(name: str, sites: Iterable[SiteFile]) -> tuple[str, ...]:
    """The names of the files that a property belongs into."""
    claims = [(len(prefix), site.name) for site in sites for prefix in site.prefixes if name.startswith(prefix)]
    return (max(claims)[1],) if claims else tuple(site.name for site in sites if site.unclaimed)


def to_xml(properties: Mapping[str, str]) -> str:
    """A Hadoop configuration file with these properties, sorted by name."""
    return _entries_xml(Entry(name, properties[name], final=False) for name in sorted(properties))


_MOST_BYTES = 1 << 22
_MOST_INCLUDED = 20  # files within one another
# The innermost of `${...}`, in which Hadoop has neither blanks nor `$`.
_VARIABLE = re.compile(r"\$\{([^}$ ]+)\}")
_IN_ENVIRONMENT = re.compile(r"env\.(?P<name>.+?)(?:(?P<how>:-|-)(?P<default>.*))?", re.DOTALL)
_DEPTH = 20  # Configuration.MAX_SUBST


class Entry(NamedTuple):
    """A property as a file has it, by the name that Hadoop has for it now."""

    name: str
    value: str
    final: bool


def read_site(conf_dir: Path, environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The properties of the site files as Hadoop's clients know them, without what surrounds them.

    Later files win, but for final properties. Variables are replaced where they are known, which those are not that
    only Hadoop's own defaults tell. Raises BadInputError when the directory has no such file or one can't be read.
    """
    names = [site.name for site in known_sites()]
    files = [conf_dir / name for name in names if (conf_dir / name).is_file()]
    if not files:
        raise BadInputError(f"{conf_dir} is not a Hadoop configuration directory: none of {', '.join(names)} is in it")
    properties: dict[str, str] = {}
    final: set[str] = set()
    for entry in (entry for file in files for entry in _entries(file, conf_dir)):
        if entry.name not in final:
            properties[entry.name] = entry.value
        if entry.final:
            final.add(entry.name)
    known = properties | dict(_of_java())
    return {name: _replaced(value, known, environment).strip() for name, value in properties.items()}


def _of_java() -> Iterator[tuple[str, str]]:
    """The system properties that configurations use; a user without a name or home has none."""
    with suppress(KeyError, OSError):
        yield "user.name", getpass.getuser()
    with suppress(RuntimeError):
        yield "user.home", str(Path.home())
    yield "java.io.tmpdir", "/tmp"  # noqa: S108 - Java's, wherever TMPDIR is


def _replaced(value: str, known: Mapping[str, str], environment: Mapping[str, str]) -> str:
    """A value without variables, up to the first that is not known; as it stands where they lead in a circle."""
    text, expanded = value, set[str]()
    for _ in range(_DEPTH):
        match = _VARIABLE.search(text)
        if match is None:
            return text
        other = _of_environment(match[1], environment) if match[1].startswith("env.") else None
        other = known.get(match[1]) if other is None else other
        if other is None:
            return text
        if match[0] in expanded:
            return value
        expanded.add(match[0])
        text = text[: match.start()] + other + text[match.end() :]
    return value


def _of_environment(variable: str, environment: Mapping[str, str]) -> str | None:
    """Resolve `env.X`, `env.X-default` and `env.X:-default`; the last also replaces an empty value."""
    match = _IN_ENVIRONMENT.fullmatch(variable)
    if match is None:
        return None
    value = environment.get(match["name"])
    if match["how"] and (value is None or (match["how"] == ":-" and not value)):
        return match["default"]
    return value


def derive_site(source: Path, target: Path, properties: Mapping[str, str]) -> None:
    """Copy a configuration directory to `target` (which must not exist) and change these properties for its clients.

    What this user may not read there is no client's, and left out. What the site files include is written into them:
    it may lie anywhere beside the source.
    """
    shutil.copytree(
        source, target, ignore=lambda folder, names: [n for n in names if not os.access(Path(folder, n), os.R_OK)]
    )
    sites = known_sites()
    for file in (site.name for site in sites):
        content = {name: value for name, value in properties.items() if file in files_of(name, sites)}
        changed = [Entry(name, value, final=False) for name, value in content.items()]
        there = (source / file).is_file()
        if not changed and not there:
            continue
        # Not only overruled: a property that is final, here or in another file, would stay.
        unchanged = (
            [entry for entry in _entries(source / file, source) if entry.name not in properties] if there else []
        )
        (target / file).unlink(missing_ok=True)
        (target / file).write_text(_entries_xml([*unchanged, *changed]), encoding="utf-8")


def _entries(file: Path, conf_dir: Path, depth: int = 0) -> Iterator[Entry]:
    """The properties of a file and what it includes, in their order. An empty value leaves an earlier one as it is.

    Raises BadInputError.
    """
    try:
        if depth > _MOST_INCLUDED:
            raise BadInputError(f"{file} can't be read: files include one another more than {_MOST_INCLUDED} deep")
        # The user's own cluster's configuration: as trusted as the user.
        root = ET.fromstring(read_bytes(file, _MOST_BYTES))  # noqa: S314
    except (ET.ParseError, LookupError, UnicodeDecodeError, ValueError) as error:
        raise BadInputError(f"{file} can't be read as a Hadoop configuration file: {error}") from error
    yield from _within(root, file, conf_dir, depth)


def _within(element: ET.Element, file: Path, conf_dir: Path, depth: int) -> Iterator[Entry]:
    for child in element:
        kind = _local(child)
        if kind == "property":
            yield from _property(child)
        elif kind == "include" and child.get("href"):
            included = _included(str(child.get("href")), file, conf_dir)
            fallback = next((inner for inner in child if _local(inner) == "fallback"), None)
            if included is not None:
                yield from _entries(included, conf_dir, depth + 1)
            elif fallback is not None:
                yield from _within(fallback, file, conf_dir, depth)
            else:
                raise BadInputError(
                    f"{file} includes {child.get('href')}, which is not there, and has no fallback for that"
                )
        elif kind == "configuration":
            yield from _within(child, file, conf_dir, depth)


def _property(element: ET.Element) -> Iterator[Entry]:
    """Read a property from its attributes, or from parts of the same names, which win."""
    parts = {key: str(element.get(key)) for key in ("name", "value", "final") if element.get(key) is not None}
    parts |= {_local(part): part.text or "" for part in element if part.text or _local(part) == "final"}
    name = parts.get("name", "").strip()
    if name and "value" in parts:
        for now in renamed().get(name, name).split(","):
            yield Entry(now, parts["value"], final=parts.get("final") == "true")


def _local(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _included(href: str, file: Path, conf_dir: Path) -> Path | None:
    """The file; None where it is not there. Looked for on the class path, where the configuration is, first.

    Raises BadInputError for what is to be fetched from elsewhere.
    """
    if "://" in href and not href.startswith("file:"):
        raise BadInputError(f"{file} includes {href}; Assay reads files only: save it beside it, and include that")
    try:
        path = Path(unquote(urlsplit(href).path)) if href.startswith("file:") else Path(href)
        return next((candidate for candidate in (conf_dir / path, file.parent / path) if candidate.is_file()), None)
    except (OSError, ValueError) as error:
        raise BadInputError(f"{file} includes {href!r}, where no file can be: {error}") from error


def _entries_xml(entries: Iterable[Entry]) -> str:
    lines = "".join(
        f"  <property>\n    <name>{escape(entry.name)}</name>\n    <value>{escape(entry.value)}</value>\n"
        f"{'    <final>true</final>' + chr(10) if entry.final else ''}  </property>\n"
        for entry in entries
    )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<configuration>\n{lines}</configuration>\n'
