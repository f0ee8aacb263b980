"""Proves the signature's figures exactly on small cases, its sums for any case, and its speed on millions of requests."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.engine.tasks import MapReduceAttempt
from assay.model.signature import Access, Counted, PhaseUse, Requests, Signature, TracedMedium
from assay.probe.own_cost import weighed
from assay.stats.signature import REMEMBERED_ENDS, Quantile, Sequentiality, Streams
from assay.stats.signature import signature as signature_of
from assay.stats.timeline import Timeline, phase_uses

MS = 1_000_000
signature = partial(signature_of, engine="mapreduce")
READ, WRITE, FLUSH, DISCARD = range(4)
INPUT, INTERMEDIATE, OUTPUT, OTHER = range(4)
ROLES = ("input", "intermediate", "output", "other")


def attempt(kind="map", start=1000, end=2000, shuffle=0, merge=0, job="job_1", **changes):
    return MapReduceAttempt(
        job=job, attempt=f"{job}_{kind}_{start}", stage=kind, node="node", state="SUCCEEDED", started_ms=start,
        shuffle_finished_ms=shuffle, merge_finished_ms=merge, finished_ms=end, **changes,
    )  # fmt: skip


def requests(*rows, dropped=0):
    """Rows of (arrived ms, offset, bytes, latency ms, kind, role)."""
    columns = list(zip(*rows, strict=True)) if rows else [()] * 6
    arrived, offset, size, latency, kind, role = (np.array(column) for column in columns)
    return Requests(
        medium="hdd", source="test", arrived_ns=(arrived * MS).astype(np.int64), offset=offset.astype(np.int64),
        bytes=size.astype(np.int64), latency_ns=(latency * MS).astype(np.int64), kind=kind.astype(np.uint8),
        role=role.astype(np.uint8), roles=ROLES, dropped=dropped,
    )  # fmt: skip


def lines(told):
    return {(one.job, one.phase, one.role, one.direction): one for one in told.accesses}


def test_one_line_to_the_last_figure():
    """Four reads of a map, three in a row, the second of them while the first is under way."""
    rows = [(1000, 0, 100, 20, READ, INPUT), (1010, 100, 300, 20, READ, INPUT),
            (1100, 400, 100, 10, READ, INPUT), (1500, 9000, 500, 50, READ, INPUT)]  # fmt: skip
    told = signature([requests(*rows)], [], [attempt(cpu_ms=2500)])
    (line,) = told.accesses
    assert (line.job, line.phase, line.medium, line.role, line.direction) == ("job_1", "map", "hdd", "input", "read")
    assert (line.bytes, line.requests) == (1000, 4)
    assert line.sequential_share == pytest.approx(0.4)
    assert (line.median_request_bytes, line.typical_request_bytes) == (100, 300)
    assert (line.streams, line.active_s) == (1, 1)
    assert line.depth == pytest.approx((1 + 2 + 1 + 1) / 4)
    assert (line.latency_ms_mean, line.latency_ms_p99) == (25, 50)
    assert (line.gap_ms_mean, line.gap_ms_median) == (pytest.approx(500 / 3), 90)
    (use,) = told.phases
    assert (use.cpu_s, use.attempt_s, use.elapsed_s, use.bytes, use.cpu_s_per_byte) == (2.5, 1.0, 1.0, 1000, 0.0025)
    assert (told.media[0].bytes, told.media[0].other_share) == (1000, 0)


def test_requests_are_shared_between_phases_by_their_attempts():
    attempts = [attempt(), attempt(), attempt("reduce", 1500, 4000, shuffle=2500, merge=2600)]
    rows = [
        (1200, 0, 300, 1, READ, OTHER),
        (1700, 0, 300, 1, READ, OTHER),
        (2550, 0, 300, 1, WRITE, OTHER),
        (5000, 0, 300, 1, WRITE, OTHER),
    ]
    told = lines(signature([requests(*rows)], [], attempts))
    sums = {(phase, direction): one.bytes for (_, phase, _, direction), one in told.items()}
    assert sums == {
        ("map", "read"): pytest.approx(500), ("shuffle", "read"): pytest.approx(100),
        ("merge", "write"): 300, ("outside", "write"): 300,
    }  # fmt: skip
    assert told["job_1", "map", "other", "read"].requests == pytest.approx(5 / 3)


def test_only_phases_that_can_have_caused_a_request_get_it():
    attempts = [attempt(), attempt("reduce", 1000, 2000, shuffle=1000, merge=1000), attempt("reduce", 1000, 2000)]
    rows = [(1500, 0, 1, 1, kind, role) for kind in (READ, WRITE) for role in (INPUT, INTERMEDIATE, OUTPUT)]
    told = lines(signature([requests(*rows)], [], attempts))
    where = {}
    for (_, phase, role, direction), one in told.items():
        where.setdefault((role, direction), {})[phase] = pytest.approx(one.bytes)
    third = {"map": 1 / 3, "reduce": 1 / 3, "shuffle": 1 / 3}
    assert where == {
        ("input", "read"): {"map": 1}, ("output", "read"): {"map": 1}, ("output", "write"): {"reduce": 1},
        ("intermediate", "write"): {"map": 0.5, "shuffle": 0.5}, ("intermediate", "read"): third,
        ("input", "write"): third,
    }  # fmt: skip


def test_a_job_without_reduces_writes_its_output_in_maps():
    attempts = [attempt(), attempt(job="job_2"), attempt("reduce", 1000, 2000, job="job_2", shuffle=1100, merge=1200)]
    told = lines(signature([requests((1500, 0, 10, 1, WRITE, OUTPUT))], [], attempts))
    assert {(job, phase): one.bytes for (job, phase, _, _), one in told.items()} == {
        ("job_1", "map"): 5,
        ("job_2", "reduce"): 5,
    }


@pytest.mark.parametrize(
    ("kind", "role", "attempts", "expected"),
    [
        # The job has no maps left: reads of its input come from another job's.
        (READ, INPUT, [attempt("reduce", 1000, 2000), attempt(job="job_2")], {("job_2", "map"): 12}),
        (READ, INPUT, [attempt("reduce", 1000, 2000)], {("job_1", "shuffle"): 12}),
        # A job whose reduces got no further than their shuffle is not one without reduces.
        (WRITE, OUTPUT, [attempt(), attempt(), attempt("reduce", 1000, 2000)],
         {("job_1", "map"): 8, ("job_1", "shuffle"): 4}),
    ],
)  # fmt: skip
def test_requests_that_no_running_phase_can_have_caused_are_shared_between_all_that_run(kind, role, attempts, expected):
    """But for the output of jobs without reduces, none is charged to a phase because its job has no better one."""
    told = lines(signature([requests((1500, 0, 12, 1, kind, role))], [], attempts))
    assert {(job, phase): one.bytes for (job, phase, _, _), one in told.items()} == pytest.approx(expected)


def test_phases_of_attempts_that_did_not_end_well():
    failed_in_shuffle = attempt("reduce", 1000, 1500)
    killed_in_merge = attempt("reduce", 1000, 1500, shuffle=1200)
    never_started = attempt(start=0, end=0)
    uses = {use.phase: use for use in phase_uses([failed_in_shuffle, killed_in_merge, never_started])}
    assert {phase: use.attempt_s for phase, use in uses.items()} == {"shuffle": 0.7, "merge": 0.3}
    assert uses["shuffle"].cpu_s is None
    assert uses["shuffle"].elapsed_s == 0.5


def test_a_reduces_processor_time_is_shared_out_by_time():
    uses = {use.phase: use for use in phase_uses([attempt("reduce", 1000, 2000, shuffle=1500, merge=1750, cpu_ms=400)])}
    assert {phase: (use.cpu_s, use.cpu_basis) for phase, use in uses.items()} == {
        "shuffle": (pytest.approx(0.2), "estimated"), "merge": (pytest.approx(0.1), "estimated"),
        "reduce": (pytest.approx(0.1), "estimated"),
    }  # fmt: skip
    assert PhaseUse(job="j", phase="map", attempts=1, attempt_s=1, elapsed_s=1, cpu_s=1.0).cpu_s_per_byte is None


def test_interleaved_streams_are_counted():
    """Three readers in turn, each sequential, and single requests far off, which are no stream."""
    rows = [
        (1000 + 10 * turn + reader, reader * 10**9 + 100 * turn, 100, 1, READ, INPUT)
        for turn in range(50)
        for reader in range(3)
    ]
    rows += [(1000 + 20 * number, 5 * 10**9 + 10**6 * number, 100, 1, READ, INPUT) for number in range(10)]
    (line,) = signature([requests(*rows)], [], [attempt()]).accesses
    assert line.streams == pytest.approx(3, rel=0.01)
    assert line.sequential_share == pytest.approx(147 / 160)


def test_runs_one_after_another_are_one_stream():
    """Ten short runs in a second, none begun before the one before it had its answer."""
    rows = [
        (1000 + 100 * run + 10 * turn, run * 10**9 + 100 * turn, 100, 9, READ, OTHER)
        for run in range(10)
        for turn in range(8)
    ]
    (line,) = signature([requests(*rows)], [], [attempt()]).accesses
    assert (line.streams, line.depth) == (1, 1)


def test_a_run_that_pauses_is_no_stream_meanwhile():
    """A journal written now and then beside a long file."""
    file = [(1000 + 100 * turn, 1000 * turn, 1000, 100, WRITE, OTHER) for turn in range(200)]
    journal = [
        (1000 + 5000 * turn + 10 * n, 10**9 + 20 * turn + 10 * n, 10, 10, WRITE, OTHER)
        for turn in range(4)
        for n in (0, 1)
    ]
    (line,) = signature([requests(*sorted(file + journal))], [], [attempt(end=30_000)]).accesses
    assert line.streams == pytest.approx(1 + 4 * 0.02 / 20)


def test_a_run_is_a_stream_of_each_phase_by_its_requests_there():
    attempts = [attempt(), attempt("reduce", 2000, 3000, shuffle=2000, merge=2000)]
    rows = [(1100 + 100 * turn, 100 * turn, 100, 100, READ, OTHER) for turn in range(15)]
    told = lines(signature([requests(*rows)], [], attempts))
    assert {phase: one.streams for (_, phase, _, _), one in told.items()} == {"map": 1, "reduce": 1}


a_request = st.tuples(st.integers(0, 3), st.integers(0, 700), st.integers(0, 900))


def overlap(rows):
    """The same millisecond by millisecond."""
    last, stretches = {}, []
    for run, arrived, answered in rows:
        if run in last and arrived - last[run][0] <= 1000:
            last[run][0] = arrived
            last[run][1].append((arrived, answered))
        else:
            last[run] = [arrived, [(arrived, answered)]]
            stretches.append(last[run][1])
    whole = [(one[0][0], max(answer for _, answer in one)) for one in stretches if len(one) > 1]
    counts = [sum(began <= at < ended for began, ended in whole) for at in range(max((e for _, e in whole), default=0))]
    some = [count for count in counts if count]
    return sum(some) / len(some) if some else float(bool(whole))


@pytest.mark.slow
@given(st.lists(a_request, min_size=1, max_size=30), st.integers(1, 7))
def test_streams_are_the_same_however_they_are_shown(drawn, at_once):
    at, rows = 0, []
    for run, gap, latency in drawn:
        at += gap
        rows.append((run, at, at + latency))
    streams = Streams()
    for begin in range(0, len(rows), at_once):
        run, arrived, answered = np.array(rows[begin : begin + at_once], np.int64).T
        streams.see(run, arrived * MS, answered * MS)
    assert streams.mean() == pytest.approx(overlap(rows))


weighted = st.tuples(st.integers(0, 10) | st.integers(0, 1 << 45), st.sampled_from([0.25, 1.0, 1 / 3, 2.0]))


@pytest.mark.slow
@given(st.lists(weighted, min_size=1, max_size=50), st.sampled_from([0.5, 0.99]), st.integers(1, 60))
def test_a_quantile_is_that_of_the_sorted_values(pairs, share, at_once):
    values, weight = np.array([value for value, _ in pairs], np.int64), np.array([own for _, own in pairs])
    quantile = Quantile(share, int(values.max()))
    passes = 0
    while not quantile.is_found:
        for begin in range(0, len(values), at_once):
            quantile.see(values[begin : begin + at_once], weight[begin : begin + at_once])
        quantile.end_pass()
        passes += 1
    order = np.argsort(values)
    upto = np.cumsum(weight[order])
    assert quantile.value == values[order][np.searchsorted(upto, share * upto[-1] * (1 - 1e-9))]
    assert passes <= 5


def test_narrow_columns_tell_the_same():
    rows = [(1000 + n, (n % 5) * 4_000_000_000, 4_000_000_000, 4000, READ, INPUT) for n in range(20)]
    wide = requests(*rows)
    narrow = replace(wide, bytes=wide.bytes.astype(np.uint32), latency_ns=wide.latency_ns.astype(np.uint32))
    assert signature([narrow], [], [attempt()]) == signature([wide], [], [attempt()])


def test_flushes_and_discards_count_apart():
    rows = [(1000, 0, 0, 9, FLUSH, OTHER), (1001, 0, 10**6, 9, DISCARD, OTHER), (1002, 0, 4096, 9, WRITE, OTHER)]
    told = signature([requests(*rows, dropped=7)], [], [attempt()])
    (medium,) = told.media
    assert (medium.requests, medium.bytes, medium.flushes, medium.discards, medium.dropped) == (1, 4096, 1, 1, 7)
    assert medium.other_share == 1
    assert told.accesses[0].depth == 3


def test_counters_give_an_estimate():
    counted = Counted(
        medium="hdd", time_ns=np.array([1500 * MS, 2500 * MS]),
        requests={"read": np.array([4.0, 0.0]), "write": np.array([0.0, 2.0])},
        bytes={"read": np.array([400.0, 0.0]), "write": np.array([0.0, 20.0])},
        latency_s={"read": np.array([0.2, 0.0]), "write": np.array([0.0, 0.1])}, role="intermediate",
    )  # fmt: skip
    told = signature([], [counted], [attempt()])
    read, write = told.accesses
    assert (read.phase, read.basis, read.bytes, read.latency_ms_mean, read.sequential_share) == (
        "map",
        "estimated",
        400,
        50,
        None,
    )
    assert (write.phase, write.bytes) == ("outside", 20)
    assert (told.media[0].basis, told.media[0].other_share) == ("estimated", 0)


def test_nothing_at_all():
    assert signature([], [], []) == Signature(accesses=(), phases=(), media=())
    told = signature([requests()], [], [])
    assert (told.accesses, told.media[0].bytes) == ((), 0)
    assert signature([requests((1, 0, 5, 1, READ, INPUT))], [], []).accesses[0].phase == "outside"


def remembered(offsets, lengths):
    """The rule as the emulator has it: a ring of ends."""
    ends, following, told = [None] * REMEMBERED_ENDS, 0, []
    for begin, length in zip(offsets, lengths, strict=True):
        told.append(begin in ends)
        if begin in ends:
            ends[ends.index(begin)] = begin + length
        else:
            ends[following] = begin + length
            following = (following + 1) % REMEMBERED_ENDS
    return told


few = st.integers(0, 90)


@pytest.mark.slow
@given(st.lists(st.tuples(few, st.integers(0, 4)), max_size=400), st.integers(1, 400))
def test_sequential_is_what_the_emulator_calls_sequential(pairs, at_once):
    """However many are shown at once."""
    offsets, lengths = (np.array(column, np.int64) for column in (zip(*pairs, strict=True) if pairs else ((), ())))
    seen, sequential, runs = Sequentiality(), [], []
    for begin in range(0, len(pairs), at_once):
        some = slice(begin, begin + at_once)
        following, of = seen.see(offsets[some], lengths[some])
        sequential += following.tolist()
        runs += of.tolist()
    assert sequential == remembered(offsets.tolist(), lengths.tolist())
    assert len(set(runs)) == sequential.count(False)


times = st.integers(0, 3000)
row = st.tuples(times, st.integers(0, 50), st.integers(0, 9), st.integers(0, 100), st.integers(0, 3), st.integers(0, 3))
an_attempt = st.tuples(
    st.sampled_from(["map", "reduce"]), st.lists(times, min_size=4, max_size=4), st.sampled_from(["a", "b"])
)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.lists(row, max_size=40), st.lists(an_attempt, max_size=8))
def test_nothing_is_lost_or_counted_twice(rows, drawn):
    attempts = [
        attempt(kind, edges[0], edges[3], edges[1], edges[2], job)
        for kind, edges, job in ((k, sorted(e), j) for k, e, j in drawn)
    ]
    seen = requests(*rows)
    told = signature([seen], [], attempts)
    for number, role in enumerate(ROLES):
        for kind, direction in enumerate(("read", "write")):
            chosen = (seen.role == number) & (seen.kind == kind)
            mine = [one for one in told.accesses if (one.role, one.direction) == (role, direction)]
            assert sum(one.bytes for one in mine) == pytest.approx(int(seen.bytes[chosen].sum()))
            assert sum(one.requests for one in mine) == pytest.approx(int(chosen.sum()))
    for one in told.accesses:
        assert 0 <= one.sequential_share <= 1
        assert one.depth >= 1
    assert Signature.model_validate_json(told.model_dump_json()) == told


def test_weights_of_every_moment_add_to_one():
    timeline = Timeline(
        [attempt(), attempt("reduce", 1500, 4000, shuffle=2500, merge=2600), attempt(job="b", start=3000, end=3500)],
        "mapreduce",
    )
    for role in ROLES:
        for direction in ("read", "write"):
            weights = timeline.weights(role, direction)
            assert weights.sum(axis=1) == pytest.approx(1)
            assert (weights >= 0).all()


def many(count, one_line):
    """Requests of an hour, six streams and every tenth somewhere; over roles and directions, or reads of one role."""
    chance = np.random.default_rng(7)
    stream = chance.integers(0, 6, count)
    offset = stream * 10**12 + np.arange(count) * 131072
    offset[::10] = chance.integers(0, 10**12, len(offset[::10]))
    return Requests(
        medium="hdd", source="test", arrived_ns=np.sort(chance.integers(0, 3600 * 10**9, count)), offset=offset,
        bytes=np.full(count, 131072), latency_ns=chance.integers(10**5, 10**8, count),
        kind=(stream % 2 * (not one_line)).astype(np.uint8), role=(stream % 4 * (not one_line)).astype(np.uint8), roles=ROLES,
    )  # fmt: skip


def weigh(count, one_line):
    """Run in a process of its own, whose memory nothing else has grown."""
    attempts = [attempt(start=n * 10_000 + 1, end=n * 10_000 + 30_000) for n in range(200)]
    attempts += [attempt("reduce", 500_000, 3_600_000, shuffle=2_500_000, merge=2_600_000) for _ in range(4)]
    seen = many(count, one_line)
    with weighed() as weight:
        told = signature([seen], [], attempts)
    sys.stdout.write(json.dumps([weight.busy_s, weight.growth_bytes, sum(one.requests for one in told.accesses)]))


@pytest.mark.slow
@pytest.mark.parametrize("one_line", [False, True])
@pytest.mark.parametrize("count", [300_000, pytest.param(3_000_000, marks=[pytest.mark.it, pytest.mark.long])])
def test_three_million_requests_take_150_mib_at_most(count, one_line):
    """Beyond their columns. Their time is `benchmarks/large_traces.py`'s."""
    root = Path(__file__).parents[2]
    # The C library gives large arrays back at once with this, so that the peak is of what is needed.
    environment = {**os.environ, "PYTHONPATH": f"{root / 'src'}:{root}", "MALLOC_MMAP_THRESHOLD_": str(1 << 20)}
    code = f"from tests.stats.test_signature import weigh; weigh({count}, {one_line})"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    _, growth_bytes, seen = json.loads(done.stdout)
    assert seen == pytest.approx(count)
    assert growth_bytes is None or growth_bytes < 150 << 20


@pytest.mark.parametrize("kind", [Signature, Access, PhaseUse, TracedMedium])
def test_the_reference_describes_every_field(kind):
    page = (Path(__file__).parents[2] / "docs" / "reference" / "signature.md").read_text()
    assert not [name for name in kind.model_fields if f"`{name}`" not in page]
    assert kind.model_json_schema()["properties"].keys() == kind.model_fields.keys()


def test_processor_time_is_said_to_begin_after_the_tasks_start_up():
    page = (Path(__file__).parents[2] / "docs" / "reference" / "signature.md").read_text()
    (row,) = [line for line in page.splitlines() if line.startswith("| `cpu_s` ")]
    assert all("start-up" in text for text in (row, PhaseUse.__doc__))


class Pipelined(MapReduceAttempt):
    """Reads and computes at once."""

    def phase_spans(self):
        middle_ms = (self.started_ms + self.finished_ms) // 2
        return [("read", self.started_ms, self.finished_ms), ("compute", middle_ms, self.finished_ms)]


def test_phases_of_a_task_may_overlap():
    """A request while both run is half of each; the processor time of both together is the attempt's."""
    task = Pipelined(
        job="job_1",
        attempt="a",
        stage="stage-7",
        node="node",
        state="SUCCEEDED",
        started_ms=1000,
        finished_ms=3000,
        cpu_ms=900,
    )
    told = signature([requests((1500, 0, 600, 1, READ, INPUT), (2500, 600, 400, 1, READ, INPUT))], [], [task])
    assert {one.phase: one.bytes for one in told.accesses} == {"read": 800, "compute": 200}
    assert {use.phase: (use.attempt_s, use.cpu_s, use.cpu_basis) for use in phase_uses([task])} == {
        "read": (2.0, 0.6, "estimated"), "compute": (1.0, 0.3, "estimated"),
    }  # fmt: skip
