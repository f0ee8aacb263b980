"""The forms of past jobs: which files are histories, how they are read, and what is said of their jobs.

What a file is its content tells; a name that histories have spares a look into it.
"""

import gzip
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from assay.engine.packed_lines import head_of
from assay.engine.past.histories import job_id
from assay.engine.past.job import BROKEN, PastJob, unread
from assay.engine.past.taken_over import DENSE, QUICK, SampleRules, TakenOver
from assay.host.files import is_tar, why
from assay.model.errors import AssayError
from assay.model.plugins import Registry
from assay.model.task import TaskAttempt


class Suggestion(NamedTuple):
    """A change, and the counters that suggest it.

    `patch` has lines of a patch to review of the job's configuration, with traps behind `#`; none where somebody has to
    decide how.
    """

    kind: str
    change: str
    counter: str
    patch: tuple[str, ...] = ()


def compressing(job: PastJob, switch: str, codec: str) -> tuple[str, ...]:
    """Lines of a patch that compresses by the job's own codec, or by Snappy where it has Hadoop's usual one."""
    switched, now = (f"- {switch}=false", f"+ {switch}=true"), job.setting(codec, DENSE).strip()
    if now != DENSE:
        return (*switched, f"# trap: each node needs the codec {now}")
    return (
        *switched, f"- {codec}={DENSE}", f"+ {codec}={QUICK}",
        "# trap: before Hadoop 3.3.1 each node needs the native library for it (`hadoop checknative`)",
    )  # fmt: skip


Rule = Callable[[PastJob], Iterator[Suggestion]]
"""What is worth trying before a drive is bought; nothing for what the history does not tell."""
MUCH_BYTES = 64 << 20
"""Less than so much is not worth a change."""
SMALL_PIECE_BYTES, MANY_PIECES = 64 << 10, 1000


def _never(_name: str, _files: Iterable[str] = ()) -> bool:
    return False


class Directing(NamedTuple):
    """How a job says in which tier of local directories its intermediate data go, by the jar `assay-direct`.

    `properties` are those of a tier, the jar's place in the cluster's file system, and the nodes' tags, which are empty
    where each node has them in a file. `needs` is what that takes besides; empty where that is nothing.
    `listing` is the property, if any, whose value is a list with commas, to which a job may have entries of its own.
    """

    properties: Callable[[str, str, str], Mapping[str, str]]
    needs: str = ""
    listing: str = ""


BY_CONTAINERS = "org.assay.direct.TierExecutor in each NodeManager"
"""What the nodes need for engines that can't direct their own tasks."""


class NamesBeside(NamedTuple):
    """Files beside histories that name jobs whose own histories have only an id (`PastJob.name_id`) for them."""

    is_file: Callable[[str], bool]
    """Whether a file is called so."""
    read: Callable[[Path], Mapping[str, str]]
    """The names of a file by their ids; raises OSError, and ValueError in words that follow on `it`."""
    named: Callable[[PastJob, str], PastJob]
    """The job under its name."""


class PastForm(NamedTuple):
    """A form of histories, as registered in FORMS by the name of the engine whose jobs they tell of."""

    noun: str
    """What a run of it is called: `MapReduce job`."""
    program: str
    """The sort of program that its jobs are."""
    place: str
    """What to name where no histories were found."""
    is_named: Callable[[str], bool]
    """Whether a file is called as these histories are."""
    is_head: Callable[[bytes], bool]
    """Whether a file that begins so is one."""
    read: Callable[[Path], Sequence[PastJob]]
    """The jobs of a history; of one that can't be read a job that says so."""
    attempts: Callable[[Path], Sequence[TaskAttempt]]
    """All attempts of its jobs; raises OSError, AssayError, and what decompression does."""
    amounts: str
    """Which counters the amounts of a list are, in a sentence."""
    idle: str
    """What a job does while none of its tasks runs."""
    waits: str
    """What it waits for that no byte tells of."""
    taken_over: Callable[[Mapping[str, str]], TakenOver]
    """What an experiment takes over of a job's settings."""
    sample: SampleRules | None = None
    """How a sample of its jobs is run; None where Assay can't run them."""
    directing: Directing | None = None
    """How its jobs are directed; None where they can't be."""
    rules: tuple[Rule, ...] = ()
    """What suggests cheaper changes than a drive."""
    is_folder: Callable[[str, Iterable[str]], bool] = _never
    """Whether the files of a folder are one history together, by what it and they are called."""
    is_beside: Callable[[str], bool] = _never
    """Whether a file is called as those are that lie beside these histories and are none."""
    names: NamesBeside | None = None
    """What tells the names of its jobs where their histories don't."""
    file: str = "JAR"
    """What stands for the file of a program of it in commands."""


FORMS: Registry[PastForm] = Registry("form of past jobs", "assay.engine.past", parts=("read", "attempts"))

_OTHERS = {
    b"PK\x03\x04": "it is a zip archive: unpack it", b"BZh": "it is compressed with bzip2: unpack it",
    b"\xfd7zXZ": "it is compressed with xz: unpack it", b'Meta VERSION="1"': "it is a history of Hadoop 1",
    b'{"entity"': "it is of the timeline server", b'{"timestamp"': "it is of the timeline server",
    b"SEQ": "it is a sequence file of other things than Tez' history",
}  # fmt: skip
"""What other files begin with, and why these are not read."""
_MOMENT = re.compile(rb'"(?:Timestamp|Submission Time|submitTime|appSubmitTime|ts)"\s*:\s*(\d{12,14})')


def is_beside(name: str) -> bool:
    """Whether a file is called as those are that lie beside histories and are none."""
    if name.startswith(".") or name == "_SUCCESS" or tells_names(name):
        return True
    return any(form.is_beside(name) for form in FORMS.values())


def tells_names(name: str) -> bool:
    """Whether a file is called as those are that tell names of jobs and are no histories."""
    return any(form.names is not None and form.names.is_file(name) for form in FORMS.values())


def names_in(file: Path) -> Mapping[str, str]:
    """The names of jobs by their ids. Raises OSError, and ValueError in words that follow on `it`."""
    names = (form.names for form in FORMS.values() if form.names is not None)
    return next((of.read(file) for of in names if of.is_file(file.name)), {})


def lacks_name(job: PastJob) -> bool:
    """Whether only a file beside its history may tell a job's name."""
    return bool(job.name_id)


def under_its_name(job: PastJob, known: Mapping[str, str]) -> PastJob:
    """A job that lacks a name under the one that is known of it, if any is."""
    names = FORMS[job.engine].names
    name = known.get(job.name_id)
    return job if names is None or name is None else names.named(job, name)


def why_no_history(file: Path) -> str:
    """Why a file is no history that can be read, by what it begins with, in a clause; empty where it is one."""
    try:
        head = head_of(file)
    except OSError as error:
        return f"it can't be read: {why(error)}"
    except ValueError as error:
        return f"it {error}"
    if is_tar(head):
        return "it is a tar archive: unpack it"
    if any(form.is_head(head) for form in FORMS.values()):
        return ""
    known = next((reason for begin, reason in _OTHERS.items() if head.startswith(begin)), "")
    if not head:
        return "it ends within its first compressed block; copy it again" if file.stat().st_size else "it is empty"
    return known or f"it is no job history: it begins with {_shown(head[:16])}"


def _shown(head: bytes) -> str:
    """A file's first line, or its first bytes in hexadecimal where they are no text."""
    line = head.decode("ascii", errors="ignore").splitlines()[0:1]
    return f"`{line[0]}`" if line and head.isascii() and line[0].isprintable() else head.hex(" ")


def moment_in(file: Path) -> int:
    """A moment at which the job of a history ran, in milliseconds since the epoch; 0 if its first lines tell none."""
    try:
        match = _MOMENT.search(head_of(file))
    except (OSError, ValueError):
        return 0
    return int(match[1]) if match else 0


def name_the_folder() -> str:
    """What to do where a folder is another."""
    return f"name the folder that holds {' or '.join(form.place for form in FORMS.values())}"


def is_history(name: str) -> bool:
    """Whether a file is called as histories are."""
    return any(form.is_named(name) for form in FORMS.values())


def is_history_folder(name: str, files: Iterable[str]) -> bool:
    """Whether the files of a folder are one history together, by what it and they are called."""
    names = list(files)
    return any(form.is_folder(name, names) for form in FORMS.values())


def form_of(place: Path) -> PastForm:
    """The form of a history, by its content where its name tells none; else the first one. May raise OSError."""
    forms = list(FORMS.values())
    by_name = next((form for form in forms if form.is_named(place.name)), None)
    if by_name is not None:
        return by_name
    if place.is_dir():
        names = [entry.name for entry in place.iterdir()]
        return next((form for form in forms if form.is_folder(place.name, names)), forms[0])
    try:
        head = head_of(place)
    except ValueError:
        return forms[0]
    return next((form for form in forms if form.is_head(head)), forms[0])


def read_history_of(place: Path) -> Sequence[PastJob]:
    """The jobs of a history, whatever its form. Never raises for one: one that can't be read says so."""
    try:
        return form_of(place).read(place)
    except OSError as error:
        return [unread(job_id(place.name), str(place), why(error))]
    except BROKEN as error:  # one file ends the reading of no other
        reason = f"it holds what no history holds ({type(error).__name__}: {str(error)[:100]})"
        return [unread(job_id(place.name), str(place), reason)]


def attempts_of(file: Path) -> Sequence[TaskAttempt]:
    """All attempts of a file's jobs, which its events name. Raises AssayError for one that can't be read whole."""
    try:
        return form_of(file).attempts(file)
    except (zlib.error, gzip.BadGzipFile):
        raise AssayError(f"{file}: its compressed content is damaged; copy the file again") from None
    except OSError as error:
        raise AssayError(f"{file} can't be read: {why(error)}") from None
    except AssayError as error:
        raise AssayError(f"{file}: {error}; copy the file again") from None


def suggestions(job: PastJob) -> list[Suggestion]:
    """What is worth trying before a drive is bought."""
    return [suggestion for rule in FORMS[job.engine].rules for suggestion in rule(job)]
