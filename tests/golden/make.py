"""Writes the golden files anew: `python -m tests.golden.make`, with the paths that pytest has (`src` and the root)."""

import shutil
import tempfile
from pathlib import Path

from tests.golden.making import EXPECTED, kinds


def main() -> None:
    """Replace all golden files; `git diff` then shows what changed."""
    with tempfile.TemporaryDirectory() as place:
        made = {name: text for make in kinds(Path(place)).values() for name, text in make().items()}
    shutil.rmtree(EXPECTED, ignore_errors=True)
    for name, text in made.items():
        file = EXPECTED / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


if __name__ == "__main__":
    main()
