"""What workloads share: their options, command lines, scratch directories, and made input.

They lie where the system's temporary files do (`TMPDIR`, else `/tmp`). A directory is locked as long as its process
lives, so that one whose process was killed can be told, and is removed by the next that needs such a directory.
"""

import fcntl
import math
import os
import re
import shlex
import shutil
import stat
import tempfile
from abc import abstractmethod
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import ClassVar, Final, TypeVar

from assay.host.processes import remove_directory
from assay.model.doubt import Verdict
from assay.model.engine import Engine, LaunchReport, Program
from assay.model.errors import AssayError, BadInputError
from assay.model.input import Dataset, Graph, GraphFacts
from assay.model.naming import nearest, size_of
from assay.model.progress import Progress
from assay.model.store import Store
from assay.model.trial import Estimate, WorkloadSpec
from assay.model.workload import Variant

MOST_DIGITS = 18
"""What Java's `long` holds, whatever the digits are."""

_TRUE, _FALSE = {"true", "yes", ""}, {"false", "no"}


class Options:
    """The options of one workload; those that its spec leaves out have their defaults."""

    def __init__(self, spec: WorkloadSpec, defaults: Mapping[str, str]) -> None:
        """Raises BadInputError for an option that is unknown."""
        for name in spec.options:
            if not defaults:
                raise BadInputError(f"workload {spec.name} has no options; leave {name!r} out")
            if name not in defaults:
                raise BadInputError(f"workload {spec.name} has no option {name!r}; {nearest(name, list(defaults))}")
        self._workload = spec.name
        self._texts = {**defaults, **spec.options}

    def text(self, name: str) -> str:
        """As it stands."""
        return self._texts[name]

    def count(self, name: str, least: int = 1) -> int:
        """A whole number, at least `least`. Raises BadInputError."""
        text = self._texts[name]
        if not (text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS) or int(text) < least:
            raise self.refusal(name, f"a whole number from {least} on")
        return int(text)

    def number(self, name: str, low: float, high: float) -> float:
        """A number above `low` and below `high`. Raises BadInputError."""
        try:
            found = float(self._texts[name])
        except ValueError:
            found = math.nan
        if not low < found < high:
            raise self.refusal(name, f"a number above {low:g}" + (f" and below {high:g}" if high < math.inf else ""))
        return found

    def size_bytes(self, name: str) -> int:
        """A size in bytes, at least one. Raises BadInputError."""
        size = size_of(self._texts[name])
        if not size:
            raise self.refusal(name, "a size such as 128MiB (1024s) or 800MB (1000s)")
        return size

    def flag(self, name: str) -> bool:
        """Whether it is on. Raises BadInputError."""
        text = self._texts[name].lower()
        if text not in _TRUE | _FALSE:
            raise self.refusal(name, "true or false")
        return text in _TRUE

    def refusal(self, name: str, wanted: str) -> BadInputError:
        """What is wrong with an option, in a sentence."""
        return BadInputError(f"workload {self._workload}: {name} is {self._texts[name]!r}, and must be {wanted}")


_PLACE = re.compile(r"\{([A-Za-z][A-Za-z_-]*)\}")


def split_words(options: Options, name: str, known: Collection[str]) -> tuple[str, ...]:
    """An option's words. Raises BadInputError for open quotes and for a placeholder that is not known."""
    try:
        words = tuple(shlex.split(options.text(name)))
    except ValueError as error:
        raise options.refusal(name, f"words as a shell would split them ({str(error).lower()})") from None
    for place in _PLACE.findall(options.text(name)):
        if place == "input" and place not in known:
            raise options.refusal(name, "without {input}, since there is none: name it in the option input")
        if place not in known:
            shown = [f"{{{one}}}" for one in known]
            raise options.refusal(
                name, f"without {{{place}}}, which stands for nothing; {nearest(f'{{{place}}}', shown)}"
            )
    return words


def filled(word: str, places: Mapping[str, str]) -> str:
    """A word with what its placeholders stand for; others stay."""
    return _PLACE.sub(lambda found: places.get(found[1], found[0]), word)


def the_program(options: Options, name: str, words: Sequence[str], folder: Path) -> None:
    """Raises BadInputError when a command line has no {output}, or its program can't be run from the folder."""
    if not any("{output}" in word for word in words):
        raise options.refusal(name, "a command with {output}, which stands for a folder with the output's files")
    program = words[0]
    if "/" in program:
        if not (folder / program).is_file():
            raise options.refusal(name, f"a command whose program is there, and {folder / program} is not")
    elif shutil.which(program) is None:
        raise options.refusal(name, f"a command whose program is on the PATH, and {program} is not (./{program}?)")


PACKAGE = "org.apache.hadoop.examples"


def example(tool: str, arguments: tuple[str, ...], properties: Mapping[str, str], *jobs: str) -> Program:
    """A call of one of them by its class, which may have a package below theirs; `jobs` are its jobs' names."""
    return Program(
        name=tool.rpartition(".")[2], jar="hadoop-mapreduce-examples-*.jar", main_class=f"{PACKAGE}.{tool}",
        arguments=arguments, properties=properties, jobs=jobs,
    )  # fmt: skip


Item = TypeVar("Item")
_DEPTH = 8
_END: Final = object()


def ahead(items: Iterable[Item]) -> Iterator[Item]:
    """The same items in their order, some of them ready before they are asked for; raises what their making raises.

    It pays where making and using wait for different things: another process, or calls that let go of Python's lock.
    """
    source = iter(items)
    maker = ThreadPoolExecutor(1)
    try:
        coming = deque(maker.submit(next, source, _END) for _ in range(_DEPTH))
        while (item := coming.popleft().result()) is not _END:
            coming.append(maker.submit(next, source, _END))
            yield item  # type: ignore[misc]
    finally:
        maker.shutdown(cancel_futures=True)


PREFIX = "assay-scratch-"
_ROOM_BYTES = 64 << 20


@contextmanager
def scratch_directory(wanted_bytes: int = 0) -> Iterator[Path]:
    """A fresh directory of this process alone. Raises AssayError where there isn't room for `wanted_bytes`."""
    parent = Path(tempfile.gettempdir())
    _remove_left_overs(parent)
    free = shutil.disk_usage(parent).free
    if wanted_bytes and wanted_bytes + _ROOM_BYTES > free:
        raise AssayError(
            f"{wanted_bytes} bytes are made in {parent} before they are staged, and {free} are free there; "
            "name another directory in TMPDIR"
        )
    directory, lock = _locked(parent)
    try:
        yield directory
    finally:
        # Removed while it is locked, so that nobody else does it too.
        try:
            remove_directory(directory)
        finally:
            os.close(lock)


def _locked(parent: Path) -> tuple[Path, int]:
    """A fresh directory with its lock's descriptor; another process may take it for a left-over before it is locked."""
    while True:
        directory = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        with suppress(FileNotFoundError):
            lock = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if directory.exists():
                return directory, lock
            os.close(lock)


def _remove_left_overs(parent: Path) -> None:
    """Remove the directories of this user that no living process has locked."""
    for directory in parent.glob(f"{PREFIX}*"):
        with suppress(OSError):
            lock = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                status = os.fstat(lock)
                if stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid():
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    remove_directory(directory)
            finally:
                os.close(lock)


# Rough costs of Hadoop's own jobs on a present-day disk and core pair, used for estimates before a run only.
JOB_S = 12.0
BYTES_S = 80e6


class MadeWorkload:
    """A workload that needs no dataset.

    Its options are those in `defaults`, all texts as an experiment has them, each with a line in `option_help`. Those
    in `path_options` are paths of this machine: a plan makes them absolute. `example` has those that must be given.
    """

    makes_input: ClassVar[bool] = True
    summary: ClassVar[str]
    stresses: ClassVar[str]
    source: ClassVar[str]
    result: ClassVar[str]
    verified: ClassVar[str]
    variants: ClassVar[Mapping[str, Variant]]
    option_help: ClassVar[Mapping[str, str]] = {}
    path_options: ClassVar[Collection[str]] = ()
    example: ClassVar[Mapping[str, str]] = {}
    defaults: ClassVar[Mapping[str, str]]

    def __init__(self, spec: WorkloadSpec, base: str) -> None:
        """Raises BadInputError for an option that is unknown."""
        self.options = Options(spec, self.defaults)
        self.spec = spec
        self.base = base

    @property
    def input(self) -> str:
        """The staged files' directory in the store."""
        return f"{self.base}/input"

    @property
    def output(self) -> str:
        """The output directory in the store."""
        return f"{self.base}/output"

    @abstractmethod
    def estimate(self, facts: GraphFacts, staged_bytes: int) -> Estimate:
        """Bytes on the medium at the worst moment, and rough seconds; by the options alone."""

    @abstractmethod
    def stage(self, dataset: Dataset, store: Store, engine: Engine, progress: Progress) -> LaunchReport:
        """Make the input."""

    @abstractmethod
    def run(self, engine: Engine, progress: Progress) -> LaunchReport:
        """Hadoop's own program."""

    @abstractmethod
    def verify(self, graph: Graph, store: Store, report: LaunchReport) -> tuple[Verdict, ...]:
        """Judge the output by another way of finding it."""
