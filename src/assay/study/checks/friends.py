"""The thesis on its drives and on mutual friends: sections 6.1 and 6.2."""

from collections.abc import Mapping

from assay.study.check import Check, every, some
from assay.study.checks.short import LARGE, SMALL, SSDS, TRIPLES, drive, of, settings
from assay.study.claim import LARGEST, SMALLEST, Compare, Flat, where

WRITE = where(workload="testdfsio-write", metric="throughput")
READ = where(workload="testdfsio-read", metric="throughput")
FRIENDS = where(workload="mutual-friends", metric="elapsed")
BIG = of(TRIPLES, settings="defaults", dataset=LARGE)
YOUTUBE = of(TRIPLES, dataset="YouTube")

CHECKS: Mapping[str, Check] = {
    "T03": (
        every(Compare("size", LARGEST, "less", SMALLEST, of(WRITE, medium="ssd1"))),
        some(drive("ssd1", "less", "hdd", WRITE)),
    ),
    "T04": (
        every(drive("hdd", "less", "ssd2", WRITE), drive("ssd1", "less", "ssd2", WRITE)),
        every(Flat("size", of(WRITE, medium="ssd2"))),
    ),
    "T05": (every(*(drive("hdd", "less", ssd, READ) for ssd in SSDS)),),
    "T06": (every(*(Flat("size", of(rate, medium="hdd")) for rate in (WRITE, READ))),),
    "T07": (every(*(Compare("job", job, "much less", "triples", FRIENDS) for job in ("friend-lists", "lists"))),),
    "T08": (every(*(drive(ssd, "same", "hdd", FRIENDS, job=("friend-lists", "lists")) for ssd in SSDS)),),
    "T09": (
        every(
            *(drive(ssd, "same", "hdd", TRIPLES, settings="defaults", dataset=SMALL, metric="total") for ssd in SSDS)
        ),
    ),
    "T10": (every(*(drive(ssd, "less", "hdd", BIG, metric="map") for ssd in SSDS)),),
    "T11": (every(*(drive("hdd", "at most", ssd, BIG, metric="reduce") for ssd in SSDS)),),
    "T12": tuple(every(drive("ssd2", "much less", other, BIG, metric="shuffle")) for other in ("hdd", "ssd1")),
    "T13": (every(settings("containers", "same", "defaults", TRIPLES, metric="total")),),
    "T14": (
        every(
            *(
                settings("customs", "less", base, TRIPLES, dataset=LARGE, metric="map")
                for base in ("defaults", "containers")
            )
        ),
    ),
    "T15": (every(settings("customs", "less", "containers", YOUTUBE, medium="hdd", metric=("shuffle", "reduce"))),),
    "T16": (
        every(settings("customs", "same", "containers", YOUTUBE, medium="ssd2", metric="shuffle")),
        every(settings("containers", "at most", "customs", YOUTUBE, medium="ssd2", metric="reduce")),
    ),
}
