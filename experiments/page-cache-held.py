"""Prints how the page cache of each trial of a run was held at its budget: `python3 page-cache-held.py RUN`."""

import json
import sys
from pathlib import Path

MIB = 1 << 20
LEAST_FULL_S = 2
print("| workload | placement | budget, MiB | peak, MiB | held, s | full, s | above, s | below, s | off, % of full |")
print("| --- | --- | --: | --: | --: | --: | --: | --: | --: |")
for path in sorted(Path(sys.argv[1]).glob("trials/*/record.json")):
    record = json.loads(path.read_text())
    cache = (record["limits"] or {}).get("page_cache")
    if cache is None:
        continue
    trial = record["trial"]
    off_s, full_s = cache["above_s"] + cache["below_s"], cache["full_s"]
    off = f"{100 * off_s / full_s:.1f}" if full_s >= LEAST_FULL_S else "never full"
    seconds = " | ".join(f"{cache[name]:.1f}" for name in ("held_s", "full_s", "above_s", "below_s"))
    sizes = f"{cache['budget_bytes'] / MIB:.0f} | {cache['peak_bytes'] / MIB:.0f}"
    print(f"| {trial['workload']['name']} | {trial['placement']['name']} | {sizes} | {seconds} | {off} |")
