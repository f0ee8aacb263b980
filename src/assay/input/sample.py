"""A sample of a job's input: whole files in an order that their names decide, and the beginning of one long text.

Digests of names are in no order that a job's data could have, so that a sample has files of all days and keys, and the
same names give the same sample anywhere.
"""

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import groupby
from pathlib import Path, PurePosixPath
from typing import BinaryIO, NamedTuple, Protocol
from urllib.parse import urlsplit

from assay.host.files import input_files, why
from assay.model.errors import AssayError, BadInputError
from assay.model.naming import bytes_text
from assay.model.store import FoundFile

MANIFEST = ".sample.json"
"""What a sample was taken from, beside its files. Hadoop and Assay leave out files with a dot before their names."""
_HEAD_BYTES = 64 << 10
_MOST_TRIES = 8
"""Files that are looked at for lines: each costs a start of Hadoop's client where the input is in HDFS."""
_MOST_OVER = 2.0
"""A file that can't be cut makes a sample at most so many times larger than it was meant to be."""


class SampleSource(Protocol):
    """Where a sample is taken from."""

    def list_below(self, path: str) -> list[FoundFile]:
        """All files below a folder, linked ones too, or the file itself. Raises AssayError."""

    def get(self, paths: Sequence[str], folder: Path) -> object:
        """Put files into a folder of this machine, under the last parts of their names; the unreadable are left out."""

    def pieces(self, path: str, offset: int = 0, size: int | None = None) -> Iterator[bytes]:
        """The bytes of a file."""


class ThisMachine:
    """Files of this machine; what is put elsewhere is a link to them."""

    def list_below(self, path: str) -> list[FoundFile]:
        top = Path(path).resolve()
        files = [top] if top.is_file() else input_files(top)
        try:
            return [FoundFile(str(file), int(file.stat().st_mtime * 1000), file.stat().st_size) for file in files]
        except OSError as error:
            raise AssayError(f"{path} can't be read: {why(error)}") from None

    def get(self, paths: Sequence[str], folder: Path) -> None:
        for path in paths:
            if os.access(path, os.R_OK):
                (folder / Path(path).name).symlink_to(path)

    def pieces(self, path: str, offset: int = 0, size: int | None = None) -> Iterator[bytes]:
        left = Path(path).stat().st_size if size is None else size
        with Path(path).open("rb") as content:
            content.seek(offset)
            while left > 0 and (piece := content.read(min(left, 1 << 20))):
                left -= len(piece)
                yield piece


class InputSample(NamedTuple):
    """Which files of an input make a sample, and how much of a last one, which is cut behind a line."""

    source: str
    files: Sequence[FoundFile]
    cut: FoundFile | None
    cut_bytes: int
    of_files: int
    of_bytes: int

    @property
    def bytes(self) -> int:
        """How many there are, but for the part of a line at the cut."""
        return sum(file.bytes for file in self.files) + self.cut_bytes

    @property
    def is_all(self) -> bool:
        """Whether the whole input is so small."""
        return self.cut is None and len(self.files) == self.of_files

    @property
    def manifest(self) -> str:
        """Which bytes it has, as JSON: equal texts mean equal samples while no file changes within its time's unit."""
        cut = None if self.cut is None else [self.cut.path, self.cut_bytes, self.cut.changed_ms]
        files = [[file.path, file.bytes, file.changed_ms] for file in self.files]
        return json.dumps({"source": self.source, "files": files, "cut": cut}, indent=1)

    @property
    def text(self) -> str:
        """How it was taken, in a sentence without its end."""
        if self.is_all:
            return f"all of {self.source}, {bytes_text(self.bytes)}"
        whole = f"{len(self.files)} of {self.of_files} files, chosen by their names' digests"
        begin = (
            "" if self.cut is None else f"the first {bytes_text(self.cut_bytes)} of {PurePosixPath(self.cut.path).name}"
        )
        parts = ", and ".join(filter(None, (whole if self.files else "", begin)))
        return f"{bytes_text(self.bytes)} of the {bytes_text(self.of_bytes)} of {self.source}: {parts}"


def choose(place: str, source: SampleSource, size_bytes: int) -> InputSample:
    """A sample of so many bytes of the files below a place. Raises BadInputError where none can be taken."""
    files = [file for file in source.list_below(place) if file.bytes and not _is_hidden(place, file.path)]
    if not files:
        raise BadInputError(f"--input {place} has nothing in it (hidden and empty files are left out)")
    whole: list[FoundFile] = []
    taken, cut, cut_bytes, tries = 0, None, 0, 0
    for file in sorted(files, key=lambda file: sha256(_name(place, file.path).encode()).digest()):
        left = size_bytes - taken
        if left <= 0:
            break
        if file.bytes > left and tries < _MOST_TRIES:
            tries += 1
            if _is_text(source, file.path, left):
                cut, cut_bytes = file, left
                break
        if taken + file.bytes <= _MOST_OVER * size_bytes:
            whole.append(file)
            taken += file.bytes
    if not whole and cut is None:
        least = min(file.bytes for file in files)
        raise BadInputError(
            f"--sample {bytes_text(size_bytes)} is less than half of each file of {place}, and none of the first "
            f"{tries} is a text that could be cut; take a sample of at least {bytes_text(least)}"
        )
    return InputSample(place, tuple(whole), cut, cut_bytes, len(files), sum(file.bytes for file in files))


def write_sample(sample: InputSample, source: SampleSource, folder: Path) -> None:
    """Put a sample into a folder, unless it is there already. Raises AssayError, or BadInputError for another one's.

    The folder appears once the sample is whole: until then it grows in FOLDER.part, which a later call begins again.
    """
    manifest = sample.manifest
    if folder.exists():
        with suppress(OSError):
            if (folder / MANIFEST).read_text(encoding="utf-8") == manifest:
                return
        raise BadInputError(
            f"{folder} is there and holds something else than this sample; remove it, or choose another --name or "
            "--write FILE"
        )
    part = folder.with_name(f"{folder.name}.part")
    if part.exists():
        shutil.rmtree(part)
    part.mkdir(parents=True)
    ordered = sorted(sample.files, key=lambda file: _name(sample.source, file.path))
    for parent, files in groupby(ordered, key=lambda file: str(PurePosixPath(_name(sample.source, file.path)).parent)):
        into, together = part / parent, list(files)
        into.mkdir(parents=True, exist_ok=True)
        source.get([file.path for file in together], into)
        for file in together:
            copy = into / PurePosixPath(file.path).name
            if not copy.is_file() or copy.stat().st_size != file.bytes:
                raise AssayError(f"{file.path} can't be read, or changed while it was copied; look at its permissions")
    if sample.cut is not None:
        into = part / _name(sample.source, sample.cut.path)
        into.parent.mkdir(parents=True, exist_ok=True)
        with into.open("w+b") as beginning:
            for piece in source.pieces(sample.cut.path, 0, sample.cut_bytes):
                beginning.write(piece)
            beginning.truncate(_behind_last_line(beginning))
    (part / MANIFEST).write_text(manifest, encoding="utf-8")
    part.rename(folder)


def _behind_last_line(content: BinaryIO) -> int:
    """Where the last whole line ends. Raises AssayError for a text that is a single line."""
    end = content.seek(0, os.SEEK_END)
    while end > 0:
        begin = max(0, end - _HEAD_BYTES)
        content.seek(begin)
        at = content.read(end - begin).rfind(b"\n")
        if at >= 0:
            return begin + at + 1
        end = begin
    raise AssayError("the sample's last file has no line that ends within it; take a larger --sample")


def _name(place: str, path: str) -> str:
    """A file's path from the place where the input lies; its last part where it is the input itself."""
    top, file = (PurePosixPath(urlsplit(text).path) if ":" in text else PurePosixPath(text) for text in (place, path))
    try:
        name = str(file.relative_to(top))
    except ValueError:
        name = "."
    return file.name if name == "." else name


def _is_hidden(place: str, path: str) -> bool:
    return any(part[0] in "._" for part in PurePosixPath(_name(place, path)).parts)


def _is_text(source: SampleSource, path: str, most_bytes: int) -> bool:
    """Whether its beginning has lines and no zero byte, which compressed and binary files have."""
    head = b"".join(source.pieces(path, 0, min(_HEAD_BYTES, most_bytes)))
    return b"\n" in head and b"\0" not in head
