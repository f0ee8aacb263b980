//! A drive that takes the same time for every request: a known time, against which the path's own cost is measured.

use assay_model::{Completion, Device, Kind, Nanos, Report, Request};
use serde::{Deserialize, Serialize};

/// How long each request takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pace {
    /// A read.
    pub read_ns: Nanos,
    /// Anything else.
    pub write_ns: Nanos,
}

/// The drive. It has no queue: requests do not wait for each other.
pub struct Paced {
    pace: Pace,
    under_way: Vec<Completion>,
}

impl Paced {
    /// A drive of that pace.
    #[must_use]
    pub fn new(pace: Pace) -> Self {
        Self { pace, under_way: Vec::new() }
    }
}

impl Device for Paced {
    fn submit(&mut self, at: Nanos, request: Request) {
        let time = if request.kind == Kind::Read { self.pace.read_ns } else { self.pace.write_ns };
        self.under_way.push(Completion { id: request.id, at: at + time });
    }

    fn next_event(&self) -> Option<Nanos> {
        self.under_way.iter().map(|completion| completion.at).min()
    }

    fn advance(&mut self, to: Nanos, done: &mut Vec<Completion>) {
        let first = done.len();
        done.extend(self.under_way.iter().filter(|completion| completion.at <= to));
        self.under_way.retain(|completion| completion.at > to);
        done[first..].sort_by_key(|completion| completion.at);
    }

    fn settle(&mut self, _at: Nanos) {}

    fn report(&self, _at: Nanos) -> Report {
        Report::default()
    }

    fn reset_report(&mut self, _at: Nanos) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_request_takes_its_time_whatever_else_is_under_way() {
        let mut paced = Paced::new(Pace { read_ns: 100, write_ns: 30 });
        let request = |id, kind| Request { id, kind, offset: 0, bytes: 4096 };
        paced.submit(0, request(1, Kind::Read));
        paced.submit(10, request(2, Kind::Write));
        assert_eq!(paced.next_event(), Some(40));
        let mut done = Vec::new();
        paced.advance(99, &mut done);
        paced.advance(1000, &mut done);
        assert_eq!(done, [Completion { id: 2, at: 40 }, Completion { id: 1, at: 100 }]);
        assert_eq!(paced.next_event(), None);
    }
}
