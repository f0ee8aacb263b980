"""`assay media`: drive profiles, and emulated drives to work with by hand."""

from contextlib import closing
from pathlib import Path
from textwrap import wrap
from typing import Any

import click
from rich.console import Console

from assay.cli.console import ConsoleDisplay
from assay.cli.context import FAILED, CommandGroup, UserPath, find_installation, json_option, open_console, print_json
from assay.host.interrupts import interruptible
from assay.media.emulated.attached_drives import attach, detach, drives, named
from assay.media.emulated.attachment import missing
from assay.media.emulated.ceiling import WORDS, Ceiling, known_ceiling, measure_ceiling
from assay.media.emulated.emulator import Emulator, FigureSpec
from assay.media.emulated.medium import EMULATED, EmulatedMedium, EmulatedOptions
from assay.media.emulated.profile import find_profile, profile_names
from assay.model.base import LEAST_BYTES
from assay.model.drive_profile import SHORT_NAMES, DriveProfile, Figure
from assay.model.errors import AssayError, BadInputError
from assay.model.installation import Installation
from assay.model.naming import HOW, bytes_text, size_of
from assay.report.columns import Column, layout_table
from assay.report.words import print_line, print_text

INDENT = "      "
WIDEST_FIGURE = 60
"""A figure's name and value fit into it."""
LEAST_LATE_S = 0.05
"""What is shown of a drive's lateness."""
MAIN = (
    ("sequential_read_mb_s", "read"),
    ("sequential_write_mb_s", "write"),
    ("random_read_4k_iops_depth1", "reads"),
    ("random_read_4k_iops_depth32", "depth 32"),
)
ASSUMED = "assumed"
OF_ASSUMED = "assumed: figures that no publication or measurement gives; "
OF_MAIN = "read and write sequentially: MB/s; reads of 4 KiB at random: per second, also at depth 32"


@click.group(cls=CommandGroup)
def media() -> None:
    """List, attach and calibrate storage media and emulated drives."""


@media.command("list")
@click.argument("files", nargs=-1, metavar="[FILE.yaml]...")
@json_option("Print all figures and their sources as JSON.")
def media_list(files: tuple[str, ...], *, as_json: bool) -> None:
    """List the drive profiles, your own files too, and the drives that are attached or were left behind.

    \b
    Example:  assay media list my-drive.yaml
    """
    installation = find_installation()
    if not as_json:
        print_media(files, installation, open_console())
        return
    profiles = [profile.model_dump(mode="json", exclude={"lines"}) for profile in _profiles(files, installation)]
    attached = [drive.model_dump(mode="json") for drive in drives(installation)]
    print_json({"profiles": profiles, "attached": attached})


@media.command("show")
@click.argument("profile")
@json_option()
def media_show(profile: str, *, as_json: bool) -> None:
    """Show every figure of a drive with its unit, its source, and whether it is published, measured or assumed.

    \b
    Example:  assay media show wd10ezex
    """
    name = SHORT_NAMES.get(profile, profile)
    if as_json:
        print_json(profile_json(name, find_installation()))
    else:
        print_profile(name, find_installation(), open_console())


@media.command("attach")
@click.argument("profile")
@click.option("--size", help="Use only the first bytes of the drive, such as 20GiB or 500GB; by default all.")
@click.option("--file-system", type=click.Choice(["ext4", "xfs"]), default="ext4", show_default=True)
@click.option("--at", type=UserPath(), help="The mount point: an empty or new directory.")
@click.option("--backing", type=UserPath(), help="Directory of the sparse backing file; by default .assay/work.")
@json_option()
def media_attach(
    profile: str, size: str | None, file_system: str, at: Path | None, backing: Path | None, *, as_json: bool
) -> None:
    """Attach an emulated drive, mounted and empty. PROFILE is a shipped profile's name or your own YAML file.

    \b
    Example:  assay media attach wd10ezex --size 20GiB --at /mnt/hdd
    """
    size_bytes = None if size is None else size_of(size)
    if size is not None and (size_bytes is None or size_bytes < LEAST_BYTES):
        raise BadInputError(f"--size is {size!r}, and must be {HOW}, at least 1MiB")
    profile = SHORT_NAMES.get(profile, profile)
    options = EmulatedOptions(profile=profile, size_bytes=size_bytes, file_system=file_system, path=backing)
    installation = find_installation()
    with closing(ConsoleDisplay(open_console(error=as_json))) as display, interruptible():
        display.step(f"attach {profile}")
        drive = attach(
            EmulatedMedium(EMULATED.spec(profile, options), installation), installation, at and at.absolute()
        )
    if as_json:
        click.echo(drive.model_dump_json(indent=1, ensure_ascii=True))
        return
    console = open_console()
    print_line(console, f"{drive.profile} is {drive.device}, mounted at {drive.mount_point}")
    print_beyond(find_profile(profile, installation.profiles), known_ceiling(installation), console)
    print_line(console, f"`assay media detach {drive.id}` detaches it and deletes what is on it")


@media.command("ceiling")
@click.option("--again", is_flag=True, help="Measure anew what was measured since this machine has started.")
@json_option()
def media_ceiling(*, again: bool, as_json: bool) -> None:
    """Show what this machine's path carries (FUSE, loop device, emulator), and which drives are beyond that.

    It is measured once after each start of the machine, in about ten seconds. Let nothing else run meanwhile.

    \b
    Example:  assay media ceiling
    """
    installation = find_installation()
    ceiling = None if again else known_ceiling(installation)
    if ceiling is None:
        lacking = missing(installation)
        if lacking:
            raise BadInputError("; ".join(lacking))
        with closing(ConsoleDisplay(open_console(error=as_json))) as display, interruptible():
            display.step("measure the path's ceiling")
            ceiling = measure_ceiling(installation)
    if as_json:
        print_json(ceiling.model_dump())
        return
    console = open_console()
    for name, template in WORDS.items():
        print_line(console, template.format(f"{ceiling.rates[name]:>9,.0f}"))
    for profile in _profiles((), installation):
        print_beyond(profile, ceiling, console)


def print_beyond(profile: DriveProfile, ceiling: Ceiling | None, console: Console) -> None:
    """Print what a drive should do and can't on this machine; nothing where it can, or where no ceiling is known."""
    beyond = list(ceiling.beyond(profile)) if ceiling else []
    if beyond:
        print_line(console, f"{profile.name}: {'; '.join(beyond)}")


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
    return detach_drives(names, find_installation(), open_console(), everything=everything)


def detach_drives(names: tuple[str, ...], installation: Installation, console: Console, *, everything: bool) -> int:
    """Detach some drives, or all that no run is using. A failure does not stop it. Returns the exit code."""
    present = drives(installation)
    if bool(names) == everything:
        raise BadInputError("name the drives to detach, or give --all")
    unused = [drive for drive in present if drive.state != "in use"]
    chosen = unused if everything else [named(name, present) for name in names]
    busy = [drive.id for drive in chosen if drive.state == "in use"]
    if busy:
        raise BadInputError(f"{', '.join(busy)}: a run is using it; end the run, and it goes with it")
    code = 0
    for drive in chosen:
        try:
            report = detach(drive, installation)
        except (AssayError, TimeoutError) as error:
            print_line(console, f"assay: {drive.id} could not be detached: {error}")
            code = FAILED
            continue
        did = ""
        if report.get("begun"):
            read, written = (bytes_text(report[name]["bytes"]) for name in ("reads", "writes"))
            late_s = report.get("late_seconds", 0.0)
            late = f", late by {late_s:.1f} s" if late_s >= LEAST_LATE_S else ""
            did = f": {read} read, {written} written, busy for {report['busy_seconds']:.0f} s{late}"
        print_line(console, f"detached {drive.profile or drive.id} ({drive.state}){did}")
    if not chosen:
        print_line(console, "nothing to detach")
    return code


def print_media(files: tuple[str, ...], installation: Installation, console: Console) -> None:
    """Print all profiles with what published measurements show, then the attached drives."""
    profiles = list(_profiles(files, installation))
    sizes = [profile.values.get("capacity_bytes") for profile in profiles]
    columns = [
        Column("profile", [profile.name for profile in profiles], name=True),
        Column("drive", [profile.title or profile.kind for profile in profiles], name=True, rank=1),
        Column("size", [f"{size / 1e9:,.0f} GB" if size else "-" for size in sizes]),
        Column(ASSUMED, [f"{profile.assumed} of {len(profile.figures)}" for profile in profiles], rank=1),
        *(
            Column(
                heading,
                [f"{profile.expected[name].value:,.0f}" if name in profile.expected else "-" for profile in profiles],
            )
            for name, heading in MAIN
        ),
    ]
    table = list(layout_table(columns, console.width))
    for line in table:
        print_line(console, line)
    print_text(console, f"{OF_ASSUMED if ASSUMED in table[0].split() else ''}{OF_MAIN}")
    print_text(console, f"short names: {', '.join(f'{short} for {name}' for short, name in SHORT_NAMES.items())}")
    attached = drives(installation)
    for drive in attached:
        where = f" at {drive.mount_point}" if drive.mount_point else ""
        end = "" if drive.state in {"attached", "in use"} else "; `assay media detach --all` removes it"
        name = f"{drive.profile} ({drive.id})" if drive.profile else drive.id
        taken = f"takes {bytes_text(drive.backing_bytes)} below {drive.home.parent}"
        print_line(console, f"{name}: {drive.state}{where}, {taken}{end}")
    if not attached:
        print_line(console, "no drive is attached, and nothing was left behind")


def print_profile(name: str, installation: Installation, console: Console) -> None:
    """Print every figure of a drive with its unit and source; figures that the profile leaves out have defaults."""
    shown = profile_json(name, installation)
    print_line(console, f"{shown['name']}: {shown['title']} ({shown['kind']}), {shown['file']}")
    print_line(console, f"{shown['assumed']} of {len(shown['figures'])} figures are assumed")
    for heading in ("figures", "expected"):
        rows = shown[heading]
        columns = [
            Column(heading, [row["name"] for row in rows], name=True),
            Column("value", [_figure_text(row["value"]) for row in rows]),
            *(
                Column(key, [_figure_text(row[key]) if key in row else "-" for row in rows], rank=1)
                for key in ("least", "most")
                if heading == "figures"
            ),
        ]
        head, *lines = layout_table(columns, max(WIDEST_FIGURE, console.width))
        print_line(console, f"\n{head}")
        for line, row in zip(lines, rows, strict=True):
            basis = f"{row['evidence']} ({row['basis']})" if row.get("evidence") else row["basis"]
            source = ": ".join(text for text in (basis, row["source"]) if text)
            meaning = f"{row['meaning']} ({row['unit']}); " if row.get("meaning") else ""
            print_line(console, line)
            lines = wrap(meaning + source, max(40, console.width), initial_indent=INDENT, subsequent_indent=INDENT)
            print_line(console, "\n".join(lines))
    print_beyond(find_profile(name, installation.profiles), known_ceiling(installation), console)


def profile_json(name: str, installation: Installation) -> dict[str, Any]:
    """Return a profile as data, without units, meanings, bounds and defaults where the emulator is not built.

    Raises BadInputError when the profile's form is wrong or, where the emulator is built, a figure is misspelt, missing
    or out of its bounds.
    """
    profile = find_profile(name, installation.profiles)
    emulator = Emulator(installation)
    specs = {}
    if emulator.missing() is None:
        emulator.check(profile)
        specs = {spec.name: spec for spec in emulator.figures().get(profile.kind, ())}
    figures = [
        {"name": name, **_sourced(figure), **_described(specs.get(name))} for name, figure in profile.figures.items()
    ]
    figures += [
        {"name": spec.name, "value": spec.default, "basis": "default", "source": "", **_described(spec)}
        for spec in specs.values()
        if spec.name not in profile.figures and spec.default is not None
    ]
    expected = [{"name": name, **_sourced(figure)} for name, figure in profile.expected.items()]
    return {
        "name": profile.name, "kind": profile.kind, "title": profile.title, "file": str(profile.file),
        "assumed": profile.assumed, "figures": figures, "expected": expected,
    }  # fmt: skip


def _profiles(files: tuple[str, ...], installation: Installation) -> list[DriveProfile]:
    return [find_profile(name, installation.profiles) for name in (*profile_names(installation.profiles), *files)]


def _figure_text(value: float) -> str:
    return f"{int(value):,}" if value == int(value) else f"{value:,g}"


def _sourced(figure: Figure) -> dict[str, Any]:
    return {**figure.model_dump(), "evidence": figure.evidence}


def _described(spec: FigureSpec | None) -> dict[str, str | float]:
    if spec is None:
        return {"unit": "", "meaning": ""}
    return {"unit": spec.unit, "meaning": spec.meaning, "least": spec.least, "most": spec.most}
