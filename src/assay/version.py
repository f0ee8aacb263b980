"""Which Assay this is: its release, and digests of its source. Two copies with the same digest do the same."""

import hashlib
import re
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

RELEASE = "0.1.0"
NAMESPACE = "assay_extras"
PACKAGE = Path(__file__).parent
SUFFIXES = frozenset({".py", ".c", ".j2", ".js", ".css", ".yaml", ".txt", ".md", ".csv", ".json"})
AFTER_TRIALS = frozenset({"COMMANDS", "FIGURES", "FINDINGS", "FORMS", "PREDICTORS", "SECTIONS", "SUMMARY_FIGURES"})
"""Registries whose kinds take no part in a trial."""
BEGINNINGS = ("assay.trial", "assay.input.catalogue", "assay.input.sample", "assay.workload.together")
"""A trial, and what makes the input and the workload that it is handed. Each module that adds a kind is another."""
ABOVE_TRIALS = ("assay.cli", "assay.run", "assay.triage", "assay.report")
"""What a plug-in that brings a kind imports of these is for its commands."""
PROFILES = "profiles"
"""The folder of drive profiles in a wheel: no code, and each has a digest of its own."""
_ADDED = re.compile(r"^ *([A-Z_]+)\.add(?:_late)?\(", re.MULTILINE)
_IMPORTED = re.compile(r"^ *(?:from ([\w.]+) )?import (\([^)]*\)|.+)", re.MULTILINE)


@cache
def version() -> str:
    """The release and the start of the whole source's digest (PEP 440's local version): `0.1.0+3f2a91c0d2e4`."""
    return f"{RELEASE}+{_digest(_sources())[:12]}"


def loaded_code() -> str:
    """The version, with a digest of the plug-ins that are loaded and did not come along, where there are any."""
    ours = plugins()
    modules = (
        (name, module.__file__) for name, module in list(sys.modules.items()) if name.startswith(f"{NAMESPACE}.")
    )
    files = {name: Path(file) for name, file in modules if file}
    added = {name: file for name, file in files.items() if not any(file.is_relative_to(folder) for folder in ours)}
    return f"{version()}.{_digest(added)[:12]}" if added else version()


@cache
def measuring_code_sha256() -> str:
    """The SHA-256, in hexadecimal, of all source that a trial reaches by imports, and of data files beside it."""
    sources = _sources()
    modules = {_module(name): file for name, file in sources.items() if file.suffix == ".py"}
    reached = {modules[name] for name in _reached(modules)}
    folders = {file.parent for file in reached}
    taken = (file in reached if file.suffix == ".py" else file.parent in folders for file in sources.values())
    return _digest({name: sources[name] for name, is_taken in zip(sources, taken, strict=True) if is_taken})


def _digest(sources: Mapping[str, Path]) -> str:
    """Digest sources' names and contents, in the names' order."""
    whole = hashlib.sha256()
    for name, file in sorted(sources.items()):
        whole.update(f"{name} {hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode())
    return whole.hexdigest()


def _module(name: str) -> str:
    """The name by which the file of a source is imported."""
    return name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _reached(modules: Mapping[str, Path]) -> set[str]:
    """The modules that a trial imports, also those that it imports late or for types alone."""
    texts = {name: file.read_text(encoding="utf-8") for name, file in modules.items()}
    left = {name for name, text in texts.items() if name in BEGINNINGS or set(_ADDED.findall(text)) - AFTER_TRIALS}
    reached: set[str] = set()
    while left:
        reached.add(name := left.pop())
        left |= {other for other in imports(texts[name]) if other in texts and not other.startswith(ABOVE_TRIALS)}
        left -= reached
    return reached


def imports(text: str) -> set[str]:
    """What a module's text imports, packages and names in modules included. The package itself holds only `load`."""
    paths = set()
    for module, names in _IMPORTED.findall(text):
        paths |= {f"{module}.{name}" if module else name for name in re.findall(r"[\w.]+", names)}
    levels = [path.split(".") for path in paths]
    return {".".join(parts[:length]) for parts in levels for length in range(2, len(parts) + 1)}


def plugins() -> list[Path]:
    """The folder of the plug-ins that come along: beside the package in a wheel, in `extras/` in a checkout."""
    folders = (PACKAGE.parent / NAMESPACE, PACKAGE.parents[1] / "extras" / NAMESPACE)
    return [folder for folder in folders if folder.is_dir()][:1]


def _sources() -> dict[str, Path]:
    """The source files of package and plug-ins: nothing compiled, no editor's copies, no profiles of a wheel."""
    files = ((file, folder) for folder in (PACKAGE, *plugins()) for file in folder.rglob("*"))
    sources = {file.relative_to(folder.parent).as_posix(): file for file, folder in files if file.suffix in SUFFIXES}
    profiles = f"{PACKAGE.name}/{PROFILES}/"
    return {
        name: file for name, file in sources.items()
        if not name.startswith(profiles) and not file.name.startswith(".") and "/__pycache__/" not in name
    }  # fmt: skip
