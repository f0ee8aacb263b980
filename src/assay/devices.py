"""What is asked in a trial of those of its media that are devices of Assay's own; others are passed over."""

from collections.abc import Sequence

from assay.findings import Findings
from assay.model.medium import Device, Medium
from assay.model.record import Part


def write_out(media: Sequence[Medium]) -> None:
    """Have the kernel write to them what it holds back, so that their next report has all of it."""
    for medium in media:
        if isinstance(medium, Device):
            medium.write_out()


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
