"""What every command starts from: this copy of Assay, the terminal, and values on the command line."""

import math
import os
import re
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem
    from rich.console import Console

    from assay.cli.console import Output
    from assay.model.installation import Installation
    from assay.plan.source import Vocabulary

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130
RUNS = Path("runs")
"""Where runs lie unless `--out` says otherwise, from the working directory."""
_LONGEST_SENTENCE = 1000
OUT_HELP = "Folder for the records; by default a new folder under runs/."
Command = TypeVar("Command", bound=Callable[..., Any])


def json_option(text: str = "Print as JSON.") -> Callable[[Command], Command]:
    """The option of commands that print what they know as JSON too."""
    return click.option("--json", "as_json", is_flag=True, help=text)


def output_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of commands that take a while; the command gets an `output`, which says where its words go."""

    @wraps(command)
    def with_output(*arguments: Any, quiet: bool, verbose: bool, as_json: bool, **more: Any) -> Any:
        output = open_output(quiet=quiet, verbose=verbose, as_json=as_json)
        return command(*arguments, output=output, **more)

    options = (
        click.option("-q", "--quiet", is_flag=True, help="Print the result alone, without progress."),
        click.option("-v", "--verbose", is_flag=True, help="Print every step, and all tables of the result."),
        json_option("Print the result as one JSON document; all other words go to standard error."),
    )
    wrapped: Callable[..., Any] = with_output
    for option in reversed(options):
        wrapped = option(wrapped)
    return wrapped


def open_output(*, quiet: bool = False, verbose: bool = False, as_json: bool = False) -> "Output":
    """Open the output that these options ask for. Raises click.UsageError where two of them contradict each other."""
    from assay.cli.console import Output, SafeConsole

    if quiet and verbose:
        raise click.UsageError("--quiet and --verbose contradict each other; leave one out")
    silent = SafeConsole(quiet=True)
    results = silent if quiet and as_json else open_console(error=as_json)
    return Output(results, silent if quiet else results, as_json, verbose)


def print_json(value: Any) -> None:
    """Print plain data as JSON."""
    from assay.model.base import json_text

    click.echo(json_text(value, indent=1))


def open_console(*, error: bool = False) -> "Console":
    """Return a console on standard output, or on standard error where a script reads standard output."""
    from assay.cli.console import SafeConsole

    return SafeConsole(stderr=error)


def find_root() -> Path:
    """Find the checkout that the entry script names, else the checkout around this file, if there is any."""
    return Path(os.environ.get("ASSAY_ROOT") or Path(__file__).parents[3])


def is_checkout() -> bool:
    """Tell a checkout from an installed Python package, which has neither Hadoop nor jobs nor an emulator."""
    return "ASSAY_ROOT" in os.environ or (find_root() / "setup" / "prepare").is_file()


def find_installation() -> "Installation":
    """Find this copy's installation by the environment that the entry script sets."""
    from assay.model.errors import BadInputError
    from assay.model.installation import Installation

    root = find_root()
    try:
        of_user = Path.home()
    except RuntimeError:  # a user whom this machine does not know
        of_user = Path()
    if not of_user.is_absolute():
        raise BadInputError("HOME is no absolute path, nor does this machine know your home; set it, such as HOME=/tmp")
    home = os.environ.get("HADOOP_HOME")
    return Installation(
        root=root,
        parts=root / ".assay",
        jobs_jar=root / "jobs" / "target" / "assay-jobs.jar",
        cache=_user_folder("XDG_CACHE_HOME", of_user / ".cache") / "assay",
        state=_user_folder("XDG_STATE_HOME", of_user / ".local" / "state") / "assay",
        hadoop_home=Path(home) if home else None,
    )


def _user_folder(variable: str, usual: Path) -> Path:
    """The folder that a variable names, if it is an absolute path (XDG Base Directory Specification)."""
    named = Path(os.environ.get(variable, ""))
    return named if named.is_absolute() else usual


def vocabulary(installation: "Installation") -> "Vocabulary":
    """Return the names that an experiment may use; Hadoop's properties are missing until Hadoop is prepared."""
    from assay.input.catalogue import all_published, open_dataset
    from assay.model.dataset import InputKind
    from assay.model.installed import variants_of
    from assay.model.registry import ENGINES, STORES, WORKLOADS
    from assay.plan.source import Vocabulary
    from assay.platform.distribution import known_properties

    return Vocabulary(
        workloads={name: tuple(variants_of(name)) for name in WORKLOADS},
        presets=list(all_published()),
        catalogue=list(all_published()),
        profiles=sorted(file.stem for file in installation.profiles.glob("*.yaml")),
        own_input={name for name, kind in WORKLOADS.items() if kind.takes is not InputKind.GRAPH},
        any_output={name for name, kind in WORKLOADS.items() if not kind.plain_output},
        path_options={
            name: {key: option.default for key, option in kind.known_options.items() if option.is_path}
            for name, kind in WORKLOADS.items()
        },
        levels={"store": list(STORES), "engine": list(ENGINES)},
        properties=known_properties(installation),
        check_workload=lambda spec: WORKLOADS[spec.name](spec, "/"),
        check_dataset=lambda spec: open_dataset(spec, installation.cache),
    )


def run_folders(folder: Path) -> list[Path]:
    """List the runs directly below a folder, the newest plan first; none where there is no such folder."""
    plans = [plan for plan in folder.glob("*/plan.json") if plan.is_file()]
    return [plan.parent for plan in sorted(plans, key=lambda plan: plan.stat().st_mtime, reverse=True)]


def last_run() -> Path:
    """The run whose plan was written last. Raises BadInputError where there is none."""
    from assay.model.errors import BadInputError

    newest = next(iter(run_folders(RUNS)), None)
    if newest is None:
        raise BadInputError(f"there is no run below {RUNS}; name a run's folder, or start one with `assay quickstart`")
    return newest


_NUMBER = r"([0-9]{1,9}(?:\.[0-9]{1,9})?)"
_PARTS = re.compile(rf"(?:{_NUMBER} ?h)? ?(?:{_NUMBER} ?m(?:in)?)? ?(?:{_NUMBER} ?s)?")
_UNITS_S = (3600, 60, 1)
_LONGEST_TEXT = 100
_MOST_S = 366 * 24 * 3600
_HOW = "write it as 2h, 90min or 1h30min"


class CommandGroup(click.Group):
    """A group whose help has the whole first sentence of each command's."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands, each with that sentence."""
        names = self.list_commands(ctx)
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.summary(ctx, name)) for name in names])

    def summary(self, ctx: click.Context, name: str) -> str:
        """What the list says of a command."""
        command = self.get_command(ctx, name)
        return command.get_short_help_str(_LONGEST_SENTENCE) if command else ""


class Duration(click.ParamType[float]):
    """A duration such as `2h`, `90min` or `1h30m`, in seconds: from one second to one year."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Fails on anything else."""
        if isinstance(value, float):
            return value
        text = str(value).strip()
        parts = _PARTS.fullmatch(text) if text and len(text) < _LONGEST_TEXT else None
        if parts is None:
            self.fail(f"{value!r} is not a duration; {_HOW}", param, ctx)
        seconds = sum(float(count or 0) * unit_s for count, unit_s in zip(parts.groups(), _UNITS_S, strict=True))
        if not 1 <= seconds <= _MOST_S:
            self.fail(f"{value!r} is not between a second and a year; {_HOW}", param, ctx)
        return seconds


LEAST_SPEED, MOST_SPEED = 0.05, 100.0


class Speed(click.ParamType[float]):
    """A speed such as `2x` or `0.5`, relative to the processors here: from a twentieth to a hundred times."""

    name = "speed"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Fails on anything else."""
        speed = 0.0
        with suppress(ValueError):
            speed = float(str(value).strip().removesuffix("x"))
        if not LEAST_SPEED <= speed <= MOST_SPEED:
            how = f"say 2x for processors twice as fast as here, from {LEAST_SPEED:g}x to {MOST_SPEED:g}x"
            self.fail(f"{value!r} is no such speed; {how}", param, ctx)
        return speed


class Percentage(click.ParamType[float]):
    """A percentage such as `5%`, from 0 to `most` %; its value is a share."""

    name = "percentage"

    def __init__(self, most: int = 1000) -> None:
        self._most = most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Fails on anything else."""
        if isinstance(value, float):
            return value
        share = re.fullmatch(rf"{_NUMBER} ?%", str(value).strip())
        if share is None:
            self.fail(f"{value!r} is not a percentage; write it as 5%", param, ctx)
        if float(share[1]) > self._most:
            self.fail(f"{value!r} is more than {self._most} %, the most that it may be; write it as 5%", param, ctx)
        return float(share[1]) / 100


_LEAST_BARE_BYTES = 1 << 20
"""A number without a unit that is less was hardly meant to be bytes."""


class Size(click.ParamType[int]):
    """A size such as `2GB` or `128GiB`, in bytes, at least one."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Fails on anything else."""
        from assay.model.naming import HOW, size_of

        size = value if isinstance(value, int) else size_of(str(value))
        if not size:
            self.fail(f"{value!r} is no size; write {HOW}", param, ctx)
        if str(value).strip() == str(size) and size < _LEAST_BARE_BYTES and not isinstance(value, int):
            meant = f"{size}{'GB' if size < 100 else 'MB'}"
            self.fail(f"{value!r} is {size} byte{'' if size == 1 else 's'}; did you mean {meant}?", param, ctx)
        return size


def _check_number(
    kind: click.ParamType[Any], value: Any, param: click.Parameter | None, ctx: click.Context | None
) -> None:
    """Fails on what is no finite number; ranges are click's to check."""
    with suppress(ValueError):
        if math.isfinite(float(value)):
            return
    kind.fail(f"{value!r} is no number; write a number such as 4", param, ctx)


class OptionOfSeveralNames(click.Option):
    """An option of which help shows the first name alone, where commands once had others for the same."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Write it with its first name."""
        names = self.opts
        self.opts = names[:1]
        try:
            return super().get_help_record(ctx)
        finally:
            self.opts = names


class WholeNumber(click.IntRange):
    """A whole number within bounds."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Fails on anything else."""
        _check_number(self, value, param, ctx)
        if not str(value).strip().lstrip("+-").isdecimal():
            self.fail(f"{value!r} is no whole number; write a number such as 4", param, ctx)
        return super().convert(value, param, ctx)


class BoundedNumber(click.FloatRange):
    """A number within bounds."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Fails on anything else."""
        _check_number(self, value, param, ctx)
        return super().convert(value, param, ctx)


class Number(click.ParamType[float]):
    """A finite number."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Fails on anything else."""
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number", param, ctx)
        return number


class TextArgument(click.types.StringParamType):
    """A text that is not empty."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Fails on an empty one."""
        if value == "":
            self.fail("it is empty", param, ctx)
        return super().convert(value, param, ctx)


class UserPath(click.ParamType[Path]):
    """A path as a user types it."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Raises BadInputError for what can't be a path."""
        from assay.host.files import possible
        from assay.model.errors import BadInputError

        if str(value) == "":
            self.fail("it is empty; name a file or folder", param, ctx)
        try:
            return possible(Path(value))
        except BadInputError as error:
            self.fail(str(error), param, ctx)

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's
        param: click.Parameter,  # noqa: ARG002 - the same
        incomplete: str,
    ) -> "list[CompletionItem]":
        """Leave completion of files to the shell."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(incomplete, type="file")]
