"""The history files of a site: those below a folder of this machine, or of a file system that Hadoop's client knows.

Their names tell when each job ended, so files from before a time are left out unread.
"""

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path, PurePosixPath

from assay.engine.past.forms import is_history, is_history_folder, read_history_of
from assay.engine.past.histories import (
    MOST_HISTORIES,
    NAME_THE_FOLDER,
    SETTINGS_ENDING,
    Histories,
    finished_ms,
    job_id,
)
from assay.engine.past.job import PastJob
from assay.host.files import why
from assay.model.errors import AssayError, BadInputError
from assay.store.hadoop_fs import HadoopFs

_ALONE = 16
"""So few files are read faster here than by processes that have to be started."""
_AT_ONCE = 2
_CHUNK = 8
_BATCH = 500
"""Files that are copied at once from a file system of Hadoop's, and lie here until they are read."""

Progressed = Callable[[int], object]


def in_folder(folder: Path, since_ms: int, progressed: Progressed) -> Histories:
    """Those below a folder that ended since a time; `progressed` is told how many files were looked at.

    Raises BadInputError where there is no such folder, it has no history, or so many that days must have been meant.
    """
    if folder.is_file() or is_history_folder(folder.name):
        return Histories(1, iter([_only(folder)]))
    files, older = files_below(folder, since_ms, progressed)
    return Histories(len(files), read_files(files), older)


def files_below(folder: Path, since_ms: int, progressed: Progressed) -> tuple[list[Path], int]:
    """The history files of jobs that ended since a time, by name, and how many are older. Raises BadInputError."""
    files: list[Path] = []
    looked_at = older = 0
    for entry in _files(folder):
        looked_at += 1
        if looked_at % 10_000 == 0:
            progressed(looked_at)
        if is_history(entry.name) or is_history_folder(entry.name):
            if (finished_ms(entry.name) or _changed_ms(entry)) >= since_ms:
                files.append(Path(entry.path))
            else:
                older += 1
    _check_count(str(folder), len(files), older, looked_at)
    return sorted(files), older


def _only(file: Path) -> PastJob:
    """The job of a file that was named itself. Raises BadInputError where that is no history at all."""
    job = read_history_of(file)
    if not job.submitted_ms and not job.started_ms:
        raise BadInputError(f"--history {file} tells of no job: missing {'; '.join(job.missing)}; or {NAME_THE_FOLDER}")
    return job


def _files(folder: Path) -> Iterator["os.DirEntry[str]"]:
    """All files below a folder, and folders that are one history; nothing of folders that this user may not read.

    Raises BadInputError where that is the first one.
    """
    waiting = [str(folder)]
    while waiting:
        directory = waiting.pop()
        try:
            with os.scandir(directory) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False) and not is_history_folder(entry.name):
                        waiting.append(entry.path)
                    else:
                        yield entry
        except OSError as error:
            if directory == str(folder):
                raise BadInputError(f"--history {folder} can't be read: {why(error)}; {NAME_THE_FOLDER}") from None


def _changed_ms(entry: "os.DirEntry[str]") -> int:
    try:
        return int(entry.stat().st_mtime * 1000)
    except OSError:  # it has gone meanwhile
        return 0


def _check_count(source: str, count: int, older: int, looked_at: int) -> None:
    if count > MOST_HISTORIES:
        raise BadInputError(
            f"{source} holds {count:,} job histories, and {MOST_HISTORIES:,} are the most that are read at once; take "
            "the newest of them, such as --since 7d, or name a folder of one month below it"
        )
    if not count:
        if older:
            raise BadInputError(
                f"all {older:,} job histories in {source} are from before --since; choose an earlier time"
            )
        raise BadInputError(f"{source} holds no job history among its {looked_at:,} files; {NAME_THE_FOLDER}")


def read_files(files: Sequence[Path]) -> Iterator[PastJob]:
    """Their jobs in the same order; many are read by two processes."""
    if len(files) <= _ALONE:
        yield from map(read_history_of, files)
        return
    with ProcessPoolExecutor(min(_AT_ONCE, os.cpu_count() or 1)) as processes:
        try:
            yield from processes.map(read_history_of, files, chunksize=_CHUNK)
        except BaseException:
            processes.shutdown(cancel_futures=True)
            raise


def in_hadoop(source: str, since_ms: int, client: HadoopFs, progressed: Progressed) -> Histories:
    """Those below a folder of a file system that Hadoop's client knows, copied here a few hundred at a time.

    Raises BadInputError where it has none, or the client can't read it.
    """
    try:
        listed = client.list_below(source)
    except AssayError as error:
        raise BadInputError(f"--history {source} can't be read: {error}") from None
    progressed(len(listed))
    settings = {job_id(_name(file.path)): file.path for file in listed if _name(file.path).endswith(SETTINGS_ENDING)}
    ended_ms: dict[str, int] = {}
    for file in listed:
        folder, name = str(PurePosixPath(file.path).parent), _name(file.path)
        if is_history_folder(_name(folder)):  # it ends with the last of its files
            ended_ms[folder] = max(ended_ms.get(folder, 0), file.changed_ms)
        elif is_history(name):
            ended_ms[file.path] = finished_ms(name) or file.changed_ms
    paths = [path for path, at_ms in ended_ms.items() if at_ms >= since_ms]
    older = len(ended_ms) - len(paths)
    _check_count(source, len(paths), older, len(listed))
    return Histories(len(paths), _copied(paths, settings, client), older)


def _copied(files: Sequence[str], settings: dict[str, str], client: HadoopFs) -> Iterator[PastJob]:
    for begin in range(0, len(files), _BATCH):
        batch = files[begin : begin + _BATCH]
        beside = [settings[job] for file in batch if (job := job_id(_name(file))) in settings]
        with tempfile.TemporaryDirectory(prefix="assay-triage-") as directory:
            client.get([*batch, *beside], Path(directory))
            yield from read_files([Path(directory, _name(file)) for file in batch])


def _name(path: str) -> str:
    return PurePosixPath(path).name
