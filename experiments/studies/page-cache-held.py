"""Prints how the page cache of each trial of a run was held at its budget: `python3 page-cache-held.py RUN`."""

import json
import sys
from pathlib import Path

MIB = 1 << 20
LEAST_FULL_S = 2


def fail(sentence):
    """Exit with a sentence on what is wrong."""
    sys.stderr.write(f"page-cache-held.py: {sentence}\n")
    sys.exit(2)


if len(sys.argv) != 2:
    fail("give the folder of one run, such as runs/page-cache-DATE-TIME")
records = [json.loads(path.read_text()) for path in sorted(Path(sys.argv[1]).glob("trials/*/record.json"))]
if not records:
    fail(f"{sys.argv[1]} has no finished trials (trials/*/record.json); give the folder of a run")
held = [(record["trial"], record["limits"]["page_cache"]) for record in records if record["limits"]]
held = [(trial, cache) for trial, cache in held if cache]
if not held:
    fail(f"no trial of {sys.argv[1]} had a budget; give the folder of a run with `page_cache`")
sys.stdout.write(
    "| workload | placement | budget, MiB | peak, MiB | held, s | full, s | above, s | below, s | off, % of full |\n"
)
sys.stdout.write("| --- | --- | --: | --: | --: | --: | --: | --: | --: |\n")
for trial, cache in held:
    off_s, full_s = cache["above_s"] + cache["below_s"], cache["full_s"]
    off = f"{100 * off_s / full_s:.1f}" if full_s >= LEAST_FULL_S else f"full for under {LEAST_FULL_S} s"
    seconds = " | ".join(f"{cache[name]:.1f}" for name in ("held_s", "full_s", "above_s", "below_s"))
    sizes = f"{cache['budget_bytes'] / MIB:.0f} | {cache['peak_bytes'] / MIB:.0f}"
    names = f"{trial['workload']['name']} | {trial['placement']['name']}"
    sys.stdout.write(f"| {names} | {sizes} | {seconds} | {off} |\n")
