"""Proves that what sysstat's tools print is read alike, whatever the form and the locale, and that all else is refused in a sentence."""

import bz2
import gzip
import json
import lzma
import re
import shlex
import tarfile
import time
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from assay.model.errors import BadInputError
from assay.probe.sar import read_drive_report

CAPTURED = Path(__file__).parents[1] / "fixtures" / "probe" / "sar"
"""Of one host at about one time, by sysstat 12.6."""
HEAD = "Linux 5.14.0-427.el9.x86_64 (worker-0.site.org)   {}   _x86_64_        (32 CPU)\n\n"


@pytest.fixture(autouse=True)
def _utc(monkeypatch):
    with monkeypatch.context() as changed:
        changed.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


def read(folder, text, name="file"):
    (folder / name).write_text(text, encoding="utf-8")
    return read_drive_report(folder / name)


def seconds(*moment):
    return datetime(*moment, tzinfo=UTC).timestamp()


@pytest.mark.parametrize("name", ["sar.txt", "sadf.csv", "sadf.json"])
def test_all_forms_of_sar_tell_the_same(name):
    report = read_drive_report(CAPTURED / name)
    first = next(interval for interval in report.intervals if interval.device == "vda")
    assert (first.host, first.begin_s, first.end_s) == (
        "vm",
        seconds(2026, 11, 28, 8, 2, 7),
        seconds(2026, 11, 28, 8, 2, 9),
    )
    assert (first.read_bytes, first.written_bytes) == (2 * 5052 * 1024, 2 * 12948 * 1024)
    assert first.busy_s == pytest.approx(0.136)
    assert {interval.device for interval in report.intervals} == {"loop0", "loop1", "vda"}
    assert report.is_local is (name == "sar.txt")
    ends = sorted({interval.end_s for interval in report.intervals})
    assert [end - ends[0] for end in ends] == [0, 2, 4, 6, 8]


def test_iostat_begins_with_the_time_since_the_start_of_the_host_which_is_left_out():
    report = read_drive_report(CAPTURED / "iostat.txt")
    drives = [interval for interval in report.intervals if interval.device == "vda"]
    assert [(of.begin_s - drives[0].begin_s, of.busy_s) for of in drives] == [(0, 0.16), (2, 0.18)]
    assert drives[0].begin_s == seconds(2026, 11, 28, 8, 2, 8)
    iso = read_drive_report(CAPTURED / "iostat-iso.txt")
    assert (iso.is_local, len(iso.intervals)) == (False, 3)


def sar(date, *lines):
    return HEAD.format(date) + "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("date", "clock"),
    [
        ("11/28/2026", "11:50:01 PM {}"), ("11/28/26", "23:50:01 {}"), ("28.11.2026", "23:50:01 {}"),
        ("28/11/2026", "23:50:01 {}"), ("2026-11-28", "23:50:01 {}"),
    ],
)  # fmt: skip
def test_dates_and_clocks_of_other_locales(tmp_path, date, clock):
    next_day = clock.replace("11:50:01 PM", "12:00:01 AM").replace("23:50:01", "00:00:01")
    rows = [
        clock.format("DEV tps rd_sec/s wr_sec/s avgrq-sz avgqu-sz await svctm %util"),
        next_day.format("sda 90,50 2000,00 100,00 20,00 0,10 1,10 1,00 25,00"), "",
        "Durchschn.: sda 90,50 2000,00 100,00 20,00 0,10 1,10 1,00 25,00",
    ]  # fmt: skip
    (interval,) = read(tmp_path, sar(date, *rows)).intervals
    assert interval.begin_s == seconds(2026, 11, 28, 23, 50, 1)
    assert interval.end_s == seconds(2026, 11, 29, 0, 0, 1)
    assert (interval.busy_s, interval.read_bytes) == (150, 600 * 2000 * 512)


def test_a_restart_begins_anew(tmp_path):
    rows = [
        "08:00:01 DEV rkB/s wkB/s %util", "08:10:01 sda 1.00 1.00 10.00", "08:25:00 LINUX RESTART (32 CPU)", "",
        "08:30:01 DEV rkB/s wkB/s %util", "08:40:01 sda 1.00 1.00 20.00",
    ]  # fmt: skip
    intervals = read(tmp_path, sar("2026-11-28", *rows)).intervals
    assert [(of.end_s - of.begin_s, of.busy_s) for of in intervals] == [(600, 60), (600, 120)]
    assert intervals[1].begin_s - intervals[0].end_s == 1200


def test_sections_of_other_options_stand_around_that_of_the_drives(tmp_path):
    rows = [
        "00:00:01 CPU %user %idle", "00:10:01 all 1.00 99.00", "14:05:00 LINUX RESTART (8 CPU)", "",
        "14:10:01 CPU %user %idle", "14:20:01 all 1.00 99.00", "Average: all 1.00 99.00", "",
        "00:00:01 DEV rkB/s wkB/s %util", "00:10:01 sda 1.00 1.00 10.00", "00:15:00 COM remark 3", "00:20:01 sda 1.00 1.00 20.00", "",
        "00:00:01 IFACE rxkB/s txkB/s %ifutil", "00:10:01 eth0 1.00 1.00 1.00", "Average: eth0 1.00 1.00 1.00",
    ]  # fmt: skip
    intervals = read(tmp_path, sar("2026-11-28", *rows)).intervals
    assert [(of.device, of.end_s, of.busy_s) for of in intervals] == [
        ("sda", seconds(2026, 11, 28, 0, 10, 1), 60), ("sda", seconds(2026, 11, 28, 0, 20, 1), 120),
    ]  # fmt: skip


def test_sections_after_a_restart_on_the_next_day_are_of_that_day(tmp_path):
    rows = [
        "23:50:01 DEV rkB/s wkB/s %util", "00:00:01 sda 1.00 1.00 10.00", "Average: sda 1.00 1.00 10.00", "",
        "00:15:00 LINUX RESTART (8 CPU)", "", "00:20:01 CPU %user %idle", "00:30:01 all 1.00 99.00", "Average: all 1.00 99.00", "",
        "00:20:01 DEV rkB/s wkB/s %util", "00:30:01 sda 1.00 1.00 20.00", "Average: sda 1.00 1.00 20.00",
    ]  # fmt: skip
    intervals = read(tmp_path, sar("2026-11-28", *rows)).intervals
    assert [of.end_s for of in intervals] == [seconds(2026, 11, 29, 0, 0, 1), seconds(2026, 11, 29, 0, 30, 1)]


def test_clocks_of_a_day_on_which_summer_time_begins(tmp_path, monkeypatch):
    rows = ["01:50:01 DEV rkB/s wkB/s %util", "03:00:01 sda 1.00 1.00 10.00", "10:00:01 sda 1.00 1.00 10.00"]
    with monkeypatch.context() as changed:
        changed.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
        time.tzset()
        intervals = read(tmp_path, sar("2026-03-29", *rows)).intervals
    assert [(of.begin_s, of.end_s) for of in intervals] == [
        (seconds(2026, 3, 29, 0, 50, 1), seconds(2026, 3, 29, 1, 0, 1)),
        (seconds(2026, 3, 29, 1, 0, 1), seconds(2026, 3, 29, 8, 0, 1)),
    ]


def sadf_json(timestamp, disk):
    statistics = [
        {"timestamp": {"date": "2026-11-28", "time": "14:10:01", "interval": 600, **timestamp}, "disk": [disk]}
    ]
    return json.dumps({"sysstat": {"hosts": [{"nodename": "worker-0", "statistics": statistics}]}})


DISK = {"disk-device": "sda", "tps": 9.0, "rkB": 25.0, "wkB": 10.0, "util-percent": 20.0}
SECTORS = {"disk-device": "sda", "tps": 9.0, "rd_sec": 50.0, "wr_sec": 20.0, "util-percent": 20.0}


@pytest.mark.parametrize("disk", [DISK, SECTORS])
@pytest.mark.parametrize("timestamp", [{"utc": 1}, {"tz": "UTC"}])
def test_json_of_other_versions(tmp_path, timestamp, disk):
    report = read(tmp_path, sadf_json(timestamp, disk))
    (interval,) = report.intervals
    assert (interval.end_s, report.is_local) == (seconds(2026, 11, 28, 14, 10, 1), False)
    assert (interval.read_bytes, interval.written_bytes, interval.busy_s) == (600 * 25 * 1024, 600 * 10 * 1024, 120)


@pytest.mark.parametrize(
    ("before", "restart", "heading", "end"),
    [("23:40:01", "23:55:00", "00:00:01", "00:10:01"), ("15:40:01", "09:55:00", "10:00:01", "10:10:01")],
    ids=["before midnight", "on the next day at an earlier hour of the same half"],
)
def test_a_restart_ends_a_day_too(tmp_path, before, restart, heading, end):
    rows = [
        f"{before[:3]}30:01 DEV rkB/s wkB/s %util", f"{before} sda 1.00 1.00 10.00", f"{restart} LINUX RESTART (32 CPU)",
        "", f"{heading} DEV rkB/s wkB/s %util", f"{end} sda 1.00 1.00 20.00",
    ]  # fmt: skip
    (_, after) = read(tmp_path, sar("2026-11-28", *rows)).intervals
    hour = int(end[:2])
    assert (after.begin_s, after.end_s) == (seconds(2026, 11, 29, hour, 0, 1), seconds(2026, 11, 29, hour, 10, 1))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (sar("28/11/2026", "08:00:01 a. m. DEV %util", "08:10:01 a. m. sda 1.00"),
         "has 'a.' after its clocks, which may tell the half of the day; print it with `sadf"),
        (sar("28/11/2026", "08:00:01 du. DEV %util", "08:10:01 du. sda 1.00"), "has 'du.' after its clocks"),
        (sar("05/06/2026", "08:00:01 DEV %util", "08:10:01 sda 1.00"), "05/06/2026, whose day or month may be first; print it"),
        *((sar(date, "08:00:01 DEV %util", "08:10:01 sda 1.00"), f"{date}, whose day or month may be first; print it")
          for date in ("05/11/26", "05-11-26")),
        (sar("05/06/26", "08:00:01 AM DEV %util", "08:10:01 AM sda 1.00"), "05/06/26, whose day or month may be first; print it"),
        (sar("05/06/2026", "08:00:01 AM IST DEV %util", "08:10:01 AM IST sda 1.00"), "05/06/2026, whose day or month may be first"),
        (sadf_json({"tz": "EST"}, DISK), "has times of the zone EST, and only UTC is read; print it"),
        ("# hostname;interval;timestamp;DEV;%util\nvm;600;2026-11-28 08:10:01 EST;sda;1\n", "has times of the zone EST"),
        (sadf_json({"utc": 1, "interval": 184467440737095516}, DISK), "is damaged, or of another form"),
        ('{"sysstat": {"hosts": [{"statistics": [{"timestamp": "11/28/2026 02:01:00 PM", "disk": [{"disk_device": "sda"}]}]}]}}',
         "is iostat's JSON, which is not read: print text with `iostat -x -t 60`"),
        (sar("2026-11-28", "Device r/s rkB/s wkB/s %util", "sda 1.00 1.00 1.00 1.00"), "has no times: print it with `iostat -x -t"),
        *((sar("2026-11-28", "11/28/2026 08:10:01 AM", f"{heading}\nsda 1.00 1.00 1.00"), "is iostat's short or pretty form")
          for heading in ("Device tps kB/s %util", "f/s aqu-sz %util Device")),
        ("root:x:0:0:root:/root:/bin/bash\n", "tells of no interval of a drive"),
        (sar("2026-11-28", "08:00:01 CPU %user", "08:10:01 all 1.00"), "tells of no interval of a drive"),
        ("# hostname;interval;timestamp;DEV;%util\nvm;600;yesterday;sda;1\n", "is damaged, or of another form"),
        ('{"sysstat": {"hosts": [{"nodename": "vm"}]}}', "is damaged, or of another form"),
        ("Linux\0\0", "is a file of sar's own"),
    ],
)  # fmt: skip
def test_all_else_is_refused_in_a_sentence(tmp_path, text, message):
    with pytest.raises(BadInputError, match=message) as refused:
        read(tmp_path, text)
    assert str(refused.value).startswith(f"--sar {tmp_path / 'file'} ")


def packed(folder, name, form):
    """An archive with a file of sar's text."""
    with tarfile.open(folder / name, f"w{form}") as archive:
        archive.add(CAPTURED / "sar.txt", "sar.txt")
    return folder / name


def test_text_in_gzip_is_read_as_it_is_without(tmp_path):
    for name in ("sar.txt", "sadf.json"):
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress((CAPTURED / name).read_bytes()))
        assert read_drive_report(tmp_path / f"{name}.gz") == read_drive_report(CAPTURED / name)
    (tmp_path / "of-sar.gz").write_bytes(gzip.compress(b"\x96\xd5\0\0"))
    with pytest.raises(BadInputError, match="of-sar.gz is a file of sar's own"):
        read_drive_report(tmp_path / "of-sar.gz")
    (tmp_path / "cut.gz").write_bytes((tmp_path / "sar.txt.gz").read_bytes()[:60])
    with pytest.raises(BadInputError, match="cut.gz is damaged, or a part of a gzip file; copy it again"):
        read_drive_report(tmp_path / "cut.gz")


@pytest.mark.parametrize(
    ("name", "form"), [("a.tar", ":"), ("a b.tar.gz", ":gz"), ("a.tgz", ":gz"), ("a.tar.xz", ":xz")]
)
def test_an_archive_is_refused_with_how_to_unpack_it(tmp_path, name, form):
    file = packed(tmp_path, name, form)
    command = re.escape(f"unpack it with `tar -xf {shlex.quote(str(file))} -C FOLDER`, and name that folder")
    with pytest.raises(BadInputError, match=f"is an archive of files; {command}"):
        read_drive_report(file)


def test_other_packed_files_are_refused_with_how_to_unpack_them(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.write(CAPTURED / "sar.txt", "sar.txt")
    with pytest.raises(
        BadInputError, match=r"a.zip is an archive of files; unpack it with `unzip \S+/a.zip -d FOLDER`"
    ):
        read_drive_report(tmp_path / "a.zip")
    for name, tool, compress in (("sa28.xz", "xz", lzma.compress), ("sa28.bz2", "bzip2", bz2.compress)):
        (tmp_path / name).write_bytes(compress(b"text"))
        with pytest.raises(
            BadInputError, match=rf"compressed by {tool}, and only gzip .* with `{tool} -d -k \S+/{name}`"
        ):
            read_drive_report(tmp_path / name)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(BadInputError, match="can't be read"):
        read_drive_report(tmp_path / "none")
