"""Which Assay this is: its release, and digests of its source. Two copies with the same digest do the same."""

import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

RELEASE = "0.1.0"
NAMESPACE = "assay_extras"
PACKAGE = Path(__file__).parent
SUFFIXES = frozenset({".py", ".c", ".j2", ".js", ".css", ".yaml", ".txt", ".md", ".csv", ".json"})
ONLY_JUDGING = frozenset({"report", "stats", "studies", "testing"})
"""Folders, of the package or of plug-ins, that only read records or help tests: no measured value changes with them."""
DURING_A_TRIAL = (
    "stats/blocked.py", "stats/fault_losses.py", "stats/signature.py", "stats/timeline.py", "stats/trial_doubts.py",
)  # fmt: skip
"""Modules of these folders that trials use nevertheless: records hold their results."""
PROFILES = "profiles"
"""The folder of drive profiles in a wheel: no code, and each has a digest of its own."""


@cache
def version() -> str:
    """The release and the start of the whole source's digest (PEP 440's local version): `0.1.0+3f2a91c0d2e4`."""
    return f"{RELEASE}+{_digest(frozenset({PROFILES}))[:12]}"


@cache
def measuring_code_sha256() -> str:
    """The SHA-256, in hexadecimal, of all source but what only judges and shows records."""
    return _digest(ONLY_JUDGING | {PROFILES})


def _digest(left_out: frozenset[str]) -> str:
    """Digest the sources' names and contents, in the names' order, without some top folders of package and plug-ins."""
    whole = hashlib.sha256()
    sources = [(file, folder) for folder in (PACKAGE, *plugins()) for file in _sources(folder, left_out)]
    sources += [(PACKAGE / name, PACKAGE) for name in DURING_A_TRIAL if name.partition("/")[0] in left_out]
    for name, file in sorted((file.relative_to(folder.parent).as_posix(), file) for file, folder in sources):
        whole.update(f"{name} {hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode())
    return whole.hexdigest()


def plugins() -> list[Path]:
    """The folder of the plug-ins that come along: beside the package in a wheel, in `extras/` in a checkout."""
    folders = (PACKAGE.parent / NAMESPACE, PACKAGE.parents[1] / "extras" / NAMESPACE)
    return [folder for folder in folders if folder.is_dir()][:1]


def _sources(folder: Path, left_out: frozenset[str]) -> Iterator[Path]:
    """Yield the source files of a folder: nothing compiled, no editor's copies."""
    for entry in folder.iterdir():
        if entry.is_dir():
            if entry.name not in left_out and entry.name != "__pycache__":
                yield from _sources(entry, frozenset())
        elif entry.suffix in SUFFIXES and not entry.name.startswith("."):
            yield entry
