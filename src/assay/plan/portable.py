"""An experiment's file as it can be read from any folder: its relative paths made absolute, all else as it was."""

import io
from collections.abc import Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import Any

from assay.host.files import absolute, read_text
from assay.model.input import DATASET
from assay.model.store import names_store
from assay.plan.source import INPUT, Vocabulary, load

PROFILES = {".yaml", ".yml"}

Place = tuple[MutableMapping[Any, Any], Any]
"""A mapping or list and the key or place in it."""


def portable(path: Path, vocabulary: Vocabulary) -> str:
    """The file's text, with its comments; unchanged where no path in it is relative. Raises BadInputError."""
    from ruamel.yaml import YAML

    _, tree = load(path)
    found = [(into, key) for into, key in _paths(tree, vocabulary) if not Path(into[key]).expanduser().is_absolute()]
    if not found:
        return read_text(path)
    for into, key in found:
        into[key] = str(absolute(path.parent, Path(into[key])))
    yaml = YAML()
    yaml.width = 4096  # no line is broken that was not
    text = io.StringIO()
    yaml.dump(tree, text)
    return text.getvalue()


def _paths(tree: Any, vocabulary: Vocabulary) -> Iterator[Place]:
    """Where paths of this machine stand, in all the forms that an experiment may have."""
    datasets = _listed(tree, "datasets")
    yield from ((datasets, place) for place, one in enumerate(datasets) if isinstance(one, str))
    yield from ((one, "file") for one in datasets if isinstance(one, dict) and one.get("file"))
    media = tree.get("media") or {}
    for name, one in media.items():
        if isinstance(one, str) and Path(one).suffix in PROFILES:
            yield media, name
        elif isinstance(one, dict):
            yield from ((one, key) for key in ("path", "profile") if _is_path(key, one.get(key)))
    cluster = tree.get("cluster")
    if isinstance(cluster, dict) and cluster.get("conf_dir"):
        yield cluster, "conf_dir"
    for workload in _listed(tree, "workloads"):
        if isinstance(workload, dict) and workload.get("options"):
            yield from _options(workload["options"], vocabulary.path_options.get(workload["name"], {}))


def _options(options: MutableMapping[Any, Any], paths: Mapping[str, str]) -> Iterator[Place]:
    """Those of a workload's options that are paths, with their defaults."""
    for name, default in paths.items():
        text = options.setdefault(name, default) if default else options.get(name)
        if text and not (name == INPUT and text == DATASET) and not names_store(text):
            yield options, name


def _is_path(key: str, value: Any) -> bool:
    return bool(value) and (key == "path" or Path(value).suffix in PROFILES)


def _listed(tree: Any, key: str) -> Any:
    """A list where one thing alone may stand, too; in the second case the tree has a list from now on."""
    value = tree.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        tree[key] = [value]
    return tree[key]
