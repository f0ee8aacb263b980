"""The command line: one module for each command, imported when the command is called, so that --help is quick.

Exit codes: 0 all verified, 1 a trial failed or could not be verified, 2 bad input (said before anything starts),
130 interrupted (what finished is kept; `run --resume` goes on).
"""

import codecs
import io
import locale
import os
import sys
from contextlib import suppress
from importlib import import_module

import click

from assay.cli.context import BAD_INPUT, FAILED, INTERRUPTED, CommandGroup, TextArgument, find_root, is_checkout
from assay.model.registry import COMMANDS

NEEDS_CHECKOUT = {"quickstart", "run", "run-job", "predict", "doctor", "cluster", "media", "experiments"}
SUMMARIES = {
    "advise": "Say what to change first for past jobs: SSDs, a disk, memory, nodes or settings. Nothing is changed.",
    "cluster": "Start and stop a Hadoop cluster on this machine, to work with by hand.",
    "compare": "Compare runs in a table and on the page comparison.html. Different machines are never pooled.",
    "compare-histories": "Tell whether a change of drives or settings helped, by jobs that recur before and after it.",
    "compare-nodes": "Compare the tasks that ran on one node, such as one with an SSD, with those on the others.",
    "data": "List, download, generate and check graphs.",
    "direct": "Plan which jobs get a small SSD of each node, and put in place on a cluster what they need for that.",
    "doctor": "Show what this machine has, what it lacks, and what killed runs left behind.",
    "experiments": "List the shipped experiments, each with the question that it answers, or describe one of them.",
    "media": "List, attach and calibrate storage media and emulated drives.",
    "predict": "Predict how long a run's jobs take on another drive, without running them there.",
    "quickstart": "Answer in five minutes whether an SSD is worth it for one job.",
    "report": "Print a run's answer and write its page, or write another form of the report.",
    "run": "Run the trials of an experiment. Each is recorded as soon as it ends.",
    "run-job": "Run a job of your own, on a sample of its input, to see whether another drive would shorten it.",
    "runs": "List runs, the newest first, with their answers.",
    "schema": "Print the JSON schema of experiment files, for editors.",
    "triage": "Rank past jobs by what drives could save at most, and probably. Nothing is run or changed.",
    "workloads": "List and describe the workloads.",
}
"""The core's commands, each a module of this package with a click command of its name, and its help's first line."""
HELP = "help"
MOST_MISTAKES = 20
TERMINAL_SIZES = range(20, 1000)
"""Columns and lines of a terminal; nothing could be read in fewer."""


def main() -> None:
    """Run the command line; every error is one sentence on standard error."""
    from assay.host.files import is_of_the_path, why
    from assay.model.errors import AssayError, BadInputError, SeveralMistakesError

    _settle_locale()
    for name in ("COLUMNS", "LINES"):
        if (size := os.environ.get(name, "")) and not (size.isdecimal() and int(size[:9]) in TERMINAL_SIZES):
            del os.environ[name]
    try:
        sys.exit(cli.main(prog_name="assay", standalone_mode=False) or 0)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(BAD_INPUT)
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        message = error.format_message().rstrip(".")
        between = " " if message.endswith("?") else "; "
        _say(f"{message}{between}see `{context.command_path} --help`" if context else message)
        sys.exit(BAD_INPUT)
    except SeveralMistakesError as error:
        for mistake in error.sentences[:MOST_MISTAKES]:
            _say(mistake)
        if more := len(error.sentences[MOST_MISTAKES:]):
            _say(f"and {more} more mistakes")
        sys.exit(BAD_INPUT)
    except AssayError as error:
        _say(str(error))
        sys.exit(BAD_INPUT if isinstance(error, BadInputError) else FAILED)
    except OSError as error:  # such as a full disk, wherever that is met first
        _say(f"{error.filename or 'a file'} can't be used: {why(error)}")
        sys.exit(BAD_INPUT if is_of_the_path(error) else FAILED)
    except ModuleNotFoundError as error:
        library, _, _ = (error.name or "").partition(".")
        if library in {"", "assay", "assay_extras"}:
            raise
        cure = f"remove {find_root() / '.assay' / 'venv.stamp'}, then start again: set-up installs it"
        _say(f"the Python library {library} is missing; {cure if is_checkout() else 'install assay anew with pip'}")
        sys.exit(BAD_INPUT)
    except (KeyboardInterrupt, click.exceptions.Abort):
        click.echo("assay: interrupted", err=True)
        sys.exit(INTERRUPTED)


def _settle_locale() -> None:
    """Escape what the terminal's encoding lacks, and have all that Assay starts work in UTF-8 and English."""
    known = locale.getencoding()  # the terminal's, also where Python itself works in UTF-8
    # Where no locale is set, or one that is not there, this is ASCII: nearly all such terminals know UTF-8.
    known = "utf-8" if codecs.lookup(known).name == "ascii" else known
    encoding = known if sys.flags.utf8_mode and "PYTHONIOENCODING" not in os.environ else None
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding=encoding, errors="backslashreplace")
    os.environ["LC_ALL"] = _utf_8_locale()
    os.environ.pop("LANGUAGE", None)


def _utf_8_locale() -> str:
    """A locale of UTF-8 and English that this machine has; some have no C.UTF-8, with which programs would warn."""
    for name in ("C.UTF-8", "en_US.UTF-8"):
        with suppress(locale.Error):
            locale.setlocale(locale.LC_CTYPE, name)
            return name
    return "C.UTF-8"


def _print_version(context: click.Context, _: click.Parameter, requested: bool) -> None:  # noqa: FBT001 - click's
    if requested:
        from assay.version import version

        click.echo(f"assay {version()}")
        context.exit()


def _say(message: str) -> None:
    from assay.model.naming import sentence
    from assay.report.typed import as_typed

    click.echo(f"assay: {as_typed(sentence(message))}", err=True)


class _Commands(CommandGroup):
    """The core's commands and those of plug-ins."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's
        return sorted([*SUMMARIES, *(name for name in COMMANDS if " " not in name)])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's
        if cmd_name in SUMMARIES:
            module = cmd_name.replace("-", "_")
            command: click.Command = getattr(import_module(f"assay.cli.{module}"), module)
            for command_path, kind in COMMANDS.items():  # of plug-ins, for this group; its own come first
                group, _, subcommand = command_path.partition(" ")
                if group == cmd_name and subcommand and isinstance(command, click.Group):
                    command.commands.setdefault(subcommand, kind.command)
        elif cmd_name in COMMANDS:
            command = COMMANDS[cmd_name].command
        else:
            return None
        _adapt(command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command; `help` is --help. An unknown command's error suggests a name, which click can't know."""
        if args[0] == HELP:
            if len(args) == 1:
                click.echo(ctx.get_help(), color=ctx.color)
                ctx.exit()
            args = [*args[1:], "--help"]
        try:
            return super().resolve_command(ctx, args)
        except click.exceptions.NoSuchCommand as error:
            names = self.list_commands(ctx)
            raise click.exceptions.NoSuchCommand(error.command_name, possibilities=names, ctx=ctx) from None

    def summary(self, ctx: click.Context, name: str) -> str:
        """Of the core's commands it is here, so that none of their modules is imported."""
        summary = SUMMARIES.get(name)
        return f"{summary.partition('. ')[0].rstrip('.')}." if summary else super().summary(ctx, name)


def _adapt(command: click.Command) -> None:
    """Have a command refuse an empty text wherever it wants one, and show its examples as the user calls Assay.

    A variable without a value is a mistake.
    """
    from assay.report.typed import command_name

    command.help = (command.help or "").replace(" assay ", f" {command_name()} ")
    for parameter in command.params:
        if type(parameter.type) is click.types.StringParamType:
            parameter.type = TextArgument()
    for subcommand in command.commands.values() if isinstance(command, click.Group) else ():
        _adapt(subcommand)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_print_version,
    help="Show the version, with a digest of the source, and exit.",
)  # fmt: skip
@click.pass_context
def cli(context: click.Context) -> None:
    """Which storage do my Hadoop jobs need, and what would I gain?

    If you have a cluster, begin with `assay triage`: it reads the histories of past jobs and says which of them a
    drive could shorten at all. To see what a test of a job says, begin with `assay quickstart`.
    """
    command = context.invoked_subcommand or ""
    measures = command in NEEDS_CHECKOUT or (command in COMMANDS and COMMANDS[command].needs_checkout)
    asks_for_help = sys.argv[1:2] == [HELP] or {"-h", "--help"} & set(sys.argv)
    if measures and not is_checkout() and not asks_for_help:
        from assay.model.errors import BadInputError

        raise BadInputError(
            f"assay {command} needs a checkout, and this is the installed package, which only reads records and "
            f"histories; clone Assay's repository and run ./assay {command} there"
        )
