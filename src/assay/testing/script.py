"""What fakes do: one script for all of them, and one log of what was called."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from assay.model.doubt import Doubt
from assay.model.engine import Program
from assay.model.errors import AssayError
from assay.model.limits import LimitUse
from assay.model.record import Counters
from assay.model.trial import Trial


@dataclass
class Script:
    """What happens: the log of all calls, where to fail, what the jobs answer and how long they take.

    `landing` and `found_bytes` say where bytes land and how many of 100 MiB are found; `device` makes media emulated.
    Of `lost_jobs` (by name) there is no history; `gaps` is what that of the others lacks.
    """

    log: list[str] = field(default_factory=list)
    fail_at: str | None = None
    fail_with: BaseException = field(default_factory=lambda: AssayError("scripted failure"))
    answer: int = 1
    landing: Mapping[str, float] | None = None
    found_bytes: int = 100 << 20
    device: bool = False
    limit_use: LimitUse | None = None
    lost_jobs: Sequence[str] = ()
    gaps: tuple[Doubt, ...] = ()
    program: Callable[[Program], tuple[Mapping[str, bytes], Mapping[str, str]]] = lambda _program: ({}, {})
    counters: Counters = field(default_factory=lambda: {"fake": {"RECORDS": 3}})
    elapsed_ms: Callable[[Trial], int] = lambda _trial: 1000

    def note(self, what: str) -> None:
        """Write down a call; fail if the script says so."""
        self.log.append(what)
        if what == self.fail_at:
            raise self.fail_with
