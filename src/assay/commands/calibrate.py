"""`assay media calibrate`: measure media with fio, keep what came of it, show it."""

import json
import os
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from rich.console import Console

from assay.calibration.fio import find_fio
from assay.calibration.profile import Template, make_profile, nearest
from assay.calibration.storage import CalibrationFolder
from assay.commands.calibrating import Wish, calibrate, facts_of
from assay.console import ConsoleDisplay
from assay.execution import interruptible
from assay.files import possible
from assay.lease import release_stale
from assay.media.emulator import Emulator
from assay.media.profile import find_profile, profile_names, read_profile
from assay.model.calibration import Calibration
from assay.model.errors import BadInputError
from assay.model.installation import Installation
from assay.model.trial import MediumSpec
from assay.report.calibration import calibration_page, print_calibration
from assay.stats.fidelity import named_figures

_LEAST_SECONDS = 20.0
_MOST_SECONDS = 86_400.0


def calibrate_media(
    media: tuple[str, ...], wish: Wish, installation: Installation, console: Console, *,
    profile_to: Path | None = None, quiet: bool = False,
) -> list[Calibration]:  # fmt: skip
    """Calibrate each medium (a directory, a profile's name or file) or take what is stored; show it unless `quiet`.

    Raises BadInputError before anything starts when one of them can't be calibrated, or `profile_to`, where a profile
    shall be written afterwards, can't be.
    """
    _check_profile_to(profile_to, media)
    if not wish.seconds >= _LEAST_SECONDS:  # as no NaN is
        raise BadInputError(f"--seconds {wish.seconds:g} is too short for any figure; give at least {_LEAST_SECONDS:g}")
    if wish.seconds > _MOST_SECONDS:
        raise BadInputError(f"--seconds {wish.seconds:g} is more than a day; give at most {_MOST_SECONDS:g}")
    meter = find_fio(os.environ)
    for lease in release_stale(installation.state, lambda text: _say(console, f"assay: {text}")):
        _say(console, f"assay: removed what a killed run left behind ({lease.id})")
    folder = CalibrationFolder(installation.cache)
    specs = [spec_of(medium, installation) for medium in media]
    facts = [facts_of(spec, installation) for spec in specs]
    made = []
    for spec, own in zip(specs, facts, strict=True):
        stored = _stored(spec, own, wish, folder, console)
        if stored is None:
            with closing(ConsoleDisplay(console)) as display, interruptible():
                stored = calibrate(spec, own, wish, meter, installation, display)
            folder.store(stored)
        made.append(stored)
        page = folder.file(stored.medium, stored.facts).with_suffix(".html")
        page.write_text(calibration_page(stored))
        if not quiet:
            print_calibration(stored, console)
            _say(console, f"page: {page}")
    return made


def write_profile(calibration: Calibration, file: Path, name: str | None, installation: Installation) -> str:
    """Make a profile of what was measured; returns the name of the shipped one that lent the rest.

    Raises BadInputError when the medium shows no drive, and when the emulator finds a figure impossible.
    """
    figures = named_figures(calibration)
    template = nearest(calibration, figures, _templates(installation))
    file.write_text(make_profile(calibration, figures, template, name or file.stem))
    try:
        Emulator(installation).check(read_profile(file))
    except BadInputError:
        file.unlink()
        raise
    return template.name


def _check_profile_to(file: Path | None, media: tuple[str, ...]) -> None:
    if file is None:
        return
    if len(media) != 1:
        raise BadInputError(f"--profile-to makes a profile of one medium, and {len(media)} were given")
    if file.exists():
        raise BadInputError(f"{file} is there already; name another file or remove it")
    if file.suffix not in {".yaml", ".yml"} or not file.parent.is_dir():
        raise BadInputError(f"{file} must be a new .yaml file in a directory that is there")


def _templates(installation: Installation) -> list[Template]:
    """The shipped profiles of drives."""
    shipped = [find_profile(name, installation.profiles) for name in profile_names(installation.profiles)]
    return [
        Template(
            name=profile.name,
            kind="hdd" if profile.kind == "hdd" else "ssd",
            values=profile.values,
            expected={name: figure.value for name, figure in profile.expected.items()},
        )
        for profile in shipped
        if profile.kind in {"hdd", "ssd"}
    ]


def calibrations_json(calibrations: list[Calibration]) -> str:
    """All points and facts, as data."""
    return json.dumps([one.model_dump(mode="json") for one in calibrations], indent=1)


def spec_of(medium: str, installation: Installation) -> MediumSpec:
    """A shipped profile's name before a directory of that name (`./NAME` is always a directory or file)."""
    if not medium:
        raise BadInputError("a medium's name is empty; give a directory, or a profile's name or YAML file")
    path = possible(Path(medium))
    if medium not in profile_names(installation.profiles) and path.is_dir():
        return MediumSpec(name=medium, kind="directory", path=path.resolve())
    if path.suffix not in {".yaml", ".yml"} and "/" in medium:
        raise BadInputError(f"{medium} is not a directory; make it, or give a profile's name or YAML file")
    profile = find_profile(medium, installation.profiles)
    return MediumSpec(name=profile.name, kind="emulated", profile=medium)


def _stored(
    spec: MediumSpec, facts: Mapping[str, str], wish: Wish, folder: CalibrationFolder, console: Console
) -> Calibration | None:
    """What is stored for these facts, if it is as fine and took as long as what is wished for now."""
    if wish.again:
        return None
    found = folder.load(spec.name, facts)
    for sentence in folder.said:
        _say(console, f"assay: {sentence}")
    folder.said.clear()
    if found is None or found.form != wish.form or found.budget_s < wish.seconds:
        return None
    _say(console, f"{found.medium}: measured {found.taken} and stored since; --again measures anew")
    return found


def _say(console: Console, text: str) -> None:
    console.print(text, highlight=False, markup=False, soft_wrap=True)
