"""Bytes by phase, role and direction, from a trial's I/O signature: as a picture, and line by line."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from assay.model.installed import engine_kind
from assay.model.layout import role_order
from assay.model.naming import bytes_text
from assay.model.record import Record
from assay.model.signature import DIRECTIONS, OTHER, Access, Direction, Signature
from assay.report.charts import drawing as svg

COLOURS: Mapping[Direction, str] = {"read": svg.BLUE, "write": svg.VERMILION}
SMALL_SHARE = 0.005
"""Lines of less than this share of all bytes are put together: mostly the file system's own."""

PHASE_X, ROLE_X, BAR_X, BAR_PX, ROW_PX, HEAD_PX = 0, 144, 276, 290, 20, 26
PALE = 0.22
OUTSIDE = "outside"
"""The phase of what no task ran for."""


class Flow(NamedTuple):
    """All bytes of one phase, role, direction and medium, over all jobs of the run (or over the staging's).

    `random_bytes` are those that did not continue a sequential run; None where that is not known. `request_bytes` are
    the least and the greatest of the lines' typical requests, `streams` the lines' mean, weighted by active seconds.
    """

    staging: bool
    phase: str
    role: str
    direction: Direction
    medium: str
    bytes: float
    random_bytes: float | None
    request_bytes: tuple[float, float] | None
    streams: float | None
    estimated: bool


ACCESS_HEAD = (
    ("job", False), ("phase", False), ("role", False), ("direction", False), ("medium", False), ("bytes", True),
    ("sequential", True), ("typical request", True), ("streams", True), ("mean latency (ms)", True), ("basis", False),
)  # fmt: skip
USE_HEAD = (
    ("job", False), ("phase", False), ("attempts", True), ("seconds in all", True), ("elapsed (s)", True),
    ("processor (s)", True), ("basis", False), ("bytes", True), ("processor ns per byte", True),
)  # fmt: skip
"""Columns of both tables, and whether they are numbers."""


def flows(signature: Signature, record: Record) -> list[Flow]:
    """Sum accesses by phase, role and direction, in this order; staging comes first, what no task ran for last."""
    staging = {job.id for job in record.staging_jobs}
    grouped: dict[tuple[bool, str, str, Direction, str], list[Access]] = {}
    for access in sorted(signature.accesses, key=_in_order(record)):
        staged = access.job in staging and access.phase != OUTSIDE
        key = (staged, access.phase, access.role, access.direction, access.medium)
        grouped.setdefault(key, []).append(access)
    result = []
    for group, lines in grouped.items():
        known = [
            access.bytes * (1 - access.sequential_share) for access in lines if access.sequential_share is not None
        ]
        requests = [access.typical_request_bytes for access in lines if access.typical_request_bytes is not None]
        streams = [(access.streams, access.active_s) for access in lines if access.streams is not None]
        active_s = sum(seconds for _, seconds in streams)
        flow = Flow(
            *group, bytes=sum(access.bytes for access in lines),
            random_bytes=sum(known) if len(known) == len(lines) else None,
            request_bytes=(min(requests), max(requests)) if requests else None,
            streams=sum(count * seconds for count, seconds in streams) / active_s if active_s else None,
            estimated=any(line.basis != "measured" for line in lines),
        )  # fmt: skip
        result.append(flow)
    return sorted(result, key=lambda flow: not flow.staging)


def flow_picture(flows: Sequence[Flow], most_bytes: float, label: str, colours: Mapping[str, str]) -> str:
    """A bar for each flow: its length is bytes, full where sequential and pale where not; `colours` are the phases'."""
    total = sum(flow.bytes for flow in flows)
    shown = [flow for flow in flows if total and flow.bytes >= SMALL_SHARE * total]
    if not shown:
        return ""
    several = len({flow.medium for flow in shown}) > 1
    legend = "".join(  # full and pale, as `_bar` draws them
        f'{svg.marks([(f"{direction}, sequential", colour)])}<tspan dx="16" fill="{colour}" fill-opacity="{PALE}" '
        f'stroke="{colour}" stroke-width=".8">{svg.MARK}</tspan><tspan dx="5">not sequential</tspan>'
        for direction, colour in COLOURS.items()
    )
    parts = [f'<text x="{BAR_X - 16}" y="14">{legend}</text>']
    last = None
    for row, flow in enumerate(shown):
        top = HEAD_PX + row * ROW_PX
        if (flow.staging, flow.phase) != last:
            colour = colours.get(flow.phase, svg.PAPER)
            phase_text = _phase_words(flow.phase, staging=flow.staging)
            parts += [
                svg.rect(PHASE_X + 0.5, top + 4, 10, 10, colour, edge=svg.SOFT if colour == svg.PAPER else ""),
                svg.text(PHASE_X + 16, top + 14, phase_text, 'font-weight="600"'),
            ]
        last = flow.staging, flow.phase
        parts += [
            svg.text(ROLE_X, top + 14, f"{flow.role} {flow.direction}"),
            *_bar(flow, top, most_bytes, several=several),
        ]
    left = total - sum(flow.bytes for flow in shown)
    if left:
        rest_text = f"and {bytes_text(left)} in others of less than {100 * SMALL_SHARE:g} % each"
        parts.append(svg.text(BAR_X, HEAD_PX + len(shown) * ROW_PX + 15, rest_text, f'fill="{svg.SOFT}"'))
    return svg.figure(HEAD_PX + len(shown) * ROW_PX + 24, parts, label)


def access_rows(signature: Signature, record: Record) -> list[tuple[str, ...]]:
    """The signature line by line below ACCESS_HEAD, small ones put together in the last."""
    name, staging, order = _names(record), {job.id for job in record.staging_jobs}, _in_order(record)
    total = sum(access.bytes for access in signature.accesses)
    large = [access for access in signature.accesses if access.bytes >= SMALL_SHARE * total]
    rows: list[tuple[str, ...]] = [
        (
            name(access.job), _phase_words(access.phase, staging=access.job in staging), access.role,
            access.direction, access.medium, bytes_text(access.bytes),
            _figure(None if access.sequential_share is None else 100 * access.sequential_share, "{:.1f} %"),
            "-" if access.typical_request_bytes is None else _size(access.typical_request_bytes),
            _figure(access.streams), _figure(access.latency_ms_mean, "{:.2f}"), access.basis,
        )
        for access in sorted(large, key=lambda access: (access.job == "", access.job, order(access)))
    ]  # fmt: skip
    if len(large) < len(signature.accesses):
        rest_text = f"{len(signature.accesses) - len(large)} rows of less than {100 * SMALL_SHARE:g} % each"
        rows.append(
            (rest_text, "", "", "", "", bytes_text(total - sum(access.bytes for access in large)), "", "", "", "", "")
        )
    return rows


def use_rows(signature: Signature, record: Record) -> list[tuple[str, ...]]:
    """What the attempts of each phase of each job took, below USE_HEAD, in the order of their beginning."""
    name = _names(record)
    return [
        (
            name(phase.job), phase.phase, str(phase.attempts), f"{phase.attempt_s:.1f}", f"{phase.elapsed_s:.1f}",
            _figure(phase.cpu_s), phase.cpu_basis if phase.cpu_s is not None else "", bytes_text(phase.bytes),
            _figure(None if phase.cpu_s_per_byte is None else phase.cpu_s_per_byte * 1e9),
        )
        for phase in signature.phases
    ]  # fmt: skip


def _in_order(record: Record) -> Callable[[Access], tuple[int, bool, int, str, int]]:
    """The engine's order of phases, then what is no phase of it; then roles and directions."""
    places = {phase: index for index, phase in enumerate(engine_kind(record.trial.engine).phases)}
    return lambda access: (
        places.get(access.phase, len(places)),
        access.role == OTHER,
        role_order(access.role),
        access.role,
        DIRECTIONS.index(access.direction),
    )


def _phase_words(phase: str, *, staging: bool) -> str:
    return "no task running" if phase == OUTSIDE else f"staging: {phase}" if staging else phase


def _bar(flow: Flow, top: float, most_bytes: float, *, several: bool) -> list[str]:
    """Draw a flow's bar, followed by its label."""
    width = max(1.0, flow.bytes / most_bytes * BAR_PX) if most_bytes else 1.0
    random = width if flow.random_bytes is None else width * flow.random_bytes / flow.bytes
    colour = COLOURS[flow.direction]
    parts = [svg.rect(BAR_X, top + 3, width - random, 14, colour)] if random < width else []
    if random > 0:
        parts.append(svg.rect(BAR_X + width - random, top + 3, random, 14, colour, PALE, edge=colour))
    labels = [f"{flow.medium}: {bytes_text(flow.bytes)}" if several else bytes_text(flow.bytes)]
    labels += [] if flow.random_bytes is None else [f"{100 * (1 - flow.random_bytes / flow.bytes):.0f} % sequential"]
    labels += [] if flow.request_bytes is None else [" to ".join(dict.fromkeys(map(_size, flow.request_bytes)))]
    labels += [] if flow.streams is None else [f"{flow.streams:.1f} streams"]
    labels += ["estimated"] if flow.estimated else []
    said = ", ".join(labels)
    room = (svg.WIDTH - BAR_X - width - 8) / svg.LETTER_PX
    return [
        *parts,
        svg.text(BAR_X + width + 8, top + 14, said, f'font-size="{svg.TEXT_PX - 1}"' if len(said) > room else ""),
    ]


def _size(count: float) -> str:
    return bytes_text(count).replace(".0 ", " ")


def _names(record: Record) -> Callable[[str], str]:
    """A job's name; its number among those of the same name where there are several."""
    jobs = [*record.staging_jobs, *record.jobs]
    several = {job.name for job in jobs if [job.name for job in jobs].count(job.name) > 1}
    names = {job.id: f"{job.name} {job.id.rpartition('_')[2]}" if job.name in several else job.name for job in jobs}
    return lambda job: names.get(job, job)


def _figure(value: float | None, form: str = "{:.1f}") -> str:
    return "-" if value is None else form.format(value)
