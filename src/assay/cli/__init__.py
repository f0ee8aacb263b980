"""The command line: arguments only. Heavy modules are imported by the command that needs them, so that --help is quick.

Exit codes: 0 all verified, 1 a trial failed or could not be verified, 2 bad input (said before anything starts),
130 interrupted (what finished is kept; `run --resume` goes on).
"""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.cluster import cluster
from assay.cli.context import Duration, UserPath, find_installation, is_checkout, open_console
from assay.cli.data import data
from assay.cli.media import media
from assay.cli.workloads import workloads
from assay.model.registry import COMMANDS

if TYPE_CHECKING:
    from assay.cli.report import Form, Rows

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130
NEEDS_CHECKOUT = {"quickstart", "run", "doctor", "cluster", "media"}
FORMS = ["html", "md", "csv", "json", "pdf"]
OUT_HELP = "Folder for the records; a new one under runs/ by default."


def main() -> None:
    """Run the command line; every error is one sentence on standard error."""
    from assay.host.files import is_of_the_path, why
    from assay.model.errors import AssayError, BadInputError

    try:
        sys.exit(cli.main(prog_name="assay", standalone_mode=False) or 0)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(BAD_INPUT)
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        words = error.format_message().rstrip(".")
        _say(f"{words}; see `{context.command_path} --help`" if context else words)
        sys.exit(BAD_INPUT)
    except BadInputError as error:
        _say(str(error))
        sys.exit(BAD_INPUT)
    except AssayError as error:
        _say(str(error))
        sys.exit(FAILED)
    except OSError as error:  # such as a full disk, wherever that is met first
        _say(f"{error.filename or 'a file'} can't be used: {why(error)}")
        sys.exit(BAD_INPUT if is_of_the_path(error) else FAILED)
    except (KeyboardInterrupt, click.exceptions.Abort):
        click.echo("assay: interrupted", err=True)
        sys.exit(INTERRUPTED)


def _print_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:  # noqa: FBT001 - click's
    if wanted:
        from assay.version import version

        click.echo(f"assay {version()}")
        context.exit()


def _say(words: str) -> None:
    from assay.model.naming import sentence

    click.echo(f"assay: {sentence(words)}", err=True)


class _Commands(click.Group):
    """The core's commands and those of plug-ins."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), *COMMANDS])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        own = super().get_command(ctx, cmd_name)
        return own or (COMMANDS[cmd_name].command if cmd_name in COMMANDS else None)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_print_version,
    help="Show the version, with a digest of the source, and exit.",
)  # fmt: skip
@click.pass_context
def cli(context: click.Context) -> None:
    """Which storage do my Hadoop jobs need, and what would I gain?

    Start with `assay quickstart`; then write an experiment of your own and `assay run` it.
    """
    command = context.invoked_subcommand or ""
    measures = command in NEEDS_CHECKOUT or (command in COMMANDS and COMMANDS[command].needs_checkout)
    if measures and not is_checkout() and not {"-h", "--help"} & set(sys.argv):
        from assay.model.errors import BadInputError

        raise BadInputError(
            f"assay {command} needs Hadoop, the jobs or the drive emulator, and this package only reads records; "
            f"clone Assay's repository and run ./assay {command} there"
        )


@cli.command()
@click.option("--out", type=UserPath(), help=OUT_HELP)
def quickstart(out: Path | None) -> int:
    """Is an SSD worth it? One job on an emulated hard disk, an SSD and without storage delay, in five minutes.

    Where drives can't be emulated, it compares the disk here with memory.

    \b
    Example:  assay quickstart
    """
    from assay.cli.quickstart import quickstart

    return quickstart(out, find_installation(), open_console())


@cli.command()
@click.argument("experiment", type=UserPath())
@click.option("--out", type=UserPath(), help=OUT_HELP)
@click.option("--resume", is_flag=True, help="Run the unfinished trials of --out.")
@click.option("--dry-run", is_flag=True, help="Only prepare the datasets; show the trials and what they need.")
@click.option("--only", multiple=True, metavar="FACTOR=LEVEL", help="Run only trials with this level; repeatable.")
@click.option("--for", "budget_s", type=Duration(), help="Repeat until all is decided, at most for this time (2h).")
def run(
    experiment: Path, out: Path | None, only: tuple[str, ...], budget_s: float | None, *, resume: bool, dry_run: bool
) -> int:
    """Run an experiment: every trial of its plan, each recorded as soon as it ends.

    \b
    Example:  assay run experiments/quickstart.yaml --out runs/mine
              assay run experiments/quickstart.yaml --out runs/mine --resume
              assay run experiments/quickstart.yaml --only placement=ssd --for 20min
    """
    from assay.cli.run import How, run_experiment

    how = How(resume=resume, dry_run=dry_run, only=only, budget_s=budget_s)
    return run_experiment(experiment, out, find_installation(), open_console(), how)


@cli.command()
@click.argument("folder", type=UserPath())
@click.option("--format", "form", type=click.Choice(FORMS), help="Only this form; html and pdf into the run's folder.")
@click.option(
    "--rows",
    type=click.Choice(["combinations", "trials", "placements", "parts"]),
    help="What a row of --format csv is; combinations by default. `placements` has what storage costs and what each "
    "placement saves, `parts` the same for each job and phase.",
)
@click.option("--out", type=UserPath(), help="File for --format; md, csv and json are printed without.")
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
def report(folder: Path, form: "Form | None", rows: "Rows | None", out: Path | None, *, as_json: bool) -> int:
    """Print a run's answer and write its page, RUN/report.html; or write one form of the report.

    \b
    Example:  assay report runs/quickstart-20260102-030405
              assay report runs/mine --format csv --rows placements > answers.csv
    """
    from assay.cli.report import report_run, write_report

    form = form or ("json" if as_json else None)
    if rows and form != "csv":
        raise click.UsageError("--rows is of --format csv alone; add that, or leave it out")
    if form:
        return write_report(folder, form, rows or "combinations", out, open_console())
    if out:
        raise click.UsageError("--out is the file for --format; name a format, or leave it out for RUN/report.html")
    return report_run(folder, open_console())


@cli.command()
@click.argument("folders", type=UserPath(), nargs=-1, required=True, metavar="RUN RUN...")
@click.option("--format", "form", type=click.Choice(FORMS), help="Only this form; html and pdf into this directory.")
@click.option("--out", type=UserPath(), help="File for the page, or for --format.")
def compare(folders: tuple[Path, ...], form: "Form | None", out: Path | None) -> int:
    """Compare runs: a table, and the page comparison.html. Different machines are never pooled.

    \b
    Example:  assay compare runs/laptop runs/server
    """
    from assay.cli.compare import compare_runs

    return compare_runs(folders, form, out, open_console())


@cli.command()
@click.option("--markdown", is_flag=True, help="The reference, docs/reference/experiment.md, instead.")
def schema(*, markdown: bool) -> None:
    """Print the JSON schema of experiment files, with which editors complete and check them.

    \b
    Example:  assay schema > experiment.schema.json
    """
    from assay.cli.schema import experiment_reference, experiment_schema

    text = experiment_reference if markdown else experiment_schema
    click.echo(text(find_installation()), nl=False)


@cli.command()
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def doctor(*, as_json: bool) -> int:
    """Show what this machine has, what it lacks for Assay, and what was left behind.

    \b
    Example:  assay doctor
    """
    from assay.cli.doctor import findings

    found = findings(find_installation())
    if as_json:
        click.echo(json.dumps([finding.model_dump() for finding in found], indent=1))
    else:
        for finding in found:
            click.echo(f"{finding.state:8} {finding.what}: {finding.detail}")
    return FAILED if any(finding.state == "broken" for finding in found) else 0


for group in (data, workloads, cluster, media):
    cli.add_command(group)
