//! What the arm does next, and how its tasks end.

use crate::Nanos;
use crate::hdd::geometry::Head;
use crate::hdd::{Hdd, Operation, Then, Waiting};

/// A waiting read this little past the head is reached by reading on: faster than losing a turn.
const READ_THROUGH_BYTES: u64 = 256 << 10;
/// Waiting reads within this distance past the head belong to its stream, not to another.
const STREAM_BYTES: u64 = 32 << 20;

/// The choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// Read on in the current segment, for this read or for none.
    ReadOn {
        to: u64,
        serving: Option<u64>,
    },
    /// Go to the waiting read at this place in the list.
    Read {
        index: usize,
    },
    /// Go to the written piece that begins here.
    Write {
        offset: u64,
    },
    Nothing,
}

impl Hdd {
    /// Gives the idle arm its next task.
    pub(super) fn begin_next(&mut self) {
        match self.choose() {
            Next::Nothing => {}
            Next::ReadOn { to, serving } => {
                self.serving = serving;
                let filled = self.segments.get(self.current.expect("reading on needs a segment")).filled;
                self.position(filled, false, Then::Read { to });
            }
            Next::Read { index } => {
                let waiting = self.reads[index];
                let follows = self.segments.follows(waiting.offset);
                let segment = follows.unwrap_or_else(|| self.segments.start(waiting.offset, self.now));
                self.segments.get_mut(segment).sequential |= follows.is_some();
                (self.current, self.serving) = (Some(segment), Some(waiting.id));
                self.begin_visit();
                let filled = self.segments.get(segment).filled;
                self.position(filled, false, Then::Read { to: waiting.end });
            }
            Next::Write { offset } => {
                if self.head.place.offset != offset {
                    self.begin_visit();
                }
                (self.current, self.serving) = (None, None);
                self.position(offset, true, Then::Write { offset });
            }
        }
    }

    /// The head has come to another stream. Visits differ in length, by half of it up or down: were they all the same,
    /// the streams would fall into step with the platter, and their rate would depend on the distance between them.
    pub(super) fn begin_visit(&mut self) {
        self.visit = 0;
        self.visit_ends = (self.limits.visit_bytes as f64 * (0.5 + self.rng.unit())) as u64;
    }

    /// Moves the head to `offset`, or starts at once when it is there.
    fn position(&mut self, offset: u64, write: bool, then: Then) {
        let place = self.geometry.place(offset);
        let nanos = self.geometry.access_nanos(&self.head, self.now, &place, write).round() as Nanos;
        if nanos == 0 {
            self.head = Head { place, since: self.now };
            self.start(then);
        } else {
            self.operation = Some(Operation::Position { since: self.now, until: self.now + nanos, then });
            self.head.place = place;
        }
    }

    /// Begins the transfer at the head's place, up to the end of the zone at most.
    fn start(&mut self, then: Then) {
        let from = self.head.place.offset;
        let (rate, zone_end) = self.geometry.rate(from);
        let since = self.now;
        let until = |to: u64| since + (((to - from) as f64 / rate).ceil() as Nanos).max(1);
        self.operation = Some(match then {
            Then::Read { to } => {
                let to = to.min(zone_end).max(from);
                Operation::Read { from, to, since, until: until(to), rate }
            }
            Then::Write { offset } => {
                let end = self.dirty.piece_end(offset);
                let to = end.min(zone_end).min(offset + self.limits.visit_bytes);
                self.dirty.take(offset, to, &self.geometry);
                Operation::Write { to, since, until: until(to) }
            }
        });
    }

    /// Ends the operation that is due.
    pub(super) fn finish(&mut self) {
        self.spans = self.spans_at(self.now);
        match self.operation.take().expect("an operation is due") {
            Operation::Position { then, .. } => {
                self.head.since = self.now;
                self.start(then);
            }
            Operation::Read { from, to, .. } => self.read_up_to(from, to),
            Operation::Write { to, .. } => {
                self.dirty.written();
                let moved = to - self.head.place.offset;
                self.visit += moved;
                self.head = Head { place: self.geometry.place(to), since: self.now };
                self.last_write = self.now;
                self.destaging &= !self.dirty.is_empty();
            }
        }
    }

    /// Stops a running read where it is now; what it has read stays.
    pub(super) fn break_off_reading(&mut self) {
        let Some(Operation::Read { from, to, since, rate, .. }) = self.operation else { return };
        self.spans = self.spans_at(self.now);
        self.operation = None;
        let reached = from + ((self.now - since) as f64 * rate) as u64;
        self.read_up_to(from, reached.min(to));
    }

    /// The segment now reaches to `to`: completes the reads that this serves.
    fn read_up_to(&mut self, from: u64, to: u64) {
        let segment = self.current.expect("a read fills a segment");
        self.visit += to - from;
        self.segments.get_mut(segment).filled = to;
        self.head = Head { place: self.geometry.place(to), since: self.now };
        let low = self.segments.low(segment);
        let mut index = 0;
        while index < self.reads.len() {
            let read = self.reads[index];
            let whole = read.offset >= low || self.serving == Some(read.id);
            if read.end <= to && whole {
                self.reads.swap_remove(index);
                self.complete_read(segment, read);
            } else {
                index += 1;
            }
        }
    }

    /// The data went out over the link while it came off the platter.
    fn complete_read(&mut self, segment: usize, read: Waiting) {
        if self.serving == Some(read.id) {
            self.serving = None;
        }
        self.segments.touch(segment, read.end, self.now);
        let carried = self.link_free.max(read.arrived) + self.link_nanos(read.end - read.offset);
        self.link_free = carried.max(self.now);
        self.completions.push(self.link_free + self.limits.command, read.id);
    }

    /// Shortest access time first (Jacobson and Wilkes, "Disk scheduling algorithms based on rotational
    /// position", HPL-CSP-91-7, 1991), within bounds: no stream keeps the arm for more than a visit while
    /// another waits, and nothing waits for longer than the age limit.
    fn choose(&self) -> Next {
        if let Some(to) = self.serving.and_then(|id| self.reads.iter().find(|read| read.id == id)).map(|read| read.end)
        {
            return Next::ReadOn { to, serving: self.serving };
        }
        if let Some(next) = self.choose_overdue() {
            return next;
        }
        let others = self.destaging && !self.dirty.is_empty() || self.reads.iter().any(|read| !self.in_stream(read));
        let stays = self.visit < self.visit_ends || !others;
        if let Some(next) = stays.then(|| self.choose_in_stream(others)).flatten() {
            return next;
        }
        if !self.reads.is_empty() || self.destaging {
            return if stays { self.choose_nearest() } else { self.choose_in_turn() };
        }
        self.choose_ahead()
    }

    fn choose_overdue(&self) -> Option<Next> {
        let overdue = |since: Nanos| since + self.limits.age_limit < self.now;
        if self.destaging && overdue(self.last_write.max(self.dirty.since()?)) {
            return Some(self.choose_write());
        }
        let oldest = (0..self.reads.len()).min_by_key(|index| self.reads[*index].arrived)?;
        overdue(self.reads[oldest].arrived).then_some(Next::Read { index: oldest })
    }

    /// Whether a waiting read lies in what the head's stream holds or will come to.
    fn in_stream(&self, read: &Waiting) -> bool {
        self.current.is_some_and(|segment| {
            let ahead = self.segments.get(segment).filled + STREAM_BYTES;
            (self.segments.low(segment)..=ahead).contains(&read.offset)
        })
    }

    /// Reading on: for a read that waits close by or, while others wait, to fill a visit for a host that
    /// is known to come back for what follows.
    fn choose_in_stream(&self, others: bool) -> Option<Next> {
        let segment = self.current?;
        let (low, state) = (self.segments.low(segment), self.segments.get(segment));
        let close = |read: &&Waiting| (low..=state.filled + READ_THROUGH_BYTES).contains(&read.offset);
        if let Some(read) = self.reads.iter().filter(close).min_by_key(|read| (read.offset, read.end)) {
            return Some(Next::ReadOn { to: read.end, serving: Some(read.id) });
        }
        let limit = self.segments.limit(segment).min(state.filled + self.visit_ends.saturating_sub(self.visit));
        let goes_on = others && state.sequential && self.is_over(state.filled) && state.filled < limit;
        goes_on.then_some(Next::ReadOn { to: limit, serving: None })
    }

    fn is_over(&self, offset: u64) -> bool {
        self.head.place.offset == offset && self.head.since == self.now
    }

    /// After a whole visit to one stream the others have their turn: whoever has waited longest.
    fn choose_in_turn(&self) -> Next {
        let others = (0..self.reads.len()).filter(|index| !self.in_stream(&self.reads[*index]));
        let oldest = others.min_by_key(|index| self.reads[*index].arrived);
        let writes_since = self.dirty.since().filter(|_| self.destaging).map(|since| since.max(self.last_write));
        match (oldest, writes_since) {
            (Some(index), since) if since.is_none_or(|since| self.reads[index].arrived <= since) => {
                Next::Read { index }
            }
            (_, Some(_)) => self.choose_write(),
            _ => Next::Nothing,
        }
    }

    /// The waiting read or written piece with the shortest access time.
    fn choose_nearest(&self) -> Next {
        let reads = self.reads.iter().enumerate();
        let access = |read: &Waiting| self.geometry.access_nanos(&self.head, self.now, &read.place, false);
        let read = reads.map(|(index, read)| (access(read), index)).min_by(|a, b| a.0.total_cmp(&b.0));
        let write = if self.destaging { self.nearest_write() } else { None };
        match (read, write) {
            (Some((read, index)), Some((write, _))) if read <= write => Next::Read { index },
            (_, Some((_, offset))) => Next::Write { offset },
            (Some((_, index)), None) => Next::Read { index },
            (None, None) => Next::Nothing,
        }
    }

    fn choose_write(&self) -> Next {
        self.nearest_write().map_or(Next::Nothing, |(_, offset)| Next::Write { offset })
    }

    /// The written piece with the shortest access time. When the head has had its visit to one and reads
    /// wait, that one is left out of account.
    fn nearest_write(&self) -> Option<(f64, u64)> {
        let visited = self.visit >= self.visit_ends && !self.reads.is_empty();
        let pieces = self.dirty.pieces().filter(|piece| !(visited && self.is_over(piece.place.offset)));
        let access = |place| self.geometry.access_nanos(&self.head, self.now, place, true);
        pieces.map(|piece| (access(&piece.place), piece.place.offset)).min_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// With nothing else to do the drive reads ahead in the last segment, and takes it up again when the
    /// host has used half of what was ahead.
    fn choose_ahead(&self) -> Next {
        let Some(segment) = self.current else { return Next::Nothing };
        let (state, limit) = (self.segments.get(segment), self.segments.limit(segment));
        let ahead = state.filled.saturating_sub(state.consumed);
        let resumes = state.sequential && ahead < self.limits.segment_bytes / 2;
        if state.filled < limit && (self.is_over(state.filled) || resumes) {
            return Next::ReadOn { to: limit, serving: None };
        }
        Next::Nothing
    }
}
