"""What is asked in a trial of those of its media that are devices of Assay's own; others are passed over."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread

from assay.findings import Findings
from assay.model.errors import AssayError
from assay.model.medium import Device, Medium
from assay.model.record import Part

_WRITE_OUT_EVERY_S = 0.5
_PATIENCE_S = 5.0


def write_out(media: Sequence[Medium]) -> None:
    """Have the kernel write to them what it holds back, so that their next report has all of it."""
    for medium in media:
        if isinstance(medium, Device):
            medium.write_out()


@contextmanager
def writing_out(media: Sequence[Medium]) -> Iterator[None]:
    """Have the kernel write to them as it goes for the time of a scope, instead of keeping all for its end."""
    ended = Event()

    def keep_on() -> None:
        while not ended.wait(_WRITE_OUT_EVERY_S):
            try:
                write_out(media)
            except AssayError:  # the device has died: whoever uses it says so
                return

    writer = Thread(target=keep_on, daemon=True)
    writer.start()
    patience_s: float | None = _PATIENCE_S  # a device that hangs is ended after the scope
    try:
        yield
        patience_s = None
    finally:
        ended.set()
        writer.join(patience_s)


def count_anew(media: Sequence[Medium]) -> None:
    """Their next reports begin here."""
    for medium in media:
        if isinstance(medium, Device):
            medium.reset_report()


def take_reports(media: Sequence[Medium], part: Part, findings: Findings) -> None:
    """What they saw since the last time; they count anew from here."""
    for medium in media:
        if isinstance(medium, Device):
            findings.devices.setdefault(medium.spec.name, {})[part] = medium.device_report()
            medium.reset_report()
