//! Energy by what the drive does, integrated over virtual time.

use serde::Serialize;

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
