//! Timing models of disks, in virtual time: requests in, completion times out.
//!
//! Nothing here reads a clock, does input or output, or starts a thread. A device is a state machine
//! that its owner moves forward: [`Device::submit`] hands in a request at a virtual time,
//! [`Device::advance`] moves time on and collects what has completed, and [`Device::next_event`] says
//! how far time can move before anything can happen. The same profile, seed and calls give the same
//! times.

mod completions;
mod figures;
mod hdd;
mod in_order;
mod limited;
mod null;
mod power;
mod profile;
mod replay;
mod report;
mod rng;
mod slowed;
mod ssd;

use serde::{Deserialize, Serialize};

use in_order::InOrder;

pub use figures::{FigureSpec, KindFigures, figures};
pub use power::Joules;
pub use profile::{FigureError, Profile, ProfileError};
pub use replay::{Answered, replay};
pub use report::{Bucket, Histogram, Report, Traffic};

/// A point in virtual time, or a span of it, in nanoseconds.
pub type Nanos = u64;

/// What a request asks of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Data from the device.
    Read,
    /// Data to the device; complete when the device has accepted it, in its cache or on the medium.
    Write,
    /// Complete when every write that came before it is on the medium.
    Flush,
    /// The range no longer holds data that anyone needs.
    Discard,
}

/// One request of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Named again in the [`Completion`]; unique among the requests in flight.
    pub id: u64,
    /// What is asked.
    pub kind: Kind,
    /// The first byte's address on the device.
    pub offset: u64,
    /// The length; no meaning for a flush.
    pub bytes: u64,
}

/// The end of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The request's id.
    pub id: u64,
    /// When the device reports it done, never before its arrival.
    pub at: Nanos,
}

/// A device in virtual time.
pub trait Device: Send {
    /// Takes a request that arrives at `at`, which never decreases between calls.
    fn submit(&mut self, at: Nanos, request: Request);

    /// The earliest time at which [`Device::advance`] may have something to do; `None` when nothing
    /// is under way. It may lie in the past: a completion can wait to be collected.
    fn next_event(&self) -> Option<Nanos>;

    /// Moves time to `to` and appends the completions up to it, in the order of their times.
    fn advance(&mut self, to: Nanos, done: &mut Vec<Completion>);

    /// The state after a long idleness: caches written out and emptied, the drive at rest. Takes no
    /// virtual time. Requests still under way stay under way.
    fn settle(&mut self, at: Nanos);

    /// What the device saw and used between its start, or the last reset, and `at`.
    fn report(&self, at: Nanos) -> Report;

    /// Starts the report's counts anew.
    fn reset_report(&mut self, at: Nanos);
}

/// Makes the device that a profile describes, or says all that is wrong with the profile.
///
/// The seed settles what a real drive leaves to chance, such as where the platter stands at the start.
pub fn build(profile: &Profile, seed: u64) -> Result<Box<dyn Device>, ProfileError> {
    let figures = profile.check()?;
    let device: Box<dyn Device> = match profile.kind.as_str() {
        "hdd" => Box::new(hdd::Hdd::new(&figures, seed)),
        "ssd" => Box::new(InOrder::new(&figures, ssd::Ssd::new(&figures, seed))),
        "limited" => Box::new(InOrder::new(&figures, limited::Limited::new(&figures))),
        _ => Box::new(null::Null::default()),
    };
    Ok(if profile.slowdown > 1 { Box::new(slowed::Slowed::new(device, profile.slowdown)) } else { device })
}
