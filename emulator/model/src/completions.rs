//! Completions that are known and wait for their time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::{Completion, Nanos};

/// A queue in the order of time, and of entry where times are equal.
#[derive(Debug, Default)]
pub struct Completions {
    heap: BinaryHeap<Reverse<(Nanos, u64, u64)>>,
    entered: u64,
}

impl Completions {
    /// Enters the completion of request `id` at `at`.
    pub fn push(&mut self, at: Nanos, id: u64) {
        self.heap.push(Reverse((at, self.entered, id)));
        self.entered += 1;
    }

    /// When the earliest completion is due.
    pub fn next_at(&self) -> Option<Nanos> {
        self.heap.peek().map(|Reverse((at, _, _))| *at)
    }

    /// Takes the earliest completion that is due by `to`.
    pub fn pop_due(&mut self, to: Nanos) -> Option<Completion> {
        if self.next_at()? > to {
            return None;
        }
        let Reverse((at, _, id)) = self.heap.pop()?;
        Some(Completion { id, at })
    }
}
