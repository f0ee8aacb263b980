"""The thesis on connected components, and its conclusions: sections 6.4 and 7."""

from collections.abc import Mapping, Sequence

from assay.study.across import Effect
from assay.study.check import Check, Part, every, mostly, some
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
from assay.study.claim import where
from assay.study.point import PHASES

FIVE = of(ITERATIONS, settings="defaults", dataset=(*SMALL, *LARGE))
HUGE = ("LiveJournal", "LiveJournal 2", "Orkut")
BIG = (*LARGE, "LiveJournal")
BIGGER = ("YouTube 2", "Flickr", *HUGE)
PLAIN = of(ITERATIONS, settings="defaults")
FIRST = where(workload="components", job="iteration 1", dataset="Orkut")
RUN = where(workload="components", job="", dataset="Orkut")
FASTER_MAPS = ((TRIPLES, "containers"), (CLOSING, "containers"), (ITERATIONS, "defaults"))
"""Each job, and the settings over which the thesis' maps gain: components' took as long with `containers`."""
LARGEST = tuple(of(job, dataset=("YouTube", "Orkut")) for job in (TRIPLES, CLOSING, ITERATIONS))
MERGING = LARGEST[1:]


def somewhere(ahead: Sequence[str], behind: str) -> Part:
    """One of some drives is ahead of another in some phase of some job."""
    return some(*(drive(one, "less", behind, job, metric=PHASES) for job in JOBS for one in ahead))


CHECKS: Mapping[str, Check] = {
    "T01": (some(*(drive("hdd", "less", ssd, job, metric=PHASES) for job in JOBS for ssd in SSDS)),),
    "T02": (somewhere(["hdd"], "ssd2"), somewhere(["ssd2"], "hdd")),
    "T31": (
        every(drive("ssd1", "at most", "hdd", FIVE, metric="reduce")),
        every(drive("ssd1", "about", "hdd", FIVE, metric="reduce")),
    ),
    "T32": (every(drive("ssd1", "same", "hdd", FIVE, metric=("map", "shuffle", "merge"))),),
    "T33": (every(drive("hdd", "less", "ssd1", PLAIN, dataset=("Flickr", "LiveJournal"), metric="reduce")),),
    "T34": (every(drive("hdd", "less", "ssd1", PLAIN, dataset="LiveJournal", metric="shuffle")),),
    "T35": (
        every(drive("ssd2", "less", "hdd", PLAIN, dataset=HUGE, metric=("map", "shuffle"))),
        every(drive("ssd2", "less", "ssd1", PLAIN, dataset=HUGE, metric=("map", "shuffle"))),
        every(
            Effect("medium", "hdd", "ssd2", "dataset", "Orkut", "LiveJournal", of(PLAIN, metric=("map", "shuffle")))
        ),
    ),
    "T36": (
        every(drive("ssd2", "less", "hdd", PLAIN, dataset=BIGGER, metric="reduce")),
        every(drive("ssd2", "about", "hdd", PLAIN, dataset=BIGGER, metric="reduce")),
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
    "T43": (
        every(drive("ssd2", "less", "hdd", FIRST, settings="defaults", metric="reduce")),
        every(drive("ssd2", "about", "hdd", FIRST, settings="defaults", metric="reduce")),
    ),
    "T44": (
        every(settings("customs", "less", "defaults", FIRST, metric="elapsed")),
        every(hdd_gains("customs", "defaults", FIRST, metric="elapsed")),
    ),
    "T45": (every(settings("customs", "less", "defaults", RUN, medium="hdd", metric="iowait")),),
    "T52": (
        somewhere(["ssd1", "ssd2"], "hdd"), somewhere(["hdd", "ssd2"], "ssd1"), somewhere(["hdd", "ssd1"], "ssd2"),
    ),
    "T53": (mostly(*(drive("ssd2", "less", "ssd1", job, dataset=BIG, metric="total") for job in JOBS)),),
    "T54": (mostly(*(drive("ssd1", "same", "hdd", job, metric="total") for job in JOBS)),),
    "T55": (
        # Said of all three algorithms together, which no experiment has: mutual friends alone show both halves.
        mostly(drive("hdd", "at most", "ssd2", TRIPLES, metric="reduce")),
        mostly(drive("hdd", "less", "ssd2", TRIPLES, dataset=LARGE, metric="reduce")),
        mostly(drive("hdd", "about", "ssd2", TRIPLES, dataset=LARGE, metric="reduce")),
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
        every(*(settings("customs", "less", base, job, metric="map") for job, base in FASTER_MAPS)),
        every(
            *(
                Effect("settings", base, "customs", "medium", "hdd", "ssd2", of(job, metric="map"), "same gain")
                for job, base in FASTER_MAPS
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
SCALED: Mapping[str, str] = {
    **dict.fromkeys(
        ("T33", "T34", "T54"),
        "the first SSD's write cache is not scaled down with the data: it takes in all that a trial writes",
    ),
    "T24": "at this size what a map takes whatever its data, its start above all, outweighs the reduce",
    "T13": "at this size the job has one map, so that it is the same whether one or more run at once",
    **dict.fromkeys(
        ("T44", "T45"),
        "`customs` halves the maps at once: the thesis' three still ran on four cores, here one leaves one of two idle",
    ),
}
"""Those that no scaled run can speak to."""
