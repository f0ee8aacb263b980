//! Writing to flash: the buffer in the drive's memory, the fast cells, the main cells, and the tidying up.

use std::collections::VecDeque;

use crate::Nanos;
use crate::profile::Checked;
use crate::ssd::live::Live;

/// Weight of one write of 1 MiB in the running share of scattered writes: it follows over about 64 MiB.
const SCATTER_BYTES: f64 = 64.0 * 1048576.0;

/// The writing side of the drive. Programs run one after the other at the rate of all units together.
#[derive(Debug)]
pub struct Media {
    capacity: f64,
    spare: f64,
    earlier_use: f64,
    erased_most: f64,
    buffer_bytes: u64,
    /// Bytes per nanosecond.
    main_rate: f64,
    fast_rate: f64,
    drain_rate: f64,
    fast_fixed: f64,
    fast_dynamic: f64,
    idle_delay: Nanos,
    live: Live,
    fast_used: f64,
    erased: f64,
    scattered: f64,
    last_end: u64,
    /// When the last program ends.
    free_at: Nanos,
    /// Programs by their end, with the buffer that each gives back.
    programs: VecDeque<(Nanos, u64)>,
    buffered: u64,
    /// How long the cells were being written in stretches that have ended, the drive's own copying and tidying included.
    written_nanos: f64,
    /// Such stretches that may not have ended yet, in their order.
    stretches: VecDeque<(Nanos, Nanos)>,
}

impl Media {
    /// Flash that holds only the data of the earlier use that the figures state.
    pub fn new(figures: &Checked) -> Self {
        let capacity = figures.get("capacity_bytes");
        let fast = figures.get("slc_cache_bytes") + figures.get("slc_cache_dynamic_bytes");
        let main_rate = figures.rate("write_rate_mb_s");
        let mut media = Media {
            capacity,
            spare: capacity * figures.get("spare_fraction"),
            earlier_use: figures.get("fill_fraction"),
            erased_most: figures.get("erased_bytes"),
            buffer_bytes: figures.bytes("buffer_bytes"),
            main_rate,
            fast_rate: if fast > 0.0 { figures.rate("slc_write_rate_mb_s") } else { main_rate },
            drain_rate: figures.rate("slc_drain_mb_s"),
            fast_fixed: figures.get("slc_cache_bytes"),
            fast_dynamic: figures.get("slc_cache_dynamic_bytes"),
            idle_delay: figures.ms("idle_delay_ms") as Nanos,
            live: Live::default(),
            fast_used: 0.0,
            erased: 0.0,
            scattered: 0.0,
            last_end: u64::MAX,
            free_at: 0,
            programs: VecDeque::new(),
            buffered: 0,
            written_nanos: 0.0,
            stretches: VecDeque::new(),
        };
        media.erased = media.erasable();
        media
    }

    /// How long the cells have been written until `at`, which is no earlier than what `passed` was given last: at whatever
    /// rate that was, so a byte for the main cells counts longer than one for the fast cells.
    pub fn writing_nanos(&self, at: Nanos) -> f64 {
        let ahead: Nanos = self.stretches.iter().map(|(begin, end)| (*end).min(at).saturating_sub(*begin)).sum();
        self.written_nanos + ahead as f64 + self.emptied_by(at) / self.drain_rate
    }

    /// Time has come to `now`: what has ended by then need not be kept.
    pub fn passed(&mut self, now: Nanos) {
        while let Some((begin, end)) = self.stretches.front().copied().filter(|(_, end)| *end <= now) {
            self.written_nanos += (end - begin) as f64;
            self.stretches.pop_front();
        }
    }

    /// When all that has been taken so far is in the flash.
    pub fn written_at(&self) -> Nanos {
        self.free_at
    }

    /// The rate of the programs that run at `at`, in bytes per nanosecond; 0 when none does.
    pub fn programming_rate(&self, at: Nanos) -> f64 {
        if self.free_at <= at {
            0.0
        } else if self.fast_used < self.fast_bytes() {
            self.fast_rate
        } else {
            self.main_rate
        }
    }

    /// Bytes taken from the host that are not in the flash at `at`.
    pub fn unwritten(&self, at: Nanos) -> u64 {
        self.programs.iter().filter(|(end, _)| *end > at).map(|(_, bytes)| bytes).sum()
    }

    /// The earliest time, not before `at`, at which the buffer takes `bytes` more.
    pub fn room_at(&mut self, at: Nanos, bytes: u64) -> Nanos {
        let mut room = at;
        while let Some((end, held)) = self.programs.front().copied() {
            if end > room && self.buffered + bytes <= self.buffer_bytes {
                break;
            }
            room = room.max(end);
            self.buffered -= held;
            self.programs.pop_front();
        }
        room
    }

    /// Takes data that is in the buffer at `at`; returns when it is in the flash.
    pub fn program(&mut self, at: Nanos, offset: u64, bytes: u64) -> Nanos {
        self.tidy_up(at);
        self.live.write(offset, bytes);
        self.note_order(offset, bytes);
        let size = bytes as f64;
        let fast = (self.fast_bytes() - self.fast_used).clamp(0.0, size);
        self.fast_used += fast;
        let copies = self.copies_per_write();
        let nanos = (fast / self.fast_rate + (size - fast) / self.main_rate) * copies;
        self.erased = (self.erased - size).max(0.0);
        let begin = self.free_at.max(at);
        self.free_at = begin + nanos.ceil() as Nanos;
        self.write_cells(begin, self.free_at);
        self.programs.push_back((self.free_at, bytes));
        self.buffered += bytes;
        self.free_at
    }

    /// The host no longer needs the range.
    pub fn discard(&mut self, offset: u64, bytes: u64) {
        self.live.discard(offset, bytes);
    }

    /// Everything is written out and tidied up.
    pub fn settle(&mut self, at: Nanos) {
        self.passed(Nanos::MAX);
        self.written_nanos += self.fast_used / self.drain_rate;
        self.fast_used = 0.0;
        self.erased = self.erasable();
        self.free_at = self.free_at.min(at);
        self.programs.clear();
        (self.buffered, self.scattered) = (0, 0.0);
    }

    /// The fast cells of a drive as full as this one.
    fn fast_bytes(&self) -> f64 {
        self.fast_fixed + self.fast_dynamic * (1.0 - self.held() / self.capacity).max(0.0)
    }

    /// Bytes that the drive must keep.
    fn held(&self) -> f64 {
        let earlier = self.capacity * self.earlier_use;
        earlier + self.live.bytes() as f64 * (1.0 - self.earlier_use)
    }

    /// What a drive that has tidied up keeps erased.
    fn erasable(&self) -> f64 {
        (self.capacity + self.spare - self.held()).min(self.erased_most)
    }

    /// In the idle time before `at` the drive empties the fast cells, then erases what is stale.
    fn tidy_up(&mut self, at: Nanos) {
        let from = self.free_at.saturating_add(self.idle_delay);
        let idle = at.saturating_sub(from) as f64;
        if idle <= 0.0 {
            return;
        }
        let moved = self.emptied_by(at);
        self.fast_used -= moved;
        self.write_cells(from, at.min(from + (moved / self.drain_rate).ceil() as Nanos));
        let erased = (idle * self.drain_rate - moved) / 2.0;
        self.erased = (self.erased + erased).min(self.erasable()).max(self.erased.min(self.erasable()));
    }

    /// Bytes that the drive has moved out of the fast cells by `at`, if nothing comes before.
    fn emptied_by(&self, at: Nanos) -> f64 {
        let idle = at.saturating_sub(self.free_at.saturating_add(self.idle_delay)) as f64;
        (idle * self.drain_rate).min(self.fast_used)
    }

    /// The cells are being written from `begin` to `end`; stretches that adjoin become one.
    fn write_cells(&mut self, begin: Nanos, end: Nanos) {
        match self.stretches.back_mut() {
            Some(last) if last.1 == begin => last.1 = end,
            _ if end > begin => self.stretches.push_back((begin, end)),
            _ => (),
        }
    }

    /// Follows the share of writes that don't continue the one before.
    fn note_order(&mut self, offset: u64, bytes: u64) {
        let weight = (bytes as f64 / SCATTER_BYTES).min(1.0);
        let scattered = if offset == self.last_end { 0.0 } else { 1.0 };
        self.scattered += (scattered - self.scattered) * weight;
        self.last_end = offset + bytes;
    }

    /// Bytes written to flash for each byte of the host: 1 while erased flash is left.
    ///
    /// When none is left, blocks must be freed by moving what is still live in them. With scattered
    /// writes the share `v` of live data in the freed block follows from the share `u` in all the flash by
    /// `u = (v - 1) / ln v`, and each byte costs `1 / (1 - v)` (Menon, "A performance comparison of RAID-5
    /// and log-structured arrays", HPDC 1995). Writes in order leave whole blocks stale, so they cost less,
    /// except among the scattered data of an earlier use.
    fn copies_per_write(&self) -> f64 {
        if self.erased > 0.0 {
            return 1.0;
        }
        let used = self.held() / (self.capacity + self.spare);
        let moved = 1.0 / (1.0 - live_share_of_freed(used));
        1.0 + (moved - 1.0) * self.scattered.max(self.earlier_use)
    }
}

/// Solves `used = (v - 1) / ln v` for `v`, both between 0 and 1; the right side rises with `v`.
fn live_share_of_freed(used: f64) -> f64 {
    let (mut low, mut high) = (1e-9, 1.0 - 1e-6);
    for _ in 0..40 {
        let middle = f64::midpoint(low, high);
        if (middle - 1.0) / middle.ln() < used { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_drive_copies_more() {
        assert!((live_share_of_freed(0.841) - 0.70).abs() < 0.01);
        assert!(live_share_of_freed(0.5) < 0.21 && live_share_of_freed(0.5) > 0.19);
        assert!(live_share_of_freed(0.0) < 1e-6);
    }
}
