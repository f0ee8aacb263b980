"""Reads the configuration directory of somebody else's cluster, and derives one with a few properties changed."""

import os
import re
import shutil
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementInclude

from assay.cluster.configuration import FILES, files_of
from assay.files import UnreadableFileError, read_bytes
from assay.model.errors import BadInputError

_VARIABLE = re.compile(r"\$\{([^}$\s]+)\}")
_MOST_BYTES = 1 << 22
_DEPTH = 20  # as in Hadoop's Configuration: a variable may name another


def read_site(conf_dir: Path) -> dict[str, str]:
    """The properties of the four site files, variables replaced where they are known; later files win.

    Raises BadInputError when the directory has none of them or one can't be read as XML.
    """
    found = [conf_dir / file for file in FILES if (conf_dir / file).is_file()]
    if not found:
        raise BadInputError(f"{conf_dir} is no Hadoop configuration directory: none of {', '.join(FILES)} is in it")
    properties: dict[str, str] = {}
    for file in found:
        properties.update(_entries(_parse(file)))
    return {name: _expand(value, properties) for name, value in properties.items()}


def derive_site(source: Path, target: Path, properties: Mapping[str, str]) -> None:
    """Copy a configuration directory to `target` (which must not exist) and change these properties for its clients.

    What this user may not read there is no client's, and left out.
    """
    shutil.copytree(source, target, ignore=_unreadable)
    for file in FILES:
        own = {name: value for name, value in properties.items() if file in files_of(name)}
        if own or (source / file).is_file():
            _write_changed(source / file, target / file, own)


def _unreadable(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if not os.access(Path(folder) / name, os.R_OK)]


def _write_changed(source: Path, target: Path, properties: Mapping[str, str]) -> None:
    """With what the source includes: that may lie anywhere beside it."""
    root = _parse(source) if source.is_file() else ET.Element("configuration")
    # Not only overruled: a property that is final would stay.
    for parent in root.iter("configuration"):
        for entry in parent.findall("property"):
            if (entry.findtext("name") or "").strip() in properties:
                parent.remove(entry)
    for name, value in properties.items():
        entry = ET.SubElement(root, "property")
        ET.SubElement(entry, "name").text = name
        ET.SubElement(entry, "value").text = value
    target.unlink(missing_ok=True)
    ET.ElementTree(root).write(target, encoding="UTF-8", xml_declaration=True)


def _parse(file: Path) -> ET.Element:
    try:
        # The user's own cluster's configuration: as trusted as the user.
        root = ET.fromstring(read_bytes(file, _MOST_BYTES))  # noqa: S314
        ElementInclude.include(root, loader=_included, base_url=str(file))  # type: ignore[arg-type]  # its overloads
    except (ET.ParseError, ElementInclude.FatalIncludeError, LookupError, UnicodeDecodeError, ValueError) as error:
        raise BadInputError(f"{file} can't be read as a Hadoop configuration file: {error}") from error
    return root


def _included(name: str, parse: str, encoding: str | None = None) -> ET.Element | str:
    try:
        content = read_bytes(Path(name), _MOST_BYTES)
    except UnreadableFileError as error:
        raise ElementInclude.FatalIncludeError(str(error)) from None
    return ET.fromstring(content) if parse == "xml" else content.decode(encoding or "utf-8")  # noqa: S314 - see above


def _entries(root: ET.Element) -> dict[str, str]:
    entries = ((entry.findtext("name"), entry.findtext("value")) for entry in root.iter("property"))
    return {name.strip(): (value or "").strip() for name, value in entries if name}


def _expand(value: str, properties: Mapping[str, str]) -> str:
    for _ in range(_DEPTH):
        expanded = _VARIABLE.sub(lambda match: properties.get(match.group(1), match.group(0)), value)
        if expanded == value:
            break
        value = expanded
    return value
