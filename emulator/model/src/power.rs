//! Energy by what the drive does, integrated over virtual time.

use serde::Serialize;

use crate::Nanos;
use crate::profile::Checked;

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
