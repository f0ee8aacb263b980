"""The experiment that decides whether another drive shortens a site's own job."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from assay.model.layout import INPUT, INTERMEDIATE, OUTPUT
from assay.model.trial import USUAL_ENGINE, SiteShape

ROLES = (INPUT, INTERMEDIATE, OUTPUT)
"""What drives of a site's job are for."""
NOW = "now"
"""The name of today's drive, unless an experiment says another."""
TRIALS = 14
"""How many its plan has: three placements there and back and the baseline between, twice."""
_WORDS_OF_YAML = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})


class JobExperiment(NamedTuple):
    """What its file says: `comments` come first; `options` are those of the workload `command`.

    `now` is the drive of today, `other` one that may be bought, and its name: `role` is on it in one placement, all
    roles are in another. `memory` are the lines that bound it, `worth` is the threshold as an experiment writes it.
    """

    name: str
    description: str
    comments: Sequence[str]
    options: Mapping[str, str]
    now: str
    other: tuple[str, str]
    role: str
    worth: str
    memory: Sequence[str]
    properties: Mapping[str, str] = {}
    stands_for: SiteShape | None = None
    now_name: str = NOW
    backing: str = ""
    """The folder of the emulated drives' backing files; by default it is Assay's to choose."""
    engine: str = USUAL_ENGINE

    @property
    def text(self) -> str:
        """The file."""
        name, profile, now = quoted(self.other[0]), self.other[1], quoted(self.now_name)
        roles = ", ".join(f"{role}: {name if role == self.role else now}" for role in ROLES)
        lines = [
            *(f"# {comment}" for comment in self.comments),
            f"experiment: {quoted(self.name)}",
            f"description: {quoted(self.description)}",
            "workloads:",
            "  - name: command",
            "    options:",
            *(f"      {name}: {quoted(value)}" for name, value in self.options.items()),
            *([] if self.engine == USUAL_ENGINE else [f"engine: {self.engine}"]),
            "media:",
            f"  {now}: {self._drive(self.now)}",
            f"  {name}: {self._drive(profile)}",
            "placement:",
            f"  - {now}",
            f"  - {{name: {self.role}-on-{self.other[0]}, {roles}}}",
            f"  - {name}",
            "zero_delay_baseline: true",
            "order: mirrored",
            "repetitions: 2",
            f"worth: {self.worth}",
            *self.memory,
            *(["hadoop:"] if self.properties else []),
            *(f"  {name}: {quoted(value)}" for name, value in self.properties.items()),
            *self._stands_for,
            "seed: 1",
        ]
        return "\n".join(lines) + "\n"

    @property
    def _stands_for(self) -> list[str]:
        said = {} if self.stands_for is None else self.stands_for.model_dump(exclude_defaults=True)
        return ["stands_for:", *(f"  {name}: {value}" for name, value in said.items())] if said else []

    def _drive(self, profile: str) -> str:
        return f"{{profile: {quoted(profile)}, path: {quoted(self.backing)}}}" if self.backing else quoted(profile)


def quoted(text: str) -> str:
    """A text as YAML, whatever is in it."""
    plain = re.fullmatch(r"[A-Za-z/][\w./-]*", text) and text.lower() not in _WORDS_OF_YAML
    return text if plain else json.dumps(text, ensure_ascii=False)


def of_several(count: int, other_count: int = 1, read_bytes: float | None = None) -> list[str]:
    """Say in sentences what a test on one drive of each does not show of nodes with several; nothing for one of each.

    A node's drives share its work, and a sample is small. Nodes have `count` of today's drive, and would have
    `other_count` of the other; `read_bytes` are what a node reads of the whole input.
    """
    if count == other_count == 1:
        return []
    if count == 1:
        return [
            f"Your nodes would have {other_count} of the other drive, and the test has one, so it may show less than",
            "you would gain: name several media as experiments/node-with-several-drives.yaml does.",
        ]
    others = f" and would have {other_count} of the other;" if other_count > 1 else " and"
    share = f" (--sample {math.ceil(read_bytes / count / 1e6)}MB)" if read_bytes else ""
    return [
        f"Your nodes have {count} such drives for this,{others} the test has one, so it shows more than you",
        f"would gain: take a sample of about 1/{count} of what a node reads{share}, or name several media as",
        "experiments/node-with-several-drives.yaml does.",
    ]


def experiment_name(job: str) -> str:
    """A job's name as that of an experiment and its file."""
    return re.sub(r"[^\w.-]+", "-", job, flags=re.ASCII).strip("-._")[:80] or "job"
