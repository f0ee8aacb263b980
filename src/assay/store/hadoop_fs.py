"""Any file system that Hadoop's client knows, through `hadoop fs`: slow, but it works wherever a user's client does."""

import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from io import BufferedReader
from pathlib import Path
from threading import Event, Thread
from typing import Any, BinaryIO, cast

from assay.host.processes import last_telling
from assay.model.errors import AssayError
from assay.model.store import FoundFile, Store, StoredFile, literal

PIECE_BYTES = 1 << 20
SILENT = "it printed no reason"
_LISTED = re.compile(r"-\S+\s+\d+\s.*?\s(\d+) (\d{4}-\d\d-\d\d \d\d:\d\d) (.+)")
"""A file as `-ls` prints it: rights, replicas, owner, group, length, date, time and path. Names of owners and groups
may have blanks, as a directory service's have, or be empty, as object stores' are."""


_WATCH_S = 1.0


@contextmanager
def watched(process: "subprocess.Popen[Any]", failure: Callable[[], str | None]) -> Iterator[None]:
    """Kill a client, for the time of a scope, when something has died that it would wait for, for many minutes.

    Raises AssayError with that reason, in place of whatever the client's end raises.
    """
    over = Event()
    reasons: list[str] = []

    def watch() -> None:
        while not over.is_set():
            if (reason := failure()) is not None:
                reasons.append(reason)
                process.kill()
                return
            over.wait(_WATCH_S)

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    except Exception as error:
        if reasons:
            raise AssayError(reasons[0]) from error
        raise
    finally:
        over.set()
        watcher.join()
    if reasons:
        raise AssayError(reasons[0])


class HadoopFs(Store):
    """A Store behind the `hadoop fs` command."""

    def __init__(
        self, hadoop: Path, environment: Mapping[str, str] | None = None,
        failure: Callable[[], str | None] = lambda: None,
    ) -> None:  # fmt: skip
        """`failure` is asked each second whether the cluster has lost what the command would wait for."""
        self._hadoop = hadoop
        self._environment = dict(os.environ if environment is None else environment)
        self._failure = failure

    def location(self, path: str) -> str:
        """Return the path, which Hadoop's clients take as it is."""
        return path

    def put(self, source: Path, path: str) -> None:
        """Make the parent (`-mkdir -p`) and put the file's content (`-put -`); an existing file is refused.

        The client does not get the local name, which it would read as a URI and a pattern.
        """
        self._run("-mkdir", "-p", str(Path(path).parent))
        with source.open("rb") as content:
            self._run("-put", "-", path, content=content)

    def let_all_read(self, path: str) -> None:
        """Let every user read a file, whatever the client's umask is."""
        self._run("-chmod", "a+r", literal(path))

    def lines(self, path: str) -> Iterator[bytes]:
        """Yield the lines of all files but hidden ones."""
        return self.lines_matching(f"{literal(path)}/[^_.]*")

    def lines_matching(self, pattern: str) -> Iterator[bytes]:
        """Yield the lines of the files that a pattern of Hadoop's matches, by `-cat`."""
        with self._cat(pattern) as output:
            for line in output:
                yield line.rstrip(b"\n")

    def list_files(self, path: str) -> list[StoredFile]:
        """List files by `-ls`."""
        files = _files_in(self._run("-ls", literal(path)))
        return sorted(
            StoredFile(file.path, file.bytes) for file in files if not Path(file.path).name.startswith(("_", "."))
        )

    def list_below(self, path: str, unread: list[str] | None = None) -> list[FoundFile]:
        """`-ls -R`: all files below a folder, with the minute of their last change (by this machine's clock).

        Where some folders below it can't be read, what the client says of each goes to `unread`, if that is given.
        """
        arguments = ("-ls", "-R", literal(path))
        done = self._call(*arguments)
        files, refused = list(_files_in(done.stdout)), _refused(done, "ls")
        if done.returncode and not (files and refused and unread is not None):
            raise _failure(arguments, done)
        if unread is not None:
            unread += refused
        return files

    def get(self, paths: Sequence[str], folder: Path) -> list[str]:
        """`-get`: copy files into a folder of this machine; what the client says of those that can't be read."""
        return _refused(self._call("-get", *map(literal, paths), str(folder)), "get")

    def pieces(self, path: str, offset: int = 0, size: int | None = None) -> Iterator[bytes]:
        """Read by `-cat`, which begins at the beginning: what lies before `offset` is read and dropped."""
        with self._cat(literal(path)) as output:
            while offset > 0 and (dropped := output.read(min(offset, PIECE_BYTES))):
                offset -= len(dropped)
            while size is None or size > 0:
                piece = output.read(PIECE_BYTES if size is None else min(size, PIECE_BYTES))
                if not piece:
                    return
                size = None if size is None else size - len(piece)
                yield piece

    def exists(self, path: str) -> bool:
        """Whether there is such a path, by `-test -e`, which tells nothing where there is none.

        Raises AssayError where the client cannot know, such as that of a cluster that is down: it ends with 1, too.
        """
        done = self._call("-test", "-e", literal(path))
        reasons = [line for line in done.stderr.splitlines() if line.startswith("test: ")]
        if reasons or done.returncode not in (0, 1):
            said = last_telling("\n".join(reasons) or done.stderr, silent=SILENT)
            raise AssayError(f"hadoop fs -test -e {path} failed: {said}")
        return done.returncode == 0

    def size_bytes(self, path: str) -> int:
        """Return the first column of `-du -s`; 0 where the path does not exist."""
        return int(self._run("-du", "-s", literal(path)).split()[0]) if self.exists(path) else 0

    def delete(self, path: str, *more: str) -> None:
        self._run("-rm", "-r", "-f", "-skipTrash", *map(literal, (path, *more)))

    @contextmanager
    def _cat(self, path: str) -> Iterator[BufferedReader]:
        """Open the output of `-cat`; the client is killed where the caller leaves output unread."""
        command = [str(self._hadoop), "fs", "-cat", path]
        with (
            tempfile.TemporaryFile() as errors,  # not a pipe: a client that warns a lot would fill it and wait for ever
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, env=self._environment) as process,
        ):
            output = cast(BufferedReader, process.stdout)
            with watched(process, self._failure):
                try:
                    yield output
                    enough = output.peek(1) != b""
                except BaseException:
                    process.kill()
                    raise
                if enough:
                    process.kill()
                elif process.wait() != 0:
                    errors.seek(0)
                    said = last_telling(errors.read().decode(errors="replace"), silent=SILENT)
                    raise AssayError(f"hadoop fs -cat {path} failed: {said}")

    def _call(self, *arguments: str, content: BinaryIO | None = None) -> subprocess.CompletedProcess[str]:
        command = [str(self._hadoop), "fs", *arguments]
        pipe = subprocess.PIPE
        with (
            subprocess.Popen(
                command, stdin=content, stdout=pipe, stderr=pipe, encoding="utf-8", errors="replace",
                env=self._environment,
            ) as process,
            watched(process, self._failure),
        ):  # fmt: skip
            try:
                output, errors = process.communicate()
            except BaseException:
                process.kill()
                raise
        return subprocess.CompletedProcess(command, process.returncode, output, errors)

    def _run(self, *arguments: str, content: BinaryIO | None = None) -> str:
        done = self._call(*arguments, content=content)
        if done.returncode != 0:
            raise _failure(arguments, done)
        return done.stdout


def _failure(arguments: Sequence[str], done: subprocess.CompletedProcess[str]) -> AssayError:
    return AssayError(f"hadoop fs {' '.join(arguments)} failed: {last_telling(done.stderr, silent=SILENT)}")


def _files_in(listing: str) -> Iterator[FoundFile]:
    for match in filter(None, map(_LISTED.fullmatch, listing.splitlines())):
        changed = datetime.fromisoformat(match[2])
        yield FoundFile(match[3], int(changed.timestamp() * 1000), int(match[1]))


def _refused(done: subprocess.CompletedProcess[str], command: str) -> list[str]:
    """What the client says of each path that it could not take; it goes on with the others."""
    told = f"{command}: "
    return [line.removeprefix(told) for line in done.stderr.splitlines() if line.startswith(told)]
