"""The thesis on counting triangles, and on single settings: sections 6.3 and 6.5."""

from collections.abc import Mapping

from assay.study.across import Effect
from assay.study.check import Check, every, mostly
from assay.study.checks.short import CLOSING, LARGE, SMALL, SSDS, TRIADS, drive, hdd_gains, hdd_saves, of, settings
from assay.study.claim import Compare, where
from assay.study.over import Over
from assay.study.point import PHASES

COUNTING = of(CLOSING, settings="defaults", metric="total")
YOUTUBE = of(CLOSING, dataset="YouTube")
LARGE_TRIADS = of(TRIADS, dataset=(*LARGE, "Flickr"))
FORMING = of(LARGE_TRIADS, settings="defaults")
EACH = where(workload="triangles", settings="defaults", dataset=LARGE, metric="total")
SORT, BUFFER, WIDER = "single-sort-factor", "single-file-buffer", "single-file-buffer-512k"
ELAPSED = of(YOUTUBE, metric="elapsed")

CHECKS: Mapping[str, Check] = {
    "T18": tuple(every(Over("dataset", Compare("medium", ssd, "less", "hdd", COUNTING))) for ssd in SSDS),
    "T19": (every(drive("ssd2", "same", "hdd", FORMING, metric="reduce")),),
    "T20": (every(Effect("medium", "hdd", "ssd2", "job", "closing", "triads", EACH, "more apart")),),
    "T21": (
        every(
            *(drive(ssd, "same", "hdd", CLOSING, settings="defaults", dataset=SMALL, metric="total") for ssd in SSDS)
        ),
    ),
    "T22": (every(drive("ssd2", "less", "hdd", YOUTUBE, settings="defaults", metric=("shuffle", "merge"))),),
    "T23": (every(drive("ssd2", "same", "hdd", FORMING, metric=("map", "shuffle", "merge"))),),
    "T24": (
        every(Compare("metric", "reduce", "most of", "total", FORMING)),
        every(drive("ssd2", "same", "hdd", FORMING, metric="reduce")),
    ),
    "T25": (every(settings("containers", "less", "defaults", TRIADS, dataset="Flickr", metric="reduce")),),
    "T26": (every(settings("customs", "same", "containers", LARGE_TRIADS, metric="reduce")),),
    "T27": (
        every(settings("customs", "less", "containers", YOUTUBE, metric="total")),
        every(hdd_gains("customs", "containers", YOUTUBE, metric="total")),
    ),
    "T28": (
        every(settings("customs", "less", "containers", YOUTUBE, medium="hdd", metric="shuffle")),
        every(settings("customs", "same", "containers", YOUTUBE, medium="ssd2", metric="shuffle")),
    ),
    "T29": (every(settings("customs", "less", "containers", YOUTUBE, metric="reduce")),),
    "T30": (
        every(settings("customs", "much less", "containers", YOUTUBE, metric="merge")),
        every(drive("ssd2", "less", "hdd", YOUTUBE, settings="containers", metric="merge")),
        every(hdd_saves("customs", "containers", YOUTUBE, metric="merge")),
    ),
    "T46": (mostly(*(hdd_gains(one, "containers", ELAPSED) for one in (SORT, BUFFER))),),
    "T47": (
        every(settings(SORT, "much less", "containers", YOUTUBE, metric="merge")),
        every(hdd_saves(SORT, "containers", YOUTUBE, metric="merge")),
    ),
    "T48": (every(settings(SORT, "less", "containers", YOUTUBE, medium="hdd", metric="shuffle")),),
    "T49": (
        every(
            settings(
                BUFFER, "less", "containers", YOUTUBE, medium="hdd", metric=("shuffle", "merge", "reduce", "elapsed")
            )
        ),
        every(settings(BUFFER, "same", "containers", YOUTUBE, medium="hdd", metric="map")),
    ),
    "T50": (every(settings(BUFFER, "less", WIDER, ELAPSED, medium="hdd")),),
    "T51": (every(settings(BUFFER, "same", "containers", YOUTUBE, medium="ssd2", metric=(*PHASES, "elapsed"))),),
}
