"""A picture of a page's first screen, as README shows it: `python -m tests.report.picture RUN/report.html PICTURE.png`."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from assay.cli.report import find_browser
from tests.report.chromium import Chromium

WIDTH_PX, HEIGHT_PX = 1120, 780


def main(page, target):
    with TemporaryDirectory(prefix="assay-picture-") as profile:
        chromium = Chromium(find_browser(), Path(profile))
        try:
            with chromium.page(Path(page).resolve().as_uri(), WIDTH_PX, HEIGHT_PX) as opened:
                opened.ask("document.documentElement.style.overflow = 'hidden'")
                Path(target).write_bytes(opened.picture())
        finally:
            chromium.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
