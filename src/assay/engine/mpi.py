"""MapReduce over MPI: workloads in C++ on MR-MPI (`programs/mr-mpi`), started by Open MPI on one node.

An engine without a cluster of its own: ranks have a share of the input each, know nothing of where data lie, and are
not started again. A killed rank ends the job. Input and output go through a client of HDFS, pages that do not fit into
memory to the directories of intermediate data.
"""

import shlex
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from assay.engine.engine_file import EngineFile
from assay.engine.external import External
from assay.model.cluster import EmbeddedSpec
from assay.model.engine import EngineKind, Launch
from assay.model.errors import BadInputError
from assay.model.registry import ENGINES, SERVICES, VARIANTS
from assay.model.running_cluster import LAUNCHER
from assay.model.service import DaemonKind, Programs, Service
from assay.model.store import FILES
from assay.model.workload import Variant

NAME, SERVICE_NAME = "mpi", "mr-mpi"
MPI_PROGRAMS = "mpi-programs"
"""Programs of MR-MPI."""
PROGRAM = "mr-mpi-jobs-openmpi-*"
_ABOUT = "on MR-MPI: "
_VARIANTS = {
    "word-count": ("ranks count their words, and add up those of all by the words' hash", "stock"),
    "sort-lines": ("lines go to ranks by ranges from a sample of the input, and are sorted there", "total-order"),
    "components": ("the smallest ids travel along edges as messages until nothing changes", "paper"),
    "page-rank": ("ranks travel along edges as shares in each iteration", "tuned"),
}
_COMMAND = (
    "echo phase fetch; mkdir {{work}}/output; {{hadoop}} fs -get {{input}} {{work}}/input; "
    "mpirun --allow-run-as-root --oversubscribe --mca btl self,vader,tcp -np $(nproc) "
    "{{program}} {command} {{work}}/input {{work}}/output {{work}} {{options}}; "
    "echo phase store; {{hadoop}} fs -mkdir -p {{output}}; {{hadoop}} fs -put {{work}}/output/* {{output}}/"
)
FILE = EngineFile.model_construct(
    engine=NAME, about="workloads in C++ on MR-MPI", version="mpirun --version",
    commands={workload: _COMMAND.format(command=workload) for workload in _VARIANTS},
    phases="^phase (?P<phase>[a-z]+)$",
)  # fmt: skip


class Mpi(External):
    """Runs the programs of MR-MPI on the first worker."""

    def _places(self, launch: Launch, work: Path) -> Mapping[str, str]:
        (program,) = (self._cluster.programs / SERVICE_NAME / "lib").glob(PROGRAM)
        return {**super()._places(launch, work), "program": shlex.quote(str(program))}


def _check(spec: EmbeddedSpec, _properties: Mapping[str, str], _daemons: Sequence[DaemonKind]) -> None:
    if len(spec.workers) > 1:
        raise BadInputError(
            f"the engine {NAME} runs on one node, and this cluster has {len(spec.workers)} workers; give nodes: 1, or "
            "name another engine", "engine", "cluster",
        )  # fmt: skip


SERVICE = Service(SERVICE_NAME, needs=("mapreduce", LAUNCHER), programs=Programs(PROGRAM), check=_check)
SERVICES.add(SERVICE_NAME, SERVICE, place=13)
ENGINES.add(
    NAME,
    EngineKind(
        open=partial(Mpi, FILE), runs=frozenset({MPI_PROGRAMS}), reads=frozenset({FILES}), services=(SERVICE_NAME,),
        staged_by="mapreduce",
    ),
    place=5,
)  # fmt: skip
for _place, (_workload, (_about, _like)) in enumerate(_VARIANTS.items(), 210):
    VARIANTS.add(
        f"{_workload}/mr-mpi",
        Variant(about=f"{_ABOUT}{_about}", jobs=(_workload,), command=_workload, program=MPI_PROGRAMS, like=_like),
        _place,
    )
