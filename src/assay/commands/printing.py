"""Pages as PDF, printed by a browser of this machine that needs no screen."""

import os
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from assay.model.errors import AssayError, BadInputError

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
LONGEST_S = 180


def find_browser() -> str:
    """The path of a browser that prints. Raises BadInputError when there is none."""
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        raise BadInputError(
            "a PDF needs Chromium or Chrome, and neither is on the path; install one (on Debian: apt install chromium) "
            "or print the HTML page from your browser"
        )
    return found


def browser_command(browser: str, profile: Path) -> list[str]:
    """How it is started without a screen; root has no sandbox of its own to run in."""
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    quiet = ["--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update"]
    return [browser, "--headless=new", *sandbox, *quiet, f"--user-data-dir={profile}"]


def print_page(html: str, target: Path, browser: str) -> None:
    """Write a page as PDF. Raises AssayError when the browser does not."""
    with TemporaryDirectory(prefix="assay-pdf-") as place:
        page, printed = Path(place) / "page.html", Path(place) / "page.pdf"
        page.write_text(html)
        options = ["--no-pdf-header-footer", f"--print-to-pdf={printed}", page.as_uri()]
        command = [*browser_command(browser, Path(place) / "profile"), *options]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST_S, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise AssayError(f"{browser} could not print the page: {error}") from None
        if done.returncode or not printed.exists():
            said = done.stderr.strip().splitlines()[-1:] or ["it said nothing"]
            raise AssayError(f"{browser} could not print the page (exit code {done.returncode}): {said[0]}")
        shutil.copyfile(printed, target)
