"""The emulator's program, as far as it needs no drive: the figures it knows, and its judgement of a profile."""

import hashlib
import json
import subprocess
import tempfile
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from assay.media.profile import Profile
from assay.model.base import Frozen
from assay.model.errors import AssayError, BadInputError
from assay.model.installation import Installation
from assay.model.naming import nearest

BAD_PROFILE = 2
PATIENCE_S = 30


class FigureSpec(Frozen):
    """One figure of a kind of drive: its bounds, and its value where a profile does not give it."""

    name: str
    meaning: str
    unit: str
    least: float
    most: float
    default: float | None


class Emulator:
    """The program that set-up built."""

    def __init__(self, installation: Installation) -> None:
        self.binary = installation.parts / "emulator" / "release" / "assay-emulator"
        self._reason = installation.parts / "emulator.missing"

    def missing(self) -> str | None:
        """Why there is no such program, and how to get it; None when it is there."""
        if self.binary.is_file():
            return None
        try:
            reason = self._reason.read_text().splitlines()[0]
        except (OSError, IndexError):
            reason = "run setup/prepare emulator"
        return f"the drive emulator is not built: {reason}"

    @cached_property
    def digest(self) -> str:
        """The start of the program's SHA-256; empty when there is no such program."""
        try:
            return hashlib.sha256(self.binary.read_bytes()).hexdigest()[:16]
        except OSError:
            return ""

    def figures(self) -> Mapping[str, tuple[FigureSpec, ...]]:
        """The figures of each kind of drive."""
        kinds = json.loads(self._run("figures").stdout)
        return {
            one["kind"]: tuple(FigureSpec.model_validate(figure) for figure in one["figures"]) for one in kinds
        }  # fmt: skip

    def check(self, profile: Profile) -> None:
        """Raises BadInputError that names the figure, its value, the bounds and the line, for all that is wrong."""
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write(profile.for_emulator)
            file.flush()
            done = self._run("check", file.name, good=(0, BAD_PROFILE))
        if done.returncode == 0:
            return
        errors = json.loads(done.stdout)["errors"]
        raise BadInputError("; ".join(self._sentence(error, profile) for error in errors))

    def measure(self, device: Path, home: Path) -> dict[str, Any]:
        """What requests to a passive drive cost on their way, as the emulator takes it at its beginning.

        `home` holds the drive's control socket; it is reached from there, since its whole path may be too long.
        """
        cost: dict[str, Any] = json.loads(self._run("measure", str(device), "control", place=home).stdout)
        return cost

    def _sentence(self, error: Mapping[str, Any], profile: Profile) -> str:
        """One error with its place in the file; an unknown figure with the nearest one."""
        figure = error["figure"]
        where = profile.where(figure)
        if error["least"] is None and figure in profile.figures:
            names = [spec.name for spec in self.figures()[profile.kind]]
            return f"{where}: a drive of kind {profile.kind} has no figure {figure!r}; {nearest(figure, names)}"
        return f"{where}: {error['message']}"

    def _run(
        self, *arguments: str, good: tuple[int, ...] = (0,), place: Path | None = None
    ) -> "subprocess.CompletedProcess[str]":
        try:
            done = subprocess.run(
                [self.binary, *arguments], capture_output=True, text=True, check=False, timeout=PATIENCE_S,
                stdin=subprocess.DEVNULL, cwd=place,
            )  # fmt: skip
        except OSError as error:
            raise AssayError(self.missing() or f"{self.binary} can't be run: {error.strerror}") from None
        except subprocess.TimeoutExpired:
            raise AssayError(f"assay-emulator {arguments[0]} did not end within {PATIENCE_S} s") from None
        if done.returncode not in good:
            words = (done.stderr.strip() or f"exit code {done.returncode}").splitlines()[-1]
            raise AssayError(f"assay-emulator {arguments[0]} failed: {words}")
        return done
