"""Files and paths that users name: only regular files are read, whole, and only up to a bound; no path goes in circles.

A pipe would keep its reader waiting for ever, and a device such as /dev/zero has no end. Texts are UTF-8, whatever the
locale, and replace an earlier file in one step, or not at all.
"""

import errno
import os
import stat
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from assay.model.errors import BadInputError

MOST_WRITTEN_BYTES = 1 << 18
"""Of what people write by hand, such as an experiment."""

MOST_RECORDED_BYTES = 1 << 30
"""Of what Assay wrote itself, such as the plan of 100,000 trials."""

_REASONS = {
    errno.ENOENT: "there is no such file",
    errno.EISDIR: "it is a folder",
    errno.ENOTDIR: "a part of its path is a file, and no folder",
    errno.ENAMETOOLONG: "its name is too long",
    errno.ELOOP: "its symbolic links lead in a circle",
    errno.EACCES: "its owner or mode does not let you",
    errno.EPERM: "this user may not",
    errno.EROFS: "its file system is read-only",
    errno.EEXIST: "it is there already",
}
_OF_THE_PATH = frozenset(_REASONS)
_OTHER_REASONS = {
    errno.ENOSPC: "no space is left on its disk; free some",
    errno.EDQUOT: "your quota of its disk is used up; free some",
    errno.EIO: "its disk answers with errors",
}
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe (FIFO)"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


@contextmanager
def opened(path: Path, flags: int = os.O_RDONLY) -> Iterator[int]:
    """Open a descriptor, which no child inherits, for the time of a scope. Raises OSError."""
    descriptor = os.open(path, flags | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


class UnreadableFileError(BadInputError):
    """A file that can't be read; `reason` is why, without the file's name."""

    def __init__(self, file: Path, reason: str, *, missing: bool = False) -> None:
        super().__init__(f"{file} can't be read: {reason}")
        self.reason = reason
        self.missing = missing


def input_files(folder: Path) -> list[Path]:
    """Return all files in and below a folder, sorted, also those behind links.

    What begins with a dot or `_` is left out, as Hadoop leaves it out. Raises BadInputError where some can't be seen:
    links to nothing or in a circle, folders that may not be read.
    """
    files: list[Path] = []
    left: list[tuple[Path, tuple[str, ...]]] = [(folder, (os.path.realpath(folder),))]
    while left:
        place, above = left.pop()
        try:
            visible = [entry for entry in place.iterdir() if entry.name[0] not in "._"]
        except OSError as error:
            raise BadInputError(f"{place} can't be read: {why(error)}") from None
        for entry in visible:
            if not entry.is_dir():
                if entry.is_symlink() and not entry.exists():
                    raise BadInputError(f"{entry} is a link to nothing that is there; mend it or remove it")
                files += [entry] if entry.is_file() else []
            elif (real := os.path.realpath(entry)) in above:
                raise BadInputError(
                    f"{entry} is a link to a folder that it lies in, so that there is no end; remove it"
                )
            else:
                left.append((entry, (*above, real)))
    return sorted(files)


def bytes_below(folder: Path) -> int:
    """The lengths of all files below a folder together; 0 where there is none. What goes meanwhile does not count."""
    size = 0
    for file in folder.rglob("*"):
        with suppress(FileNotFoundError):
            status = file.lstat()
            size += status.st_size if stat.S_ISREG(status.st_mode) else 0
    return size


def read_bytes(file: Path, most_bytes: int = MOST_RECORDED_BYTES) -> bytes:
    """Read a regular file of at most `most_bytes`. Raises UnreadableFileError, at once, for anything else."""
    try:
        # Without O_NONBLOCK the opening of a pipe would wait for its writer.
        with opened(file, os.O_NONBLOCK | os.O_NOCTTY) as descriptor:
            _check_regular(file, os.fstat(descriptor).st_mode)
            with os.fdopen(descriptor, "rb", closefd=False) as whole:
                content = whole.read(most_bytes + 1)
    except (OSError, ValueError) as error:
        raise UnreadableFileError(file, why(error), missing=isinstance(error, FileNotFoundError)) from None
    if len(content) > most_bytes:
        raise UnreadableFileError(file, f"it is larger than {most_bytes >> 10:,} KiB; name another file")
    return content


def read_text(file: Path, most_bytes: int = MOST_WRITTEN_BYTES) -> str:
    """Read the text of such a file, without a byte order mark. Raises UnreadableFileError, also for other encodings."""
    content = read_bytes(file, most_bytes)
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UnreadableFileError(file, f"line {line} is not UTF-8 text; save it as UTF-8") from None


def whole_number_in(file: Path) -> int | None:
    """Read a file of the kernel that holds a whole number; None where it does not exist, or holds anything else."""
    try:
        return int(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


@contextmanager
def whole(file: Path) -> Iterator[Path]:
    """Give a path to write to, which becomes `file` by one rename if the block ends well, and is removed otherwise.

    A pipe or a device, such as /dev/stdout, is written to itself. Raises OSError with the name of `file`.
    """
    if file.exists() and not file.is_file():  # asked before links are followed: a pipe's in /proc leads to no file
        yield file
        return
    target = file.resolve()
    partial = target.with_name(f".{uuid.uuid4().hex[:12]}.part")
    try:
        yield partial
        if target.exists():
            partial.chmod(stat.S_IMODE(target.stat().st_mode))
        partial.replace(target)
    except OSError as error:
        if error.filename == str(partial):
            error.filename = str(file)
        raise
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def replace_text(file: Path, text: str | Iterable[str]) -> None:
    """Write a text, or its pieces, as a file, which is on disk before it replaces an earlier file. Raises OSError.

    A character of a file's name that is not UTF-8 becomes an escape.
    """
    with whole(file) as partial, partial.open("w", encoding="utf-8", errors="backslashreplace") as stream:
        stream.writelines([text] if isinstance(text, str) else text)
        stream.flush()
        with suppress(OSError):  # a pipe has no disk
            os.fsync(stream.fileno())


def refuse_irregular(file: Path) -> None:
    """Raise UnreadableFileError for anything but a regular file, for readers that open the file themselves."""
    try:
        mode = file.stat().st_mode
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        raise UnreadableFileError(file, why(error)) from None
    _check_regular(file, mode)


def _check_regular(file: Path, mode: int) -> None:
    kind = irregular(mode)
    if kind is not None:
        raise UnreadableFileError(file, f"it is {kind}, and a regular file is needed")


def irregular(mode: int) -> str | None:
    """Say what an irregular file is, by its mode (stat(2)); None for a regular file."""
    if stat.S_ISREG(mode):
        return None
    return next((description for is_kind, description in _KINDS if is_kind(mode)), "no regular file")


def absolute(folder: Path, path: Path) -> Path:
    """Resolve a user's path, relative to a folder; `~` is their home. Raises BadInputError where it can't be a path."""
    try:
        at_home = path.expanduser()
    except RuntimeError:
        raise BadInputError(
            f"{path} can't be used: this machine has no user {path.parts[0][1:]!r}; write the whole path, or ./{path} "
            f"for a name that begins with ~"
        ) from None
    try:
        return possible((folder / at_home).resolve())
    except RuntimeError:  # what pathlib makes of a circle of links
        raise BadInputError(f"{path} can't be used: {_REASONS[errno.ELOOP]}; name another path") from None
    except (OSError, ValueError) as error:
        raise BadInputError(f"{path} can't be used: {why(error)}; name another path") from None


def possible(path: Path) -> Path:
    """Return the path. Raises BadInputError where no file can be there: NUL, a circle of links, too long a name."""
    try:
        path.stat()
    except (FileNotFoundError, PermissionError):
        pass
    except (OSError, ValueError) as error:
        raise BadInputError(f"{path} can't be used: {why(error)}; name another path") from None
    return path


PLAIN_CHARACTERS = "/._-=@~+"
"""What may stand in a path that Hadoop gets, besides letters and digits of any script."""


def plain(path: Path, subject: str, *, but: str = "") -> Path:
    """Return the path. Raises BadInputError for a character that means something to Hadoop, a JVM or a shell.

    Hadoop's directories stand in lists with commas, with a type in brackets before them, and are read as URIs (`#`,
    `%`); containers are started by scripts that split at blanks; class paths have `:` and `*`. Such a path
    would become another one, or fail long after the start. `but` are plain characters that are not allowed here.
    """
    allowed = set(PLAIN_CHARACTERS) - set(but)
    odd = next((sign for sign in str(path) if not _is_plain(sign, allowed)), None)
    if odd is not None:
        shown = "a blank" if odd == " " else repr(odd) if odd.isprintable() else f"U+{ord(odd):04X}"
        raise BadInputError(
            f"{subject} {path} can't be used: Hadoop can't take a path with {shown}; use one of letters, digits and "
            f"{' '.join(sign for sign in PLAIN_CHARACTERS if sign in allowed)}"
        )
    return path


def _is_plain(sign: str, allowed: set[str]) -> bool:
    return sign in allowed or (sign.isalnum() if sign.isascii() else sign.isprintable())


def why(error: OSError | ValueError) -> str:
    """Say why a file can't be used, in words and without an error number."""
    if isinstance(error, OSError):
        return (_REASONS | _OTHER_REASONS).get(error.errno or 0, error.strerror or str(error))
    return "its name has a NUL character or one that no file name can have"


def is_of_the_path(error: OSError) -> bool:
    """Tell whether another path would cure the error, rather than more room or a healthy disk."""
    return error.errno in _OF_THE_PATH and error.filename is not None


def is_tar(head: bytes) -> bool:
    """Whether a file that begins so is a tar archive (POSIX.1-2001, ustar interchange format)."""
    return head[257:].startswith(b"ustar")
