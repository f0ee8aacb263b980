//! A device that is known by its limits alone: so many bytes and requests a second, for each direction and for both
//! together, and a latency. It describes volumes of a cloud, throttled devices, and whatever else has no geometry to model.
//!
//! Each limit is a leaky bucket (the generic cell rate algorithm, ITU-T I.371): work adds to it at its cost, time takes
//! from it, and a request completes when what is in it no longer exceeds the burst. So a device that was idle does
//! as much at once as the burst allows, and any device keeps its rates over longer times.

use crate::figures::{CAPACITY, FigureSpec, optional, required};
use crate::in_order::Timing;
use crate::power::Watts;
use crate::profile::{Checked, FigureError};
use crate::report::Recorder;
use crate::{Kind, Nanos, Report, Request};

/// Names, meanings, units and bounds; rates are in MB/s of 10^6 bytes.
pub const FIGURES: &[FigureSpec] = &[
    CAPACITY,
    required("read_mb_s", "limit of reads", "MB/s", 0.1, 64000.0),
    required("write_mb_s", "limit of writes", "MB/s", 0.1, 64000.0),
    optional("total_mb_s", "limit of reads and writes together", "MB/s", 0.1, 128000.0, 128000.0),
    required("read_iops", "limit of reads", "requests a second", 1.0, 1e8),
    required("write_iops", "limit of writes", "requests a second", 1.0, 1e8),
    optional("total_iops", "limit of reads and writes together", "requests a second", 1.0, 2e8, 2e8),
    optional("read_burst_ms", "how much of its limits an idle device reads at once", "milliseconds", 0.0, 3.6e6, 0.0),
    optional("write_burst_ms", "how much of its limits an idle device writes at once", "milliseconds", 0.0, 3.6e6, 0.0),
    required("read_latency_us", "time of a short read below the limits", "microseconds", 0.0, 1e6),
    required("write_latency_us", "time of a short write below the limits", "microseconds", 0.0, 1e6),
    optional("flush_ms", "time of a flush after the writes before it", "milliseconds", 0.0, 1000.0, 0.0),
    optional("link_mb_s", "rate of one request's data below the limits", "MB/s", 0.1, 128000.0, 128000.0),
    optional("queue_depth", "requests that the device works on", "requests", 1.0, 65536.0, 128.0),
    optional("fast_write_bytes", "writes before they slow down to write_mb_s", "bytes", 0.0, 1e15, 0.0),
    optional("fast_write_mb_s", "limit of these writes", "MB/s", 0.1, 64000.0, 64000.0),
    optional("recover_mb_s", "how fast an idle device gets them back", "MB/s", 0.0, 64000.0, 0.0),
    required("idle_watts", "power when ready and idle", "watts", 0.0, 100.0),
    required("read_watts", "power when reading at its limit", "watts", 0.0, 100.0),
    required("write_watts", "power when writing at its limit", "watts", 0.0, 100.0),
];

/// What must hold between figures: work takes no less power than idleness, and fast writes are no slower than others.
pub fn agree(figures: &Checked) -> Vec<FigureError> {
    let mut errors = Watts::agree(figures);
    if figures.get("fast_write_bytes") > 0.0 {
        let why = "the first writes are no slower than the others";
        errors.extend(figures.at_least("fast_write_mb_s", "write_mb_s", why));
    }
    errors
}

/// A leaky bucket; all its quantities are nanoseconds.
#[derive(Debug)]
struct Limit {
    /// What one byte or request adds.
    cost: f64,
    burst: f64,
    /// When all that was put in has leaked out.
    empty_at: f64,
}

impl Limit {
    fn new(per_nanosecond: f64, burst: f64) -> Self {
        Limit { cost: 1.0 / per_nanosecond, burst, empty_at: 0.0 }
    }

    /// Puts `cost` in at `now`; returns when the bucket holds no more than the burst.
    fn add(&mut self, now: f64, cost: f64) -> f64 {
        self.empty_at = self.empty_at.max(now) + cost;
        self.empty_at - self.burst
    }
}

/// The limits and the latency of one direction.
#[derive(Debug)]
struct Direction {
    bytes: Limit,
    requests: Limit,
    latency: f64,
    /// What its requests would take at its limit of bytes, in nanoseconds.
    worked: f64,
}

impl Direction {
    fn new(figures: &Checked, [mb_s, iops, latency_us, burst_ms]: [&str; 4]) -> Self {
        let burst = figures.ms(burst_ms);
        let bytes = Limit::new(figures.rate(mb_s), burst);
        let requests = Limit::new(figures.get(iops) * 1e-9, burst);
        Direction { bytes, requests, latency: figures.us(latency_us), worked: 0.0 }
    }
}

/// The writes that are faster than the limit, until they are used up.
#[derive(Debug)]
struct FastWrites {
    most: f64,
    left: f64,
    cost: f64,
    recover: f64,
}

/// The device's times.
pub struct Limited {
    reads: Direction,
    writes: Direction,
    total_bytes: Limit,
    total_requests: Limit,
    link: Limit,
    fast: FastWrites,
    flush: f64,
    watts: Watts,
    written_at: f64,
}

impl Limited {
    /// The device at rest.
    pub fn new(figures: &Checked) -> Self {
        let burst = figures.ms("read_burst_ms").max(figures.ms("write_burst_ms"));
        let most = figures.get("fast_write_bytes");
        Limited {
            reads: Direction::new(figures, ["read_mb_s", "read_iops", "read_latency_us", "read_burst_ms"]),
            writes: Direction::new(figures, ["write_mb_s", "write_iops", "write_latency_us", "write_burst_ms"]),
            total_bytes: Limit::new(figures.rate("total_mb_s"), burst),
            total_requests: Limit::new(figures.get("total_iops") * 1e-9, burst),
            link: Limit::new(figures.rate("link_mb_s"), 0.0),
            fast: FastWrites {
                most,
                left: most,
                cost: 1.0 / figures.rate("fast_write_mb_s"),
                recover: figures.rate("recover_mb_s"),
            },
            flush: figures.ms("flush_ms"),
            watts: Watts::new(figures, 0.0),
            written_at: 0.0,
        }
    }

    fn transfer(&mut self, now: f64, request: Request) -> f64 {
        let bytes = request.bytes as f64;
        let write = request.kind == Kind::Write;
        let cost = if write { self.write_cost(now, bytes) } else { bytes * self.reads.bytes.cost };
        let direction = if write { &mut self.writes } else { &mut self.reads };
        direction.worked += cost;
        let limits = [
            direction.bytes.add(now, cost),
            direction.requests.add(now, direction.requests.cost),
            self.total_bytes.add(now, bytes * self.total_bytes.cost),
            self.total_requests.add(now, self.total_requests.cost),
            self.link.add(now, bytes * self.link.cost) + direction.latency,
        ];
        let at = limits.into_iter().fold(now, f64::max);
        if write {
            self.written_at = self.written_at.max(at);
        }
        at
    }

    /// What a write adds to its limit of bytes. The device gets fast writes back while it has nothing to write.
    fn write_cost(&mut self, now: f64, bytes: f64) -> f64 {
        let fast = &mut self.fast;
        let idle = (now - self.writes.bytes.empty_at).max(0.0);
        fast.left = (fast.left + idle * fast.recover).min(fast.most);
        let first = fast.left.min(bytes);
        fast.left -= first;
        first * fast.cost + (bytes - first) * self.writes.bytes.cost
    }

    /// The time of what has most to do of the limits.
    fn least_seconds(&self, report: &Report) -> f64 {
        let (reads, writes) = (&report.reads, &report.writes);
        let requests = (reads.requests + writes.requests) as f64 * self.total_requests.cost;
        let bytes = (reads.bytes + writes.bytes) as f64;
        let nanos = [
            self.reads.worked,
            self.writes.worked,
            reads.requests as f64 * self.reads.requests.cost,
            writes.requests as f64 * self.writes.requests.cost,
            requests,
            bytes * self.total_bytes.cost.max(self.link.cost),
        ];
        nanos.into_iter().fold(0.0, f64::max) / 1e9
    }
}

impl Timing for Limited {
    fn take_in(&mut self, now: Nanos, request: Request) -> Nanos {
        let now = now as f64;
        let at = match request.kind {
            Kind::Read | Kind::Write => self.transfer(now, request),
            Kind::Flush => self.written_at.max(now) + self.flush,
            Kind::Discard => now + self.writes.latency,
        };
        at.ceil() as Nanos
    }

    fn settle(&mut self, at: Nanos) {
        self.fast.left = self.fast.most;
        for limit in
            [&mut self.reads.bytes, &mut self.reads.requests, &mut self.writes.bytes, &mut self.writes.requests]
        {
            limit.empty_at = limit.empty_at.min(at as f64);
        }
        for limit in [&mut self.total_bytes, &mut self.total_requests] {
            limit.empty_at = limit.empty_at.min(at as f64);
        }
    }

    /// Idle power all the time; above it each byte takes an energy, that of its direction's limit.
    fn report(&self, at: Nanos, recorder: &Recorder) -> Report {
        let joules = self.watts.joules_above_idle(recorder.elapsed(at), self.reads.worked, self.writes.worked);
        let report = recorder.report(at, joules, 0);
        Report { least_seconds: self.least_seconds(&report).min(report.busy_seconds), ..report }
    }

    fn reset_report(&mut self, _at: Nanos) {
        (self.reads.worked, self.writes.worked) = (0.0, 0.0);
    }
}
