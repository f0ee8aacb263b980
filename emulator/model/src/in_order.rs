//! Devices that take requests in, in the order of their arrival, as many at once as their queue holds, and know then when
//! each completes.

use std::collections::VecDeque;

use crate::completions::Completions;
use crate::profile::Checked;
use crate::report::Recorder;
use crate::{Completion, Device, Nanos, Report, Request};

/// What is a device's own: its times, and what it says of itself.
pub trait Timing: Send {
    /// Takes in a request at `now`, which never decreases between calls; returns when it completes.
    fn take_in(&mut self, now: Nanos, request: Request) -> Nanos;

    /// Time has come to `now`: what has ended by then need not be kept.
    fn passed(&mut self, _now: Nanos) {}

    /// The state after a long idleness, as in [`Device::settle`].
    fn settle(&mut self, at: Nanos);

    /// What the device saw, as `recorder` counted it, and used between its start, or the last reset, and `at`.
    fn report(&self, at: Nanos, recorder: &Recorder) -> Report;

    /// Starts what the report has beside the recorder's counts anew.
    fn reset_report(&mut self, at: Nanos);
}

/// The device.
pub struct InOrder<T> {
    queue_depth: usize,
    timing: T,
    now: Nanos,
    /// Requests for which the queue has no room yet.
    backlog: VecDeque<Request>,
    /// Requests in the queue.
    active: usize,
    completions: Completions,
    /// Completions that wait to be collected.
    done: VecDeque<Completion>,
    recorder: Recorder,
}

impl<T: Timing> InOrder<T> {
    /// With a queue as deep as the figure `queue_depth`, empty.
    pub fn new(figures: &Checked, timing: T) -> Self {
        InOrder {
            queue_depth: figures.get("queue_depth") as usize,
            timing,
            now: 0,
            backlog: VecDeque::new(),
            active: 0,
            completions: Completions::default(),
            done: VecDeque::new(),
            recorder: Recorder::default(),
        }
    }

    /// Moves time to `to`; a completion lets the next request of the backlog in.
    fn run(&mut self, to: Nanos) {
        self.take_in();
        while let Some(completion) = self.completions.pop_due(to) {
            self.now = self.now.max(completion.at);
            self.active -= 1;
            self.recorder.completed(completion.at);
            self.done.push_back(completion);
            self.take_in();
        }
        self.now = self.now.max(to);
        self.timing.passed(self.now);
    }

    fn take_in(&mut self) {
        while self.active < self.queue_depth {
            let Some(request) = self.backlog.pop_front() else { return };
            self.active += 1;
            let at = self.timing.take_in(self.now, request);
            self.completions.push(at.max(self.now), request.id);
        }
    }
}

impl<T: Timing> Device for InOrder<T> {
    fn submit(&mut self, at: Nanos, request: Request) {
        self.run(at);
        self.recorder.arrived(at, &request);
        self.backlog.push_back(request);
        self.take_in();
    }

    fn next_event(&self) -> Option<Nanos> {
        let collected = self.done.front().map(|completion| completion.at);
        collected.or_else(|| self.completions.next_at())
    }

    fn advance(&mut self, to: Nanos, done: &mut Vec<Completion>) {
        self.run(to);
        done.extend(self.done.drain(..));
    }

    fn settle(&mut self, at: Nanos) {
        self.run(at);
        self.timing.settle(at);
    }

    fn report(&self, at: Nanos) -> Report {
        self.timing.report(at, &self.recorder)
    }

    fn reset_report(&mut self, at: Nanos) {
        self.run(at);
        self.recorder.reset(at);
        self.timing.reset_report(at);
    }
}
