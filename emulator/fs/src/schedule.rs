//! Which request may be answered when: the meeting point of the modelled drive and the real bytes.
//!
//! A request is ready when the model has completed it and its real work is done. Until `begin` there is no drive and every
//! request is ready as soon as its work is done. All times handed in are of one clock that never goes back, in nanoseconds;
//! nothing here reads a clock.

use std::collections::VecDeque;

use assay_model::{Completion, Device, Kind, Nanos, Report, Request};

use crate::accounts::Accounts;
use crate::path_cost::PathCost;

/// A request's place in the schedule, until it is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot(usize);

/// A request as the disk saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Served {
    /// What was asked.
    pub kind: Kind,
    /// The first byte.
    pub offset: u64,
    /// How many.
    pub bytes: u64,
    /// When it came, the path's cost taken off.
    pub arrived: Nanos,
}

/// A request that may be answered now.
#[derive(Debug, PartialEq, Eq)]
pub struct Ready<K, T> {
    /// What the kernel knows it by.
    pub ticket: K,
    /// What its real work gave.
    pub outcome: T,
    /// What it was.
    pub served: Served,
}

/// A drive in action.
struct Drive {
    device: Box<dyn Device>,
    path: PathCost,
    /// The clock's time at which the drive's own time was 0.
    began: Nanos,
    /// The drive's time of the last arrival or event: it can't be told of anything earlier.
    told: Nanos,
}

struct Pending<K, T> {
    ticket: K,
    /// When the drive completes it and how long that took in the model; None: not yet.
    deadline: Option<(Nanos, Nanos)>,
    served: Served,
    outcome: Option<T>,
}

/// The schedule; `K` is what the kernel knows a request by, `T` what its real work gives.
pub struct Schedule<K, T> {
    drive: Option<Drive>,
    pending: Vec<Option<Pending<K, T>>>,
    free: Vec<usize>,
    ready: VecDeque<usize>,
    flushes: usize,
    done: Vec<Completion>,
    accounts: Accounts,
}

impl<K, T> Default for Schedule<K, T> {
    fn default() -> Self {
        Self {
            drive: None,
            pending: Vec::new(),
            free: Vec::new(),
            ready: VecDeque::new(),
            flushes: 0,
            done: Vec::new(),
            accounts: Accounts::default(),
        }
    }
}

impl<K, T> Schedule<K, T> {
    /// Puts a drive into action, in place of the one before; requests under way are none of its business.
    pub fn begin(&mut self, now: Nanos, device: Box<dyn Device>, path: PathCost) {
        self.end(now);
        self.accounts = Accounts::default();
        self.drive = Some(Drive { device, path, began: now, told: 0 });
    }

    /// Takes the drive out of action; what it had not completed is due at once.
    pub fn end(&mut self, now: Nanos) {
        self.advance(now);
        if self.drive.take().is_none() {
            return;
        }
        for (index, pending) in self.pending.iter_mut().enumerate() {
            if let Some(pending) = pending.as_mut().filter(|pending| pending.deadline.is_none()) {
                pending.deadline = Some((now, 0));
                if pending.outcome.is_some() {
                    self.ready.push_back(index);
                }
            }
        }
    }

    /// Takes a request that was read from the kernel at `now`. For the drive it arrived earlier by the path's cost, but
    /// not before anything that the drive already knows.
    pub fn arrive(&mut self, now: Nanos, ticket: K, kind: Kind, offset: u64, bytes: u64) -> Slot {
        let index = self.free.pop().unwrap_or_else(|| {
            self.pending.push(None);
            self.pending.len() - 1
        });
        let served = Served { kind, offset, bytes, arrived: now };
        let mut pending = Pending { ticket, deadline: Some((now, 0)), served, outcome: None };
        if let Some(drive) = &mut self.drive {
            let early = now.saturating_sub(drive.began).saturating_sub(drive.path.of(kind, bytes));
            drive.step(early, &mut self.done);
            drive.told = drive.told.max(early);
            drive.device.submit(drive.told, Request { id: index as u64, kind, offset, bytes });
            pending.served.arrived = drive.began + drive.told;
            pending.deadline = None;
        }
        self.pending[index] = Some(pending);
        self.flushes += usize::from(kind == Kind::Flush);
        self.settle_completions();
        Slot(index)
    }

    /// The request's real work is done.
    pub fn worked(&mut self, slot: Slot, outcome: T) {
        let pending = self.pending[slot.0].as_mut().expect("a slot is used until its request is answered");
        pending.outcome = Some(outcome);
        if pending.deadline.is_some() {
            self.ready.push_back(slot.0);
        }
    }

    /// Lets the drive's time go on to `now`.
    pub fn advance(&mut self, now: Nanos) {
        if let Some(drive) = &mut self.drive {
            drive.step(now.saturating_sub(drive.began), &mut self.done);
            self.settle_completions();
        }
    }

    /// When `advance` may next have something to do.
    #[must_use]
    pub fn next_event(&self) -> Option<Nanos> {
        let drive = self.drive.as_ref()?;
        Some(drive.began + drive.device.next_event()?)
    }

    /// The next request to answer, in the order in which the drive completed them.
    pub fn take_ready(&mut self, now: Nanos) -> Option<Ready<K, T>> {
        let index = self.ready.pop_front()?;
        let pending = self.pending[index].take().expect("a ready request is pending");
        self.free.push(index);
        self.flushes -= usize::from(pending.served.kind == Kind::Flush);
        let (deadline, response) = pending.deadline.expect("a ready request has been completed");
        if self.drive.is_some() {
            self.accounts.reply(pending.served.kind, response, deadline, now);
        }
        let outcome = pending.outcome.expect("a ready request's work is done");
        Some(Ready { ticket: pending.ticket, outcome, served: pending.served })
    }

    /// How many requests wait to be answered.
    #[must_use]
    pub fn under_way(&self) -> usize {
        self.pending.len() - self.free.len()
    }

    /// How many of them are flushes.
    #[must_use]
    pub fn flushes(&self) -> usize {
        self.flushes
    }

    /// Empties the drive's caches, as a long idleness would. False without a drive.
    pub fn settle(&mut self, now: Nanos) -> bool {
        self.advance(now);
        self.at_drive(now, |drive, at| drive.device.settle(at))
    }

    /// Starts all counts anew. False without a drive.
    pub fn reset(&mut self, now: Nanos) -> bool {
        self.advance(now);
        self.accounts = Accounts::default();
        self.at_drive(now, |drive, at| drive.device.reset_report(at))
    }

    /// What the drive saw, and how well its times were kept. None without a drive.
    pub fn report(&mut self, now: Nanos) -> Option<(Report, &Accounts)> {
        self.advance(now);
        let drive = self.drive.as_mut()?;
        drive.told = drive.told.max(now.saturating_sub(drive.began));
        Some((drive.device.report(drive.told), &self.accounts))
    }

    fn at_drive(&mut self, now: Nanos, act: impl FnOnce(&mut Drive, Nanos)) -> bool {
        let Some(drive) = &mut self.drive else { return false };
        drive.told = drive.told.max(now.saturating_sub(drive.began));
        let at = drive.told;
        act(drive, at);
        true
    }

    /// Marks what the drive has completed, and makes ready what only waited for that.
    fn settle_completions(&mut self) {
        let Some(drive) = &self.drive else { return };
        for completion in self.done.drain(..) {
            let index = completion.id as usize;
            let pending = self.pending[index].as_mut().expect("the drive completes each request once");
            let deadline = drive.began + completion.at;
            pending.deadline = Some((deadline, deadline.saturating_sub(pending.served.arrived)));
            if pending.outcome.is_some() {
                self.ready.push_back(index);
            }
        }
    }
}

impl Drive {
    /// Goes from event to event, so that the drive's time stays at the last event and not at the moment when this
    /// process woke up: a request that arrives next may then still be dated back by the path's cost.
    fn step(&mut self, to: Nanos, done: &mut Vec<Completion>) {
        while let Some(event) = self.device.next_event().filter(|event| *event <= to) {
            self.told = self.told.max(event);
            self.device.advance(self.told, done);
        }
    }
}

#[cfg(test)]
#[path = "schedule_tests.rs"]
mod tests;
