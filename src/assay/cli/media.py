"""`assay media`: drives and what they can do."""

import json
from pathlib import Path

import click

from assay.cli.context import Number, UserPath, find_installation, open_console


@click.group()
def media() -> None:
    """List, attach and calibrate storage media and emulated drives."""


@media.command("list")
@click.argument("files", nargs=-1, metavar="[FILE.yaml]...")
@click.option("--json", "as_json", is_flag=True, help="Print all figures and their sources as JSON.")
def media_list(files: tuple[str, ...], *, as_json: bool) -> None:
    """List the drive profiles, your own files too, and the drives that are attached or were left behind.

    \b
    Example:  assay media list my-drive.yaml
    """
    from assay.commands.media import media_json, print_media

    if as_json:
        click.echo(json.dumps(media_json(files, find_installation()), indent=1))
    else:
        print_media(files, find_installation(), open_console())


@media.command("show")
@click.argument("profile")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def media_show(profile: str, *, as_json: bool) -> None:
    """Show every figure of a drive with its unit, basis and source.

    \b
    Example:  assay media show wd10ezex
    """
    from assay.commands.media import print_profile, profile_json

    if as_json:
        click.echo(json.dumps(profile_json(profile, find_installation()), indent=1))
    else:
        print_profile(profile, find_installation(), open_console())


@media.command("calibrate")
@click.argument("media", nargs=-1, required=True, metavar="MEDIUM...")
@click.option("--seconds", type=Number(), help="Time for each medium; by default 120, with --full 600.")
@click.option("--full", is_flag=True, help="Measure more block sizes, queue depths and streams.")
@click.option("--again", is_flag=True, help="Measure even if a calibration of the same device is stored.")
@click.option("--profile-to", type=UserPath(), help="Also write a drive profile to this YAML file.")
@click.option("--name", help="The profile's name; by default the file's.")
@click.option("--json", "as_json", is_flag=True, help="Print all measurements and facts as JSON.")
def media_calibrate(
    media: tuple[str, ...], *, seconds: float | None, full: bool, again: bool, profile_to: Path | None,
    name: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Measure directories and emulated drives with fio. Name a drive by its profile's name or YAML file.

    \b
    Example:  assay media calibrate /mnt/disk wd10ezex
              assay media calibrate /mnt/disk --profile-to my-disk.yaml
    """
    from assay.cli.calibrate import Wish, calibrate_media, calibrations_json, write_profile

    wish = Wish(seconds=seconds or (600 if full else 120), form="full" if full else "brief", again=again)
    made = calibrate_media(
        media, wish, find_installation(), open_console(error=as_json), profile_to=profile_to, quiet=as_json
    )
    if as_json:
        click.echo(calibrations_json(made))
    if profile_to is not None:
        lender = write_profile(made[0], profile_to, name, find_installation())
        click.echo(f"profile: {profile_to}; what can't be measured is that of {lender}", err=True)


@media.command("attach")
@click.argument("profile")
@click.option("--size", help="Use only the first bytes of the drive, such as 20GiB or 500GB; by default all.")
@click.option("--file-system", type=click.Choice(["ext4", "xfs"]), default="ext4", show_default=True)
@click.option("--at", type=UserPath(), help="The mount point: an empty or new directory.")
@click.option("--backing", type=UserPath(), help="Directory of the sparse backing file; by default .assay/work.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def media_attach(
    profile: str, size: str | None, file_system: str, at: Path | None, backing: Path | None, *, as_json: bool
) -> None:
    """Attach an emulated drive, mounted and empty. PROFILE is a shipped profile's name or your own YAML file.

    \b
    Example:  assay media attach wd10ezex --size 20GiB --at /mnt/hdd
    """
    from assay.commands.media import attach_medium, print_attached

    wanted = (profile, size, file_system, backing, at)
    kept = attach_medium(*wanted, find_installation(), open_console(error=as_json))
    if as_json:
        click.echo(kept.model_dump_json(indent=1))
    else:
        print_attached(kept, open_console())


@media.command("detach")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--all", "everything", is_flag=True, help="Detach all drives that no run is using, and what crashes left behind."
)
def media_detach(names: tuple[str, ...], *, everything: bool) -> int:
    """Detach emulated drives, named by profile, id or mount point, and delete what is on them.

    \b
    Example:  assay media detach wd10ezex
              assay media detach --all
    """
    from assay.commands.media import detach_media

    return detach_media(names, find_installation(), open_console(), everything=everything)
