"""The history files of a site: those below a folder of this machine, or of a file system that Hadoop's client knows.

A file is a history by what it holds, here; behind Hadoop's client, which would have to copy it, by what it is called.
Links are followed. A job history's name tells when its job ended, so that older ones are left out unread. Of others the
job's own times decide, and the file's change only spares reading what it can't be wrong about.
"""

import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from assay.engine.past.formats import (
    is_beside,
    is_history,
    is_history_folder,
    lacks_name,
    moment_in,
    name_the_folder,
    names_in,
    read_history_of,
    tells_names,
    under_its_name,
    why_no_history,
)
from assay.engine.past.histories import (
    MOST_HISTORIES,
    SETTINGS_ENDING,
    Histories,
    NoHistoriesError,
    Unread,
    finished_ms,
    job_id,
)
from assay.engine.past.job import PastJob
from assay.engine.past.job import unread as not_read
from assay.host.files import why
from assay.model.errors import AssayError, BadInputError
from assay.model.naming import first_few
from assay.store.hadoop_fs import HadoopFs

_ALONE = 16
"""So few files are read faster here than by processes that have to be started."""
_AT_ONCE = 2
_CHUNK = 8
_BATCH = 500
"""Files that are copied at once from a file system of Hadoop's, and lie here until they are read."""
_DAY_MS = 86_400_000
"""Clocks and time zones shift the time of a file's change by no more: an archive may keep it without its zone."""
_MOST_NAMED = 3

Progressed = Callable[[int], object]


class Below(NamedTuple):
    """The histories below a folder, sorted by name, how many are older, what is none, and what names their jobs."""

    files: list[Path]
    older: int
    unread: list[Unread]
    naming: Sequence[Path] = ()


def in_folder(folder: Path, since_ms: int, progressed: Progressed) -> Histories:
    """Those below a folder that ended since a time; `progressed` is told how many files were looked at.

    Raises BadInputError where there is no such folder, it has no history, or so many that days must have been meant;
    and when the last is read, if none tells of a job.
    """
    if folder.is_file() or _is_one_history(folder):
        only = _only(folder)
        return _of_jobs(str(folder), iter(only), Below([folder] * len(only), 0, []), 0)
    below = files_below(folder, since_ms, progressed)
    naming = {file: str(file) for file in below.naming}
    jobs = _with_names(read_files(below.files), lambda: _names(naming, below.unread))
    return _of_jobs(str(folder), jobs, below, since_ms)


def files_below(folder: Path, since_ms: int, progressed: Progressed) -> Below:
    """The histories of jobs that may have ended since a time. Raises BadInputError."""
    files: list[Path] = []
    unread: list[Unread] = []
    naming: list[Path] = []
    looked_at = older = 0
    for file in _files(folder, unread, naming):
        looked_at += 1
        if looked_at % 10_000 == 0:
            progressed(looked_at)
        if not is_history(file.name) and not file.is_dir() and (reason := why_no_history(file)):
            unread.append(Unread(str(file), reason))
        elif since_ms and _is_older(file, since_ms):
            older += 1
        else:
            files.append(file)
    _check_count(str(folder), len(files), older, looked_at, unread)
    return Below(sorted(files), older, unread, sorted(naming))


def _of_jobs(source: str, jobs: Iterator[PastJob], below: Below, since_ms: int) -> Histories:
    """The jobs that ended since a time; files that tell of none, and older ones, are counted as they are read."""
    histories = Histories(len(below.files), iter(()), below.older, below.unread)

    def chosen() -> Iterator[PastJob]:
        any_chosen = False
        for job in jobs:
            if not job.submitted_ms and not job.started_ms:
                histories.unread.append(Unread(job.source, _reason(job)))
            elif _last_ms(job) < since_ms:
                histories.older += 1
            else:
                any_chosen = True
                yield job
        if not any_chosen:
            _check_count(source, 0, histories.older, len(histories.unread), histories.unread)

    histories.jobs = chosen()
    return histories


def _reason(job: PastJob) -> str:
    """Why a file tells of no job."""
    missing = job.missing[0] if job.missing else "the start of its job"
    for whole in ("the whole log: ", "the whole history: "):
        if missing.startswith(whole):
            return missing.removeprefix(whole)
    return f"it lacks {missing}"


def _last_ms(job: PastJob) -> int:
    """When a job ended, or the last that is known of it."""
    return job.finished_ms or max([job.submitted_ms, job.started_ms, *(stage.end_ms for stage in job.stages)])


def _is_older(file: Path, since_ms: int) -> bool:
    """Whether a history's job ended before a time for sure, without reading it.

    By its name, or by its last change, if that is a day older and no older than what its first lines tell of.
    """
    if at_ms := finished_ms(file.name):
        return at_ms < since_ms
    try:
        files = list(file.iterdir()) if file.is_dir() else [file]
        changed_ms = max((int(part.stat().st_mtime * 1000) for part in files), default=0)
    except OSError:  # it has gone meanwhile
        return False
    if changed_ms + _DAY_MS >= since_ms:
        return False
    return any(0 < moment_in(part) <= changed_ms for part in files)


def _only(file: Path) -> Sequence[PastJob]:
    """The jobs of a file that was named itself. Raises BadInputError where that is no history at all."""
    jobs = read_history_of(file)
    if not any(job.submitted_ms or job.started_ms for job in jobs):
        missing = "; ".join(reason for job in jobs for reason in job.missing)
        raise BadInputError(f"--history {file} tells of no job: missing {missing}; or {name_the_folder()}")
    return jobs


def _is_one_history(folder: Path) -> bool:
    try:
        return folder.is_dir() and is_history_folder(folder.name, os.listdir(folder))
    except OSError:
        return False


def _files(folder: Path, unread: list[Unread], naming: list[Path]) -> Iterator[Path]:
    """All files below a folder that may be histories, and folders that are one history; each folder once.

    What can't be read goes to `unread`, and what names jobs to `naming`. Raises BadInputError where the first folder
    can't be read.
    """
    waiting, visited = [folder], set()
    while waiting:
        directory = waiting.pop()
        try:
            status = directory.stat()
            if (status.st_dev, status.st_ino) in visited:
                continue
            visited.add((status.st_dev, status.st_ino))
            with os.scandir(directory) as scanned:
                entries = list(scanned)
        except OSError as error:
            if directory == folder:
                raise BadInputError(f"--history {folder} can't be read: {why(error)}; {name_the_folder()}") from None
            unread.append(Unread(str(directory), f"it can't be read: {why(error)}"))
            continue
        if is_history_folder(directory.name, (entry.name for entry in entries)):
            yield directory
            continue
        naming += (Path(entry.path) for entry in entries if tells_names(entry.name) and entry.is_file())
        for file in (Path(entry.path) for entry in entries if not is_beside(entry.name)):
            if file.is_dir():
                waiting.append(file)
            elif file.is_file():
                yield file
            else:
                unread.append(Unread(str(file), "it is no file: a link that leads nowhere, or a device"))


def _check_count(source: str, count: int, older: int, looked_at: int, unread: Sequence[Unread]) -> None:
    if count > MOST_HISTORIES:
        raise BadInputError(
            f"{source} holds {count:,} job histories, and {MOST_HISTORIES:,} are the most that are read at once; take "
            "the newest of them, such as --since 7d, or name a folder of one month below it"
        )
    if not count:
        if older:
            histories = "1 job history" if older == 1 else f"{older:,} job histories, all"
            reason = f"has {histories} from before --since; choose an earlier time"
            raise NoHistoriesError(source, reason, older, unread)
        named = first_few([f"{file}: {reason}" for file, reason in unread], between="; ", last="; ", most=_MOST_NAMED)
        files = "file" if looked_at == 1 else "files"
        reason = f"holds no job history among its {looked_at:,} {files}; {name_the_folder()}"
        raise NoHistoriesError(source, f"{reason}{f' ({named})' if unread else ''}", unread=unread)


def read_files(files: Sequence[Path]) -> Iterator[PastJob]:
    """Their jobs in the same order; many are read by two processes."""
    if len(files) <= _ALONE:
        yield from chain.from_iterable(map(read_history_of, files))
        return
    with ProcessPoolExecutor(min(_AT_ONCE, os.cpu_count() or 1)) as processes:
        try:
            yield from chain.from_iterable(processes.map(read_history_of, files, chunksize=_CHUNK))
        except BaseException:
            processes.shutdown(cancel_futures=True)
            raise


def in_hadoop(source: str, since_ms: int, client: HadoopFs, progressed: Progressed) -> Histories:
    """Those below a folder of a file system that Hadoop's client knows, copied here a few hundred at a time.

    Raises BadInputError where it has none, or the client can't read it.
    """
    refused: list[str] = []
    try:
        listed = client.list_below(source, refused)
    except AssayError as error:
        raise BadInputError(f"--history {source} can't be read: {error}") from None
    progressed(len(listed))
    settings = {_beside(file.path): file.path for file in listed if _name(file.path).endswith(SETTINGS_ENDING)}
    ended_ms: dict[str, int] = {}
    unread = [Unread(source, f"a folder below it can't be read: {reason}") for reason in refused]
    naming: list[str] = []
    for file in listed:
        folder, name = str(PurePosixPath(file.path).parent), _name(file.path)
        if is_history_folder(_name(folder), [name]):  # it ends with the last of its files
            ended_ms[folder] = max(ended_ms.get(folder, 0), file.changed_ms + _DAY_MS)
        elif is_history(name):
            ended_ms[file.path] = finished_ms(name) or file.changed_ms + _DAY_MS
        elif tells_names(name):
            naming += [file.path] if file.changed_ms + _DAY_MS >= since_ms else []
        elif not is_beside(name):
            unread.append(Unread(file.path, "it is not called as histories are: copy it here and name that folder"))
    paths = [path for path, at_ms in ended_ms.items() if at_ms >= since_ms]
    below = Below(list(map(Path, paths)), len(ended_ms) - len(paths), unread)
    _check_count(source, len(paths), below.older, len(listed), unread)
    jobs = _with_names(_copied(paths, settings, client), lambda: _copied_names(naming, client, unread))
    return _of_jobs(source, jobs, below, since_ms)


def _with_names(jobs: Iterator[PastJob], names: Callable[[], Mapping[str, str]]) -> Iterator[PastJob]:
    """The same jobs; those that lack a name come last, under theirs. Names are asked for where any job lacks one."""
    waiting: list[PastJob] = []
    for job in jobs:
        if lacks_name(job):
            waiting.append(job)
        else:
            yield job
    known = names() if waiting else {}
    yield from (under_its_name(job, known) for job in waiting)


def _names(files: Mapping[Path, str], unread: list[Unread]) -> dict[str, str]:
    """The names that files tell, each with what it is called there; those that can't be read go to `unread`."""
    names: dict[str, str] = {}
    for file, called in files.items():
        try:
            names |= names_in(file)
        except OSError as error:
            unread.append(Unread(called, f"it can't be read: {why(error)}"))
        except ValueError as error:
            unread.append(Unread(called, f"it {error}"))
    return names


def _copied_names(files: Sequence[str], client: HadoopFs, unread: list[Unread]) -> dict[str, str]:
    names: dict[str, str] = {}
    for batch in _batches(files):
        with tempfile.TemporaryDirectory(prefix="assay-triage-") as directory:
            here, gone = _fetched(batch, (), Path(directory), client)
            names |= _names(here, unread)
            unread += gone
    return names


def _copied(files: Sequence[str], settings: dict[tuple[str, str], str], client: HadoopFs) -> Iterator[PastJob]:
    for batch in _batches(files):
        beside = [settings[_beside(file)] for file in batch if _beside(file) in settings]
        with tempfile.TemporaryDirectory(prefix="assay-triage-") as directory:
            here, gone = _fetched(batch, beside, Path(directory), client)
            yield from (not_read(job_id(_name(file)), file, reason) for file, reason in gone)
            yield from (job._replace(source=here[Path(job.source)]) for job in read_files(list(here)))


def _fetched(
    files: Sequence[str], beside: Sequence[str], folder: Path, client: HadoopFs
) -> tuple[dict[Path, str], list[Unread]]:
    """Files by the places to which they were copied, with those beside them, and what could not be copied."""
    refused = client.get([*files, *beside], folder)
    here = {place: file for file in files if (place := folder / _name(file)).exists()}
    reasons = {
        file: next((reason for reason in refused if _name(file) in reason), "Hadoop's client does not say why")
        for file in files
        if folder / _name(file) not in here
    }
    return here, [Unread(file, f"it can't be copied: {reason}") for file, reason in reasons.items()]


def _batches(files: Sequence[str]) -> Iterator[Sequence[str]]:
    """Files of different names, and jobs of different ids, so that they can lie in one folder."""
    counts: Counter[str] = Counter()
    rounds: list[list[str]] = []
    for file in files:
        key = job_id(_name(file)) or _name(file)
        if counts[key] == len(rounds):
            rounds.append([])
        rounds[counts[key]].append(file)
        counts[key] += 1
    for names in rounds:
        begin = 0
        while begin < len(names):
            end = begin + _BATCH
            # A history in two files, of which one name begins with the other's, stays together.
            while end < len(names) and names[end].startswith(names[end - 1]):
                end += 1
            yield names[begin:end]
            begin = end


def _beside(path: str) -> tuple[str, str]:
    """The folder of a job's file and its id: its configuration has the same."""
    return str(PurePosixPath(path).parent), job_id(_name(path))


def _name(path: str) -> str:
    return PurePosixPath(path).name
