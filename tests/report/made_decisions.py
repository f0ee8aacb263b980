"""Decisions made by hand, for tests of what is said and drawn of them."""

from assay.stats.decision import Decision, More, PlacementResult, Verdict
from assay.stats.estimate import Estimate, Split
from assay.stats.run_doubts import BUSY, READ, WRITTEN, Condition

LEVELS = {
    "workload": "terasort", "variant": "paper", "options": "size=400MB", "dataset": "none", "settings": "small",
    "memory": "1400MiB",
}  # fmt: skip


def estimate(value, low=None, high=None):
    return Estimate(value=value, low=value if low is None else low, high=value if high is None else high)


def placed(name="hdd", kind="hard disk", drives="WD10EZEX", seconds=45.0, **changes):
    known = {
        "placement": name, "kind": kind, "drives": drives, "trials": 2,
        "elapsed_s": estimate(seconds, 0.95 * seconds, 1.05 * seconds), "saving": None, "verdict": None,
        "comparison": None, "storage_s": None, "storage_share": None, "won_back": None,
        "split": Split(computing_s=seconds - 5, storage_s=None, start_up_s=4.0, between_jobs_s=1.0),
    }  # fmt: skip
    return PlacementResult(**{**known, **changes})


HDD = placed(storage_s=estimate(16.7, 13.5, 19.4), storage_share=estimate(0.372, 0.30, 0.43))
SSD = placed(
    "ssd", "SSD", "840 EVO", 30.2, saving=estimate(0.33, 0.25, 0.40), verdict=Verdict.WORTH_IT,
    storage_s=estimate(1.9, -1.0, 4.0), storage_share=estimate(0.06, -0.03, 0.14), won_back=estimate(0.88, 0.7, 1.04),
)  # fmt: skip
ZERO = placed("zero-delay", "SSD", "No delays, to measure the path itself", 28.3)


def conditions(read=0.9, written=0.99, busy=0.6):
    return (
        Condition(kind=READ, subject="hdd", share=read, least=0.6),
        Condition(kind=READ, subject="ssd", share=0.9, least=0.6),
        Condition(kind=WRITTEN, subject="hdd", share=written, least=0.8),
        Condition(kind=BUSY, subject="hdd", share=busy, least=0.5),
    )


def decision(*placements, baseline=ZERO, verdict=Verdict.WORTH_IT, **changes):
    placements = placements or (HDD, SSD)
    known = {
        "levels": LEVELS, "worth": 0.1, "placements": placements, "baseline": baseline,
        "best": min(placements, key=lambda one: one.elapsed_s.value).placement, "verdict": verdict,
        "busy_bound_s": None, "conditions": conditions(), "more": None,
    }  # fmt: skip
    return Decision(**{**known, **changes})


def undecided(repetitions=3, seconds=380.0):
    ssd = SSD.model_copy(update={"saving": estimate(0.08, 0.02, 0.14), "verdict": Verdict.NOT_KNOWN_YET})
    more = More(repetitions=repetitions, seconds=seconds) if repetitions else None
    return decision(HDD, ssd, verdict=Verdict.NOT_KNOWN_YET, more=more)


def not_worth_it():
    hdd = HDD.model_copy(update={"storage_s": estimate(0.8, -1, 2.2), "storage_share": estimate(0.02, -0.02, 0.05)})
    ssd = SSD.model_copy(
        update={"saving": estimate(0.01, -0.04, 0.05), "verdict": Verdict.NOT_WORTH_IT, "won_back": None}
    )
    return decision(hdd, ssd, verdict=Verdict.NOT_WORTH_IT, conditions=conditions(busy=0.03))


def bounded(busy_s=4.0, seconds=73.0, verdict=Verdict.NOT_WORTH_IT):
    alone = placed("disk", "disk", "", seconds)
    return decision(alone, baseline=None, verdict=verdict, busy_bound_s=busy_s, conditions=())
