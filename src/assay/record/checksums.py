"""The checksums of a record folder's files, as `sha256sum` writes them and `sha256sum -c` checks them.

A folder that was written without them is read as it is: nothing is claimed of it.
"""

import hashlib
from pathlib import Path

from assay.files import MOST_RECORDED_BYTES, UnreadableFileError, read_text, refuse_irregular
from assay.record.reading import Unreadable

SUMS = "sha256sums"


def write_sums(folder: Path) -> None:
    """Name all files of a folder with their checksums, in it."""
    lines = [f"{_digest(file)}  {file.name}\n" for file in sorted(folder.iterdir())]
    (folder / SUMS).write_text("".join(lines))


def check_sum(folder: Path, name: str, content: bytes | None = None) -> None:
    """Hold a file against its checksum; `content` is what it holds, where it was read before.

    Raises Unreadable where they differ, and where the sums name a file that is not there or don't name one that is.
    """
    try:
        lines = read_text(folder / SUMS, MOST_RECORDED_BYTES).splitlines()
    except UnreadableFileError as error:
        if error.missing:
            return
        raise Unreadable(f"{SUMS} was altered after it was written: {error.reason}") from None
    wanted = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}.get(name)
    file = folder / name
    if wanted is None and not file.exists():
        return
    if wanted is None:
        raise Unreadable(f"{SUMS} does not name {name}: one of them was altered after they were written")
    if not file.exists():
        raise Unreadable(f"{name} is not there, and {SUMS} names it")
    if wanted != (_digest(file) if content is None else hashlib.sha256(content).hexdigest()):
        raise Unreadable(f"{name} is not what {SUMS} says: one of them was altered after they were written")


def _digest(file: Path) -> str:
    refuse_irregular(file)
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
