"""The lowest rates of a site's drives, by the project's own profiles: what `--drives 4xhdd` says of a node.

A bound on time needs the slowest that a drive may be: on its inner tracks, with several streams at once, and with a
positioning before each request where requests are known to be small. What published measurements show of a drive, its
profile says under `expected`.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from assay.media.emulated.profile import find_profile, profile_names
from assay.model.drive_profile import SHORT_NAMES, DriveProfile
from assay.model.errors import BadInputError
from assay.model.naming import bytes_text
from assay.model.signature import Direction
from assay.plan.job_experiment import ROLES

HOW = "write it as 4xhdd, 2xssd or 12xPROFILE, and drives of a role of their own as 12xhdd,intermediate=1xssd"
_PART = re.compile(r"(?:(?P<role>[a-z]+)=)?(?P<count>[1-9][0-9]{0,2})x(?P<name>[^,=]+)")
_MB = 1e6
_LEAST_LARGE = 64 << 20
"""A positioning before so many bytes is lost in the rate."""


class Drives(NamedTuple):
    """So many drives of a kind in each node, at their lowest rates (bytes a second) and longest positionings (s).

    `profile` is what their kind is called in an experiment.
    """

    number: int
    name: str
    profile: str
    read_rate: float
    write_rate: float
    read_access_s: float
    write_access_s: float
    usual: float = 1.0
    """How many times the lowest rates it usually has: on its middle tracks."""

    @property
    def text(self) -> str:
        """`4 x WD10EZEX`."""
        return f"{self.number} x {self.name}"

    @property
    def option(self) -> str:
        """`12xhdd`, as options of commands name them."""
        short = {profile: name for name, profile in SHORT_NAMES.items()}
        return f"{self.number}x{short.get(self.profile, self.profile)}"

    def seconds(self, direction: Direction, moved: float, request: float | None = None) -> float:
        """How long one of them takes at most for so many bytes; `request` is the size of requests, where it is known.

        What is larger than 64 MiB, or of unknown size, is one stream among several.
        """
        rate, access_s = (
            (self.read_rate, self.read_access_s) if direction == "read" else (self.write_rate, self.write_access_s)
        )
        small = request is not None and 0 < request < _LEAST_LARGE
        return moved / rate + (moved / request * access_s if small and request else 0.0)

    def usually_s(self, direction: Direction, moved: float, request: float | None) -> float:
        """How long one of them usually takes for so many bytes."""
        middle = self._replace(read_rate=self.usual * self.read_rate, write_rate=self.usual * self.write_rate)
        return middle.seconds(direction, moved, request)

    def rate_text(self, direction: Direction, request: float | None) -> str:
        """The rate that `seconds` comes to, in words."""
        sample = request if request is not None and 0 < request < _LEAST_LARGE else None
        rate = (sample or _MB) / self.seconds(direction, sample or _MB, sample) / _MB
        pieces = f" in pieces of {bytes_text(sample)}" if sample else ""
        return f"{rate:.3g} MB/s{pieces}"


def drives_of(profile: DriveProfile, count: int, name: str) -> Drives:
    """The lowest rates that a profile's published figures show. Raises BadInputError where they show none."""
    expected, figures = profile.expected_values, profile.values
    required = (
        "sequential_read_mb_s",
        "sequential_write_mb_s",
        "random_read_4k_iops_depth1",
        "random_write_4k_iops_depth1",
    )
    lacking = [name for name in required if not expected.get(name)]
    if lacking:
        raise BadInputError(
            f"the drive profile {profile.name} can't bound what jobs wait for: it says nothing of {', '.join(lacking)} "
            "under `expected`; add that, or name another drive in --drives"
        )
    outer = figures.get("outer_rate_mb_s", 0)
    inner_share = figures["inner_rate_mb_s"] / outer if outer and "inner_rate_mb_s" in figures else 1.0
    alone = expected["sequential_read_mb_s"]
    several = min([alone, *(value for name, value in expected.items() if name.startswith("streams_"))])
    write = min(
        value for name, value in (*expected.items(), *figures.items())
        if name in {"sequential_write_mb_s", "sequential_write_beyond_cache_mb_s", "write_rate_mb_s"}
    )  # fmt: skip
    return Drives(
        count, profile.model or profile.name, name,
        several * inner_share * _MB, write * several / alone * inner_share * _MB,
        1 / expected["random_read_4k_iops_depth1"], 1 / expected["random_write_4k_iops_depth1"],
        (1 + inner_share) / 2 / inner_share,
    )  # fmt: skip


def drives_by_role(text: str, profiles: Path, option: str = "--drives") -> Mapping[str, Drives]:
    """The drives of each role, as an option says. Raises BadInputError with how it is written."""
    by_role: dict[str, Drives] = {}
    named = set()
    for part in text.replace(" ", "").split(","):
        match = _PART.fullmatch(part)
        if match is None or (match["role"] or ROLES[0]) not in ROLES:
            raise BadInputError(f"{option} {text!r} is not understood at {part!r}; {HOW}")
        if match["role"] in named:
            purpose = match["role"] or "all that has no drives of its own"
            raise BadInputError(f"{option} {text!r} names drives twice for {purpose}; {HOW}")
        named.add(match["role"])
        name = match["name"]
        if name not in SHORT_NAMES and name not in profile_names(profiles) and "/" not in name and "." not in name:
            known = ", ".join((*SHORT_NAMES, *profile_names(profiles)))
            raise BadInputError(f"{option} {text!r} names {name!r}, and known are {known}; or name a YAML file")
        profile = SHORT_NAMES.get(name, name)
        drives = drives_of(find_profile(profile, profiles), int(match["count"]), profile)
        for role in (match["role"],) if match["role"] else ROLES:
            if match["role"] or role not in by_role:
                by_role[role] = drives
    lacking = [role for role in ROLES if role not in by_role]
    if lacking:
        raise BadInputError(f"{option} {text!r} names no drives for {' and '.join(lacking)}; {HOW}")
    return by_role


def drives_of_one_kind(text: str, profiles: Path, option: str) -> Drives:
    """The drives that an option names for all data. Raises BadInputError where it names several kinds."""
    kinds = set(drives_by_role(text, profiles, option).values())
    if len(kinds) > 1:
        raise BadInputError(f"{option} {text!r} names several kinds of drives; name one, such as 1xssd")
    return kinds.pop()


def drives_text(by_role: Mapping[str, Drives]) -> str:
    """The drives of a node in words."""
    kinds = {role: drives.text for role, drives in by_role.items()}
    if len(set(kinds.values())) == 1:
        return next(iter(kinds.values()))
    return ", ".join(f"{text} for {role}" for role, text in kinds.items())
