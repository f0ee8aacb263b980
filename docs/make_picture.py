"""Writes the pictures that README shows, of the kept quickstart and of advice on the example, with their words inside.

From the checkout, with Chromium: `PYTHONPATH=.:src:extras .assay/venv/bin/python docs/make_picture.py`.
"""

import subprocess
import tempfile
import zlib
from pathlib import Path

from docs.kept_runs import REPORT, ROOT, decision_lines, output_of, unpacked
from docs.make_results import DECIDING, advise_headline

from assay.cli.report import browser_command, find_browser

PICTURE, PICTURE_OF_ADVICE = ROOT / "docs" / "report-page.png", ROOT / "docs" / "advice-page.png"
SIZE = "1120,780"
_HEAD_BYTES = 33
"""A PNG's signature and its first chunk, which has to be the header."""


def shown_words(picture: bytes) -> str:
    """The answer that a picture shows, which stands behind its header; empty where there is none."""
    size, kind = int.from_bytes(picture[_HEAD_BYTES:][:4]), picture[_HEAD_BYTES + 4 :][:4]
    return picture[_HEAD_BYTES + 8 :][:size].removeprefix(b"answer\0").decode("latin-1") if kind == b"tEXt" else ""


def with_words(picture: bytes, words: str) -> bytes:
    """A picture with the answer that it shows (PNG specification, 11.3.4.3)."""
    content = b"tEXtanswer\0" + words.encode("latin-1")
    chunk = (len(content) - 4).to_bytes(4) + content + zlib.crc32(content).to_bytes(4)
    return picture[:_HEAD_BYTES] + chunk + picture[_HEAD_BYTES:]


def shown(page: Path, words: list[str]) -> bytes:
    """The picture of what a browser's window shows of a page."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "page.png"
        options = [f"--window-size={SIZE}", "--hide-scrollbars", f"--screenshot={file}", page.as_uri()]
        subprocess.run([*browser_command(find_browser(), Path(folder) / "profile"), *options], check=True)
        return with_words(file.read_bytes(), "\n".join(words))


def main() -> None:
    """Show the pages in a browser, and keep what its window shows."""
    with unpacked("quickstart") as run:
        output_of(run.parents[1], "80", *REPORT, "runs/quickstart")
        PICTURE.write_bytes(shown(run / "report.html", decision_lines("quickstart")))
    with tempfile.TemporaryDirectory() as folder:
        output_of(Path(folder), "110", "-m", "assay", "advise", *DECIDING, "--html", "advice.html")
        PICTURE_OF_ADVICE.write_bytes(shown(Path(folder, "advice.html"), advise_headline()))


if __name__ == "__main__":
    main()
