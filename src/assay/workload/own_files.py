"""The files of a user's own job: its jar, and what is to be staged."""

import zipfile
import zlib
from pathlib import Path
from typing import NamedTuple

from assay.model.errors import BadInputError
from assay.workload.options import Options

# HDFS has no such names, or a URL has to be built with care for them.
_MOST_MANIFEST_BYTES = 1 << 20
_UNUSABLE = frozenset("#?%:\\")


class LocalInput(NamedTuple):
    """A file or folder: its path, each file in it with its name from there on, and all their bytes."""

    path: Path
    files: tuple[tuple[Path, str], ...]
    bytes: int


def the_jar(options: Options) -> Path:
    """The jar's file. Raises BadInputError when there is none."""
    jar = Path(options.text("jar"))
    if not options.text("jar"):
        raise options.refusal("jar", "the jar's file: its path, absolute or from the experiment's folder")
    if not jar.is_file():
        raise options.refusal("jar", "a file that is there: its path, absolute or from the experiment's folder")
    if not zipfile.is_zipfile(jar):
        raise options.refusal("jar", "a jar, and it is a file of another kind")
    try:
        _manifest_class(jar)
    except (zipfile.BadZipFile, OSError, EOFError, RuntimeError, NotImplementedError, zlib.error):
        raise options.refusal("jar", "a whole jar, and this one is damaged: build or copy it again") from None
    return jar


def main_class(jar: Path, options: Options) -> tuple[str | None, tuple[str, ...]]:
    """The class to be run past the manifest, if any, and the words that come before the arguments.

    `hadoop jar` takes its first argument for the class only where the manifest names none. Raises BadInputError when
    nothing names one, or it is not in the jar.
    """
    wanted, named = options.text("class"), _manifest_class(jar)
    if not wanted and named is None:
        raise BadInputError(
            f"workload command: {jar} names no main class in its manifest; name one in the option class"
        )
    if wanted and not _has_class(jar, wanted):
        raise options.refusal("class", f"a class in {jar.name}: its full name, with its package")
    if not wanted or wanted == named:
        return None, ()
    return (None, (wanted,)) if named is None else (wanted, ())


def local_input(options: Options) -> LocalInput:
    """What is to be staged. Raises BadInputError when it is not there, empty, or has names that HDFS can't take."""
    path = Path(options.text("input"))
    if not path.exists():
        raise options.refusal("input", "a file or folder that is there, absolute or from the experiment's folder")
    files = ((path, path.name),) if path.is_file() else _below(path)
    size = sum(file.stat().st_size for file, _ in files)
    if size == 0:
        raise options.refusal("input", "a file or folder with something in it (hidden files are left out)")
    for file, name in files:
        if _UNUSABLE & set(name):
            raise BadInputError(f"workload command: {file} can't be staged; rename it without # ? % : and backslashes")
    return LocalInput(path, files, size)


def _below(folder: Path) -> tuple[tuple[Path, str], ...]:
    """All files in a folder and those below it, without what begins with a dot or `_`, as Hadoop leaves it out too."""
    found = [(file, file.relative_to(folder)) for file in sorted(folder.rglob("*")) if file.is_file()]
    return tuple((file, str(name)) for file, name in found if not any(part[0] in "._" for part in name.parts))


def _manifest_class(jar: Path) -> str | None:
    """The manifest's Main-Class; a line of more than 72 bytes goes on in one that begins with a space."""
    with zipfile.ZipFile(jar) as archive:
        if "META-INF/MANIFEST.MF" not in archive.namelist():
            return None
        with archive.open("META-INF/MANIFEST.MF") as manifest:
            text = manifest.read(_MOST_MANIFEST_BYTES).decode(errors="replace")
    text = text.replace("\r\n", "\n").replace("\n ", "")
    lines = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
    return lines.get("Main-Class", "").strip() or None


def _has_class(jar: Path, name: str) -> bool:
    with zipfile.ZipFile(jar) as archive:
        return f"{name.replace('.', '/')}.class" in archive.namelist()
