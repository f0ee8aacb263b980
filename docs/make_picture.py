"""Writes the picture of a page that README shows: of the kept quickstart, with the words of its answer inside.

From the checkout, with Chromium: `PYTHONPATH=.:src:extras .assay/venv/bin/python docs/make_picture.py`.
"""

import subprocess
import tempfile
import zlib
from pathlib import Path

from docs.kept_runs import REPORT, ROOT, decision_lines, output_of, unpacked

from assay.cli.report import browser_command, find_browser

PICTURE = ROOT / "docs" / "report-page.png"
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


def main() -> None:
    """Show the page in a browser, and keep what its window shows."""
    with unpacked("quickstart") as run, tempfile.TemporaryDirectory() as folder:
        output_of(run.parents[1], "80", *REPORT, "runs/quickstart")
        file = Path(folder) / "page.png"
        options = [f"--window-size={SIZE}", "--hide-scrollbars", f"--screenshot={file}", (run / "report.html").as_uri()]
        subprocess.run([*browser_command(find_browser(), Path(folder) / "profile"), *options], check=True)
        PICTURE.write_bytes(with_words(file.read_bytes(), "\n".join(decision_lines("quickstart"))))


if __name__ == "__main__":
    main()
