"""The thesis on connected components, and its conclusions: sections 6.4 and 7."""

from collections.abc import Mapping

from assay.study.check import Check, every, mostly, some
from assay.study.checks.short import (
    CLOSING,
    ITERATIONS,
    JOBS,
    LARGE,
    SMALL,
    SSDS,
    TRIPLES,
    drive,
    hdd_gains,
    hdd_saves,
    of,
    settings,
)
from assay.study.claim import Effect, where
from assay.study.point import PHASES

FIVE = of(ITERATIONS, settings="defaults", dataset=(*SMALL, *LARGE))
HUGE = ("LiveJournal", "LiveJournal 2", "Orkut")
BIG = (*LARGE, "LiveJournal")
BIGGER = ("YouTube 2", "Flickr", *HUGE)
PLAIN = of(ITERATIONS, settings="defaults")
FIRST = where(workload="components", job="iteration 1", dataset="Orkut")
RUN = where(workload="components", job="", dataset="Orkut")
TUNED = (TRIPLES, CLOSING, ITERATIONS)
LARGEST = tuple(of(job, dataset=("YouTube", "Orkut")) for job in TUNED)
MERGING = LARGEST[1:]

HDD_AHEAD = some(*(drive("hdd", "less", ssd, job, metric=PHASES) for job in JOBS for ssd in SSDS))
SSD_AHEAD = some(*(drive(ssd, "less", "hdd", job, metric=PHASES) for job in JOBS for ssd in SSDS))

CHECKS: Mapping[str, Check] = {
    "T01": (HDD_AHEAD,),
    "T02": (HDD_AHEAD, SSD_AHEAD),
    "T31": (every(drive("ssd1", "at most", "hdd", FIVE, metric="reduce")),),
    "T32": (every(drive("ssd1", "same", "hdd", FIVE, metric=("map", "shuffle", "merge"))),),
    "T33": (every(drive("hdd", "less", "ssd1", PLAIN, dataset=("Flickr", "LiveJournal"), metric="reduce")),),
    "T34": (every(drive("hdd", "less", "ssd1", PLAIN, dataset="LiveJournal", metric="shuffle")),),
    "T35": (
        every(drive("ssd2", "less", "hdd", PLAIN, dataset=HUGE, metric=("map", "shuffle"))),
        every(
            Effect("medium", "hdd", "ssd2", "dataset", "Orkut", "LiveJournal", of(PLAIN, metric=("map", "shuffle")))
        ),
    ),
    "T36": (
        every(
            drive("ssd2", "at most", "hdd", PLAIN, dataset=BIGGER, metric="reduce"),
            drive("ssd2", "about", "hdd", PLAIN, dataset=BIGGER, metric="reduce"),
        ),
    ),
    "T37": (every(settings("customs", "much less", "containers", ITERATIONS, dataset=HUGE, metric="merge")),),
    "T38": (
        every(settings("customs", "less", "containers", ITERATIONS, dataset=HUGE, medium="hdd", metric="shuffle")),
        every(settings("customs", "same", "containers", ITERATIONS, dataset=HUGE, medium="ssd2", metric="shuffle")),
    ),
    "T41": (
        every(drive("ssd2", "less", "hdd", RUN, settings="defaults", metric="iowait")),
        every(drive("hdd", "less", "ssd2", RUN, settings="defaults", metric="busy")),
    ),
    "T43": (every(drive("ssd2", "less", "hdd", FIRST, settings="defaults", metric="reduce")),),
    "T44": (
        every(settings("customs", "less", "defaults", FIRST, metric="elapsed")),
        every(hdd_gains("customs", "defaults", FIRST, metric="elapsed")),
    ),
    "T45": (every(settings("customs", "less", "defaults", RUN, medium="hdd", metric="iowait")),),
    "T52": (HDD_AHEAD, SSD_AHEAD),
    "T53": (mostly(*(drive("ssd2", "less", "ssd1", job, dataset=BIG, metric="total") for job in JOBS)),),
    "T54": (mostly(*(drive("ssd1", "same", "hdd", job, metric="total") for job in JOBS)),),
    "T55": (
        mostly(*(drive("hdd", "at most", "ssd2", job, metric="reduce") for job in JOBS)),
        mostly(drive("hdd", "less", "ssd2", TRIPLES, dataset=LARGE, metric="reduce")),
    ),
    "T56": (
        every(*(settings("customs", "less", "containers", job, medium="hdd", metric="shuffle") for job in LARGEST)),
        every(*(settings("customs", "same", "containers", job, medium="ssd2", metric="shuffle") for job in LARGEST)),
        every(*(drive("ssd2", "less", "hdd", job, settings="customs", metric="shuffle") for job in LARGEST)),
    ),
    "T57": (
        every(
            *(settings("customs", "much less", "containers", job, metric="merge") for job in MERGING)
        ),
        every(*(hdd_saves("customs", "containers", job, metric="merge") for job in MERGING)),
    ),
    "T58": (
        every(
            *(
                Effect("settings", "containers", "customs", "medium", "hdd", "ssd2", of(job, metric="map"), "same gain")
                for job in TUNED
            )
        ),
    ),
}  # fmt: skip

NEVER: Mapping[str, str] = {
    "T17": "it is about the number of records, which is the sum of the squared degrees: quadratic, not exponential",
    "T39": "it is arithmetic: 14 blocks, 6 maps at once",
    "T40": "it needs the processor's use within the map phase; the timelines show it",
    "T42": "it needs each drive's use by phase; the timelines show it",
    "T59": "it is about the size of the drive",
}
"""Those that no run's times can speak to."""
