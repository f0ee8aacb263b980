//! What a device saw: requests, their sizes, distances and depths, busy time and energy.

use serde::Serialize;

use crate::{Joules, Kind, Nanos, Request};

/// Sequential means: starts where one of this many earlier requests of its kind ended, so that
/// several interleaved streams are recognised, and a queue's small disorder does not hide one.
const REMEMBERED_ENDS: usize = 32;

const NANOS_PER_SECOND: f64 = 1e9;

/// Requests of one kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Traffic {
    /// How many arrived.
    pub requests: u64,
    /// Bytes they asked for.
    pub bytes: u64,
    /// Bytes of those that continue an earlier request of their kind.
    pub sequential_bytes: u64,
    /// `sequential_bytes / bytes`, 0 when there were none.
    pub sequential_share: f64,
}

/// One class of a histogram: values from `least` up to twice that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Bucket {
    /// The least value of the class: 0, or a power of two.
    pub least: u64,
    /// How many values fell in it.
    pub count: u64,
}

/// Counts in classes that double in width; empty classes are left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Histogram {
    /// How many values.
    pub count: u64,
    /// Their mean, exact; 0 when there are none.
    pub mean: f64,
    /// The classes that hold any, in rising order.
    pub buckets: Vec<Bucket>,
}

/// What a device saw and used over `elapsed_seconds`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// Virtual time that the report covers.
    pub elapsed_seconds: f64,
    /// Time with at least one request of the host under way.
    pub busy_seconds: f64,
    /// Time that its busiest part (arm, link or controller) worked: it needs that much at any queue depth.
    pub least_seconds: f64,
    /// Reads.
    pub reads: Traffic,
    /// Writes.
    pub writes: Traffic,
    /// Discards.
    pub discards: Traffic,
    /// Flushes.
    pub flushes: u64,
    /// Distance in bytes of each read or write from the end of the one that arrived before it.
    pub seek_distance_bytes: Histogram,
    /// Sizes of reads and writes.
    pub request_size_bytes: Histogram,
    /// Requests under way at each arrival, the arriving one included.
    pub queue_depth: Histogram,
    /// Bytes accepted from the host that are not yet on the medium.
    pub unwritten_bytes: u64,
    /// Energy by state.
    pub joules: Joules,
}

#[derive(Clone, Debug)]
struct Counts {
    classes: [u64; 65],
    count: u64,
    sum: f64,
}

impl Default for Counts {
    fn default() -> Self {
        Counts { classes: [0; 65], count: 0, sum: 0.0 }
    }
}

impl Counts {
    fn add(&mut self, value: u64) {
        self.classes[(64 - value.leading_zeros()) as usize] += 1;
        self.count += 1;
        self.sum += value as f64;
    }

    fn histogram(&self) -> Histogram {
        let buckets = self.classes.iter().enumerate().filter(|(_, count)| **count > 0);
        let least = |class: usize| if class == 0 { 0 } else { 1u64 << (class - 1) };
        Histogram {
            count: self.count,
            mean: if self.count == 0 { 0.0 } else { self.sum / self.count as f64 },
            buckets: buckets.map(|(class, count)| Bucket { least: least(class), count: *count }).collect(),
        }
    }
}

/// The ends of the latest requests of one kind, and its totals.
#[derive(Clone, Debug)]
struct Stream {
    ends: [u64; REMEMBERED_ENDS],
    next: usize,
    requests: u64,
    bytes: u64,
    sequential_bytes: u64,
}

impl Default for Stream {
    fn default() -> Self {
        Stream { ends: [u64::MAX; REMEMBERED_ENDS], next: 0, requests: 0, bytes: 0, sequential_bytes: 0 }
    }
}

impl Stream {
    fn add(&mut self, request: &Request) {
        let end = request.offset.saturating_add(request.bytes);
        self.requests += 1;
        self.bytes += request.bytes;
        if let Some(place) = self.ends.iter().position(|end| *end == request.offset) {
            self.sequential_bytes += request.bytes;
            self.ends[place] = end;
        } else {
            self.ends[self.next] = end;
            self.next = (self.next + 1) % REMEMBERED_ENDS;
        }
    }

    fn clear_totals(&mut self) {
        (self.requests, self.bytes, self.sequential_bytes) = (0, 0, 0);
    }

    fn traffic(&self) -> Traffic {
        Traffic {
            requests: self.requests,
            bytes: self.bytes,
            sequential_bytes: self.sequential_bytes,
            sequential_share: if self.bytes == 0 { 0.0 } else { self.sequential_bytes as f64 / self.bytes as f64 },
        }
    }
}

/// Counts as requests come and go; every device keeps one.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    since: Nanos,
    outstanding: u64,
    busy_from: Nanos,
    busy_nanos: Nanos,
    reads: Stream,
    writes: Stream,
    discards: Stream,
    flushes: u64,
    last_end: Option<u64>,
    distances: Counts,
    sizes: Counts,
    depths: Counts,
}

impl Recorder {
    /// Counts a request that arrives at `at`.
    pub fn arrived(&mut self, at: Nanos, request: &Request) {
        if self.outstanding == 0 {
            self.busy_from = at;
        }
        self.outstanding += 1;
        self.depths.add(self.outstanding);
        match request.kind {
            Kind::Read => self.reads.add(request),
            Kind::Write => self.writes.add(request),
            Kind::Discard => self.discards.add(request),
            Kind::Flush => self.flushes += 1,
        }
        if matches!(request.kind, Kind::Read | Kind::Write) {
            self.sizes.add(request.bytes);
            if let Some(end) = self.last_end {
                self.distances.add(end.abs_diff(request.offset));
            }
            self.last_end = Some(request.offset.saturating_add(request.bytes));
        }
    }

    /// Counts the completion, at `at`, of a request that had arrived.
    pub fn completed(&mut self, at: Nanos) {
        debug_assert!(self.outstanding > 0, "a completion without a request");
        self.outstanding -= 1;
        if self.outstanding == 0 {
            self.busy_nanos += at.saturating_sub(self.busy_from);
        }
    }

    /// How long it has counted at `at`.
    pub fn elapsed(&self, at: Nanos) -> Nanos {
        at.saturating_sub(self.since)
    }

    /// The totals at `at`.
    pub fn report(&self, at: Nanos, joules: Joules, unwritten_bytes: u64) -> Report {
        let under_way = if self.outstanding > 0 { at.saturating_sub(self.busy_from) } else { 0 };
        Report {
            elapsed_seconds: self.elapsed(at) as f64 / NANOS_PER_SECOND,
            busy_seconds: (self.busy_nanos + under_way) as f64 / NANOS_PER_SECOND,
            // Of one arm; devices whose parts work side by side say less.
            least_seconds: (self.busy_nanos + under_way) as f64 / NANOS_PER_SECOND,
            reads: self.reads.traffic(),
            writes: self.writes.traffic(),
            discards: self.discards.traffic(),
            flushes: self.flushes,
            seek_distance_bytes: self.distances.histogram(),
            request_size_bytes: self.sizes.histogram(),
            queue_depth: self.depths.histogram(),
            unwritten_bytes,
            joules,
        }
    }

    /// Starts all totals anew; requests under way stay under way, and streams stay recognised.
    pub fn reset(&mut self, at: Nanos) {
        (self.since, self.busy_from, self.busy_nanos, self.flushes) = (at, at, 0, 0);
        for stream in [&mut self.reads, &mut self.writes, &mut self.discards] {
            stream.clear_totals();
        }
        for counts in [&mut self.distances, &mut self.sizes, &mut self.depths] {
            *counts = Counts::default();
        }
    }
}
