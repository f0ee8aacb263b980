//! A solid-state drive: a controller and a link in front of flash that reads and writes in parallel.
//!
//! Every stage serves in the order of arrival, so a request's completion is known when the drive takes
//! it in: the controller's share, then the flash (`flash` for reads; the buffer of `media` for writes),
//! then the link.

pub mod figures;
mod flash;
mod live;
mod media;

use crate::in_order::Timing;
use crate::power::Watts;
use crate::profile::Checked;
use crate::report::Recorder;
use crate::{Kind, Nanos, Report, Request};
use flash::Flash;
use media::Media;

/// A long write goes into the buffer in pieces of this size.
const WRITE_PIECE_BYTES: u64 = 256 << 10;

/// The drive's times.
pub struct Ssd {
    /// Bytes per nanosecond.
    link: f64,
    duplex: f64,
    read_turn: f64,
    write_turn: f64,
    read_command: Nanos,
    write_command: Nanos,
    flush: Nanos,
    watts: Watts,
    flash: Flash,
    media: Media,
    controller_free: f64,
    /// When the link is free: for reads, for writes, and for both together, which it carries at `duplex` times its rate.
    link_free: [f64; 3],
    read_bytes: f64,
    writing_before: f64,
}

impl Ssd {
    /// The drive at rest.
    pub fn new(figures: &Checked, seed: u64) -> Self {
        Ssd {
            link: figures.rate("link_mb_s"),
            duplex: figures.get("link_duplex"),
            read_turn: 1e9 / figures.get("read_commands_per_s"),
            write_turn: 1e9 / figures.get("write_commands_per_s"),
            read_command: figures.us("read_command_us") as Nanos,
            write_command: figures.us("write_command_us") as Nanos,
            flush: figures.ms("flush_ms") as Nanos,
            watts: Watts::new(figures, 0.0),
            flash: Flash::new(figures, seed),
            media: Media::new(figures),
            controller_free: 0.0,
            link_free: [0.0; 3],
            read_bytes: 0.0,
            writing_before: 0.0,
        }
    }

    /// The controller's turn for one command; the commands follow each other.
    fn controller(&mut self, now: Nanos, turn: f64) -> Nanos {
        self.controller_free = self.controller_free.max(now as f64) + turn;
        self.controller_free.ceil() as Nanos
    }

    /// When the link has carried `bytes` that may go from `at` on. Its work is counted from `now`: data
    /// that must wait for something else holds up no other.
    fn carry(&mut self, now: Nanos, at: Nanos, bytes: u64, write: bool) -> Nanos {
        let (lane, both) = (usize::from(write), 2);
        let nanos = bytes as f64 / self.link;
        self.link_free[lane] = self.link_free[lane].max(now as f64) + nanos;
        self.link_free[both] = self.link_free[both].max(now as f64) + nanos / self.duplex;
        self.link_free[lane].max(self.link_free[both]).max(at as f64 + nanos).ceil() as Nanos
    }

    /// Data goes out page by page while later pages are still being read.
    fn read(&mut self, now: Nanos, request: Request) -> Nanos {
        let from = self.controller(now, self.read_turn);
        let programming = self.flash.programming(self.media.programming_rate(from));
        let ready = self.flash.read(from, request.offset, request.bytes, programming);
        let last_page = request.bytes.min(self.flash.page_bytes()) as f64 / self.link;
        let carried = self.carry(now, from, request.bytes, false);
        self.read_bytes += request.bytes as f64;
        carried.max(ready + last_page.ceil() as Nanos) + self.read_command
    }

    /// Complete when all of it is in the buffer.
    fn write(&mut self, now: Nanos, request: Request) -> Nanos {
        let mut at = self.controller(now, self.write_turn);
        let (mut offset, end) = (request.offset, request.offset + request.bytes);
        while offset < end {
            let bytes = (end - offset).min(WRITE_PIECE_BYTES);
            let room = self.media.room_at(at, bytes);
            at = self.carry(now, room, bytes, true);
            self.media.program(at, offset, bytes);
            offset += bytes;
        }
        at + self.write_command
    }

    /// The busiest of the controller and the lanes of the link.
    fn least_seconds(&self, report: &Report) -> f64 {
        let (reads, writes) = (&report.reads, &report.writes);
        let others = (writes.requests + report.discards.requests + report.flushes) as f64;
        let controller = reads.requests as f64 * self.read_turn + others * self.write_turn;
        let (read, written) = (reads.bytes as f64 / self.link, writes.bytes as f64 / self.link);
        let link = read.max(written).max((read + written) / self.duplex);
        controller.max(link) / 1e9
    }
}

impl Timing for Ssd {
    fn take_in(&mut self, now: Nanos, request: Request) -> Nanos {
        match request.kind {
            Kind::Read => self.read(now, request),
            Kind::Write => self.write(now, request),
            Kind::Flush => self.media.written_at().max(self.controller(now, self.write_turn)) + self.flush,
            Kind::Discard => {
                self.media.discard(request.offset, request.bytes);
                self.controller(now, self.write_turn) + self.write_command
            }
        }
    }

    fn passed(&mut self, now: Nanos) {
        self.media.passed(now);
    }

    fn settle(&mut self, at: Nanos) {
        self.media.settle(at);
    }

    /// Idle power all the time. Above it, reads take an energy for each byte, that of the link's full rate; writes take
    /// their power for as long as cells are being written, which is longer for a byte that the fast cells have no room for.
    fn report(&self, at: Nanos, recorder: &Recorder) -> Report {
        let (reading, writing) = (self.read_bytes / self.link, self.media.writing_nanos(at) - self.writing_before);
        let joules = self.watts.joules_above_idle(recorder.elapsed(at), reading, writing);
        let report = recorder.report(at, joules, self.media.unwritten(at));
        Report { least_seconds: self.least_seconds(&report).min(report.busy_seconds), ..report }
    }

    fn reset_report(&mut self, at: Nanos) {
        (self.read_bytes, self.writing_before) = (0.0, self.media.writing_nanos(at));
    }
}
