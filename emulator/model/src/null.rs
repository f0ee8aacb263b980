//! A device that takes no time: what is left is the cost of the path to it.

use crate::completions::Completions;
use crate::report::Recorder;
use crate::{Completion, Device, Joules, Nanos, Report, Request};

/// Every request completes at its arrival.
#[derive(Default)]
pub struct Null {
    completions: Completions,
    recorder: Recorder,
}

impl Device for Null {
    fn submit(&mut self, at: Nanos, request: Request) {
        self.recorder.arrived(at, &request);
        self.recorder.completed(at);
        self.completions.push(at, request.id);
    }

    fn next_event(&self) -> Option<Nanos> {
        self.completions.next_at()
    }

    fn advance(&mut self, to: Nanos, done: &mut Vec<Completion>) {
        while let Some(completion) = self.completions.pop_due(to) {
            done.push(completion);
        }
    }

    fn settle(&mut self, _at: Nanos) {}

    fn report(&self, at: Nanos) -> Report {
        self.recorder.report(at, Joules::default(), 0)
    }

    fn reset_report(&mut self, at: Nanos) {
        self.recorder.reset(at);
    }
}
