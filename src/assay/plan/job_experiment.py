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
NO_DELAYS = "without-delays"
"""The name of the drive of the trial that only computes."""
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
    variant: str = ""
    """That of the workload, where it is not the engine's first one."""
    now_speed: Mapping[str, float] = {}
    other_speed: Mapping[str, float] = {}
    """Options of the drives that change their speed."""

    @property
    def text(self) -> str:
        """The file."""
        name, profile, now = quoted(self.other[0]), self.other[1], quoted(self.now_name)
        roles = ", ".join(f"{role}: {name if role == self.role else now}" for role in ROLES)
        return self._file(
            f"  {now}: {self._drive(self.now, self.now_speed)}",
            f"  {name}: {self._drive(profile, self.other_speed)}",
            "placement:",
            f"  - {now}",
            f"  - {{name: {self.role}-on-{self.other[0]}, {roles}}}",
            f"  - {name}",
            "zero_delay_baseline: true",
            "order: mirrored",
            "repetitions: 2",
            f"worth: {self.worth}",
            *self.memory,
        )

    @property
    def without_delays(self) -> str:
        """The file of another experiment: a single trial of the job without storage delays or a bound of memory."""
        return self._replace(comments=[], stands_for=None)._file(
            f"  {NO_DELAYS}: {self._drive('null', {})}",
            "zero_delay_baseline: false",
            "order: interleaved",
            "repetitions: 1",
        )

    def _file(self, *middle: str) -> str:
        """What is common to both, around lines that begin with the drives."""
        lines = [
            *(f"# {comment}" for comment in self.comments),
            f"experiment: {quoted(self.name)}",
            f"description: {quoted(self.description)}",
            "workloads:",
            "  - name: command",
            *([f"    variant: {self.variant}"] if self.variant else []),
            "    options:",
            *(f"      {name}: {quoted(value)}" for name, value in self.options.items()),
            *([] if self.engine == USUAL_ENGINE else [f"engine: {self.engine}"]),
            "media:",
            *middle,
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
        fields = {} if self.stands_for is None else self.stands_for.model_dump(mode="json", exclude_defaults=True)
        return ["stands_for:", *(f"  {name}: {json.dumps(value)}" for name, value in fields.items())] if fields else []

    def _drive(self, profile: str, speed: Mapping[str, float]) -> str:
        path = {"path": quoted(self.backing)} if self.backing else {}
        options = {"profile": quoted(profile), **path, **{name: f"{value:g}" for name, value in speed.items()}}
        pairs = ", ".join(f"{name}: {value}" for name, value in options.items())
        return f"{{{pairs}}}" if len(options) > 1 else quoted(profile)


def speed_of(kind: str, slowdown: float, users: float) -> dict[str, float]:
    """Options of an emulated drive of that kind which is slowed down, and shared by so many equal users.

    Those of a hard disk wait for one arm: all that it does takes longer. Others divide a drive's rates. A slowdown is
    rounded to a whole number last.
    """
    if kind == "hdd":
        slowdown, users = slowdown * users, 1
    times = round(slowdown)
    return {**({"slowdown": times} if times > 1 else {}), **({"shared_by": users} if users > 1 else {})}


def quoted(text: str) -> str:
    """A text as YAML, whatever is in it."""
    plain = re.fullmatch(r"[A-Za-z/][\w./-]*", text) and text.lower() not in _WORDS_OF_YAML
    return text if plain else json.dumps(text, ensure_ascii=False)


def of_several(shape: SiteShape) -> list[str]:
    """Say in sentences how a test on a part of a node differs from nodes with several drives; nothing for one of each.

    A node's drives of a kind share the work of all its processors. The test has an equal part of both kinds.
    """
    count, other_count = shape.drives, shape.new_drives
    if count == other_count == 1:
        return []
    counts = f"Your nodes have {count} of today's drive, and would have {other_count} of the other"
    if not shape.shared:
        wrong = "" if count == other_count else (
            f", so that the other is {max(count, other_count) / min(count, other_count):.3g} times too "
            f"{'fast' if count > other_count else 'slow'}"
        )  # fmt: skip
        return [f"{counts}; the test has one of each{wrong}."]
    parts = shape.parts
    share = f" (--sample {math.ceil(shape.read_bytes / parts / 1e6)}MB)" if shape.read_bytes else ""
    lines = [
        f"{counts}; the test has 1/{parts} of each.",
        f"So its sample should be about 1/{parts} of what a node reads{share}.",
    ]
    if count != other_count:
        lines.append(
            "Of a drive that more tasks share in a node than in the test it has that part of the speed, at all times. "
            "In the node a task has more of it while others compute, so that drive may do better than the test shows."
        )
    return [*lines, "To test all drives of a node, name them as experiments/node-with-several-drives.yaml does."]


def experiment_name(job: str) -> str:
    """A job's name as that of an experiment and its file."""
    return re.sub(r"[^\w.-]+", "-", job, flags=re.ASCII).strip("-._")[:80] or "job"
