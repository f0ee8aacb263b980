//! Energy by what the drive does, integrated over virtual time.

use serde::Serialize;

use crate::Nanos;
use crate::profile::{Checked, FigureError};

/// Energy used since the start or the last reset, by state, in joules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Joules {
    /// Ready, with nothing under way.
    pub idle: f64,
    /// Heads moving, or waiting for the platter to turn.
    pub seek: f64,
    /// Reading from the medium.
    pub read: f64,
    /// Writing to the medium, the drive's own copying included.
    pub write: f64,
    /// The sum of the states.
    pub total: f64,
}

/// Power in each state, in watts.
#[derive(Clone, Copy, Debug)]
pub struct Watts {
    pub idle: f64,
    pub seek: f64,
    pub read: f64,
    pub write: f64,
}

impl Watts {
    /// From the figures of the same names; a kind without seeks has none.
    pub fn new(figures: &Checked, seek: f64) -> Self {
        let get = |name| figures.get(name);
        Watts { idle: get("idle_watts"), seek, read: get("read_watts"), write: get("write_watts") }
    }

    /// What must hold between the figures of a kind whose work adds to its idle power: it takes no less than that.
    pub fn agree(figures: &Checked) -> Vec<FigureError> {
        let read = figures.at_least("read_watts", "idle_watts", "reading takes no less power than idle_watts");
        let write = figures.at_least("write_watts", "idle_watts", "writing takes no less power than idle_watts");
        read.into_iter().chain(write).collect()
    }

    /// Energy of a drive that takes its idle power for all of `elapsed`, and what reading and writing take above that
    /// for so many nanoseconds, which may be at the same time.
    pub fn joules_above_idle(&self, elapsed: Nanos, reading: f64, writing: f64) -> Joules {
        let idle = elapsed as f64 * 1e-9 * self.idle;
        let read = reading * 1e-9 * (self.read - self.idle);
        let write = writing * 1e-9 * (self.write - self.idle);
        Joules { idle, seek: 0.0, read, write, total: idle + read + write }
    }
}

/// Time spent in each state; the rest of the elapsed time is idle.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spans {
    pub seek: f64,
    pub read: f64,
    pub write: f64,
}

impl Spans {
    /// Energy of these spans, in nanoseconds, within `elapsed`, for a drive that is in one state at a time.
    pub fn joules(&self, elapsed: Nanos, watts: &Watts) -> Joules {
        let idle_nanos = (elapsed as f64 - self.seek - self.read - self.write).max(0.0);
        let joules = |nanos: f64, watts: f64| nanos * 1e-9 * watts;
        let (idle, seek) = (joules(idle_nanos, watts.idle), joules(self.seek, watts.seek));
        let (read, write) = (joules(self.read, watts.read), joules(self.write, watts.write));
        Joules { idle, seek, read, write, total: idle + seek + read + write }
    }
}
