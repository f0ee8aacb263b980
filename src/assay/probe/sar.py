"""What sysstat's tools print of drives: `sar -d`, `sadf -d` and `sadf -j`, and `iostat -x -t`, as text or in gzip.

Rates of an interval become what a drive did in it. Text has the clock of the locale in which it was printed: decimal
commas, 12 hours, and the date in some order. Source: sysstat, sar(1), sadf(1), iostat(1).
"""

import gzip
import json
import re
import shlex
import zlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from assay.host.files import is_tar, why
from assay.model.errors import BadInputError

SADF = "`sadf -d FILE -- -d -p`"
HOW = f"print it with {SADF}, which has dates and UTC"
_UNITS = {
    "rkB/s": ("read", 1024), "wkB/s": ("written", 1024), "rMB/s": ("read", 1 << 20), "wMB/s": ("written", 1 << 20),
    "rd_sec/s": ("read", 512), "wr_sec/s": ("written", 512), "rsec/s": ("read", 512), "wsec/s": ("written", 512),
}  # fmt: skip
_BUSY, _DEVICE = "%util", "DEV"
_OF_JSON = {"disk-device": _DEVICE, "util-percent": _BUSY}
_AFTER_CLOCK = (_DEVICE, "tps", "LINUX")
"""What follows on the clock in headings and at restarts; where a locale prints a zone there, that does."""
_ZONE = re.compile(r"[A-Z]{3,5}|[+-]\d\d(\d\d)?")
_HEAD = re.compile(r"Linux \S+ \(([^)]+)\)\s+(\S+)")
_CLOCK = r"(\d{1,2}):(\d\d):(\d\d)(?:\s*([AaPp])\.?[Mm]\.?)?"
_ROW = re.compile(rf"{_CLOCK}\s+(\S.*)")
_MOMENT = re.compile(rf"(\d+[-/.]\d+[-/.]\d+)[T ]\s*{_CLOCK}([+-]\d{{4}})?")
_DATE = re.compile(r"(\d+)([-/.])(\d+)\2(\d+)\.?")
_MOST_BYTES, _PIECE_BYTES, _HEAD_BYTES = 1 << 30, 1 << 20, 4096
_GZIP, _ZIP = b"\x1f\x8b", b"PK\x03\x04"
_COMPRESSORS = {b"\xfd7zXZ\0": "xz", b"BZh": "bzip2", b"\x28\xb5\x2f\xfd": "zstd", b"\x04\x22\x4d\x18": "lz4"}
"""By the first bytes of their files, which are not unpacked here."""
_SET_BACK = timedelta(hours=2)
"""Clocks are set back by less, as where summer time ends: what is earlier by more than this is of the next day."""


class DriveInterval(NamedTuple):
    """What a drive of a host did between two times, in seconds since the epoch: bytes, and seconds it was busy.

    As the file has it, which may be more than a drive can do.
    """

    host: str
    device: str
    begin_s: float
    end_s: float
    read_bytes: float
    written_bytes: float
    busy_s: float


class DriveReport(NamedTuple):
    """A file's intervals, and whether its times name no zone, so that they are taken for this machine's."""

    intervals: Sequence[DriveInterval]
    is_local: bool


def check_drive_report(file: Path) -> None:
    """Raises BadInputError for a file whose first bytes show that it is something else, such as an archive."""
    _check_head(file, _content(file, _HEAD_BYTES))


def _check_head(file: Path, head: bytes) -> None:
    place = shlex.quote(str(file))
    tool = next((name for first, name in _COMPRESSORS.items() if head.startswith(first)), "")
    holds_files = is_tar(head) or (bool(tool) and ".tar" in file.suffixes)
    if holds_files or head.startswith(_ZIP):
        command = f"tar -xf {place} -C FOLDER" if holds_files else f"unzip {place} -d FOLDER"
        raise BadInputError(f"--sar {file} is an archive of files; unpack it with `{command}`, and name that folder")
    if tool:
        raise BadInputError(
            f"--sar {file} is compressed by {tool}, and only gzip is read; unpack it with `{tool} -d -k {place}`, and "
            "name the file that this makes"
        )
    if b"\0" in head:
        raise BadInputError(f"--sar {file} is a file of sar's own, whose form differs by version; {HOW}")


def _content(file: Path, most_bytes: int) -> bytes:
    """About so many bytes of a file at most, unpacked where it is gzip. Raises BadInputError."""
    try:
        with file.open("rb") as plain:
            packed = plain.peek(len(_GZIP))[: len(_GZIP)] == _GZIP
            with cast(BinaryIO, gzip.open(plain)) if packed else plain as content:
                pieces = iter(lambda: content.read(min(most_bytes, _PIECE_BYTES)), b"")
                return b"".join(islice(pieces, -(-most_bytes // _PIECE_BYTES)))
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise BadInputError(f"--sar {file} is damaged, or a part of a gzip file; copy it again") from None
    except OSError as error:
        raise BadInputError(f"--sar {file} can't be read: {why(error)}") from None


def read_drive_report(file: Path) -> DriveReport:
    """Raises BadInputError for what is none of these, has no times or a date in doubt, or tells of no drive."""
    data = _content(file, _MOST_BYTES + 1)
    _check_head(file, data[:_HEAD_BYTES])
    if len(data) > _MOST_BYTES:
        raise BadInputError(f"--sar {file} has more than 1 GiB; print the days of the jobs alone")
    reading = _Reading(file)
    try:
        intervals = list(reading.intervals(data.decode("utf-8", "replace").lstrip("\ufeff \r\n")))
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
        raise BadInputError(f"--sar {file} is damaged, or of another form ({error}); {HOW}") from None
    if not intervals:
        raise BadInputError(
            f"--sar {file} tells of no interval of a drive: it must be what `sar -d`, `sadf -d` or `iostat -x -t 60` "
            f"printed; {HOW}"
        )
    return DriveReport(intervals, reading.is_local)


class _Reading:
    def __init__(self, file: Path) -> None:
        self._file = file
        self.is_local = False

    def intervals(self, text: str) -> Iterator[DriveInterval]:
        if text.startswith("{"):
            if '"disk_device"' in text:
                raise BadInputError(
                    f"--sar {self._file} is iostat's JSON, which is not read: print text with `iostat -x -t 60`"
                )
            return self._of_json(json.loads(text))
        lines = [line.strip() for line in text.splitlines()]
        if any(line.startswith("# hostname;") for line in lines[:100]):
            return self._of_csv(lines)
        is_sar = any(_DEVICE in line.split() for line in lines)
        return self._of_sar(lines) if is_sar else self._of_iostat(lines)

    def _of_json(self, answer: Mapping[str, Any]) -> Iterator[DriveInterval]:
        for host in answer["sysstat"]["hosts"]:
            for of_time in host["statistics"]:
                moment = of_time["timestamp"]
                zone = "UTC" if moment.get("utc") else moment.get("tz") or ""
                end = self._of_sadf(f"{moment['date']} {moment['time']} {zone}")
                begin = end - timedelta(seconds=float(moment["interval"]))
                for disk in of_time.get("disk", ()):
                    names = [_OF_JSON.get(key, f"{key}/s") for key in disk]
                    yield from _interval(host["nodename"], names, [*map(str, disk.values())], begin, end)

    def _of_csv(self, lines: Sequence[str]) -> Iterator[DriveInterval]:
        names: list[str] = []
        for line in lines:
            host, interval, moment, *cells = [*line.lstrip("# ").split(";"), "", ""]
            if host == "hostname":
                names = cells[:-2] if _BUSY in cells else []
            elif len(cells) - 2 == len(names) > 0:
                end = self._of_sadf(moment)
                yield from _interval(host, names, cells[:-2], end - timedelta(seconds=float(interval)), end)

    def _of_sar(self, lines: Sequence[str]) -> Iterator[DriveInterval]:
        """Each line has a time; that of a line with headings is when the interval below it began.

        A section of each of sar's options ends with averages, which have no time, and the next one begins anew: at the
        head of the file, or at the restart behind which all sections stand once more.
        """
        host, date = "", ""
        day: datetime | None = None
        begin: datetime | None = None
        end: datetime | None = None
        restart: tuple[datetime | None, datetime | None] = (None, None)
        names: list[str] = []
        is_over = False
        for line in lines:
            if head := _HEAD.match(line):
                host, date, day, end, names, is_over, restart = head[1], head[2], None, None, [], False, (None, None)
            elif row := _ROW.match(line):
                cells = row[5].split()
                is_restart, is_heading = "RESTART" in row[5], _BUSY in cells
                if "COM" in cells[:2]:  # a remark
                    continue
                if not is_restart and not is_heading and not (names and _has_values(cells)):
                    names = []  # another section begins, or goes on
                    continue
                if is_heading:
                    self._check_clock(cells[0])
                if is_over and is_heading:
                    day, end = restart
                day = day or self._day(date, month_first=row[4] is not None and cells[0] in _AFTER_CLOCK)
                at = day + _since_midnight(*row.groups()[:4])
                if end is not None and at < end - _SET_BACK:
                    day, at = day + timedelta(days=1), at + timedelta(days=1)
                if is_restart:
                    names, end, restart = [], at, (day, at) if is_over else restart
                elif is_heading:
                    names, begin, end = cells, None, at
                else:
                    begin, end = (begin, end) if at == end else (end, at)
                    yield from _interval(host, names, cells, begin and begin.astimezone(), at.astimezone())
                is_over = False
            elif line:
                names, is_over = [], True

    def _check_clock(self, word: str) -> None:
        """Raises BadInputError for what is not known to follow on a clock, such as a locale's own word for a.m."""
        if word not in _AFTER_CLOCK and not _ZONE.fullmatch(word):
            raise BadInputError(
                f"--sar {self._file} has {word!r} after its clocks, which may tell the half of the day; {HOW}"
            )

    def _of_iostat(self, lines: Sequence[str]) -> Iterator[DriveInterval]:
        """The time stands above each report; the first is of the time since the host was started, and is left out."""
        host = ""
        begin = end = None
        names: list[str] = []
        for line in lines:
            if head := _HEAD.match(line):
                host, end = head[1], None
            elif moment := _MOMENT.fullmatch(line):
                begin, end, names = end, self._at(*moment.groups()), []
            elif _BUSY in line:
                names = [_DEVICE, *line.split()[1:]]
                if not line.endswith(_BUSY) or not _UNITS.keys() & names:
                    raise BadInputError(
                        f"--sar {self._file} is iostat's short or pretty form, whose tables lack bytes or devices "
                        f"beside {_BUSY}: print it with `iostat -x -t 60`, without -s, -h and --pretty"
                    )
                if end is None:
                    raise BadInputError(f"--sar {self._file} has no times: print it with `iostat -x -t 60`")
            elif names and end is not None:
                yield from _interval(host, names, line.split(), begin, end)

    def _of_sadf(self, text: str) -> datetime:
        """`2026-11-28 08:02:09 UTC`, the same without a zone, or seconds since the epoch."""
        if text.isdigit():
            return datetime.fromtimestamp(int(text), UTC)
        date, clock, zone = [*text.split(), "", ""][:3]
        if zone not in ("", "UTC"):
            raise BadInputError(f"--sar {self._file} has times of the zone {zone}, and only UTC is read; {HOW}")
        self.is_local |= not zone
        at = datetime.fromisoformat(f"{date} {clock}")
        return at.replace(tzinfo=UTC) if zone else at.astimezone()

    def _at(self, date: str, hours: str, minutes: str, seconds: str, half: str | None, zone: str | None) -> datetime:
        since = _since_midnight(hours, minutes, seconds, half)
        if zone:
            return datetime.strptime(f"{date} {zone}", "%Y-%m-%d %z") + since
        return (self._day(date, month_first=half is not None) + since).astimezone()

    def _day(self, date: str, *, month_first: bool) -> datetime:
        """The midnight of a date as a locale has it, without a zone. Of years with two digits the order is not known.

        Raises BadInputError where day and month may be either.
        """
        self.is_local = True
        match = _DATE.fullmatch(date)
        if match is None:
            raise ValueError(f"{date!r} is no date")
        first, sign, second, third = match[1], match[2], match[3], match[4]
        if sign == "-" and len(first) == 4:
            year, month, day = int(first), int(second), int(third)
        else:
            year = int(third) + (2000 if len(third) == 2 else 0)
            month, day = int(first), int(second)
            month_first = month_first and sign != "." and len(third) == 4
            if sign != "." and not month_first and month <= 12 and day <= 12 and month != day:
                raise BadInputError(f"--sar {self._file} has the date {date}, whose day or month may be first; {HOW}")
            if month > 12 or (not month_first and day <= 12):
                month, day = day, month
        return datetime(year, month, day)  # noqa: DTZ001 - summer time may begin or end on it


def _has_values(cells: Sequence[str]) -> bool:
    """Whether a line of a table is no heading: headings have no number."""
    return any(cell[0].isdigit() for cell in cells)


def _since_midnight(hours: str, minutes: str, seconds: str, half: str | None) -> timedelta:
    hour = int(hours)
    if half is not None:
        hour = hour % 12 + (12 if half in "Pp" else 0)
    return timedelta(hours=hour, minutes=int(minutes), seconds=int(seconds))


def _interval(
    host: str, names: Sequence[str], cells: Sequence[str], begin: datetime | None, end: datetime
) -> Iterator[DriveInterval]:
    """A line of a table; none for what is no such line, such as averages, or without a time in which it happened."""
    if begin is None or begin >= end or len(cells) != len(names):
        return
    of_name = dict(zip(names, cells, strict=True))
    seconds = (end - begin).total_seconds()
    rates = {"read": 0.0, "written": 0.0}
    for name, (which, unit) in _UNITS.items():
        if name in of_name:
            rates[which] = unit * _number(of_name[name])
    busy_s = seconds * _number(of_name[_BUSY]) / 100
    yield DriveInterval(
        host, of_name[_DEVICE], begin.timestamp(), end.timestamp(), seconds * rates["read"],
        seconds * rates["written"], busy_s,
    )  # fmt: skip


def _number(text: str) -> float:
    return float(text.replace(",", "."))
