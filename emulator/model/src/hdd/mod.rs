//! A hard disk: one arm over turning platters, a cache, and a queue that it orders.
//!
//! The parts: `geometry` says where an address lies and how long the head takes to it, `cache` holds
//! what was read ahead and what waits to be written, `queue` chooses what the head does next, and the
//! device below moves them through virtual time.

mod cache;
pub mod figures;
mod geometry;
mod queue;

use std::collections::VecDeque;

use crate::completions::Completions;
use crate::power::{Spans, Watts};
use crate::profile::Checked;
use crate::report::Recorder;
use crate::rng::Rng;
use crate::{Completion, Device, Kind, Nanos, Report, Request};
use cache::{Dirty, Segments};
use geometry::{Geometry, Head, Place};

/// A read that the cache could not serve.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    id: u64,
    offset: u64,
    end: u64,
    arrived: Nanos,
    place: Place,
}

/// What the arm does after it has reached its place.
#[derive(Clone, Copy, Debug)]
enum Then {
    /// Read on in the current segment up to `to`.
    Read { to: u64 },
    /// Write the piece that begins here.
    Write { offset: u64 },
}

/// What the arm is doing.
#[derive(Clone, Copy, Debug)]
enum Operation {
    /// Moving and waiting for the platter; can't be called back.
    Position { since: Nanos, until: Nanos, then: Then },
    /// Reading in the current segment; can be broken off at any byte.
    Read { from: u64, to: u64, since: Nanos, until: Nanos, rate: f64 },
    /// Writing; can't be called back.
    Write { to: u64, since: Nanos, until: Nanos },
}

impl Operation {
    fn until(&self) -> Nanos {
        match self {
            Operation::Position { until, .. } | Operation::Read { until, .. } | Operation::Write { until, .. } => {
                *until
            }
        }
    }
}

/// Bounds and times that stay the same.
#[derive(Clone, Debug)]
struct Limits {
    queue_depth: usize,
    age_limit: Nanos,
    visit_bytes: u64,
    segment_bytes: u64,
    write_delay: Nanos,
    command: Nanos,
    flush: Nanos,
    /// Bytes per nanosecond.
    link: f64,
}

/// The device.
pub struct Hdd {
    geometry: Geometry,
    limits: Limits,
    watts: Watts,
    now: Nanos,
    /// Requests that the drive has not taken into its queue yet.
    backlog: VecDeque<Request>,
    /// Commands in the queue whose completion has not been reported.
    active: usize,
    reads: Vec<Waiting>,
    /// Writes in the queue for which the cache has no room yet.
    writes: VecDeque<(Request, Nanos)>,
    flush: Option<u64>,
    /// Until then the last flush is not complete, and no command is taken.
    flush_until: Nanos,
    segments: Segments,
    dirty: Dirty,
    /// Whether written data now competes with reads for the arm.
    destaging: bool,
    last_write: Nanos,
    operation: Option<Operation>,
    head: Head,
    /// The segment that the head last read into.
    current: Option<usize>,
    /// The read that the head is on.
    serving: Option<u64>,
    /// Bytes moved since the head came here.
    visit: u64,
    /// Bytes after which the head turns to another stream that waits.
    visit_ends: u64,
    rng: Rng,
    link_free: Nanos,
    completions: Completions,
    done: VecDeque<Completion>,
    recorder: Recorder,
    spans: Spans,
    spans_since: Nanos,
}

impl Hdd {
    /// The drive at rest at the first address, its platter turned by chance.
    pub fn new(figures: &Checked, seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let geometry = Geometry::new(figures, rng.unit());
        let segment_bytes = figures.bytes("read_segment_bytes");
        Hdd {
            limits: Limits {
                queue_depth: figures.get("queue_depth") as usize,
                age_limit: figures.ms("queue_age_limit_ms") as Nanos,
                visit_bytes: figures.bytes("stream_visit_bytes"),
                segment_bytes,
                write_delay: figures.ms("write_delay_ms") as Nanos,
                command: figures.us("command_us") as Nanos,
                flush: figures.ms("flush_ms") as Nanos,
                link: figures.rate("link_mb_s"),
            },
            watts: Watts::new(figures, figures.get("seek_watts")),
            now: 0,
            backlog: VecDeque::new(),
            active: 0,
            reads: Vec::new(),
            writes: VecDeque::new(),
            flush: None,
            flush_until: 0,
            segments: Segments::new(figures.get("read_segments") as usize, segment_bytes),
            dirty: Dirty::new(figures.bytes("write_cache_bytes"), figures.get("write_cache_pieces") as usize),
            destaging: false,
            last_write: 0,
            operation: None,
            head: Head { place: geometry.place(0), since: 0 },
            geometry,
            current: None,
            serving: None,
            visit: 0,
            visit_ends: figures.bytes("stream_visit_bytes"),
            rng,
            link_free: 0,
            completions: Completions::default(),
            done: VecDeque::new(),
            recorder: Recorder::default(),
            spans: Spans::default(),
            spans_since: 0,
        }
    }

    /// The next time at which anything happens inside.
    fn next_internal(&self) -> Option<Nanos> {
        let operation = self.operation.as_ref().map(Operation::until);
        [operation, self.completions.next_at(), self.delay_ends()].into_iter().flatten().min()
    }

    /// When written data has waited long enough, if that is still to come and can have an effect.
    fn delay_ends(&self) -> Option<Nanos> {
        let can_turn = matches!(self.operation, None | Some(Operation::Read { .. }));
        let since = self.dirty.since().filter(|_| !self.destaging && can_turn)?;
        Some(self.now.max(since + self.limits.write_delay))
    }

    /// Moves time to `to` through every event on the way.
    fn run(&mut self, to: Nanos) {
        while let Some(at) = self.next_internal().filter(|at| *at <= to) {
            self.now = self.now.max(at);
            while let Some(completion) = self.completions.pop_due(self.now) {
                self.active -= 1;
                self.recorder.completed(completion.at);
                self.done.push_back(completion);
            }
            if self.operation.is_some_and(|operation| operation.until() <= self.now) {
                self.finish();
            }
            self.plan();
        }
        self.now = self.now.max(to);
    }

    /// Takes commands in, and gives the arm its next task when it has none or can be called off.
    fn plan(&mut self) {
        let called_off = self.take_commands() | self.turn_to_writing();
        if called_off {
            self.break_off_reading();
        }
        if self.operation.is_none() {
            self.begin_next();
        }
        if self.flush.is_some() && self.dirty.is_empty() {
            let id = self.flush.take().expect("just seen");
            self.flush_until = self.now + self.limits.command + self.limits.flush;
            self.completions.push(self.flush_until, id);
        }
    }

    /// Decides whether written data must go to the platters; true when that has just changed. A run that fills
    /// a visit waits for nothing but the reads: more of it would not make the arm's way there pay better.
    fn turn_to_writing(&mut self) -> bool {
        if self.destaging || self.dirty.is_empty() {
            return false;
        }
        let waited = self.dirty.since().is_some_and(|since| since + self.limits.write_delay <= self.now);
        let long_run = self.reads.is_empty() && self.dirty.longest() >= self.limits.visit_bytes;
        let full = !self.writes.is_empty() || self.dirty.half_full();
        self.destaging = waited || self.flush.is_some() || full || long_run;
        self.destaging
    }

    /// Nanoseconds that `bytes` take on the link.
    fn link_nanos(&self, bytes: u64) -> Nanos {
        (bytes as f64 / self.limits.link).ceil() as Nanos
    }

    /// Sends or receives data that is ready now: the link carries one transfer after the other.
    fn transfer(&mut self, bytes: u64) -> Nanos {
        self.link_free = self.link_free.max(self.now) + self.link_nanos(bytes);
        self.link_free
    }

    /// Energy spans with the running operation up to `at`.
    fn spans_at(&self, at: Nanos) -> Spans {
        let mut spans = self.spans;
        let Some(operation) = self.operation else { return spans };
        let upto = |since: Nanos, until: Nanos| at.min(until).saturating_sub(since.max(self.spans_since)) as f64;
        match operation {
            Operation::Position { since, until, .. } => spans.seek += upto(since, until),
            Operation::Read { since, until, .. } => spans.read += upto(since, until),
            Operation::Write { since, until, .. } => spans.write += upto(since, until),
        }
        spans
    }
}

impl Device for Hdd {
    fn submit(&mut self, at: Nanos, request: Request) {
        self.run(at);
        self.recorder.arrived(at, &request);
        if request.kind == Kind::Discard {
            // A hard disk knows no discard, so the host would never have sent it: it costs nothing, and nothing waits.
            self.recorder.completed(at);
            self.done.push_back(Completion { id: request.id, at });
            return;
        }
        self.backlog.push_back(request);
        self.plan();
    }

    fn next_event(&self) -> Option<Nanos> {
        let collected = self.done.front().map(|completion| completion.at);
        collected.or_else(|| self.next_internal())
    }

    fn advance(&mut self, to: Nanos, done: &mut Vec<Completion>) {
        self.run(to);
        done.extend(self.done.drain(..));
    }

    fn settle(&mut self, at: Nanos) {
        self.run(at);
        self.break_off_reading();
        self.spans = self.spans_at(self.now);
        self.operation = None;
        self.dirty.clear();
        self.destaging = false;
        self.segments.clear();
        (self.current, self.serving) = (None, None);
        self.begin_visit();
        self.plan();
    }

    fn report(&self, at: Nanos) -> Report {
        let elapsed = at.saturating_sub(self.spans_since);
        let joules = self.spans_at(at).joules(elapsed, &self.watts);
        self.recorder.report(at, joules, self.dirty.bytes())
    }

    fn reset_report(&mut self, at: Nanos) {
        self.run(at);
        self.recorder.reset(at);
        self.spans = Spans::default();
        self.spans_since = at;
    }
}

impl Hdd {
    /// Takes commands from the backlog while the queue has room; true when the arm should think again.
    fn take_commands(&mut self) -> bool {
        let mut changed = false;
        while let Some(request) = self.backlog.front().copied() {
            // A flush is not a queued command (ATA8-ACS): it comes when the queue is empty, and alone.
            let alone = request.kind == Kind::Flush && self.active > 0;
            if self.flush.is_some() || self.now < self.flush_until || alone || self.active >= self.limits.queue_depth {
                break;
            }
            self.break_off_reading();
            self.backlog.pop_front();
            self.active += 1;
            changed = true;
            match request.kind {
                Kind::Read => self.take_read(request),
                Kind::Write => self.writes.push_back((request, self.now)),
                Kind::Flush => self.flush = Some(request.id),
                Kind::Discard => unreachable!("completed when it was submitted"),
            }
        }
        self.accept_writes() | changed
    }

    /// Serves a read from the cache, or lets it wait for the platters.
    fn take_read(&mut self, request: Request) {
        let (offset, end) = (request.offset, request.offset + request.bytes);
        let hit = self.segments.hit(offset, end);
        if let Some(index) = hit {
            self.segments.touch(index, end, self.now);
        }
        if hit.is_some() || self.dirty.holds(offset, end) {
            let at = self.transfer(request.bytes) + self.limits.command;
            self.completions.push(at, request.id);
        } else {
            let place = self.geometry.place(offset);
            self.reads.push(Waiting { id: request.id, offset, end, arrived: self.now, place });
        }
    }

    /// Lets writes into the cache in their order, as far as there is room; true when any went in.
    fn accept_writes(&mut self) -> bool {
        let mut changed = false;
        while let Some((request, _)) = self.writes.front().copied() {
            let (offset, end) = (request.offset, request.offset + request.bytes);
            if !self.dirty.has_room(offset, end) {
                break;
            }
            self.writes.pop_front();
            changed = true;
            if request.bytes > 0 {
                self.dirty.insert(offset, end, self.now, &self.geometry);
                self.forget_stale(offset, end);
            }
            let at = self.transfer(request.bytes) + self.limits.command;
            self.completions.push(at, request.id);
        }
        changed
    }

    /// What has been read ahead of a write's range no longer holds.
    fn forget_stale(&mut self, offset: u64, end: u64) {
        self.break_off_reading();
        self.segments.invalidate(offset, end);
    }
}
