"""Measures what this machine carries of the networks between nodes: `python benchmarks/network_links.py [--nodes 4]`.

Each round makes each network in turn, with nothing on its nodes, and sends over each link for 0.4 s, first over one
after the other and then over all at once, so that each node sends and receives. Needs root.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from assay.host.lease import Lease
from assay.model.network import LINKS, NONE, read_networks
from assay.network.links import Lan, make_lans, measure


def main() -> None:
    """Print a line for each network."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--networks", nargs="*", default=[NONE, *LINKS])
    arguments = parser.parse_args()
    alone: dict[str, list[float]] = {}
    together: dict[str, list[float]] = {}
    made_s: list[float] = []
    for _ in range(arguments.rounds):
        for network in arguments.networks:
            with tempfile.TemporaryDirectory(prefix="assay-links-") as scratch:
                home = Path(scratch)
                with Lease(home / "state", "cluster") as lease:
                    began = time.monotonic()
                    names = [f"node-{number}" for number in range(1, arguments.nodes + 1)]
                    (lan,) = make_lans(names, read_networks(network).links(), home, lease, os.environ)
                    made_s.append(time.monotonic() - began)
                    alone.setdefault(network, []).extend(measure(lan).values())
                    together.setdefault(network, []).extend(_at_once(lan))
    made = f"a network is made in {statistics.median(made_s):.2f} s"
    lines = [f"{arguments.nodes} nodes, {arguments.rounds} rounds; {made}; Mbit/s"]
    lines.append(f"{'network':16} {'rate':>8} {'one at a time: median, least':>30} {'all at once: median, least':>30}")
    for network, rates in alone.items():
        (link,) = read_networks(network).links()
        rate = "-" if link is None else f"{link.rate_bits_per_s / 1e6:,.0f}"
        both = [f"{statistics.median(some) / 1e6:,.0f}, {min(some) / 1e6:,.0f}" for some in (rates, together[network])]
        lines.append(f"{network:16} {rate:>8} {both[0]:>30} {both[1]:>30}")
    sys.stdout.write("".join(f"{line}\n" for line in lines))


def _at_once(lan: Lan) -> list[float]:
    """Each node sends to the next one and receives from the one before."""
    places = [(at, (at + 1) % len(lan.nodes)) for at in range(len(lan.nodes))]
    pairs = [
        lan._replace(nodes=tuple(lan.nodes[at] for at in pair), hosts=tuple(lan.hosts[at] for at in pair))
        for pair in places
    ]
    with ThreadPoolExecutor(len(pairs)) as threads:
        return [next(iter(reached.values())) for reached in threads.map(measure, pairs)]


if __name__ == "__main__":
    main()
