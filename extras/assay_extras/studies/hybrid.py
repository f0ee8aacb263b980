"""The hybrid study: sections III and IV.

Time is the job's; shares are of SSD, in percent. Blocks of 64 MB, a sort buffer of 100 MB and 10 streams where nothing
else is said, as the study has them.
"""

from collections.abc import Mapping
from typing import Any

from assay_extras.studies.claims import (
    LARGEST,
    SMALLEST,
    Check,
    Compare,
    Conditions,
    Flat,
    Growth,
    Interaction,
    Like,
    Near,
    Over,
    SpreadGap,
    Steps,
    StraightLine,
    every,
    where,
)

PURE = ("0", "100")
MIXED = ("25", "50", "75")


def curve(varied: str, **more: Any) -> Conditions:
    """The job's time over one of block, buffer, streams, size or medium, the others as in the study."""
    fixed = {"block": 64, "buffer": 100, "streams": 10, "size": 50}
    return where(**{"metric": "elapsed", **{name: at for name, at in fixed.items() if name != varied}, **more})


SIZES, SHARES = curve("size"), curve("medium")
TASKS = curve("medium", metric=("map task", "reduce task"))

CHECKS: Mapping[str, Check] = {
    "Y-C01": (every(Interaction("medium", "0", "100", "size", LARGEST, SMALLEST, SIZES)),),
    "Y-C02": (every(Compare("medium", "100", "same", "0", curve("size", size=(10, 20, 30)))),),
    "Y-C03": (
        every(Compare("medium", "100", "less", "0", curve("size", size=70))),
        every(Near("medium", "100", "0", 0.7, curve("size", size=70))),
    ),
    "Y-C04": (
        every(Growth("size", "linear", curve("size", medium="100"))),
        every(Growth("size", "faster", curve("size", medium="0"))),
    ),
    "Y-C05": (every(Compare("block", 64, "less", SMALLEST, curve("block", medium=PURE))),),
    "Y-C06": (every(Compare("block", 64, "less", 128, curve("block", medium="0"))),),
    "Y-C07": (every(Flat("block", curve("block", medium="100", block=(128, 256, 512)))),),
    "Y-C08": (every(SpreadGap("buffer", "medium", "100", "0", curve("buffer"))),),
    "Y-C09": (every(Compare("buffer", 20, "at most", 60, curve("buffer", medium=PURE))),),
    "Y-C10": (every(Compare("buffer", 120, "less", 80, curve("buffer", medium=PURE))),),
    "Y-C11": (every(Compare("streams", 12, "less", 2, curve("streams", medium=PURE))),),
    "Y-C12": (every(Flat("streams", curve("streams", medium="100"))),),
    "Y-C13": (every(StraightLine("medium", SHARES)),),
    "Y-C14": (every(Interaction("medium", "0", "100", "metric", "reduce task", "map task", TASKS, "more saved")),),
    "Y-C15": (every(Over("medium", Compare("block", 64, "less", SMALLEST, curve("block", medium=MIXED)))),),
    "Y-C16": (every(Over("medium", Flat("block", curve("block", medium=("50", "75", "100"), block=(128, 256, 512))))),),
    "Y-C17": (every(Steps("medium", curve("block", block=512))),),
    "Y-C18": (
        every(*(Over("block", Like("medium", share, "0", "100", curve("block"))) for share in ("25", "50"))),
        every(Over("block", Like("medium", "75", "100", "0", curve("block")))),
    ),
    "Y-C19": (
        every(Over("buffer", Like("medium", "25", "0", "100", curve("buffer")))),
        every(Over("buffer", Like("medium", "75", "100", "0", curve("buffer")))),
    ),
    "Y-C20": (every(Steps("medium", curve("buffer", buffer=100))),),
    "Y-C21": (
        every(Over("medium", Compare("streams", 12, "less", 2, curve("streams")), least=3)),
        every(Over("streams", Steps("medium", curve("streams")))),
    ),
    "Y-C22": tuple(
        every(Compare("block", 64, "less", other, curve("block", medium=("0", "25")))) for other in (SMALLEST, 512)
    ),
    "Y-C23": (every(Over("medium", Flat("buffer", curve("buffer", medium=("75", "100"))))),),
}  # fmt: skip

NEVER: Mapping[str, str] = {"Y-C24": "it is a recommendation; Y-C13 is what it rests on"}
"""Those that no run's times can speak to."""
_STARTS = "its maps are so short that what larger blocks save of their starts outweighs whatever else they do"
SCALED: Mapping[str, str] = dict.fromkeys(("Y-C05", "Y-C06", "Y-C07", "Y-C15", "Y-C16", "Y-C22"), _STARTS)
"""Those that no scaled run can speak to."""
