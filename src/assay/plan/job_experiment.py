"""The experiment that decides whether another drive shortens a site's own job."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from assay.model.layout import INPUT, INTERMEDIATE, OUTPUT
from assay.model.trial import USUAL_ENGINE, SiteShape
from assay.plan.property_keys import by_key

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
            *(
                line
                for key, properties in by_key(self.properties).items()
                for line in (f"{key}:", *(f"  {name}: {quoted(value)}" for name, value in properties.items()))
            ),
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
    """Say in sentences how a test on one drive of each differs from nodes with several; nothing for one of each.

    A node's drives of a kind share the work of all its cores. So a sample that gives one of `count` drives of today its
    share gives one of `other_count` other drives too little work where they are fewer, too much where they are more.
    `read_bytes` are what a node reads of the whole input.
    """
    if count == other_count == 1:
        return []
    counts = f"Your nodes have {count} of today's drive, and would have {other_count} of the other"
    lines = [f"{counts}; the test has one of each."]
    if count > 1:
        share = f" (--sample {math.ceil(read_bytes / count / 1e6)}MB)" if read_bytes else ""
        part = f"its sample is about 1/{count} of what a node reads{share}"
        lines.append(f"It shows more than you would gain unless {part}.")
    if count > other_count:
        times = f"{count / other_count:.3g}"
        lines += [
            f"For such a sample the other drive is {times} times too fast, since in a node it serves all cores:",
            f"the test still shows more than you would gain, unless you buy {count} of it for each node.",
        ]
    elif count < other_count:
        slow = f"The other drive is then {other_count / count:.3g} times too slow"
        lines.append(f"{slow}: the test may show less than you would gain.")
    return [*lines, "To test all drives of a node, name them as experiments/node-with-several-drives.yaml does."]


def experiment_name(job: str) -> str:
    """A job's name as that of an experiment and its file."""
    return re.sub(r"[^\w.-]+", "-", job, flags=re.ASCII).strip("-._")[:80] or "job"
