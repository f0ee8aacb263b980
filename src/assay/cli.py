"""The command line: arguments only. Heavy modules are imported by the command that needs them, so that --help is quick.

Exit codes: 0 all verified, 1 a trial failed or could not be verified, 2 bad input (said before anything starts),
130 interrupted (what finished is kept; `run --resume` goes on).
"""

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay import __version__

if TYPE_CHECKING:
    from rich.console import Console

    from assay.model.installation import Installation

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130
FORMATS = ["auto", "snap", "konect", "csv", "matrix-market", "edges"]
OUT_HELP = "Folder for the records; a new one under runs/ by default."


def main() -> None:
    """Run the command line; every error is one sentence on standard error."""
    from assay.model.errors import AssayError, BadInputError

    try:
        sys.exit(cli.main(prog_name="assay", standalone_mode=False) or 0)
    except click.ClickException as error:
        error.show()
        sys.exit(BAD_INPUT)
    except BadInputError as error:
        click.echo(f"assay: {error}", err=True)
        sys.exit(BAD_INPUT)
    except AssayError as error:
        click.echo(f"assay: {error}", err=True)
        sys.exit(FAILED)
    except (KeyboardInterrupt, click.exceptions.Abort):
        click.echo("assay: interrupted; finished trials are kept", err=True)
        sys.exit(INTERRUPTED)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="assay")
def cli() -> None:
    """Which storage do my Hadoop jobs need, and what would I gain?

    Start with `assay quickstart`; then write an experiment of your own and `assay run` it.
    """


@cli.command()
@click.option("--out", type=click.Path(path_type=Path), help=OUT_HELP)
def quickstart(out: Path | None) -> int:
    """Compare an emulated hard disk and SSD on the three network-analysis workloads, every output verified.

    Where drives can't be emulated, the disk here and memory are compared.

    \b
    Example:  assay quickstart
    """
    from assay.commands.quickstart import quickstart

    return quickstart(out, _installation(), _console())


@cli.command()
@click.argument("experiment", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help=OUT_HELP)
@click.option("--resume", is_flag=True, help="Go on with the unfinished trials of --out.")
@click.option("--dry-run", is_flag=True, help="Only prepare the datasets and say what would run and what it needs.")
def run(experiment: Path, out: Path | None, *, resume: bool, dry_run: bool) -> int:
    """Run an experiment: every trial of its plan, each recorded as soon as it ends.

    \b
    Example:  assay run experiments/quickstart.yaml --out runs/mine
              assay run experiments/quickstart.yaml --out runs/mine --resume
    """
    from assay.commands.run import run_experiment

    return run_experiment(experiment, out, _installation(), _console(), resume=resume, dry_run=dry_run)


@cli.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the plan and the records as JSON instead.")
def report(folder: Path, *, as_json: bool) -> int:
    """Print a run's table and write its page, RUN/report.html.

    \b
    Example:  assay report runs/quickstart-20260102-030405
    """
    from assay.commands.report import exit_code, records_json, report_run

    if as_json:
        click.echo(records_json(folder))
    else:
        report_run(folder, _console())
    return exit_code(folder)


@cli.group()
def data() -> None:
    """Datasets: the published graphs, graphs generated like them, and files of your own."""


@data.command("list")
@click.option("--json", "as_json", is_flag=True, help="With sources, licences and citations, as JSON.")
def data_list(*, as_json: bool) -> None:
    """List the graphs that can be downloaded, or generated, by name.

    \b
    Example:  assay data list
    """
    from assay.commands.data import datasets_json, print_datasets

    if as_json:
        click.echo(json.dumps(datasets_json(_installation()), indent=1))
    else:
        print_datasets(_installation(), _console())


@data.command("get")
@click.argument("name")
@click.option("--to", type=click.Path(path_type=Path), help="Also copy the file here.")
def data_get(name: str, to: Path | None) -> int:
    """Download a published graph and check its counts.

    \b
    Example:  assay data get brightkite
    """
    from assay.commands.data import bring
    from assay.model.dataset import DatasetSpec

    return bring(DatasetSpec(name=name, get=name), to, _installation(), _console())


@data.command("make")
@click.argument("preset")
@click.option("--seed", default=1, show_default=True, help="Another seed makes another graph of the same kind.")
@click.option("--scale", default=1.0, show_default=True, help="Fraction of the preset's nodes and edges.")
@click.option("--to", type=click.Path(path_type=Path), help="Also copy the file here.")
def data_make(preset: str, seed: int, scale: float, to: Path | None) -> int:
    """Generate a graph like a published one: same nodes and edges, similar wedges and triangles.

    \b
    Example:  assay data make brightkite --seed 7 --to mine.tsv
    """
    from assay.commands.data import bring
    from assay.model.dataset import DatasetSpec

    return bring(DatasetSpec(name=preset, make=preset, seed=seed, scale=scale), to, _installation(), _console())


@data.command("check")
@click.argument("name_or_file")
@click.option("--format", "form", type=click.Choice(FORMATS), default="auto", show_default=True)
@click.option("--header-lines", type=click.IntRange(min=0), help="Lines before the first edge, where it can't be told.")
def data_check(name_or_file: str, form: str, header_lines: int | None) -> int:
    """Read a graph file (or a downloaded graph), count it, and compare with what is published.

    \b
    Example:  assay data check my-graph.txt.gz
    """
    from assay.commands.data import check_dataset

    return check_dataset(name_or_file, form, header_lines, _installation(), _console())


@cli.group()
def cluster() -> None:
    """A cluster of its own that stays until you stop it, for working with Hadoop by hand."""


@cluster.command("up")
@click.option(
    "--settings", default="stock", show_default=True, help="Settings profile: stock, defaults, containers, customs."
)
def up(settings: str) -> None:
    """Start a one-node Hadoop on this machine, on free loopback ports, and leave it running.

    \b
    Example:  assay cluster up
    """
    from assay.commands.cluster import cluster_up

    cluster_up(settings, _installation(), _console())


@cluster.command("down")
def down() -> None:
    """Stop every cluster left running and remove what killed commands left behind.

    \b
    Example:  assay cluster down
    """
    from assay.commands.cluster import cluster_down

    cluster_down(_installation(), _console())


@cluster.command("status")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def status(*, as_json: bool) -> None:
    """Show running clusters and what was left behind.

    \b
    Example:  assay cluster status
    """
    from assay.commands.cluster import print_status, status_json

    if as_json:
        click.echo(json.dumps(status_json(_installation()), indent=1))
    else:
        print_status(_installation(), _console())


@cli.group()
def media() -> None:
    """Storage media: profiles of drives, and emulated drives mounted for working with them by hand."""


@media.command("list")
@click.argument("files", nargs=-1, metavar="[FILE.yaml]...")
@click.option("--json", "as_json", is_flag=True, help="With all figures and their sources, as JSON.")
def media_list(files: tuple[str, ...], *, as_json: bool) -> None:
    """List the drive profiles, with files of your own, and the drives that are attached or were left behind.

    \b
    Example:  assay media list my-drive.yaml
    """
    from assay.commands.media import media_json, print_media

    if as_json:
        click.echo(json.dumps(media_json(files, _installation()), indent=1))
    else:
        print_media(files, _installation(), _console())


@media.command("show")
@click.argument("profile")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def media_show(profile: str, *, as_json: bool) -> None:
    """Show every figure of a drive with its unit, basis and source.

    \b
    Example:  assay media show wd10ezex
    """
    from assay.commands.media import print_profile, profile_json

    if as_json:
        click.echo(json.dumps(profile_json(profile, _installation()), indent=1))
    else:
        print_profile(profile, _installation(), _console())


@media.command("calibrate")
@click.argument("media", nargs=-1, required=True, metavar="MEDIUM...")
@click.option("--seconds", type=float, help="How long each takes: 120 by default, 600 with --full.")
@click.option("--full", is_flag=True, help="More block sizes, queue depths and streams.")
@click.option("--again", is_flag=True, help="Measure although a calibration of the same device is stored.")
@click.option(
    "--profile-to", type=click.Path(path_type=Path), help="Also make a drive profile of it, in this YAML file."
)
@click.option("--name", help="The profile's name; the file's by default.")
@click.option("--json", "as_json", is_flag=True, help="All points and facts as JSON.")
def media_calibrate(
    media: tuple[str, ...], *, seconds: float | None, full: bool, again: bool, profile_to: Path | None,
    name: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Measure media with fio: directories, or emulated drives by their profile's name or YAML file.

    \b
    Example:  assay media calibrate /mnt/disk wd10ezex
              assay media calibrate /mnt/disk --profile-to my-disk.yaml
    """
    from assay.commands.calibrate import calibrate_media, calibrations_json, write_profile
    from assay.commands.calibrating import Wish

    wish = Wish(seconds=seconds or (600 if full else 120), form="full" if full else "brief", again=again)
    made = calibrate_media(media, wish, _installation(), _console(error=as_json), profile_to=profile_to, quiet=as_json)
    if as_json:
        click.echo(calibrations_json(made))
    if profile_to is not None:
        lender = write_profile(made[0], profile_to, name, _installation())
        click.echo(f"profile: {profile_to}; what can't be measured is that of {lender}", err=True)


@media.command("attach")
@click.argument("profile")
@click.option("--size", help="Use only so much of the drive, from its start: 20GiB, 500GB. All of it by default.")
@click.option("--file-system", type=click.Choice(["ext4", "xfs"]), default="ext4", show_default=True)
@click.option("--at", type=click.Path(path_type=Path), help="An empty directory to mount it on.")
@click.option("--backing", type=click.Path(path_type=Path), help="Directory of the sparse backing file; .assay/work.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def media_attach(
    profile: str, size: str | None, file_system: str, at: Path | None, backing: Path | None, *, as_json: bool
) -> None:
    """Mount an emulated drive, empty, and leave it so: a shipped profile by name, or a YAML file of your own.

    \b
    Example:  assay media attach wd10ezex --size 20GiB --at /mnt/hdd
    """
    from assay.commands.media import attach_medium, print_attached

    wanted = (profile, size, file_system, backing, at)
    kept = attach_medium(*wanted, _installation(), _console(error=as_json))
    if as_json:
        click.echo(kept.model_dump_json(indent=1))
    else:
        print_attached(kept, _console())


@media.command("detach")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--all", "everything", is_flag=True, help="All that no run is using, with what crashes left behind.")
def media_detach(names: tuple[str, ...], *, everything: bool) -> int:
    """Unmount emulated drives (by profile, id or mount point) and throw away what is on them.

    \b
    Example:  assay media detach wd10ezex
              assay media detach --all
    """
    from assay.commands.media import detach_media

    return detach_media(names, _installation(), _console(), everything=everything)


@cli.command()
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def doctor(*, as_json: bool) -> int:
    """Say what this machine has, what it lacks for Assay, and what was left behind.

    \b
    Example:  assay doctor
    """
    from assay.commands.doctor import findings

    found = findings(_installation())
    if as_json:
        click.echo(json.dumps([finding.model_dump() for finding in found], indent=1))
    else:
        for finding in found:
            click.echo(f"{finding.state:8} {finding.what}: {finding.detail}")
    return FAILED if any(finding.state == "broken" for finding in found) else 0


def _console(*, error: bool = False) -> "Console":
    """Standard output; standard error where the output is a script's."""
    from rich.console import Console

    return Console(stderr=error)


def _installation() -> "Installation":
    """From the environment that the entry script sets."""
    from assay.model.installation import Installation

    root = Path(os.environ.get("ASSAY_ROOT") or Path(__file__).parents[2])
    home = os.environ.get("HADOOP_HOME")
    return Installation(
        root=root,
        parts=root / ".assay",
        jobs_jar=root / "jobs" / "target" / "assay-jobs.jar",
        cache=Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "assay",
        state=Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "assay",
        hadoop_home=Path(home) if home else None,
    )
