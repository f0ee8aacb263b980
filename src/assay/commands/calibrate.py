"""`assay media calibrate`: measure media with fio, keep what came of it, show it."""

import json
import os
from contextlib import closing
from pathlib import Path

from rich.console import Console

from assay.calibration.fio import Meter, find_fio
from assay.calibration.storage import CalibrationFolder
from assay.commands.calibrating import Wish, calibrate, facts_of
from assay.console import ConsoleDisplay
from assay.execution import interruptible
from assay.media.profile import find_profile, profile_names
from assay.model.calibration import Calibration
from assay.model.errors import BadInputError
from assay.model.installation import Installation
from assay.model.trial import MediumSpec
from assay.report.calibration import calibration_page, print_calibration

_LEAST_SECONDS = 20.0


def calibrate_media(
    media: tuple[str, ...], wish: Wish, installation: Installation, console: Console, *, quiet: bool = False
) -> list[Calibration]:
    """Calibrate each medium (a directory, a profile's name or file) or take what is stored; show it unless `quiet`.

    Raises BadInputError before anything starts when one of them can't be calibrated.
    """
    if wish.seconds < _LEAST_SECONDS:
        raise BadInputError(f"--seconds {wish.seconds:g} is too short for any figure; give at least {_LEAST_SECONDS:g}")
    meter = find_fio(os.environ)
    folder = CalibrationFolder(installation.cache)
    specs = [spec_of(medium, installation) for medium in media]
    return [_one(spec, wish, meter, folder, installation, console, quiet=quiet) for spec in specs]


def calibrations_json(calibrations: list[Calibration]) -> str:
    """All points and facts, as data."""
    return json.dumps([one.model_dump(mode="json") for one in calibrations], indent=1)


def spec_of(medium: str, installation: Installation) -> MediumSpec:
    """A shipped profile's name before a directory of that name (`./NAME` is always a directory or file)."""
    path = Path(medium)
    if medium not in profile_names(installation.profiles) and path.is_dir():
        return MediumSpec(name=medium, kind="directory", path=path.resolve())
    if path.suffix not in {".yaml", ".yml"} and "/" in medium:
        raise BadInputError(f"{medium} is not a directory; make it, or give a profile's name or YAML file")
    profile = find_profile(medium, installation.profiles)
    return MediumSpec(name=profile.name, kind="emulated", profile=medium)


def _one(
    spec: MediumSpec, wish: Wish, meter: Meter, folder: CalibrationFolder, installation: Installation,
    console: Console, *, quiet: bool,
) -> Calibration:  # fmt: skip
    stored = None if wish.again else folder.load(spec.name, facts_of(spec, installation))
    for sentence in folder.said:
        console.print(f"assay: {sentence}", highlight=False, markup=False, soft_wrap=True)
    folder.said.clear()
    if stored is None:
        with closing(ConsoleDisplay(console)) as display, interruptible():
            stored = calibrate(spec, wish, meter, installation, display)
        folder.store(stored)
    elif not quiet:
        console.print(f"measured {stored.taken} and stored since; --again measures anew", style="dim", highlight=False)
    page = folder.file(stored.medium, stored.facts).with_suffix(".html")
    page.write_text(calibration_page(stored))
    if not quiet:
        print_calibration(stored, console)
        console.print(f"page: {page}", highlight=False, markup=False, soft_wrap=True)
    return stored
