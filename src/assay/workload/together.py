"""Several workloads at once: copies of one, or a mix. Each has its own input, output and judgement."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait

from assay.model.dataset import DATASET, Amounts, GraphFacts, InputKind
from assay.model.doubt import CheckResult, Outcome
from assay.model.engine import Ending, Engine, JobReference, LaunchReport
from assay.model.errors import AssayError
from assay.model.input import GraphInput, Input
from assay.model.progress import Progress
from assay.model.registry import WORKLOADS
from assay.model.store import Store
from assay.model.trial import ResourceEstimate, WorkloadSpec
from assay.model.workload import Workload


def open_workload(spec: WorkloadSpec, base: str, dataset: GraphInput | None) -> Workload:
    """The workload of a spec, or all that it has at once. Raises BadInputError for options that can't be."""
    if spec.jobs_at_once == 1:
        return WORKLOADS.find(spec.name)(spec, base, dataset)
    alone = [copy.model_copy(update={"concurrent": 1}) for copy in spec.each]
    parts = [
        WORKLOADS.find(copy.name)(copy, base, dataset if _takes_dataset(copy) else None, f"/{number}")
        for number, copy in enumerate(alone * spec.concurrent, 1)
    ]
    return Together(spec, base, parts)


def _takes_dataset(spec: WorkloadSpec) -> bool:
    return WORKLOADS.find(spec.name).takes is InputKind.GRAPH or spec.options.get("input") == DATASET


class _Inputs(Input):
    """The inputs of several workloads."""

    def __init__(self, inputs: Sequence[Input]) -> None:
        self._inputs = inputs

    def prepare(self, progress: Progress) -> None:
        for copy_input in self._inputs:
            copy_input.prepare(progress)

    def facts(self) -> GraphFacts | None:
        """The counts of the one dataset that they share."""
        return next(filter(None, (copy_input.facts() for copy_input in self._inputs)), None)

    def size(self) -> Amounts:
        """Those of all."""
        return sum((copy_input.size() for copy_input in self._inputs), Amounts())

    def put_bytes(self) -> int:
        """Those of all."""
        return sum(copy_input.put_bytes() for copy_input in self._inputs)


class _Named:
    """Tells the progress of one of several workloads, under its name."""

    def __init__(self, progress: Progress, name: str) -> None:
        self._progress, self._name = progress, name

    def step(self, name: str) -> None:
        self._progress.step(f"{self._name}: {name}")

    def detail(self, text: str) -> None:
        self._progress.detail(f"{self._name}: {text}")


def names_at_once(workloads: Sequence[str]) -> list[str]:
    """A name for each: `word-count`, and `terasort 1` and `terasort 2` where there are several."""
    return [
        f"{name} {workloads[: place + 1].count(name)}" if workloads.count(name) > 1 else name
        for place, name in enumerate(workloads)
    ]


class Together:
    """Workloads that share a base and start at once; jobs, results and verdicts have each one's name before theirs."""

    def __init__(self, spec: WorkloadSpec, base: str, parts: Sequence[Workload]) -> None:
        self.spec, self.base = spec, base
        self._parts, self._names = parts, names_at_once([part.spec.name for part in parts])
        self._reports: Sequence[LaunchReport | str] = ()
        self.input: Input = _Inputs([part.input for part in parts])

    @property
    def input_path(self) -> str:
        return f"{self.base}/input"

    @property
    def read_path(self) -> None:
        """Return nothing: which of its jobs comes first depends on how they are queued."""

    @property
    def output_path(self) -> str:
        return f"{self.base}/output"

    def estimate(self) -> ResourceEstimate:
        """As if they ran one after the other, and were checked so."""
        each = [part.estimate() for part in self._parts]
        return ResourceEstimate(
            disk_bytes=sum(estimate.disk_bytes for estimate in each),
            memory_bytes=max(estimate.memory_bytes for estimate in each),
            seconds=sum(estimate.seconds for estimate in each),
            known=all(estimate.known for estimate in each),
            rounds=max(estimate.rounds for estimate in each),
        )

    def stage(self, store: Store, engine: Engine, progress: Progress) -> LaunchReport:
        """One after the other."""
        return self._report(
            [
                part.stage(store, engine, _Named(progress, name))
                for name, part in zip(self._names, self._parts, strict=True)
            ]
        )

    def run(self, engine: Engine, progress: Progress) -> LaunchReport:
        """All at once. One that fails leaves the others to their ends, and is then told by `verify`.

        Raises AssayError where all fail, and what is no failure of a job. When the run is interrupted, all are ended.
        """
        with ThreadPoolExecutor(len(self._parts)) as threads:
            running = [
                threads.submit(part.run, engine, _Named(progress, name))
                for name, part in zip(self._names, self._parts, strict=True)
            ]
            try:
                wait(running)
                for error in (future.exception() for future in running):
                    if error is not None and not isinstance(error, AssayError):
                        raise error
            except BaseException:
                if isinstance(engine, Ending):
                    engine.end()
                raise
        self._reports = [str(error) if (error := future.exception()) else future.result() for future in running]
        if all(isinstance(report, str) for report in self._reports):
            raise AssayError("; ".join(dict.fromkeys(map(str, self._reports))))
        return self._report(self._reports)

    def verify(self, store: Store, report: LaunchReport) -> tuple[CheckResult, ...]:
        """Each one's own check; one that breaks makes no other unknown, and one that did not come to its end fails."""
        verdicts: list[CheckResult] = []
        for name, part, part_report in zip(self._names, self._parts, self._reports, strict=True):
            if isinstance(part_report, str):
                check = f"{name}: it came to its end"
                verdicts.append(CheckResult(check=check, outcome=Outcome.FAIL, detail=part_report, ended=False))
                continue
            try:
                judged = part.verify(store, part_report)
            except Exception as error:  # as the trial itself takes it: neither pass nor the end of the others' checks
                detail = f"{type(error).__name__}: {error}"
                judged = (CheckResult(check="verification", outcome=Outcome.UNKNOWN, detail=detail),)
            verdicts += [result.model_copy(update={"check": f"{name}: {result.check}"}) for result in judged]
        return tuple(verdicts)

    def _report(self, reports: Sequence[LaunchReport | str]) -> LaunchReport:
        """All of them in one, without those that failed."""
        named = [
            (name, report)
            for name, report in zip(self._names, reports, strict=True)
            if isinstance(report, LaunchReport)
        ]
        return LaunchReport(
            jobs=tuple(
                JobReference(name=f"{name}: {job.name}", id=job.id) for name, report in named for job in report.jobs
            ),
            result={f"{name}: {key}": value for name, report in named for key, value in report.result.items()},
            settings={key: value for _, report in named for key, value in report.settings.items()},
        )
