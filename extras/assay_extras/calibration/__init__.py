"""`assay media calibrate`: what a medium can do, measured with fio on a directory or a whole block device."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.context import OUT_HELP, Number, UserPath, find_installation, open_console
from assay.model.plugins import LAST
from assay.model.registry import COMMANDS, FINDINGS, SECTIONS, Command

if TYPE_CHECKING:
    from assay.model.installation import Finding, Installation
    from assay.model.section import RunView, SectionView


@click.command("calibrate")
@click.argument("media", nargs=-1, required=True, metavar="MEDIUM...")
@click.option("--seconds", type=Number(), help="Time for each medium; by default 120, with --full 600.")
@click.option("--full", is_flag=True, help="Measure more block sizes, queue depths and streams.")
@click.option("--again", is_flag=True, help="Measure even if a calibration of the same device is stored.")
@click.option("--profile-to", type=UserPath(), help="Also write a drive profile to this YAML file.")
@click.option("--name", help="The profile's name; by default the file's.")
@click.option("--json", "as_json", is_flag=True, help="Print all measurements and facts as JSON.")
def _calibrate(
    media: tuple[str, ...], *, seconds: float | None, full: bool, again: bool, profile_to: Path | None,
    name: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Measure directories and emulated drives with fio. Name a drive by its profile's name or YAML file.

    \b
    Example:  assay media calibrate /mnt/disk wd10ezex
              assay media calibrate /mnt/disk --profile-to my-disk.yaml
    """
    from assay_extras.calibration.command import Wish, calibrate_media, calibrations_json, write_profile

    wish = Wish(seconds=seconds or (600 if full else 120), form="full" if full else "brief", again=again)
    made = calibrate_media(
        media, wish, find_installation(), open_console(error=as_json), profile_to=profile_to, quiet=as_json
    )
    if as_json:
        click.echo(calibrations_json(made))
    if profile_to is not None:
        lender = write_profile(made[0], profile_to, name, find_installation())
        click.echo(f"profile: {profile_to}; what can't be measured is that of {lender}", err=True)


@click.command("twin")
@click.argument("path", type=UserPath())
@click.option("--jobs", type=UserPath(), help="The experiment whose jobs run; by default experiments/twin.yaml.")
@click.option("--pairs", type=click.IntRange(1, 100), default=2, show_default=True, help="Trials of each job on each.")
@click.option("--seconds", type=click.FloatRange(20, 600), default=60, show_default=True, help="Time to calibrate.")
@click.option("--profile", type=UserPath(), help="A profile of the drive, instead of calibrating it.")
@click.option("--out", type=UserPath(), help=OUT_HELP)
def _twin(path: Path, *, jobs: Path | None, pairs: int, seconds: float, profile: Path | None, out: Path | None) -> int:
    """Emulate a real drive from its calibration, and run the same jobs on both in turns.

    PATH is a directory on the drive. The table shows how far the emulated drive's times are from the real one's.

    \b
    Example:  assay media twin /mnt/disk
              assay media twin /mnt/disk --pairs 5 --jobs my-experiment.yaml
    """
    from assay_extras.calibration.twin import Request, run_twin

    installation = find_installation()
    jobs = jobs or installation.root / "experiments" / "twin.yaml"
    request = Request(path.absolute(), jobs, pairs, seconds, out, profile)
    return run_twin(request, installation, open_console())


def _finding(installation: "Installation") -> "Finding":  # noqa: ARG001 - a finding gets the installation
    from assay.model.installation import Finding

    if shutil.which("fio"):
        return Finding(what="calibration", state="good", detail="fio is there")
    return Finding(what="calibration", state="lacking", detail="there is no fio: install it to measure media")


def _differences(run: "RunView") -> "SectionView | None":
    """Of runs that compare a drive with its twin."""
    from assay.stats.changes import compares_twin

    if not compares_twin(run.plan):
        return None
    from assay_extras.calibration.differences import DifferencesView, differences

    differing = differences(run.plan, [run.record(summary.id) for summary in run.trials])
    return DifferencesView(differing) if differing else None


COMMANDS.add("media calibrate", Command(_calibrate, needs_checkout=True))
COMMANDS.add("media twin", Command(_twin, needs_checkout=True))


FINDINGS.add("calibration", _finding)
SECTIONS.add("twin", _differences, place=LAST)
