//! The drive's memory: segments of data read ahead, and written data on its way to the platters.

use std::collections::BTreeMap;

use crate::Nanos;
use crate::hdd::geometry::{Geometry, Place};

/// One stream's data: everything from `low()` to `filled` is in memory.
#[derive(Clone, Debug)]
pub struct Segment {
    start: u64,
    /// End of what has been read.
    pub filled: u64,
    /// Greatest end that the host has asked for.
    pub consumed: u64,
    /// Whether the host has come back for what follows, so that reading ahead pays.
    pub sequential: bool,
    used: Nanos,
}

/// The segments, of equal size, the least recently used given up first.
#[derive(Debug)]
pub struct Segments {
    segments: Vec<Segment>,
    count: usize,
    bytes: u64,
}

impl Segments {
    /// `count` segments of `bytes` each.
    pub fn new(count: usize, bytes: u64) -> Self {
        Segments { segments: Vec::with_capacity(count), count, bytes }
    }

    /// The segment at a place that [`Segments::hit`], [`Segments::follows`] or [`Segments::start`] gave.
    pub fn get(&self, index: usize) -> &Segment {
        &self.segments[index]
    }

    /// As [`Segments::get`], to be changed.
    pub fn get_mut(&mut self, index: usize) -> &mut Segment {
        &mut self.segments[index]
    }

    /// The oldest address that the segment still holds.
    pub fn low(&self, index: usize) -> u64 {
        let segment = &self.segments[index];
        segment.start.max(segment.filled.saturating_sub(self.bytes))
    }

    /// How far reading ahead goes: what the host has not asked for yet must fit.
    pub fn limit(&self, index: usize) -> u64 {
        self.segments[index].consumed.saturating_add(self.bytes)
    }

    /// Notes that the host asked for data up to `end` in the segment.
    pub fn touch(&mut self, index: usize, end: u64, now: Nanos) {
        let segment = &mut self.segments[index];
        segment.sequential |= segment.consumed > segment.start && end > segment.consumed;
        segment.consumed = segment.consumed.max(end);
        segment.used = now;
    }

    /// The segment that holds all of `offset..end`.
    pub fn hit(&self, offset: u64, end: u64) -> Option<usize> {
        (0..self.segments.len()).find(|index| self.low(*index) <= offset && end <= self.segments[*index].filled)
    }

    /// The segment that `offset` continues: it starts within, or right after, what is there.
    pub fn follows(&self, offset: u64) -> Option<usize> {
        (0..self.segments.len()).find(|index| {
            let segment = &self.segments[*index];
            segment.filled > segment.start && self.low(*index) <= offset && offset <= segment.filled
        })
    }

    /// Gives up the least recently used segment if all are taken, and starts an empty one at `offset`.
    pub fn start(&mut self, offset: u64, now: Nanos) -> usize {
        let fresh = Segment { start: offset, filled: offset, consumed: offset, sequential: false, used: now };
        if self.segments.len() < self.count {
            self.segments.push(fresh);
            return self.segments.len() - 1;
        }
        let oldest = (0..self.count).min_by_key(|index| self.segments[*index].used).expect("at least one segment");
        self.segments[oldest] = fresh;
        oldest
    }

    /// Forgets data that a write has made stale; the head may go on reading behind it.
    pub fn invalidate(&mut self, offset: u64, end: u64) {
        for index in 0..self.segments.len() {
            if self.low(index) < end && offset < self.segments[index].filled {
                let segment = &mut self.segments[index];
                (segment.start, segment.consumed, segment.sequential) = (segment.filled, segment.filled, false);
            }
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.segments.clear();
    }
}

/// A piece of written data that waits in the cache; adjoining writes are one piece.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    /// Where it begins on the platters.
    pub place: Place,
    /// One past its last byte.
    pub end: u64,
}

/// Written data on its way to the platters.
#[derive(Debug)]
pub struct Dirty {
    pieces: BTreeMap<u64, Piece>,
    waiting_bytes: u64,
    /// Taken out for writing, not yet on the platters.
    writing_bytes: u64,
    most_bytes: u64,
    most_pieces: usize,
    /// When the cache last began to hold anything.
    since: Nanos,
    /// Bytes of the longest piece that has waited since then.
    longest: u64,
}

impl Dirty {
    /// An empty cache of the given bounds.
    pub fn new(most_bytes: u64, most_pieces: usize) -> Self {
        Dirty {
            pieces: BTreeMap::new(),
            waiting_bytes: 0,
            writing_bytes: 0,
            most_bytes,
            most_pieces,
            since: 0,
            longest: 0,
        }
    }

    /// Bytes that are not on the platters yet.
    pub fn bytes(&self) -> u64 {
        self.waiting_bytes + self.writing_bytes
    }

    /// Whether nothing is left to be written or being written.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty() && self.writing_bytes == 0
    }

    /// The pieces that wait, by address.
    pub fn pieces(&self) -> impl Iterator<Item = &Piece> {
        self.pieces.values()
    }

    /// Whether the cache is at least half full.
    pub fn half_full(&self) -> bool {
        2 * self.bytes() >= self.most_bytes || 2 * self.pieces.len() >= self.most_pieces
    }

    /// Bytes of the longest piece that has waited since the cache last began to hold anything.
    pub fn longest(&self) -> u64 {
        self.longest
    }

    /// When the oldest data came, if there is any that waits.
    pub fn since(&self) -> Option<Nanos> {
        if self.pieces.is_empty() { None } else { Some(self.since) }
    }

    /// Whether a write fits. An empty cache takes a write of any size.
    pub fn has_room(&self, offset: u64, end: u64) -> bool {
        if self.is_empty() {
            return true;
        }
        let adjoins = || self.pieces.range(..=end).next_back().is_some_and(|(_, piece)| piece.end >= offset);
        self.bytes() + (end - offset) <= self.most_bytes && (self.pieces.len() < self.most_pieces || adjoins())
    }

    /// Takes a write in, joined with what it touches.
    pub fn insert(&mut self, offset: u64, end: u64, now: Nanos, geometry: &Geometry) {
        if self.pieces.is_empty() {
            (self.since, self.longest) = (now, 0);
        }
        let (mut offset, mut end) = (offset, end);
        let before = self.pieces.range(..=offset).next_back().map(|(start, piece)| (*start, piece.end));
        if let Some((start, before_end)) = before.filter(|(_, before_end)| *before_end >= offset) {
            let alone = self.pieces.range(offset + 1..=end).next().is_none();
            if alone {
                let grown = end.saturating_sub(before_end);
                self.waiting_bytes += grown;
                self.pieces.get_mut(&start).expect("just seen").end += grown;
                self.longest = self.longest.max(end.max(before_end) - start);
                return;
            }
            (offset, end) = (start, end.max(before_end));
        }
        while let Some((start, piece)) = self.pieces.range(offset..=end).next() {
            let (start, piece) = (*start, *piece);
            end = end.max(piece.end);
            self.waiting_bytes -= piece.end - start;
            self.pieces.remove(&start);
        }
        self.waiting_bytes += end - offset;
        self.longest = self.longest.max(end - offset);
        self.pieces.insert(offset, Piece { place: geometry.place(offset), end });
    }

    /// Whether all of `offset..end` waits in the cache.
    pub fn holds(&self, offset: u64, end: u64) -> bool {
        self.pieces.range(..=offset).next_back().is_some_and(|(_, piece)| piece.end >= end)
    }

    /// The start and end of the piece that holds `offset`. While the head is on its way there, an earlier
    /// write may have joined the piece in front.
    fn piece_at(&self, offset: u64) -> (u64, u64) {
        let (start, piece) = self.pieces.range(..=offset).next_back().expect("pieces leave only for the platters");
        debug_assert!(offset < piece.end);
        (*start, piece.end)
    }

    /// The end of the piece that holds `offset`.
    pub fn piece_end(&self, offset: u64) -> u64 {
        self.piece_at(offset).1
    }

    /// Takes `offset..end`, part of one piece, out for writing; the rest of the piece stays.
    pub fn take(&mut self, offset: u64, end: u64, geometry: &Geometry) {
        let (start, piece_end) = self.piece_at(offset);
        debug_assert!(end <= piece_end);
        if start < offset {
            self.pieces.get_mut(&start).expect("just seen").end = offset;
        } else {
            self.pieces.remove(&start);
        }
        if end < piece_end {
            self.pieces.insert(end, Piece { place: geometry.place(end), end: piece_end });
        }
        self.waiting_bytes -= end - offset;
        self.writing_bytes += end - offset;
    }

    /// Notes that what was taken out is on the platters.
    pub fn written(&mut self) {
        self.writing_bytes = 0;
    }

    /// Everything is on the platters.
    pub fn clear(&mut self) {
        self.pieces.clear();
        (self.waiting_bytes, self.writing_bytes) = (0, 0);
    }
}
