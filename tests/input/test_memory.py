"""Reading and generating need memory in proportion to the edges, at a few bytes each, however large the text is."""

import subprocess
import sys
from pathlib import Path

import pytest

# At 117 million edges, 4 GiB leaves 36 bytes an edge beside 0.2 GB for Python and its libraries.
MOST_BYTES_PER_EDGE = 33

SCRIPT = """
import resource, sys
from pathlib import Path
from assay.input import graph as canonical
from assay.input import generated as communities
from assay.input import graph as facts
from assay.input import reading
from assay.input import generated as social
from assay.input.catalogue import open_dataset
from assay.model.dataset import DatasetSpec
from assay.model.progress import Silent

# The buffers of fixed size are made smaller in proportion, so that what grows with the edges is what is measured.
canonical._CHUNK = facts._CHUNK = social._CHUNK = communities._CELLS = 1 << 18
canonical._RUN, social._BATCH, reading.BLOCK_BYTES, facts._QUICK_EDGES = 1 << 18, 1 << 20, 1 << 19, 0

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

cache, action, edges = Path(sys.argv[1]), sys.argv[2], 0
warm = open_dataset(DatasetSpec(name="w", make="orkut", scale=0.004), cache)
warm.file(Silent()); warm.graph()
before = peak()
dataset = open_dataset(DatasetSpec(name="g", make="orkut", scale=0.03), cache)
if action == "make":
    dataset.file(Silent())
else:
    edges = dataset.graph().edges.shape[0]
print((peak() - before) / 3_515_552)
"""


@pytest.mark.slow
@pytest.mark.parametrize("action", ["make", "read"])
def test_memory_per_edge(tmp_path_factory: pytest.TempPathFactory, action: str) -> None:
    cache = tmp_path_factory.getbasetemp() / "memory"
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(cache), action],
        check=True,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(Path(__file__).resolve().parents[2] / "src")},
    )
    assert float(run.stdout) < MOST_BYTES_PER_EDGE
