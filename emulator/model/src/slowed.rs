//! A device whose every time is a whole multiple of another's: the same drive beside a faster computer.

use crate::{Completion, Device, Joules, Nanos, Report, Request};

/// Hands the device on the slower time, and its times back on the owner's.
pub struct Slowed {
    device: Box<dyn Device>,
    times: Nanos,
}

impl Slowed {
    /// Of `times` 1 the device is as it was.
    pub fn new(device: Box<dyn Device>, times: Nanos) -> Self {
        Slowed { device, times }
    }
}

impl Device for Slowed {
    fn submit(&mut self, at: Nanos, request: Request) {
        self.device.submit(at / self.times, request);
    }

    fn next_event(&self) -> Option<Nanos> {
        Some(self.device.next_event()?.saturating_mul(self.times))
    }

    fn advance(&mut self, to: Nanos, done: &mut Vec<Completion>) {
        let first = done.len();
        self.device.advance(to / self.times, done);
        for completion in &mut done[first..] {
            completion.at = completion.at.saturating_mul(self.times);
        }
    }

    fn settle(&mut self, at: Nanos) {
        self.device.settle(at / self.times);
    }

    fn report(&self, at: Nanos) -> Report {
        let own = self.device.report(at / self.times);
        let times = self.times as f64;
        let Joules { idle, seek, read, write, total } = own.joules;
        // The same power for so much longer.
        let joules = Joules {
            idle: idle * times,
            seek: seek * times,
            read: read * times,
            write: write * times,
            total: total * times,
        };
        Report {
            elapsed_seconds: own.elapsed_seconds * times,
            busy_seconds: own.busy_seconds * times,
            least_seconds: own.least_seconds * times,
            joules,
            ..own
        }
    }

    fn reset_report(&mut self, at: Nanos) {
        self.device.reset_report(at / self.times);
    }
}
